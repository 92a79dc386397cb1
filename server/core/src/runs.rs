//! The runs of a place on the clock: all that due runs, newcomers and migrations ask of a
//! schedule's cycles. Times are milliseconds since the Unix epoch.
//!
//! PENDING-MERGE: over cycles of the calendar, windows and exclusions, the functions of this file
//! have other bodies; nothing outside of it takes runs for evenly spaced.

use core::ops::Range;

use crate::placement::Place;
use crate::schedule::Schedule;
use crate::time::Moment;
use crate::timetable::Run;

/// The runs of one place, in every cycle.
#[derive(Debug, Clone, Copy)]
pub struct RunTimes {
    /// The run of cycle 0.
    origin: i64,
    period: i64,
}

impl RunTimes {
    /// The first run at or after `millis`.
    #[must_use]
    pub fn first_from(&self, millis: i64) -> Option<Run> {
        Some(self.run(self.cycles_before(millis)))
    }

    /// The last run before `millis`.
    #[must_use]
    pub fn last_before(&self, millis: i64) -> Option<Run> {
        Some(self.run(self.cycles_before(millis) - 1))
    }

    /// The runs that start in `range`, in order, one by one.
    pub fn between(&self, range: Range<i64>) -> impl Iterator<Item = Run> {
        let runs = *self;
        let cycles = if range.is_empty() {
            0..0
        } else {
            self.cycles_before(range.start)..self.cycles_before(range.end)
        };
        cycles.map(move |cycle| runs.run(cycle))
    }

    /// How many runs start in `range`, without naming them.
    #[must_use]
    pub fn count(&self, range: Range<i64>) -> u64 {
        if range.is_empty() {
            return 0;
        }
        self.cycles_before(range.start).abs_diff(self.cycles_before(range.end))
    }

    /// The first cycle whose run is not before `millis`: a division rounded up.
    const fn cycles_before(&self, millis: i64) -> i64 {
        -(self.origin - millis).div_euclid(self.period)
    }

    const fn run(&self, cycle_index: i64) -> Run {
        Run { cycle_index, unix_millis: self.origin + cycle_index * self.period }
    }
}

impl Schedule {
    /// When a place runs.
    #[must_use]
    pub fn run_times(&self, place: &Place) -> RunTimes {
        let millis = |ticks: u64| (ticks * self.tick_millis()).cast_signed(); // 3,660 days at most
        RunTimes {
            origin: self.anchor_millis() + millis(place.cycle_offset),
            period: millis(self.period_ticks()),
        }
    }

    /// The cycle that `millis` lies in.
    #[must_use]
    pub fn cycle_at(&self, millis: i64) -> i64 {
        (millis - self.anchor_millis()).div_euclid(self.shortest_cycle_millis())
    }

    /// The first start of a cycle after `moment`, if it lies before the year 10000.
    #[must_use]
    pub fn cycle_start_after(&self, moment: Moment) -> Option<Moment> {
        self.cycle_start(self.cycle_at(moment.unix_millis_floor()) + 1)
    }

    /// Length of the shortest cycle: what spans of due runs, newcomers and migrations may be.
    pub(crate) fn shortest_cycle_millis(&self) -> i64 {
        self.period_millis().cast_signed()
    }

    /// No place waits longer from one run to the next.
    pub(crate) fn longest_wait_millis(&self) -> i64 {
        self.period_millis().cast_signed()
    }
}
