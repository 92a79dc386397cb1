//! From a window of time to the active ticks whose IDs run in it.

use core::ops::Range;

use super::plan::CyclePlan;
use super::timeline::Timeline;

/// Active ticks of a cycle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ActiveTicks {
    /// How many the cycle has.
    pub(crate) of: u64,
    pub(crate) ticks: Range<u64>,
}

/// The active ticks whose IDs run in [`from`, `to`), exclusions considered. The window must not
/// be much longer than a cycle.
pub(crate) fn running_in(plan: &CyclePlan, from: i64, to: i64) -> Vec<ActiveTicks> {
    let axis = &plan.axis;
    let first = axis.holding(axis.wall_at(from - axis.reach())) - 1;
    let last = axis.holding(axis.wall_at(to)) + 1;
    let timeline = Timeline::new(plan, first..last + 1);
    let instants = timeline.regular_instants_of(from, to);
    let mut running = Vec::new();
    for map in timeline.asked_maps() {
        for segment in &map.segments {
            for (from, to) in &instants {
                let ticks = segment.offsets_in(*from, *to);
                if !ticks.is_empty() {
                    running.push(ActiveTicks { of: map.active_ticks, ticks });
                }
            }
        }
    }
    running
}
