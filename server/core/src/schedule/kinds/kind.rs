//! A kind of job, as it is described and as it is checked.

use crate::time::{Moment, Span};

/// A kind of job as a caller describes it, not yet checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KindSpec {
    /// 1 to 64 characters of `A-Z a-z 0-9 . _ -`; part of every run key.
    pub name: String,
    /// How long a run takes at most, 0 to one cycle. Given for every kind or for none. Default: not
    /// known, and half of the smallest gap is kept free around a run.
    pub run_time: Option<Span>,
}

impl KindSpec {
    /// A kind whose run time is not known.
    #[must_use]
    pub fn named(name: &str) -> Self {
        Self { name: name.to_owned(), run_time: None }
    }
}

/// A kind of a schedule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kind {
    /// The name that requests use.
    pub name: String,
    /// How long a run takes at most, if that is known.
    pub run_time: Option<Span>,
    /// Slots from kind 0 to this kind, for the same ID.
    pub offset: u32,
    /// Slots from this kind to the next one that it must not meet, around the cycle; without one,
    /// the slot count.
    pub gap: u32,
    /// The shortest time between runs of these two kinds, rounded down to milliseconds. With a
    /// calendar, this is the time at the worst change of the clock from 2020 to 2037.
    pub gap_time: Span,
    /// Start of the cycle in which that change is; `None` where no change shortens the gap.
    pub shortest_cycle_start: Option<Moment>,
}
