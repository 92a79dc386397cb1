//! Named figures of a run.

use serde::Serialize;

use super::stats::{deviation, mean, quantiles, spread};
use crate::distribution::real;
use crate::world::Trace;

macro_rules! figures {
    ($($(#[$doc:meta])+ $name:ident,)+) => {
        /// Figures of a strategy. Times are in seconds.
        #[derive(Debug, Clone, Copy, PartialEq, Serialize)]
        pub struct Figures {
            $($(#[$doc])+ pub $name: f64,)+
        }

        impl Figures {
            /// The names of the fields.
            pub const NAMES: [&'static str; [$(stringify!($name)),+].len()] =
                [$(stringify!($name)),+];

            /// The figures, in the order of [`NAMES`](Self::NAMES).
            #[must_use]
            pub const fn values(&self) -> [f64; Self::NAMES.len()] {
                [$(self.$name),+]
            }

            /// Means over the runs of a strategy.
            pub(super) fn mean(all: &[Self]) -> Self {
                let count = real(all.len().max(1) as u64);
                Self { $($name: all.iter().map(|one| one.$name).sum::<f64>() / count,)+ }
            }
        }
    };
}

figures! {
    /// Jobs that were done.
    jobs_finished,
    /// Jobs that failed for good.
    jobs_failed,
    /// From enqueuing to the first attempt, in seconds.
    mean_wait,
    /// The median wait, in seconds.
    p50_wait,
    /// The 95th percentile of the waits, in seconds.
    p95_wait,
    /// The 99th percentile of the waits, in seconds.
    p99_wait,
    /// From enqueuing to the end, in seconds, of jobs that were done.
    mean_sojourn,
    /// The 95th percentile of the sojourn times, in seconds.
    p95_sojourn,
    /// The most jobs that waited at the end of a second.
    max_queue_depth,
    /// The most jobs that were enqueued in a second.
    peak_enqueued_per_second,
    /// Busy worker time over available worker time: 0 to 1.
    utilization,
    /// The standard deviation of the jobs finished in a minute, over their mean.
    throughput_variation,
    /// The mean time between the ends of two runs of a user, in seconds.
    interval_mean,
    /// The root mean square distance of these intervals from the cycle, over the cycle.
    interval_variation,
    /// The 5th percentile of the intervals, in seconds.
    interval_p05,
    /// The 95th percentile of the intervals, in seconds.
    interval_p95,
    /// Users without a run that was done.
    never_served,
    /// Attempts that found their lock held.
    lock_conflicts,
    /// Worker time of attempts without a result over all worker time: 0 to 1.
    wasted_ratio,
    /// Jobs that waited or ran at the end.
    jobs_left,
    /// The mean of sojourn time over run time, of jobs that were done.
    mean_slowdown,
}

impl Figures {
    /// The figures of a run; puts its samples into another order.
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
        Self {
            jobs_finished: real(sojourns.len() as u64),
            jobs_failed: real(trace.failed_jobs),
            mean_wait: wait / 1e6,
            p50_wait: seconds(p50_wait),
            p95_wait: seconds(p95_wait),
            p99_wait: seconds(p99_wait),
            mean_sojourn: sojourn / 1e6,
            p95_sojourn: seconds(p95_sojourn),
            max_queue_depth: f64::from(sums.most(|step| step.queue_depth)),
            peak_enqueued_per_second: f64::from(sums.most(|step| step.enqueued)),
            utilization: real(trace.worked) / real(trace.available.max(1)),
            throughput_variation,
            interval_mean: interval / 1e6,
            interval_variation,
            interval_p05: seconds(p05_interval),
            interval_p95: seconds(p95_interval),
            never_served: trace.never_served.into(),
            lock_conflicts: real(sums.lock_conflicts),
            wasted_ratio: real(trace.wasted) / real(trace.worked.max(1)),
            jobs_left: real(trace.left_jobs),
            mean_slowdown: trace.slowdowns / real((sojourns.len() as u64).max(1)),
        }
    }
}
