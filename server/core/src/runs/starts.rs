//! Times at which late or smeared runs may start.

use core::ops::Range;

use crate::calendar::usable_from;
use crate::schedule::Schedule;

/// Cycles that are searched for a time at which runs may start.
pub(super) const REACHED_CYCLES: i64 = 64;

/// Where late or smeared runs may start from an instant on: wherever active windows and
/// exclusions leave room.
#[derive(Debug, Clone)]
pub(crate) struct StartTimes {
    from: i64,
    /// Milliseconds over which runs are smeared: the requested span, or the usable time of the next
    /// cycles if that is less.
    span: u64,
    usable: UsableTime,
}

#[derive(Debug, Clone)]
enum UsableTime {
    All,
    /// Usable ticks since the Unix epoch, in order.
    Some {
        ticks: Vec<Range<i64>>,
        tick_millis: u64,
    },
}

impl StartTimes {
    /// The start times from `from` on, over a span in milliseconds of usable time.
    pub(crate) fn new(schedule: &Schedule, from: i64, span: u64) -> Self {
        let Some(plan) = schedule.plan().filter(|plan| plan.narrows()) else {
            return Self { from, span, usable: UsableTime::All };
        };
        let tick_millis = schedule.tick_millis();
        let first = -(-from).div_euclid(tick_millis.cast_signed());
        let ticks = usable_from(plan, first, span / tick_millis + 1, REACHED_CYCLES);
        let length = |span: &Range<i64>| (span.end - span.start).unsigned_abs() * tick_millis;
        let span = span.min(ticks.iter().map(length).sum());
        Self { from, span, usable: UsableTime::Some { ticks, tick_millis } }
    }

    /// Milliseconds over which runs are smeared.
    pub(crate) const fn span(&self) -> u64 {
        self.span
    }

    /// The instant at this position in the span; `None` if nothing may start there, nor soon after.
    pub(crate) fn at(&self, position: u64) -> Option<i64> {
        match &self.usable {
            UsableTime::All => Some(self.from + position.cast_signed()),
            UsableTime::Some { ticks, tick_millis } => {
                let mut left = position / tick_millis;
                let span = ticks.iter().find(|span| {
                    let length = (span.end - span.start).unsigned_abs();
                    let holds = left < length;
                    left -= if holds { 0 } else { length };
                    holds
                })?;
                Some((span.start + left.cast_signed()) * tick_millis.cast_signed())
            }
        }
    }
}
