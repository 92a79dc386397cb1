//! Counters of a running scenario.

use std::sync::Arc;

use super::phases::{PhaseTally, Tail};
use super::sums::Sums;
use crate::distribution::real;

/// The figures of one second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Row {
    /// Jobs that wait at the end of the second.
    pub queue_depth: u32,
    /// Jobs that were enqueued in it.
    pub enqueued: u32,
    /// Attempts that began.
    pub started: u32,
    /// Jobs that were done.
    pub finished: u32,
    /// Attempts that failed: throttled, in an outage, or out of time.
    pub failed: u32,
    /// Attempts that found their lock held.
    pub lock_conflicts: u32,
    /// Workers with a job at the end of the second.
    pub busy_workers: u32,
    /// Workers at the end of the second.
    pub workers: u32,
}

impl Row {
    /// The names of the columns.
    pub const COLUMNS: [&'static str; 8] = [
        "queue_depth",
        "enqueued",
        "started",
        "finished",
        "failed",
        "lock_conflicts",
        "busy_workers",
        "workers",
    ];

    /// Values of the columns, in the order of [`Self::COLUMNS`].
    #[must_use]
    pub const fn values(&self) -> [u32; 8] {
        [
            self.queue_depth,
            self.enqueued,
            self.started,
            self.finished,
            self.failed,
            self.lock_conflicts,
            self.busy_workers,
            self.workers,
        ]
    }
}

/// Tally of the jobs of a partner's customers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PartnerTally {
    /// Jobs that were done.
    pub finished: u64,
    /// Attempts that it refused.
    pub throttled: u64,
    /// Attempts that failed because it was down.
    pub failed: u64,
    /// Jobs whose first attempt began; at the end, also those that wait for it.
    pub waited: u64,
    /// How long these had waited, in microseconds.
    pub wait_micros: u128,
}

/// Tally of the jobs of a partner's customers in a step of the series.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PartnerStep {
    /// Jobs that were done.
    pub finished: u32,
    /// Attempts that it refused.
    pub throttled: u32,
    /// Attempts that failed because it was down.
    pub failed: u32,
    /// Jobs whose first attempt began.
    pub waited: u32,
    /// How long these had waited, in microseconds.
    pub wait_micros: u64,
}

impl PartnerStep {
    /// The difference between two tallies.
    pub(super) fn between(before: &PartnerTally, after: &PartnerTally) -> Self {
        let count = |of: fn(&PartnerTally) -> u64| {
            u32::try_from(of(after) - of(before)).unwrap_or(u32::MAX)
        };
        Self {
            finished: count(|tally| tally.finished),
            throttled: count(|tally| tally.throttled),
            failed: count(|tally| tally.failed),
            waited: count(|tally| tally.waited),
            wait_micros: u64::try_from(after.wait_micros - before.wait_micros).unwrap_or(u64::MAX),
        }
    }
}

/// Runs that were due while the producer was stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LateRuns {
    /// Runs that came late.
    pub late: u64,
    /// Late runs that did not come, because the next run of the user would come before them.
    pub superseded: u64,
    /// Late runs that did not come, by the policy for missed runs.
    pub dropped: u64,
}

/// How much longer a job was in the system than it ran. The floor keeps the shortest jobs from
/// dominating.
#[inline]
pub(super) fn slowdown(sojourn: u64, run_time: u64, floor: u64) -> f64 {
    (real(sojourn) / real(run_time.max(floor).max(1))).max(1.0)
}

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
