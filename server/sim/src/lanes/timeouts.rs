//! Candidates of lanes with timeouts.

use offbeat_core::lanes::{LaneSetSpec, LaneSpec, OnTimeout};
use offbeat_core::{Rejection, Span};

use super::search::{Candidate, Search};
use super::selection::Lanes;
use super::span::micros;
use super::tags::Tags;
use super::trial::Trial;

/// Lanes with timeouts.
pub(super) struct Timeouts<'a> {
    pub(super) search: &'a Search<'a>,
    /// The estimates with a fifth more jobs.
    pub(super) more: &'a Tags<'a>,
    pub(super) on_timeout: OnTimeout,
}

impl Lanes for Timeouts<'_> {
    type Candidate = Candidate;
    const FINALISTS: usize = 4;

    fn keeps_up(&self, candidate: &Candidate) -> bool {
        self.search.keeps_up(candidate)
    }

    fn keeps_up_with_more(&self, candidate: &Candidate) -> bool {
        self.more.keeps_up(&self.search.stages(candidate))
    }

    fn neighbours(&self, candidate: &Candidate) -> Vec<Candidate> {
        self.search.neighbours(candidate)
    }

    fn trial(&self, candidate: &Candidate) -> Result<Trial, Rejection> {
        let lanes = lanes_of(candidate).map(|lane| LaneSpec {
            worker_count: lane.workers.into(),
            attempt_timeout: lane.timeout,
        });
        let (lanes, on_timeout) = (lanes.collect(), self.on_timeout);
        let lanes = LaneSetSpec { lanes, on_timeout, ..LaneSetSpec::default() }.check()?;
        Ok(Trial::of_lanes(lanes, candidate.cutoffs.clone()))
    }
}

/// A lane of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlannedLane {
    /// Number of workers.
    pub workers: u32,
    /// The attempt timeout; `None` in the last lane.
    pub timeout: Option<Span>,
}

pub(super) fn lanes_of(candidate: &Candidate) -> impl Iterator<Item = PlannedLane> {
    let timeouts = candidate.cutoffs.iter().map(|cutoff| Some(micros(*cutoff))).chain([None]);
    let lanes = candidate.workers.iter().zip(timeouts);
    lanes.map(|(workers, timeout)| PlannedLane { workers: *workers, timeout })
}
