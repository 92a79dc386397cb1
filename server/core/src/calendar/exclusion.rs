//! Times at which nothing may start.

use core::ops::Range;

use super::axis::{Axis, CalendarUnit};
use super::plan::{CalendarSpec, CycleWindow};
use crate::time::{Moment, Span};

/// Times at which nothing may start, as a caller describes them, not yet checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExclusionSpec {
    /// When.
    pub times: ExclusionTimes,
    /// What becomes of the runs.
    pub policy: ExclusionPolicy,
}

/// The times of an exclusion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExclusionTimes {
    /// [`start`, `end`), once; both on a tick.
    Dated {
        /// Inclusive.
        start: Moment,
        /// Exclusive; after `start`.
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

/// What becomes of runs that an exclusion forbids.
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

/// A checked exclusion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Exclusion {
    pub(crate) times: Times,
    pub(crate) policy: ExclusionPolicy,
}

/// When, in ticks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Times {
    Dated(Range<i64>),
    Recurring { axis: Axis, window: Range<u64> },
}

impl Exclusion {
    /// What a caller would say to get it.
    pub(crate) fn spec(&self, tick_millis: u64) -> ExclusionSpec {
        let span = |ticks: u64| Span::from_millis(ticks * tick_millis);
        let moment = |ticks: i64| {
            let millis = ticks.saturating_mul(tick_millis.cast_signed());
            Moment::from_unix_millis(millis).unwrap_or(Moment::UNIX_EPOCH) // it came from one
        };
        let times = match &self.times {
            Times::Dated(ticks) => {
                ExclusionTimes::Dated { start: moment(ticks.start), end: moment(ticks.end) }
            }
            Times::Recurring { axis, window } => {
                let (unit, zone) = axis.calendar().unwrap_or((CalendarUnit::Day, "UTC")); // always one
                let calendar = CalendarSpec { unit, time_zone: zone.to_owned() };
                let window = CycleWindow { start: span(window.start), end: span(window.end) };
                ExclusionTimes::Recurring { calendar, window }
            }
        };
        ExclusionSpec { times, policy: self.policy }
    }

    /// The spans of instants in [`from`, `to`) that it holds, in order; they may touch.
    pub(crate) fn spans(&self, from: i64, to: i64, mut each: impl FnMut(Range<i64>)) {
        match &self.times {
            Times::Dated(span) => {
                let (start, end) = (span.start.max(from), span.end.min(to));
                if start < end {
                    each(start..end);
                }
            }
            Times::Recurring { axis, window } => {
                axis.showing(core::slice::from_ref(window), from, to, each);
            }
        }
    }
}
