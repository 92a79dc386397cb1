//! Jobs, their lock and their queue, as scenarios write them.

use offbeat_core::{Reason, Rejection};
use serde::Deserialize;

use super::fields::{micros, positive, span, within};
use super::file::Load;
use super::run_time::RunTime;
use super::{Children, Dequeue, Lock};
use crate::limits::SCENARIO_USERS;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct KindEntry {
    pub(super) name: String,
    pub(super) run_time: RunTime,
    #[serde(default)]
    pub(super) placement: PlacementEntry,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StageEntry {
    pub(super) name: String,
    pub(super) run_time: RunTime,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum PlacementEntry {
    #[default]
    Reciprocal,
    Independent,
    Same,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LockEntry {
    #[serde(default = "one_user")]
    group_size: i64,
    retry_after: String,
}

const fn one_user() -> i64 {
    1
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DequeueEntry {
    #[serde(default = "nothing")]
    base: String,
    #[serde(default = "nothing")]
    per_waiting: String,
    #[serde(default)]
    contention: bool,
}

fn nothing() -> String {
    "0s".to_owned()
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ChildrenEntry {
    mean_count: f64,
    run_time: RunTime,
}

pub(super) fn children(entry: &ChildrenEntry, load: Load<'_>) -> Result<Children, Rejection> {
    if !(0.0..=100.0).contains(&entry.mean_count) {
        let (field, allowed) = ("children.mean_count", "must be 0 to 100 jobs");
        return Err(Rejection::new(Reason::OutOfRange, field, entry.mean_count, allowed));
    }
    let run_time = entry.run_time.read("children.run_time", load)?;
    Ok(Children { mean_count: entry.mean_count, run_time })
}

pub(super) fn dequeue(entry: &DequeueEntry) -> Result<Dequeue, Rejection> {
    let per_waiting = span("dequeue.per_waiting", &entry.per_waiting)?;
    let nanos = u64::try_from(per_waiting.nanos()).ok().filter(|nanos| *nanos <= 1_000_000_000);
    let nanos_per_waiting = nanos.ok_or_else(|| {
        let (field, allowed) = ("dequeue.per_waiting", "must be 0 s to 1 s");
        Rejection::new(Reason::OutOfRange, field, &entry.per_waiting, allowed)
    })?;
    let base = micros("dequeue.base", &entry.base)?;
    Ok(Dequeue { base, nanos_per_waiting, contention: entry.contention })
}

pub(super) fn lock(entry: &LockEntry) -> Result<Lock, Rejection> {
    Ok(Lock {
        group_size: within("lock.group_size", entry.group_size, SCENARIO_USERS)?,
        retry_after: positive("lock.retry_after", &entry.retry_after)?,
    })
}
