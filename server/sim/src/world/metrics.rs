//! Counters of a running scenario.

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
