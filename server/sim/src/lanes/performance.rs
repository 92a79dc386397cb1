//! How jobs fare.

use crate::distribution::real;

/// How the jobs of a simulation fared. Times are in microseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Performance {
    /// Bounded slowdown, max(1, sojourn / max(run time, floor)): the mean.
    pub mean_slowdown: f64,
    /// Nineteen of twenty jobs have no more.
    pub p95_slowdown: f64,
    /// From the arrival to the first start.
    pub mean_wait: f64,
    /// Nineteen of twenty jobs wait no longer.
    pub p95_wait: u64,
    /// From the arrival to the end.
    pub mean_sojourn: f64,
    /// Nineteen of twenty jobs are done within this.
    pub p95_sojourn: u64,
    /// Of the workers' time, the share that was lost by aborting.
    pub wasted_ratio: f64,
    /// Jobs that reached the timeout of the last lane. They count above in nothing else but
    /// the waste.
    pub failed: u64,
}

/// Counts jobs.
#[derive(Debug)]
pub(super) struct Tally {
    floor: u64,
    waits: Vec<u64>,
    sojourns: Vec<u64>,
    slowdowns: Vec<f64>,
}

impl Tally {
    pub(super) fn new(floor: u64, jobs: usize) -> Self {
        let (waits, sojourns) = (Vec::with_capacity(jobs), Vec::with_capacity(jobs));
        Self { floor: floor.max(1), waits, sojourns, slowdowns: Vec::with_capacity(jobs) }
    }

    #[inline]
    pub(super) fn add(&mut self, arrival: u64, start: u64, end: u64, run_time: u64) {
        let sojourn = end - arrival;
        self.waits.push(start - arrival);
        self.sojourns.push(sojourn);
        self.slowdowns.push((real(sojourn) / real(run_time.max(self.floor))).max(1.0));
    }

    pub(super) fn performance(mut self, worked: u64, wasted: u64, failed: u64) -> Performance {
        let mean = |values: &[u64]| {
            let sum: u128 = values.iter().copied().map(u128::from).sum();
            #[expect(clippy::cast_precision_loss, reason = "a mean")]
            let sum = sum as f64;
            sum / real(values.len().max(1) as u64)
        };
        let (mean_wait, mean_sojourn) = (mean(&self.waits), mean(&self.sojourns));
        let mean_slowdown =
            self.slowdowns.iter().sum::<f64>() / real(self.slowdowns.len().max(1) as u64);
        Performance {
            mean_slowdown,
            p95_slowdown: p95(&mut self.slowdowns, f64::total_cmp).unwrap_or(1.0),
            mean_wait,
            p95_wait: p95(&mut self.waits, Ord::cmp).unwrap_or_default(),
            mean_sojourn,
            p95_sojourn: p95(&mut self.sojourns, Ord::cmp).unwrap_or_default(),
            wasted_ratio: real(wasted) / real(worked.max(1)),
            failed,
        }
    }
}

/// The smallest value that nineteen of twenty do not exceed.
fn p95<T: Copy>(values: &mut [T], order: impl FnMut(&T, &T) -> core::cmp::Ordering) -> Option<T> {
    let place = (values.len() * 19).div_ceil(20).checked_sub(1)?;
    let (_, value, _) = values.select_nth_unstable_by(place, order);
    Some(*value)
}
