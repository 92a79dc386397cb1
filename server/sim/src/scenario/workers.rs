//! Workers, and the autoscaler, as scenarios write them.

use std::fmt;

use offbeat_core::{Reason, Rejection};
use serde::de::value::SeqAccessDeserializer;
use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::Autoscaler;
use super::fields::{micros, positive, within};
use crate::limits::SCENARIO_WORKERS;

#[derive(Debug)]
pub(super) enum Workers {
    Constant(i64),
    Changing(Vec<WorkersFrom>),
}

impl<'de> Deserialize<'de> for Workers {
    fn deserialize<D: Deserializer<'de>>(value: D) -> Result<Self, D::Error> {
        value.deserialize_any(WorkersVisitor)
    }
}

struct WorkersVisitor;

impl<'de> Visitor<'de> for WorkersVisitor {
    type Value = Workers;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number of workers, or a list such as [{ from = \"0s\", count = 6 }]")
    }

    fn visit_i64<E>(self, count: i64) -> Result<Workers, E> {
        Ok(Workers::Constant(count))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, changes: A) -> Result<Workers, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(changes)).map(Workers::Changing)
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WorkersFrom {
    from: String,
    count: i64,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AutoscalerEntry {
    interval: String,
    up_at: i64,
    down_at: i64,
    step: i64,
    minimum: i64,
    maximum: i64,
}

impl AutoscalerEntry {
    pub(super) fn check(&self) -> Result<Autoscaler, Rejection> {
        let workers =
            |field: &str, value| within(&format!("autoscaler.{field}"), value, SCENARIO_WORKERS);
        let depth = |field: &str, value: i64| {
            u32::try_from(value).map_err(|_| {
                let (field, allowed) = (format!("autoscaler.{field}"), "must be 0 jobs or more");
                Rejection::new(Reason::OutOfRange, field, value, allowed)
            })
        };
        let (minimum, maximum) =
            (workers("minimum", self.minimum)?, workers("maximum", self.maximum)?);
        if maximum < minimum {
            let allowed = format!("must be {minimum} or more, minimum");
            let field = "autoscaler.maximum";
            return Err(Rejection::new(Reason::Contradictory, field, maximum, allowed));
        }
        let (up_at, down_at) = (depth("up_at", self.up_at)?, depth("down_at", self.down_at)?);
        if down_at > up_at {
            let allowed = format!("must be {up_at} jobs or fewer, up_at");
            let field = "autoscaler.down_at";
            return Err(Rejection::new(Reason::Contradictory, field, down_at, allowed));
        }
        Ok(Autoscaler {
            interval: positive("autoscaler.interval", &self.interval)?,
            up_at,
            down_at,
            step: workers("step", self.step)?,
            minimum,
            maximum,
        })
    }
}

pub(super) fn workers(entry: &Workers) -> Result<Vec<(u64, u32)>, Rejection> {
    let changes = match entry {
        Workers::Constant(count) => {
            return Ok(vec![(0, within("workers", *count, SCENARIO_WORKERS)?)]);
        }
        Workers::Changing(changes) => changes,
    };
    let mut read: Vec<(u64, u32)> = Vec::new();
    for (place, WorkersFrom { from, count }) in changes.iter().enumerate() {
        let at = micros(&format!("workers[{place}].from"), from)?;
        let is_later = read.last().map_or(at == 0, |(before, _)| at > *before);
        if !is_later {
            let allowed = "must be 0s for the first, and later than that of the one before";
            let field = format!("workers[{place}].from");
            return Err(Rejection::new(Reason::Contradictory, field, from, allowed));
        }
        read.push((at, within(&format!("workers[{place}].count"), *count, SCENARIO_WORKERS)?));
    }
    if read.is_empty() {
        return Err(Rejection::new(Reason::FieldMissing, "workers", "none", "must be set"));
    }
    Ok(read)
}
