//! The rows of a timeline, by their times.

use std::collections::BTreeMap;

use offbeat_core::Span;
use offbeat_service::limits::TIMELINE_ROWS;
use offbeat_text::{parse_moment, parse_span};
use serde_json::Value;

use super::super::Failure;
use super::input::{Fields, RowFields, TIME, read_rows};

/// A pipeline, and what changes at which times.
#[derive(Default)]
pub(super) struct Steps {
    /// The stages of the first time, in the order of the pipeline.
    pub(super) names: Vec<String>,
    pub(super) steps: Vec<Step>,
    places: BTreeMap<String, usize>,
}

/// The changes at a time.
pub(super) struct Step {
    /// The time as the input has it.
    pub(super) time: String,
    at: StepTime,
    /// Fields that are new, by the place of their stage.
    pub(super) changes: BTreeMap<usize, Fields>,
}

#[derive(Clone, Copy)]
struct StepTime {
    nanos: i128,
    is_instant: bool,
}

impl Step {
    pub(super) fn since(&self, earlier: &Self) -> Span {
        let nanos = u64::try_from(self.at.nanos - earlier.at.nanos).unwrap_or(u64::MAX);
        Span::from_nanos(nanos)
    }
}

/// Reads rows: each has a time, and a stage unless nothing changes then.
pub(super) fn read_steps(input: &str) -> Result<Steps, Failure> {
    let mut read = Steps::default();
    for (number, fields) in (1..).zip(read_rows(input, RowFields::TimedStage)?) {
        let added = read.add(fields);
        added.map_err(|what| Failure::Usage(format!("standard input, row {number}: {what}")))?;
    }
    let (stages, times) = (read.names.len(), read.steps.len());
    if !TIMELINE_ROWS.allows(stages as i128 * times as i128) {
        let message = format!(
            "standard input: {stages} stages at {times} times are refused: must make {TIMELINE_ROWS}"
        );
        return Err(Failure::Usage(message));
    }
    Ok(read)
}

impl Steps {
    fn add(&mut self, mut fields: Fields) -> Result<(), String> {
        let time = fields.remove(TIME).ok_or_else(|| format!("time: {TIMES}"))?;
        let is_known = self.steps.last().is_some_and(|step| time == *step.time);
        if !is_known {
            let step = next_step(&time, self.steps.last())?;
            self.steps.push(step);
        }
        let is_first = self.steps.len() == 1;
        if fields.is_empty() && !is_first {
            return Ok(());
        }
        let Some(Value::String(name)) = fields.get("name") else {
            return Err("name: must be set, to the name of a stage".to_owned());
        };
        let (name, count) = (name.clone(), self.names.len());
        let place = *self.places.entry(name.clone()).or_insert(count);
        if place == count {
            if !is_first {
                return Err(format!(
                    "name: {name:?} is refused: must be a stage of the first time"
                ));
            }
            self.names.push(name.clone());
        }
        let before = self.steps.last_mut().and_then(|step| step.changes.insert(place, fields));
        match before {
            Some(_) => Err(format!("name: {name:?} is refused: must be there once at a time")),
            None => Ok(()),
        }
    }
}

const TIMES: &str = "must be a span since the start, such as 90s, or an instant, such as \
                     2026-01-01T00:00:00Z";

fn next_step(time: &Value, before: Option<&Step>) -> Result<Step, String> {
    let refused = |allowed: &str| format!("time: {time} is refused: {allowed}");
    let Value::String(text) = time else { return Err(refused(TIMES)) };
    let at = parse_time(text).ok_or_else(|| refused(TIMES))?;
    if let Some(before) = before {
        if at.is_instant != before.at.is_instant {
            return Err(refused("must be a span or an instant, as the first time is"));
        }
        if at.nanos <= before.at.nanos {
            return Err(refused(&format!("must be later than {}, before it", before.time)));
        }
    }
    Ok(Step { time: text.clone(), at, changes: BTreeMap::new() })
}

fn parse_time(text: &str) -> Option<StepTime> {
    if let Ok(span) = parse_span(text) {
        return Some(StepTime { nanos: span.nanos(), is_instant: false });
    }
    let (seconds, nanos) = parse_moment(text).ok()?.parts();
    Some(StepTime {
        nanos: i128::from(seconds) * 1_000_000_000 + i128::from(nanos),
        is_instant: true,
    })
}
