//! Runs where all cycles are alike and of one length.

use super::Run;
use crate::schedule::Schedule;

/// The cycle of an instant, where all cycles are alike and of one length. In milliseconds.
#[derive(Debug, Clone, Copy)]
pub(super) struct PlainCycle {
    pub(super) index: i64,
    start: i64,
    /// From the start of the cycle to the instant.
    passed: i64,
    period: i64,
    tick: i64,
}

impl PlainCycle {
    /// The cycle of an instant, which must be in the years 1 to 9999.
    pub(super) fn new(schedule: &Schedule, unix_millis: i64) -> Self {
        let tick = schedule.tick_millis().cast_signed();
        let period = schedule.period_millis().cast_signed(); // up to 3,660 days
        let passed = (unix_millis - schedule.anchor_millis()).rem_euclid(period);
        let index = (unix_millis - schedule.anchor_millis()).div_euclid(period);
        Self { index, start: unix_millis - passed, passed, period, tick }
    }

    /// The first run at or after the instant, of an ID that runs `cycle_offset` ticks into each
    /// cycle: in this cycle or the next, so no division is needed.
    #[inline]
    pub(super) fn next(self, cycle_offset: u64) -> Run {
        let offset = cycle_offset.cast_signed() * self.tick;
        let later = i64::from(offset < self.passed);
        Run::regular(self.index + later, self.start + later * self.period + offset)
    }

    /// The run before [`next`](Self::next).
    #[inline]
    pub(super) fn last(self, cycle_offset: u64) -> Run {
        let next = self.next(cycle_offset);
        Run::regular(next.cycle_index - 1, next.unix_millis - self.period)
    }
}
