//! Lanes as their owner describes them, and checked.

use crate::limits::{LANE_COUNT, LANE_TIMEOUT_MILLIS, LANE_WORKERS};
use crate::rejection::{Reason, Rejection, in_range};
use crate::time::Span;

/// Unchecked lanes.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LaneSetSpec {
    /// The lanes, fastest first.
    pub lanes: Vec<LaneSpec>,
    /// Which jobs a free worker takes.
    pub policy: LanePolicy,
    /// Whether a job is aborted or suspended at its timeout.
    pub on_timeout: OnTimeout,
    /// A job that is slow with a higher probability does not enter the express lane. Default: 1.
    pub max_express_slow_probability: Option<f64>,
}

/// An unchecked lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LaneSpec {
    /// Number of workers.
    pub worker_count: i64,
    /// How long an attempt may run. Only the last lane may be without a limit (`None`).
    pub attempt_timeout: Option<Span>,
}

/// Which jobs a free worker takes. Slow lanes choose first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LanePolicy {
    /// Those that were demoted furthest, then fresher ones; the express lane, untried ones.
    #[default]
    ExpressFirst,
    /// In the slow lane the first, demoted or not; the faster ones take what is left over.
    SlowFirst,
}

/// Whether a job is aborted or suspended at its timeout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnTimeout {
    /// It starts again in the next lane.
    #[default]
    Abort,
    /// It continues in the next lane.
    Suspend,
}

/// A lane in range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lane {
    /// Number of workers.
    pub workers: u64,
    /// How long an attempt may run.
    pub timeout: Option<Span>,
}

/// Lanes in range: the first and the last have workers.
#[derive(Debug, Clone, PartialEq)]
pub struct LaneSet {
    lanes: Vec<Lane>,
    /// Which jobs a free worker takes.
    pub policy: LanePolicy,
    /// Whether a job is aborted or suspended at its timeout.
    pub on_timeout: OnTimeout,
    pub(super) max_express_slow_probability: f64,
}

impl LaneSetSpec {
    /// Checks the lanes.
    ///
    /// # Errors
    /// When there are too few or too many, timeouts do not grow, the express or the slow lane is
    /// without workers, or a number is out of its range. Fields are named `lanes[1].worker_count`.
    pub fn check(&self) -> Result<LaneSet, Rejection> {
        let count = i64::try_from(self.lanes.len()).unwrap_or(i64::MAX);
        in_range("lanes", count, LANE_COUNT)?;
        let last = self.lanes.len() - 1;
        let mut lanes: Vec<Lane> = Vec::new();
        for (place, lane) in self.lanes.iter().enumerate() {
            let before = lanes.last().and_then(|lane| lane.timeout);
            let ends = place == 0 || place == last;
            let lane = check_lane(lane, before, ends, place == last);
            lanes.push(lane.map_err(|refused| refused.under(&format!("lanes[{place}]")))?);
        }
        let probability = self.max_express_slow_probability.unwrap_or(1.0);
        check_probability("max_express_slow_probability", probability)?;
        Ok(LaneSet {
            lanes,
            policy: self.policy,
            on_timeout: self.on_timeout,
            max_express_slow_probability: probability,
        })
    }
}

fn check_lane(
    lane: &LaneSpec,
    before: Option<Span>,
    has_workers: bool,
    is_last: bool,
) -> Result<Lane, Rejection> {
    let workers = in_range("worker_count", lane.worker_count, LANE_WORKERS)?;
    if workers == 0 && has_workers {
        let allowed =
            "must be 1 or more: the express and the slow lane must not be without workers";
        return Err(Rejection::new(Reason::OutOfRange, "worker_count", 0, allowed));
    }
    let field = "attempt_timeout";
    let Some(timeout) = lane.attempt_timeout else {
        if is_last {
            return Ok(Lane { workers, timeout: None });
        }
        let allowed = "must be set: the slow lane alone may be without";
        return Err(Rejection::new(Reason::FieldMissing, field, "nothing", allowed));
    };
    let millis = timeout.nanos().div_euclid(1_000_000);
    if !LANE_TIMEOUT_MILLIS.allows(millis) {
        let allowed = format!("must be {LANE_TIMEOUT_MILLIS}");
        return Err(Rejection::new(Reason::OutOfRange, field, timeout, allowed));
    }
    if let Some(before) = before.filter(|before| timeout <= *before) {
        let allowed = format!("must be longer than {before}, the timeout of the lane before");
        return Err(Rejection::new(Reason::Contradictory, field, timeout, allowed));
    }
    Ok(Lane { workers, timeout: Some(timeout) })
}

pub(super) fn check_probability(field: &str, probability: f64) -> Result<(), Rejection> {
    if (0.0..=1.0).contains(&probability) {
        return Ok(());
    }
    Err(Rejection::new(Reason::OutOfRange, field, probability, "must be 0 to 1"))
}

impl LaneSet {
    /// The lanes, fastest first.
    #[must_use]
    pub fn lanes(&self) -> &[Lane] {
        &self.lanes
    }

    /// The attempt timeout of a lane; `None` for the last lane without one.
    #[must_use]
    pub fn timeout(&self, lane: usize) -> Option<Span> {
        self.lanes.get(lane).and_then(|lane| lane.timeout)
    }

    /// Index of the slowest lane.
    #[must_use]
    pub fn last(&self) -> usize {
        self.lanes.len().saturating_sub(1)
    }

    /// The next lane with workers, for a job that has reached the timeout of `lane`; none after
    /// the last.
    #[must_use]
    pub fn after(&self, lane: usize) -> Option<usize> {
        self.at_least(lane.saturating_add(1))
    }

    /// The first lane with workers from `lane` on.
    #[must_use]
    pub fn at_least(&self, lane: usize) -> Option<usize> {
        let rest = self.lanes.iter().enumerate().skip(lane);
        rest.filter(|(_, lane)| lane.workers > 0).map(|(place, _)| place).next()
    }
}
