//! The trace that a run leaves.

use std::sync::Arc;

use super::metrics::{LateRuns, PartnerStep, PartnerTally, Row};
use super::phases::{PhaseTally, Tail};
use super::sums::Sums;

/// The results of a run.
#[derive(Debug, Clone, Default)]
pub struct Trace {
    /// Rows by second, if the scenario keeps them. Shared, so that they can be written while other
    /// runs continue.
    pub rows: Arc<Vec<Row>>,
    /// Sums of the rows.
    pub sums: Sums,
    /// For each first attempt, how long its job had waited, in microseconds.
    pub waits: Vec<u64>,
    /// For each job that was done, the time since it was enqueued, in microseconds.
    pub sojourns: Vec<u64>,
    /// The sum of the bounded slowdowns of the same jobs, max(1, sojourn / max(run time, floor)).
    /// The floor is the 10th percentile of the run times of the kind.
    pub slowdowns: f64,
    /// Tallies by partner.
    pub partners: Vec<PartnerTally>,
    /// By partner, and by step of the series.
    pub partner_steps: Vec<Vec<PartnerStep>>,
    /// Tallies by phase.
    pub phases: Vec<PhaseTally>,
    /// Whether jobs pile up at the end.
    pub tail: Tail,
    /// Runs that were due while the producer was stopped.
    pub late_runs: LateRuns,
    /// The least time between two enqueued runs of different kinds of a user, in microseconds;
    /// `None` if there were none.
    pub least_kind_distance: Option<u64>,
    /// Times between the ends of two runs of the first kind of a user, in microseconds.
    pub intervals: Vec<u64>,
    /// Users whose first kind never ran to its end.
    pub never_served: u32,
    /// Jobs that failed for good.
    pub failed_jobs: u64,
    /// Workers' time with jobs, in microseconds.
    pub worked: u64,
    /// The part of `worked` that was spent on attempts without a result.
    pub wasted: u64,
    /// Workers' time in total, in microseconds.
    pub available: u64,
    /// Jobs in the system, summed over the time in microseconds: for Little's law.
    pub job_micros: u128,
    /// Jobs that were enqueued.
    pub enqueued_jobs: u64,
    /// Enqueued jobs that were neither done nor failed at the end.
    pub left_jobs: u64,
    /// Whether the run was stopped before its end.
    pub is_cut: bool,
}
