//! The rows of a timeline: each stage at each time.

use offbeat_proto as proto;
use serde::Serialize;

use super::table::starved_names;

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

/// The stages at `time`, in the order of `names`.
pub(super) fn rows_of<'a>(
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
