//! A pipeline from one time of a timeline to the next.

use std::collections::BTreeMap;

use offbeat_core::stages::{Flow, FlowStage};
use offbeat_core::{Rejection, Span};
use offbeat_proto as proto;
use offbeat_proto::allocate_workers_response::Outcome;
use offbeat_service::api::stages::{allocate, arrivals_of};

use super::RuleArgs;
use super::input::{Fields, read_stage};
use crate::Failure;

/// A pipeline whose backlogs and workers follow from the time before, unless a row says otherwise.
pub(super) struct Pipeline {
    /// The fields of each stage that rows have set and that still hold.
    settings: Vec<Fields>,
    pub(super) stages: Vec<proto::Stage>,
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
    pub(super) fn new(count: usize) -> Self {
        Self {
            settings: vec![Fields::new(); count],
            stages: vec![proto::Stage::default(); count],
            working: Vec::new(),
            flow: Flow::new(std::iter::repeat_n(0, count)),
        }
    }

    /// Advances the backlogs: the workers work, and jobs arrive.
    pub(super) fn advance(&mut self, elapsed: Span) -> Result<(), Rejection> {
        self.flow.advance(&self.working, elapsed)?;
        for (stage, backlog) in self.stages.iter_mut().zip(self.flow.backlogs()) {
            stage.backlog_count = i64::try_from(backlog).unwrap_or(i64::MAX);
            stage.busy_worker_count = 0;
        }
        Ok(())
    }

    /// Takes what rows say of this time, by the index of the stage.
    pub(super) fn change(&mut self, changes: &BTreeMap<usize, Fields>) -> Result<(), Failure> {
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
    pub(super) fn allocate(
        &mut self,
        rule: &RuleArgs,
    ) -> Result<Option<proto::WorkerAllocation>, Rejection> {
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
