//! Parameters of a plan.

use offbeat_core::lanes::OnTimeout;
use offbeat_core::limits::{DEFAULT_PLAN_LANES, LANE_TIMEOUT_MILLIS, PLAN_LANES, PLAN_WORKERS};
use offbeat_core::{Reason, Rejection, Span};

use crate::distribution::Distribution;

/// Rates of arrival, per second.
const RATES: core::ops::RangeInclusive<f64> = 1e-6..=1e6;

/// Unchecked parameters of a plan.
#[derive(Debug, Clone)]
pub struct PlanSpec {
    /// How long jobs run.
    pub run_times: Distribution,
    /// Arrivals, in jobs per second.
    pub arrival_rate: f64,
    /// Workers of all lanes together.
    pub worker_count: i64,
    /// Upper bound of the express timeout. Default: none.
    pub tolerated_wait: Option<Span>,
    /// The run time that shorter run times count as, in a slowdown. Default: the 10th percentile of
    /// the run times.
    pub slowdown_floor: Option<Span>,
    /// Whether a timeout aborts or suspends.
    pub on_timeout: OnTimeout,
    /// Maximum number of lanes. Default: 3.
    pub max_lane_count: Option<i64>,
    /// Seed of the simulation.
    pub seed: i64,
}

/// Checked parameters of a plan.
#[derive(Debug, Clone, Copy)]
pub(super) struct Question {
    pub(super) workers: u32,
    pub(super) rate: f64,
    pub(super) floor: u64,
    pub(super) mean: f64,
    pub(super) longest_cutoff: u64,
    pub(super) lanes: u64,
}

impl PlanSpec {
    pub(super) fn check(&self) -> Result<Question, Rejection> {
        let workers = u32::try_from(self.worker_count)
            .ok()
            .filter(|_| PLAN_WORKERS.allows(self.worker_count.into()));
        let workers = workers.ok_or_else(|| {
            let allowed = format!("must be {PLAN_WORKERS}");
            Rejection::new(Reason::OutOfRange, "worker_count", self.worker_count, allowed)
        })?;
        let lanes = self.max_lane_count.unwrap_or(DEFAULT_PLAN_LANES);
        if !PLAN_LANES.allows(lanes.into()) {
            let allowed = format!("must be {PLAN_LANES}");
            return Err(Rejection::new(Reason::OutOfRange, "max_lane_count", lanes, allowed));
        }
        let rate = self.arrival_rate;
        if !RATES.contains(&rate) {
            let allowed = "must be 0.000001 to 1000000 jobs per second";
            return Err(Rejection::new(Reason::OutOfRange, "arrival_rate", rate, allowed));
        }
        let mean = self.run_times.all().first;
        let capacity = f64::from(workers) / mean;
        if rate >= capacity {
            let allowed = format!(
                "must be below {capacity:.6} jobs per second, all that {workers} workers can do at \
                 a mean run time of {mean:.6} s"
            );
            return Err(Rejection::new(Reason::OutOfRange, "arrival_rate", rate, allowed));
        }
        let longest_cutoff = match self.tolerated_wait {
            None => u64::MAX,
            Some(wait) => {
                let millis = wait.nanos().div_euclid(1_000_000);
                if !LANE_TIMEOUT_MILLIS.allows(millis) {
                    let allowed = format!("must be {LANE_TIMEOUT_MILLIS}");
                    return Err(Rejection::new(
                        Reason::OutOfRange,
                        "tolerated_wait",
                        wait,
                        allowed,
                    ));
                }
                u64::try_from(wait.nanos() / 1_000).unwrap_or(u64::MAX)
            }
        };
        let floor = match self.slowdown_floor {
            None => self.run_times.quantile(0.1),
            Some(floor) => {
                let micros = u64::try_from(floor.nanos() / 1_000).ok().filter(|floor| *floor > 0);
                micros.ok_or_else(|| {
                    let allowed = "must be 1 us or more, and less than 584,000 years";
                    Rejection::new(Reason::OutOfRange, "slowdown_floor", floor, allowed)
                })?
            }
        };
        Ok(Question { workers, rate, floor, mean, longest_cutoff, lanes: lanes.unsigned_abs() })
    }
}
