//! What is measured of a run, as figures with names.

use serde::Serialize;
use serde::ser::SerializeMap as _;

use super::{deviation, mean, quantiles, spread};
use crate::run_times::real;
use crate::world::Trace;

/// Figures of a strategy, by name.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Figures([f64; Figures::NAMES.len()]);

impl Figures {
    /// What they are called. Times are in seconds. The variation of intervals is their root mean
    /// square distance from the cycle, over the cycle; that of the throughput its standard deviation
    /// over its mean.
    pub const NAMES: [&'static str; 21] = [
        "jobs_finished",
        "jobs_failed",
        "mean_wait",
        "p50_wait",
        "p95_wait",
        "p99_wait",
        "mean_sojourn",
        "p95_sojourn",
        "max_queue_depth",
        "peak_enqueued_per_second",
        "utilization",
        "throughput_variation",
        "interval_mean",
        "interval_variation",
        "interval_p05",
        "interval_p95",
        "never_served",
        "lock_conflicts",
        "wasted_share",
        "jobs_left",
        "mean_slowdown",
    ];

    /// A figure by its name; 0 of one that is not there.
    #[must_use]
    pub fn get(&self, name: &str) -> f64 {
        let place = Self::NAMES.iter().position(|other| *other == name);
        place.and_then(|place| self.0.get(place)).copied().unwrap_or_default()
    }

    /// Those of a run, whose samples are put into another order.
    pub(super) fn of(trace: &mut Trace, cycle: u64) -> Self {
        let Trace { waits, sojourns, intervals, sums, .. } = trace;
        // Means first: their last bits depend on the order.
        let (wait, sojourn, interval) = (mean(waits), mean(sojourns), mean(intervals));
        let interval_variation = deviation(intervals, cycle);
        let [p50_wait, p95_wait, p99_wait] = quantiles(waits, [0.5, 0.95, 0.99]);
        let [p95_sojourn] = quantiles(sojourns, [0.95]);
        let [p05_interval, p95_interval] = quantiles(intervals, [0.05, 0.95]);
        let minutes = sums.whole_minutes().iter().copied().map(real);
        let (_, throughput_variation) = spread(minutes);
        let seconds = |micros: u64| real(micros) / 1e6;
        Self([
            real(sojourns.len() as u64),
            real(trace.failed_jobs),
            wait / 1e6,
            seconds(p50_wait),
            seconds(p95_wait),
            seconds(p99_wait),
            sojourn / 1e6,
            seconds(p95_sojourn),
            f64::from(sums.most(|step| step.queue_depth)),
            f64::from(sums.most(|step| step.enqueued)),
            real(trace.worked) / real(trace.available.max(1)),
            throughput_variation,
            interval / 1e6,
            interval_variation,
            seconds(p05_interval),
            seconds(p95_interval),
            trace.never_served.into(),
            real(sums.lock_conflicts),
            real(trace.wasted) / real(trace.worked.max(1)),
            real(trace.left_jobs),
            trace.slowdowns / real((sojourns.len() as u64).max(1)),
        ])
    }

    pub(super) fn mean(all: &[Self]) -> Self {
        let mut sums = [0.0; Self::NAMES.len()];
        for figures in all {
            sums.iter_mut().zip(figures.0).for_each(|(sum, figure)| *sum += figure);
        }
        let count = real(all.len().max(1) as u64);
        Self(sums.map(|sum| sum / count))
    }
}

impl Serialize for Figures {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in Self::NAMES.iter().zip(self.0) {
            map.serialize_entry(name, &value)?;
        }
        map.end()
    }
}
