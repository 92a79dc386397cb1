//! The effect of the cutoff between two lanes.

use offbeat_core::Span;
use serde::Serialize;

use crate::distribution::real;
use crate::lanes::PlanSpec;
use crate::scenario::Scenario;

/// The slowdown by the cutoff between two lanes, for the run times of the first kind, if jobs come
/// at random.
#[derive(Debug, Clone, Serialize)]
pub struct LaneCurve {
    /// Points of the curve, by formula.
    pub cutoffs: Vec<LaneCutoff>,
    /// The express timeout of the strategy with lanes, in seconds.
    pub cutoff: f64,
    /// The mean bounded slowdown in one queue, simulated.
    pub one_queue: f64,
    /// The same with the best lanes that were found.
    pub with_lanes: f64,
}

/// A point of the curve.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct LaneCutoff {
    /// The express timeout, in seconds.
    pub cutoff: f64,
    /// The mean bounded slowdown.
    pub mean_slowdown: f64,
}

impl LaneCurve {
    /// The curve of the strategy with lanes; `None` without one, or if there is more work than the
    /// workers can do.
    pub(super) fn of(scenario: &Scenario) -> Option<Self> {
        let set = scenario.strategies.iter().find_map(|strategy| strategy.lanes.as_ref())?;
        let run_times = scenario.kinds.first()?.run_time.clone();
        let workers: u64 = set.lanes().iter().map(|lane| lane.workers).sum();
        let spec = PlanSpec {
            arrival_rate: f64::from(scenario.population) / (real(scenario.timing.cycle) / 1e6),
            run_times,
            worker_count: workers.cast_signed(),
            tolerated_wait: None,
            slowdown_floor: None,
            on_timeout: set.on_timeout,
            max_lane_count: None,
            seed: 0,
        };
        let plan = spec.plan().ok()?;
        #[expect(clippy::cast_precision_loss, reason = "to be drawn")]
        let seconds = |span: Span| span.nanos() as f64 / 1e9;
        let [now, ..] = &plan.rates;
        Some(Self {
            cutoffs: plan
                .cutoffs
                .iter()
                .filter_map(|point| {
                    let cutoff = seconds(point.cutoff);
                    Some(LaneCutoff { cutoff, mean_slowdown: point.mean_slowdown? })
                })
                .collect(),
            cutoff: set.timeout(0).map(seconds)?,
            one_queue: now.without_lanes.median.mean_slowdown,
            with_lanes: now.with_lanes.as_ref()?.median.mean_slowdown,
        })
    }
}
