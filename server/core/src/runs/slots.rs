//! Slots on the clock.

use core::ops::Range;

use crate::calendar::{self, SlotSpan};
use crate::limits::LISTED_SLOTS;
use crate::rejection::{Reason, Rejection};
use crate::schedule::Schedule;
use crate::time::Moment;

/// One slot of one cycle: the half-open span [start, end).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot {
    /// The slot, from 0.
    pub index: u32,
    /// The cycle it belongs to.
    pub cycle_index: i64,
    /// The earliest time at which an ID of the slot runs.
    pub start: Moment,
    /// The end of the slot, exclusive: where the next slot starts, unless inactive time lies
    /// between them.
    pub end: Moment,
}

impl Schedule {
    /// The slot that runs at `at`; `None` outside the active windows.
    ///
    /// # Errors
    /// When it starts or ends outside the years 1 to 9999, naming `at_time`.
    ///
    /// ```
    /// use offbeat_core::{Moment, Schedule, ScheduleSpec, Span};
    ///
    /// let spec = ScheduleSpec { slot_count: Some(24), ..ScheduleSpec::every(Span::from_seconds(86_400)) };
    /// let slot = Schedule::try_new(&spec)?.slot_at(Moment::try_new(7_200, 0)?)?.unwrap();
    /// assert_eq!((slot.index, slot.cycle_index), (2, 0));
    /// assert_eq!(slot.end.parts(), (10_800, 0));
    /// # Ok::<(), offbeat_core::Rejection>(())
    /// ```
    pub fn slot_at(&self, at: Moment) -> Result<Option<Slot>, Rejection> {
        if let Some(plan) = self.plan() {
            let span = calendar::running_at(plan, self.slot_count(), self.ticks_to(at));
            let slot = |span| self.slot_of(span).ok_or_else(|| outside_time("at_time", &at));
            return span.map(slot).transpose();
        }
        let number = self.slots_before(at.unix_millis_floor() + 1) - 1;
        self.slot_numbered(number).map(Some).ok_or_else(|| outside_time("at_time", &at))
    }

    fn slot_of(&self, span: SlotSpan) -> Option<Slot> {
        let SlotSpan { index, cycle_index, start, end } = span;
        let (start, end) = (self.moment_of(start)?, self.moment_of(end)?);
        Some(Slot { index, cycle_index, start, end })
    }

    /// The slots that start in [`start`, `end`), in order.
    ///
    /// # Errors
    /// When `end` is before `start`, there are more than 4,096, or one of them
    /// lies outside the years 1 to 9999; naming `end_time`.
    ///
    /// ```
    /// use offbeat_core::{Moment, Schedule, ScheduleSpec, Span};
    ///
    /// let spec = ScheduleSpec { slot_count: Some(24), ..ScheduleSpec::every(Span::from_seconds(86_400)) };
    /// let (start, end) = (Moment::try_new(1, 0)?, Moment::try_new(7_200, 0)?);
    /// let slots = Schedule::try_new(&spec)?.slots_starting_in(start, end)?;
    /// assert_eq!(slots.iter().map(|slot| slot.index).collect::<Vec<_>>(), [1]);
    /// # Ok::<(), offbeat_core::Rejection>(())
    /// ```
    pub fn slots_starting_in(&self, start: Moment, end: Moment) -> Result<Vec<Slot>, Rejection> {
        if end < start {
            let allowed = format!("must not be before start_time, {start}");
            return Err(Rejection::new(Reason::Contradictory, "end_time", end, allowed));
        }
        if let Some(plan) = self.plan() {
            let (from, to) = (self.ticks_from(start), self.ticks_from(end));
            let spans = calendar::starting_in(plan, self.slot_count(), from, to)
                .map_err(|count| too_many_slots(count, &end))?;
            return self.slots_of(spans, &end);
        }
        let first = self.slots_before(start.unix_millis_ceil());
        let behind = self.slots_before(end.unix_millis_ceil());
        self.slots_numbered(first..behind, &end)
    }

    fn slots_of(
        &self,
        spans: Vec<SlotSpan>,
        end: &dyn core::fmt::Display,
    ) -> Result<Vec<Slot>, Rejection> {
        let slot = |span| self.slot_of(span).ok_or_else(|| outside_time("end_time", end));
        spans.into_iter().map(slot).collect()
    }

    fn slots_numbered(
        &self,
        numbers: Range<i128>,
        end: &dyn core::fmt::Display,
    ) -> Result<Vec<Slot>, Rejection> {
        let count = numbers.end - numbers.start;
        if !LISTED_SLOTS.allows(count) {
            return Err(too_many_slots(count, end));
        }
        numbers
            .map(|number| self.slot_numbered(number).ok_or_else(|| outside_time("end_time", end)))
            .collect()
    }

    /// The slots that start from `start` on, as many as a cycle has.
    ///
    /// # Errors
    /// As [`slots_starting_in`](Self::slots_starting_in).
    pub fn slots_of_a_period_from(&self, start: Moment) -> Result<Vec<Slot>, Rejection> {
        if let Some(plan) = self.plan() {
            let (count, end) = (self.slot_count(), format_args!("one cycle after {start}"));
            if !LISTED_SLOTS.allows(count.into()) {
                return Err(too_many_slots(count.into(), &end));
            }
            let spans = calendar::starting_from(plan, count, self.ticks_from(start));
            return self.slots_of(spans, &end);
        }
        let first = self.slots_before(start.unix_millis_ceil());
        let behind = first + i128::from(self.slot_count());
        self.slots_numbered(first..behind, &format_args!("one period after {start}"))
    }

    /// How many slots start before `unix_millis`, counted from the anchor (negative before it).
    fn slots_before(&self, unix_millis: i64) -> i128 {
        let since_anchor = i128::from(unix_millis) - i128::from(self.anchor_millis());
        let slot = i128::from(self.slot_ticks()) * i128::from(self.tick_millis());
        -(-since_anchor).div_euclid(slot)
    }

    fn slot_start(&self, number: i128) -> Option<Moment> {
        let slot = i128::from(self.slot_ticks()) * i128::from(self.tick_millis());
        let millis = i128::from(self.anchor_millis()) + number * slot;
        Moment::from_unix_millis(i64::try_from(millis).ok()?)
    }

    fn slot_numbered(&self, number: i128) -> Option<Slot> {
        let count = i128::from(self.slot_count());
        Some(Slot {
            index: u32::try_from(number.rem_euclid(count)).ok()?,
            cycle_index: i64::try_from(number.div_euclid(count)).ok()?,
            start: self.slot_start(number)?,
            end: self.slot_start(number + 1)?,
        })
    }
}

fn outside_time(field: &str, value: &dyn core::fmt::Display) -> Rejection {
    let allowed =
        format!("must be such that its slots start and end in {} to {}", Moment::MIN, Moment::MAX);
    Rejection::new(Reason::OutOfRange, field, value, allowed)
}

fn too_many_slots(count: i128, end: &dyn core::fmt::Display) -> Rejection {
    let value = format_args!("{end} (a window of {count} slots)");
    let allowed = format!("the window must hold {LISTED_SLOTS}: end it earlier");
    Rejection::new(Reason::OutOfRange, "end_time", value, allowed)
}
