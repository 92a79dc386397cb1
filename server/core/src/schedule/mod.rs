//! Schedules: a cycle, cut into slots, and a placement.

mod canonical;
mod catalog;
mod checks;
mod cycles;
mod identity;
mod kinds;
mod lengths;
mod name;
mod places;
mod spec;

use core::num::NonZeroU64;

use std::sync::Arc;

use crate::calendar::{CalendarUnit, CyclePlan, CycleWindow, ExclusionSpec};
use crate::placement::{Grid, Placement, greatest_common_divisor};
use crate::rejection::{Reason, Rejection};
use crate::time::{Moment, Span};

use self::identity::CatalogIdentity;

pub use catalog::{Catalog, Meanings};
pub use kinds::{Kind, KindSpec, Kinds};
pub use name::ScheduleName;
pub use spec::{CycleSpec, ScheduleSpec};

pub(crate) use kinds::{Turns, share};

/// A checked schedule: every query to it has an answer, or a refusal that is about the query alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedule {
    grid: Grid,
    tick_millis: u64,
    anchor_millis: i64,
    placement: Placement,
    /// Calendar, windows and exclusions, if there are any.
    plan: Option<Box<CyclePlan>>,
    weight_quantum: Option<u64>,
    kinds: Option<Arc<Kinds>>,
    /// The kind whose places these are; `None` without kinds, and for a schedule as a whole.
    kind: Option<u32>,
    named: Option<CatalogIdentity>,
}

impl Schedule {
    /// Checks a description.
    ///
    /// # Errors
    /// When a field is out of range or does not go with another, the slot count does not divide the
    /// cycle, or the kinds do not fit; the field is named as in `ScheduleSpec`.
    ///
    /// ```
    /// use offbeat_core::{Schedule, ScheduleSpec, Span};
    ///
    /// let spec = ScheduleSpec { slot_count: Some(7), ..ScheduleSpec::every(Span::from_seconds(86_400)) };
    /// let refused = Schedule::try_new(&spec).unwrap_err();
    /// assert!(refused.to_string().contains("nearest: 6 and 8 slots"), "{refused}");
    /// ```
    pub fn try_new(spec: &ScheduleSpec) -> Result<Self, Rejection> {
        let tick_millis = checks::resolution(spec.resolution)?;
        let cycles = cycles::cycles(spec, tick_millis)?;
        let placement = checks::placement(spec)?;
        let cycle = cycles.common_ticks(tick_millis);
        let slot_count = checks::slot_count(spec.slot_count, &cycle, &placement)?;
        let shortest = cycles.active_ticks.first().copied().unwrap_or(1);
        // A divisor of a positive number leaves at least 1.
        let slot_ticks =
            NonZeroU64::new(shortest / u64::from(slot_count)).unwrap_or(NonZeroU64::MIN);
        let (plan, anchor_millis) = (cycles.plan.map(Box::new), cycles.anchor_millis);
        let whole = Self {
            grid: Grid::new(slot_count, slot_ticks),
            tick_millis,
            anchor_millis,
            placement,
            plan,
            weight_quantum: checks::weight_quantum(spec.weight_quantum)?,
            kinds: None,
            kind: None,
            named: None,
        };
        Ok(Self { kinds: kinds::kinds(spec, &whole)?.map(Arc::new), ..whole })
    }

    /// Slots in a cycle.
    #[must_use]
    pub const fn slot_count(&self) -> u32 {
        self.grid.slot_count()
    }

    /// Ticks in a slot; in the shortest month, where months differ.
    #[must_use]
    pub const fn slot_ticks(&self) -> u64 {
        self.grid.slot_ticks()
    }

    /// Active ticks in a cycle, all of them without active windows; in the shortest month, where
    /// months differ.
    #[must_use]
    pub const fn active_ticks(&self) -> u64 {
        self.grid.period_ticks()
    }

    /// Active ticks in this cycle.
    #[must_use]
    pub fn active_ticks_of(&self, cycle_index: i64) -> u64 {
        self.plan.as_ref().map_or(self.active_ticks(), |plan| plan.active_ticks(cycle_index))
    }

    /// The greatest common divisor of the active ticks of all cycles.
    pub(crate) fn active_ticks_of_all(&self) -> u64 {
        // Four years have months of each length.
        (0..48).map(|cycle| self.active_ticks_of(cycle)).fold(0, greatest_common_divisor)
    }

    /// Length of a tick.
    #[must_use]
    pub const fn resolution(&self) -> Span {
        Span::from_millis(self.tick_millis)
    }

    /// Length of a cycle; with a calendar, of the longest one, by the wall clock.
    #[must_use]
    pub fn period(&self) -> Span {
        self.span(self.plan.as_ref().map_or(self.active_ticks(), |plan| plan.axis.longest()))
    }

    /// Which unit of the calendar a cycle is, and in which time zone.
    #[must_use]
    pub fn calendar(&self) -> Option<(CalendarUnit, &str)> {
        self.plan.as_ref()?.axis.calendar()
    }

    /// The parts of a cycle that may be used; empty if all of it may.
    #[must_use]
    pub fn active_windows(&self) -> Vec<CycleWindow> {
        let windows = self.plan.iter().flat_map(|plan| &plan.windows);
        windows.map(|window| self.cycle_window(window)).collect()
    }

    /// The times at which nothing may start, in the order of the canonical text.
    #[must_use]
    pub fn exclusions(&self) -> Vec<ExclusionSpec> {
        let exclusions = self.plan.iter().flat_map(|plan| &plan.exclusions);
        exclusions.map(|exclusion| exclusion.spec(self.tick_millis)).collect()
    }

    /// Length of a slot in active time; in the shortest month, where months differ.
    #[must_use]
    pub const fn slot_duration(&self) -> Span {
        self.span(self.slot_ticks())
    }

    /// A number of ticks as a span.
    #[must_use]
    pub const fn span(&self, ticks: u64) -> Span {
        self.resolution().times(ticks)
    }

    /// Slots that a job with this run time needs: rounded up, and at least one.
    ///
    /// # Errors
    /// When the run time is negative or longer than a cycle; the rejection names no field.
    ///
    /// ```
    /// use offbeat_core::{Schedule, ScheduleSpec, Span};
    ///
    /// let spec = ScheduleSpec { slot_count: Some(24), ..ScheduleSpec::every(Span::from_seconds(86_400)) };
    /// let daily = Schedule::try_new(&spec)?;
    /// assert_eq!(daily.slots_needed(Span::from_seconds(3_601))?, 2);
    /// # Ok::<(), offbeat_core::Rejection>(())
    /// ```
    pub fn slots_needed(&self, run_time: Span) -> Result<u64, Rejection> {
        if run_time < Span::from_seconds(0) || run_time > self.period() {
            let allowed = format!("must be 0s to {}, one period", self.period());
            return Err(Rejection::new(Reason::OutOfRange, "", run_time, allowed));
        }
        let slot = self.slot_duration().nanos();
        let needed = (run_time.nanos() + slot - 1) / slot;
        Ok(u64::try_from(needed).unwrap_or(u64::MAX).max(1))
    }

    /// Start of cycle 0; `None` with a calendar.
    #[must_use]
    pub fn anchor_time(&self) -> Option<Moment> {
        let anchor = Moment::from_unix_millis(self.anchor_millis).unwrap_or(Moment::UNIX_EPOCH);
        self.calendar().is_none().then_some(anchor)
    }

    /// How IDs become places.
    #[must_use]
    pub const fn placement(&self) -> &Placement {
        &self.placement
    }

    /// The weight up to which an ID is one piece, if the schedule has weights.
    #[must_use]
    pub const fn weight_quantum(&self) -> Option<u64> {
        self.weight_quantum
    }

    pub(crate) const fn grid(&self) -> Grid {
        self.grid
    }

    pub(crate) const fn anchor_millis(&self) -> i64 {
        self.anchor_millis
    }

    pub(crate) const fn tick_millis(&self) -> u64 {
        self.tick_millis
    }

    /// Whether cycles are periods, without active windows and exclusions.
    #[must_use]
    pub const fn is_plain(&self) -> bool {
        self.plan.is_none()
    }

    pub(crate) fn plan(&self) -> Option<&CyclePlan> {
        self.plan.as_deref()
    }

    fn cycle_window(&self, ticks: &core::ops::Range<u64>) -> CycleWindow {
        CycleWindow { start: self.span(ticks.start), end: self.span(ticks.end) }
    }

    /// Buckets in the smallest and in the largest slot (`TWISTER` only); they
    /// differ by at most one, and are equal if the slot count divides the bucket count.
    ///
    /// ```
    /// use offbeat_core::{PlacementKind, Schedule, ScheduleSpec, Span};
    ///
    /// let schedule = Schedule::try_new(&ScheduleSpec {
    ///     slot_count: Some(144),
    ///     placement: PlacementKind::Twister,
    ///     ..ScheduleSpec::every(Span::from_seconds(86_400))
    /// })?;
    /// assert_eq!(schedule.buckets_per_slot(), Some((1, 2))); // of 256 buckets
    /// # Ok::<(), offbeat_core::Rejection>(())
    /// ```
    #[must_use]
    pub fn buckets_per_slot(&self) -> Option<(u32, u32)> {
        let Placement::Twister { bucket_count, .. } = self.placement else {
            return None;
        };
        let slots = self.slot_count();
        Some((bucket_count / slots, bucket_count.div_ceil(slots)))
    }
}
