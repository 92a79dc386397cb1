//! Shares of a cycle that exclusions skip or defer.

use super::plan::CyclePlan;
use super::timeline::Timeline;

/// Active, skipped and deferred ticks of a cycle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CycleShares {
    /// Active ticks in the cycle.
    pub active_ticks: u64,
    /// How many of their runs exclusions skip.
    pub skipped_ticks: u64,
    /// How many of their runs exclusions defer.
    pub deferred_ticks: u64,
}

impl CycleShares {
    /// The share of the runs that is skipped, 0 to 1.
    #[must_use]
    pub fn skipped(&self) -> f64 {
        share(self.skipped_ticks, self.active_ticks)
    }

    /// The share of the runs that is deferred, 0 to 1.
    #[must_use]
    pub fn deferred(&self) -> f64 {
        share(self.deferred_ticks, self.active_ticks)
    }
}

#[expect(clippy::cast_precision_loss, reason = "ticks are below 2^53")]
fn share(part: u64, whole: u64) -> f64 {
    part as f64 / whole.max(1) as f64
}

pub(crate) fn shares(plan: &CyclePlan, index: i64) -> CycleShares {
    let timeline = Timeline::new(plan, index..index + 1);
    let mut shares = CycleShares { active_ticks: 0, skipped_ticks: 0, deferred_ticks: 0 };
    if let Some(map) = timeline.map(index).filter(|map| map.is_skipped) {
        let (active_ticks, skipped_ticks) = (map.active_ticks, map.active_ticks);
        return CycleShares { active_ticks, skipped_ticks, deferred_ticks: 0 };
    }
    for map in timeline.asked_maps() {
        shares.active_ticks += map.active_ticks;
        for segment in &map.segments {
            for (from, to, skips) in timeline.excluded_in(segment.instant, segment.end()) {
                let ticks = (to - from).unsigned_abs();
                if skips {
                    shares.skipped_ticks += ticks;
                } else {
                    shares.deferred_ticks += ticks;
                }
            }
        }
    }
    shares
}
