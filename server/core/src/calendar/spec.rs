//! Calendars, active windows and exclusions as a caller describes them, not yet checked.

use super::unit::CalendarUnit;
use crate::time::{Moment, Span};

/// A unit of the calendar in a time zone, as a caller describes it, not yet checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CalendarSpec {
    /// Day, week or month.
    pub unit: CalendarUnit,
    /// The zone, by its IANA name.
    pub time_zone: String,
}

/// A part of a cycle, [`start`, `end`) from its start, by the wall clock; not yet checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CycleWindow {
    /// Inclusive; a whole number of ticks.
    pub start: Span,
    /// Exclusive; a whole number of ticks, after `start`.
    pub end: Span,
}

/// Times at which nothing may start, as a caller describes them, not yet checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExclusionSpec {
    /// The times at which nothing may start.
    pub times: ExclusionTimes,
    /// Whether its runs are skipped or deferred.
    pub policy: ExclusionPolicy,
}

/// The times of an exclusion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExclusionTimes {
    /// [`start`, `end`), once; both on a tick.
    Dated {
        /// The first instant that is excluded.
        start: Moment,
        /// The first instant that is not excluded any more; after `start`.
        end: Moment,
    },
    /// Every instant whose wall clock shows a time in the window: of an hour that comes
    /// twice, both.
    Recurring {
        /// The unit that repeats, and whose clock.
        calendar: CalendarSpec,
        /// The part of the unit, shorter than the unit.
        window: CycleWindow,
    },
}

/// Policy for runs that an exclusion forbids.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ExclusionPolicy {
    /// They do not happen.
    Skip,
    /// They happen later, in their order, smeared over the usable time up to where the first of
    /// them comes one cycle later. Where there is none, they are skipped.
    #[default]
    Defer,
}

impl ExclusionPolicy {
    /// The name in canonical texts.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Skip => "SKIP",
            Self::Defer => "DEFER",
        }
    }
}
