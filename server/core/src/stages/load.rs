//! How long a backlog lasts, and how many workers keep up with what arrives.

use crate::limits::{ARRIVAL_PERIOD_MILLIS, STAGE_WORKERS, WORKLOAD_MICROS};
use crate::rejection::{Reason, Rejection};
use crate::time::Span;

/// Unchecked arrival rate: on average `count` jobs in every `period`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrivals {
    /// Number of jobs.
    pub count: i64,
    /// The span in which they arrive.
    pub period: Span,
}

/// A checked arrival rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Rate {
    pub(super) count: u64,
    pub(super) period_nanos: u64,
}

impl Rate {
    pub(super) const NONE: Self = Self { count: 0, period_nanos: 1 };

    pub(super) fn try_new(arrivals: Arrivals) -> Result<Self, Rejection> {
        let Arrivals { count, period } = arrivals;
        let checked = u64::try_from(count).map_err(|_| {
            let allowed = "must be 0 jobs or more";
            Rejection::new(Reason::OutOfRange, "arrival_count", count, allowed)
        })?;
        let millis = period.nanos().div_euclid(1_000_000);
        let nanos = u64::try_from(period.nanos()).ok();
        let period_nanos = nanos.filter(|_| ARRIVAL_PERIOD_MILLIS.allows(millis));
        let period_nanos = period_nanos.ok_or_else(|| {
            let allowed = format!("must be {ARRIVAL_PERIOD_MILLIS}");
            Rejection::new(Reason::OutOfRange, "arrival_period", period, allowed)
        })?;
        Ok(Self { count: checked, period_nanos })
    }
}

/// The load of a stage: waiting and arriving jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Load {
    backlog: u64,
    mean_nanos: u64,
    rate: Rate,
}

impl Load {
    /// # Errors
    /// When the arrivals need more workers than a stage may have.
    pub(super) fn try_new(backlog: u64, mean_nanos: u64, rate: Rate) -> Result<Self, Rejection> {
        let load = Self { backlog, mean_nanos, rate };
        let workers = load.workers_to_keep_up();
        if workers > u128::from(STAGE_WORKERS.max_size() as u64) {
            let most = STAGE_WORKERS.maximum;
            let allowed = format!("must be fewer: {most} workers would not keep up with them");
            return Err(Rejection::new(Reason::OutOfRange, "arrival_count", rate.count, allowed));
        }
        Ok(load)
    }

    /// The jobs that wait.
    #[must_use]
    pub const fn backlog(&self) -> u64 {
        self.backlog
    }

    /// The fewest workers that do more in any time than arrives in it; 0 if nothing arrives.
    /// As many as arrive exactly would not do: where run times vary, their queue grows.
    #[must_use]
    pub fn min_stable_workers(&self) -> u64 {
        u64::try_from(self.workers_to_keep_up()).unwrap_or(u64::MAX)
    }

    fn workers_to_keep_up(&self) -> u128 {
        let Rate { count, period_nanos } = self.rate;
        let busy_nanos = u128::from(count) * u128::from(self.mean_nanos);
        if count == 0 { 0 } else { busy_nanos / u128::from(period_nanos) + 1 }
    }

    /// The microseconds, rounded up, after which so many workers have done the backlog and what
    /// arrives in the meantime. None: never, or after 2^63 µs.
    #[must_use]
    pub fn drain_micros(&self, workers: u64) -> Option<u64> {
        if workers < self.min_stable_workers() {
            return None;
        }
        if self.backlog == 0 {
            return Some(0);
        }
        // b·s/(w − λ·s), with λ = count/period: below 2^128, as b·s is below 2^63 µs and a period
        // at most 366 days.
        let period = u128::from(self.rate.period_nanos);
        let (backlog, mean) = (u128::from(self.backlog), u128::from(self.mean_nanos));
        let arriving = u128::from(self.rate.count) * mean;
        let spare = (u128::from(workers) * period).checked_sub(arriving).filter(|spare| *spare > 0);
        let micros = (backlog * mean * period).div_ceil(spare? * 1_000);
        u64::try_from(micros).ok().filter(|micros| WORKLOAD_MICROS.allows((*micros).into()))
    }
}
