//! Wall clocks and the units that cut them: days, weeks, months, or periods of one length.
//!
//! All times are in ticks: of instants since the Unix epoch, of wall clocks since they showed
//! 1970-01-01T00:00:00.

use core::ops::Range;

use super::unit::CalendarUnit;
use super::wall::{UtcOffset, Wall};
use super::zone::Zone;

/// How time is cut into units.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Axis {
    /// Into periods of one length, on the clock of UTC.
    Period {
        /// Ticks in a period.
        ticks: u64,
        /// The instant at which number 0 starts.
        anchor: i64,
    },
    /// By the wall clock of a zone.
    Calendar {
        unit: CalendarUnit,
        zone: Zone,
        /// Ticks in a second.
        rate: i64,
    },
}

const SECONDS_PER_DAY: i64 = 86_400;
/// Numbers of units further from 0 count as this: it is beyond the years 1 to 9999 by far, and no
/// product of it overflows.
const MOST_UNITS: i64 = 10_000_000;

impl Axis {
    /// The unit of the calendar, and the zone.
    pub(crate) fn calendar(&self) -> Option<(CalendarUnit, &str)> {
        match self {
            Self::Period { .. } => None,
            Self::Calendar { unit, zone, .. } => Some((*unit, zone.name())),
        }
    }

    /// The same units by the clock of another zone; `None` if there is no such zone, or no calendar.
    pub(crate) fn in_zone(&self, name: &str) -> Option<Self> {
        match self {
            Self::Period { .. } => None,
            Self::Calendar { unit, rate, .. } => {
                Some(Self::Calendar { unit: *unit, zone: Zone::named(name)?, rate: *rate })
            }
        }
    }

    /// Whether units start at the same times.
    pub(crate) fn is_cut_like(&self, other: &Self) -> bool {
        match (self, other) {
            (
                Self::Period { ticks, anchor },
                Self::Period { ticks: other_ticks, anchor: other_anchor },
            ) => {
                let shift = anchor - other_anchor;
                ticks == other_ticks && shift.rem_euclid(ticks.cast_signed()) == 0
            }
            _ => self == other,
        }
    }

    /// The wall-clock time at which a unit starts; far from the years 1 to 9999, one that is
    /// further away still.
    pub(crate) fn start(&self, number: i64) -> Wall {
        Wall(match self {
            Self::Period { ticks, anchor } => {
                anchor.saturating_add(number.saturating_mul(ticks.cast_signed()))
            }
            Self::Calendar { unit, rate, .. } => {
                let number = number.clamp(-MOST_UNITS, MOST_UNITS);
                unit.first_day(number) * SECONDS_PER_DAY * rate
            }
        })
    }

    /// The length of a unit by the wall clock.
    pub(crate) fn length(&self, number: i64) -> u64 {
        match self {
            Self::Period { ticks, .. } => *ticks,
            Self::Calendar { .. } => {
                let number = number.clamp(-MOST_UNITS, MOST_UNITS - 1);
                (self.start(number + 1) - self.start(number)).unsigned_abs()
            }
        }
    }

    /// The greatest length of a unit by the wall clock.
    pub(crate) fn longest(&self) -> u64 {
        match self {
            Self::Period { ticks, .. } => *ticks,
            Self::Calendar { unit, rate, .. } => {
                unit.longest() * SECONDS_PER_DAY.unsigned_abs() * rate.unsigned_abs()
            }
        }
    }

    /// The smallest length of a unit by the wall clock.
    pub(crate) fn shortest(&self) -> u64 {
        match self {
            Self::Period { ticks, .. } => *ticks,
            Self::Calendar { unit, rate, .. } => {
                let days = unit.lengths().first().copied().unwrap_or(1);
                days * SECONDS_PER_DAY.unsigned_abs() * rate.unsigned_abs()
            }
        }
    }

    /// A time longer than any from a run of an ID to its next one, with all changes of clocks,
    /// windows and lengths of months: two units and a day; the period itself for a period.
    pub(crate) fn reach(&self) -> i64 {
        match self {
            Self::Period { ticks, .. } => ticks.cast_signed(),
            Self::Calendar { rate, .. } => {
                2 * self.longest().cast_signed() + SECONDS_PER_DAY * rate
            }
        }
    }

    /// The unit that holds a wall-clock time.
    pub(crate) fn holding(&self, wall: Wall) -> i64 {
        let Wall(wall) = wall;
        match self {
            Self::Period { ticks, anchor } => (wall - anchor).div_euclid(ticks.cast_signed()),
            Self::Calendar { unit, rate, .. } => {
                unit.holding(wall.div_euclid(SECONDS_PER_DAY * rate))
            }
        }
    }

    /// The offsets in force in the instants [`from`, `to`): since when, and how far the wall
    /// clock is ahead of UTC.
    pub(crate) fn offsets(&self, from: i64, to: i64) -> Vec<(i64, UtcOffset)> {
        let Self::Calendar { zone, rate, .. } = self else {
            return vec![(from, UtcOffset(0))];
        };
        let offsets = zone.offsets(from.div_euclid(*rate), behind(to, *rate)).into_iter();
        let in_ticks = |(since, offset): (i64, UtcOffset)| {
            ((since * rate).max(from), UtcOffset(offset.0 * rate))
        };
        offsets.map(in_ticks).collect()
    }

    /// The offsets by which the wall-clock times [`from`, `to`) become instants: see
    /// [`Zone::wall_offsets`].
    pub(crate) fn wall_offsets(&self, from: Wall, to: Wall) -> Vec<(Wall, UtcOffset)> {
        let Self::Calendar { zone, rate, .. } = self else {
            return vec![(from, UtcOffset(0))];
        };
        let seconds = (Wall(from.0.div_euclid(*rate)), Wall(behind(to.0, *rate)));
        let offsets = zone.wall_offsets(seconds.0, seconds.1).into_iter();
        let in_ticks = |(since, offset): (Wall, UtcOffset)| {
            (Wall(since.0 * rate).max(from), UtcOffset(offset.0 * rate))
        };
        offsets.map(in_ticks).collect()
    }

    /// The wall clock at an instant.
    pub(crate) fn wall_at(&self, instant: i64) -> Wall {
        let offsets = self.offsets(instant, instant + 1);
        instant + offsets.first().map_or(UtcOffset(0), |(_, offset)| *offset)
    }

    /// The instant that a wall-clock time means.
    pub(crate) fn instant_of(&self, wall: Wall) -> i64 {
        let offsets = self.wall_offsets(wall, wall + 1);
        wall - offsets.first().map_or(UtcOffset(0), |(_, offset)| *offset)
    }

    /// Whether the clock skips all of a unit: only days, where a zone crosses the date line.
    pub(crate) fn is_skipped(&self, number: i64) -> bool {
        self.instant_of(self.start(number)) == self.instant_of(self.start(number + 1))
    }

    /// Whether a unit can be skipped that starts with this offset: nobody is further ahead of UTC
    /// than 15 hours, and to skip 24 takes as much.
    pub(crate) fn may_skip_days(&self, before: UtcOffset) -> bool {
        matches!(self, Self::Calendar { unit: CalendarUnit::Day, rate, .. }
            if before <= UtcOffset(-9 * 3_600 * rate))
    }

    /// How many units among these the clock skips.
    pub(crate) fn skipped_units(&self, numbers: Range<i64>) -> u64 {
        let Self::Calendar { zone, unit, .. } = self else { return 0 };
        if *unit != CalendarUnit::Day || numbers.is_empty() {
            return 0;
        }
        zone.skipped_days().iter().filter(|day| numbers.contains(day)).count() as u64
    }

    /// The unit that an instant lies in: the last that starts at or before it.
    pub(crate) fn at(&self, instant: i64) -> i64 {
        let mut number = self.holding(self.wall_at(instant));
        while self.instant_of(self.start(number + 1)) <= instant {
            number += 1;
        }
        while self.instant_of(self.start(number)) > instant {
            number -= 1;
        }
        number
    }

    /// The instants of [`from`, `to`) at which the wall clock shows a time in one of the
    /// windows of a unit, in order; `each` hears spans that may touch.
    pub(crate) fn showing(
        &self,
        windows: &[Range<u64>],
        from: i64,
        to: i64,
        mut each: impl FnMut(Range<i64>),
    ) {
        if from >= to {
            return;
        }
        let offsets = self.offsets(from, to);
        let ends = offsets.iter().skip(1).map(|(since, _)| *since).chain([to]);
        for (&(since, offset), end) in offsets.iter().zip(ends) {
            let (low, high) = (since + offset, end + offset);
            let mut number = self.holding(low);
            while self.start(number) < high {
                let (start, behind) = (self.start(number), self.start(number + 1));
                for window in windows {
                    let first = (start + window.start.cast_signed()).max(low);
                    let last = (start + window.end.cast_signed()).min(behind).min(high);
                    if first < last {
                        each(first - offset..last - offset);
                    }
                }
                number += 1;
            }
        }
    }
}

/// The first second at or after a tick.
const fn behind(ticks: i64, rate: i64) -> i64 {
    -(-ticks).div_euclid(rate)
}
