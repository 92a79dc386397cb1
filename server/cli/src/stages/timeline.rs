//! `offbeat stages timeline`

use std::collections::BTreeMap;
use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

use clap::Args;
use offbeat_core::stages::{Flow, FlowStage};
use offbeat_core::{Rejection, Span};
use serde::Serialize;

use super::super::Failure;
use super::super::output::{RowFormat, write_json_line};
use super::RuleArgs;
use super::input::{Fields, read_input, read_stage};
use super::steps::{Steps, read_steps};
use super::table::starved_names;
use super::timeline_table::write_timeline;
use offbeat_proto as proto;
use offbeat_proto::allocate_workers_response::Outcome;
use offbeat_service::api::stages::{allocate, arrivals_of};

#[derive(Debug, Args)]
pub(crate) struct TimelineArgs {
    #[command(flatten)]
    pub(super) rule: RuleArgs,

    /// How to write the allocations
    #[arg(long, value_enum, default_value_t = RowFormat::Table)]
    format: RowFormat,
}

/// A stage at a time.
#[derive(Serialize)]
pub(super) struct StageAt<'a> {
    pub(super) time: &'a str,
    pub(super) stage_name: &'a str,
    pub(super) backlog_count: i64,
    pub(super) worker_count: i32,
    pub(super) worker_count_change: i32,
    pub(super) drain_time_micros: Option<i64>,
    pub(super) min_stable_worker_count: i32,
    pub(super) starved: bool,
}

pub(crate) fn run(args: &TimelineArgs) -> Result<ExitCode, Failure> {
    let Steps { names, steps, .. } = read_steps(&read_input()?)?;
    let mut pipeline = Pipeline::new(names.len());
    let (mut rows, mut last, mut before) = (Vec::new(), None, None);
    for step in &steps {
        let at = |failure: Failure| match failure {
            Failure::Usage(message) => Failure::Usage(format!("at {}: {message}", step.time)),
            other => other,
        };
        if let Some(before) = before.replace(step) {
            pipeline.advance(step.since(before)).map_err(|refused| at(refused.into()))?;
        }
        pipeline.change(&step.changes).map_err(at)?;
        let stages = pipeline.stages.clone();
        let allocation = pipeline.allocate(&args.rule).map_err(|refused| at(refused.into()))?;
        rows.extend(rows_of(&step.time, &names, &stages, allocation.as_ref()));
        last = Some((stages, allocation));
    }
    let mut out = BufWriter::new(io::stdout().lock());
    match (args.format, last) {
        (RowFormat::Json, _) => rows.iter().try_for_each(|row| write_json_line(&mut out, row))?,
        (RowFormat::Csv, _) => {
            let mut csv = csv::Writer::from_writer(&mut out);
            rows.iter().try_for_each(|row| csv.serialize(row))?;
            csv.flush()?;
        }
        (RowFormat::Table, Some((stages, allocation))) => {
            write_timeline(&mut out, args, &names, &rows, &stages, allocation.as_ref())?;
        }
        (RowFormat::Table, None) => {}
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

fn rows_of<'a>(
    time: &'a str,
    names: &'a [String],
    stages: &[proto::Stage],
    allocation: Option<&proto::WorkerAllocation>,
) -> Vec<StageAt<'a>> {
    let starved = allocation.map(starved_names).unwrap_or_default();
    let row = |(place, (name, stage)): (usize, (&'a String, &proto::Stage))| {
        let found = allocation.and_then(|allocation| allocation.stages.get(place));
        let worker_count = found.map_or(0, |found| found.worker_count);
        StageAt {
            time,
            stage_name: name,
            backlog_count: stage.backlog_count,
            worker_count,
            worker_count_change: worker_count - stage.current_worker_count,
            drain_time_micros: found.and_then(|found| found.drain_time_micros),
            min_stable_worker_count: found.map_or(0, |found| found.min_stable_worker_count),
            starved: starved.contains(name.as_str()),
        }
    };
    names.iter().zip(stages).enumerate().map(row).collect()
}

/// A pipeline whose backlogs and workers follow from the time before, unless a row says otherwise.
struct Pipeline {
    /// The fields of each stage that rows have set and that still hold.
    settings: Vec<Fields>,
    stages: Vec<proto::Stage>,
    /// The stages, as they work until the next time.
    working: Vec<FlowStage>,
    flow: Flow,
}

/// Fields that hold only at the time of their row.
const AT_ONE_TIME: [&str; 3] = ["backlog_count", "current_worker_count", "busy_worker_count"];

/// Pairs of fields; the later one of a pair holds.
const RUN_TIMES: [(&str, &str); 2] =
    [("mean_run_time", "run_times"), ("run_times", "mean_run_time")];

impl Pipeline {
    fn new(count: usize) -> Self {
        Self {
            settings: vec![Fields::new(); count],
            stages: vec![proto::Stage::default(); count],
            working: Vec::new(),
            flow: Flow::new(std::iter::repeat_n(0, count)),
        }
    }

    /// Advances the backlogs: the workers work, and jobs arrive.
    fn advance(&mut self, elapsed: Span) -> Result<(), Rejection> {
        self.flow.advance(&self.working, elapsed)?;
        for (stage, backlog) in self.stages.iter_mut().zip(self.flow.backlogs()) {
            stage.backlog_count = i64::try_from(backlog).unwrap_or(i64::MAX);
            stage.busy_worker_count = 0;
        }
        Ok(())
    }

    fn change(&mut self, changes: &BTreeMap<usize, Fields>) -> Result<(), Failure> {
        for (place, fields) in changes {
            let known = self.settings.get_mut(*place).zip(self.stages.get_mut(*place));
            let Some((settings, stage)) = known else { continue };
            for (_, other) in RUN_TIMES.iter().filter(|(set, _)| fields.contains_key(*set)) {
                settings.remove(*other);
            }
            settings.extend(fields.clone());
            let said = read_stage(settings)?;
            AT_ONE_TIME.iter().for_each(|field| drop(settings.remove(*field)));
            let before = std::mem::replace(stage, said);
            if fields.contains_key("backlog_count") {
                self.flow.set_backlog(*place, u64::try_from(stage.backlog_count).unwrap_or(0));
            } else {
                stage.backlog_count = before.backlog_count;
            }
            if !fields.contains_key("current_worker_count") {
                stage.current_worker_count = before.current_worker_count;
            }
        }
        Ok(())
    }

    /// Allocates the workers to their stages; `None` if every stage is done.
    fn allocate(&mut self, rule: &RuleArgs) -> Result<Option<proto::WorkerAllocation>, Rejection> {
        let answer = allocate(rule.request(self.stages.clone())?)?;
        let allocation = match answer.outcome {
            Some(Outcome::Allocation(allocation)) => Some(allocation),
            Some(Outcome::AllStagesDone(_)) | None => None,
        };
        self.working.clear();
        for (place, stage) in self.stages.iter_mut().enumerate() {
            let found = allocation.as_ref().and_then(|found| found.stages.get(place));
            let (workers, mean) =
                found.map_or((0, None), |found| (found.worker_count, found.mean_run_time));
            let mean = mean.unwrap_or_default();
            stage.current_worker_count = workers;
            self.working.push(FlowStage {
                worker_count: u64::try_from(workers).unwrap_or(0),
                mean_nanos: u64::try_from(Span::try_new(mean.seconds, mean.nanos)?.nanos())
                    .unwrap_or(u64::MAX),
                arrivals: arrivals_of(stage.arrival_count, stage.arrival_period)?,
            });
        }
        Ok(allocation)
    }
}
