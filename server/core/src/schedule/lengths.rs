//! How long cycles are, and which one an instant lies in.

use super::Schedule;
use crate::calendar::{self, CycleShares, Exclusion, ExclusionPolicy, Times};
use crate::time::Moment;

impl Schedule {
    /// The cycle of an instant in the years 1 to 9999, in milliseconds since the Unix epoch.
    pub(crate) fn cycle_of_millis(&self, millis: i64) -> i64 {
        match self.plan() {
            Some(plan) => plan.axis.at(millis.div_euclid(self.tick_millis().cast_signed())),
            None => (millis - self.anchor_millis()).div_euclid(self.shortest_cycle_millis()),
        }
    }

    /// The cycle of an instant.
    ///
    /// ```
    /// use offbeat_core::{Moment, Schedule, ScheduleSpec, Span};
    ///
    /// let daily = Schedule::try_new(&ScheduleSpec::every(Span::from_seconds(86_400)))?;
    /// assert_eq!(daily.cycle_at(Moment::try_new(2 * 86_400, 0)?), 2);
    /// assert_eq!(daily.cycle_at(Moment::try_new(-1, 0)?), -1);
    /// # Ok::<(), offbeat_core::Rejection>(())
    /// ```
    #[must_use]
    pub fn cycle_at(&self, at: Moment) -> i64 {
        self.cycle_of_millis(at.unix_millis_floor())
    }

    /// When a cycle starts, which is where the one before it ends; `None` outside the years 1 to
    /// 9999.
    ///
    /// ```
    /// use offbeat_core::{CalendarSpec, CalendarUnit, CycleSpec, Schedule, ScheduleSpec, Span};
    ///
    /// let calendar =
    ///     CalendarSpec { unit: CalendarUnit::Month, time_zone: "America/New_York".to_owned() };
    /// let monthly = Schedule::try_new(&ScheduleSpec {
    ///     cycle: CycleSpec::Calendar(calendar),
    ///     ..ScheduleSpec::every(Span::from_seconds(1))
    /// })?;
    /// let march = monthly.cycle_start(2).unwrap(); // of 1970
    /// assert_eq!(march.to_string(), "1970-03-01T05:00:00Z");
    /// # Ok::<(), offbeat_core::Rejection>(())
    /// ```
    #[must_use]
    pub fn cycle_start(&self, cycle_index: i64) -> Option<Moment> {
        if let Some(plan) = self.plan() {
            return self.moment_of(plan.axis.instant_of(plan.axis.start(cycle_index)));
        }
        let since_anchor = i128::from(cycle_index) * i128::from(self.period_millis());
        let millis = i128::from(self.anchor_millis()) + since_anchor;
        Moment::from_unix_millis(i64::try_from(millis).ok()?)
    }

    /// The first start of a cycle after `moment`, if it lies before the year 10000.
    #[must_use]
    pub fn cycle_start_after(&self, moment: Moment) -> Option<Moment> {
        self.cycle_start(self.cycle_of_millis(moment.unix_millis_floor()) + 1)
    }

    /// Length of a cycle, where cycles are periods without active windows and exclusions.
    pub(crate) const fn period_millis(&self) -> u64 {
        self.active_ticks() * self.tick_millis()
    }

    /// Length of the shortest cycle, by the wall clock: the limit of the spans of due runs, new IDs
    /// and migrations.
    pub(crate) fn shortest_cycle_millis(&self) -> i64 {
        let ticks = self.plan().map_or(self.active_ticks(), |plan| plan.axis.shortest());
        (ticks * self.tick_millis()).cast_signed()
    }

    /// From the place of kind 0 to that of this kind, in milliseconds, where cycles are periods.
    pub(crate) fn rotation_millis(&self) -> i64 {
        let ticks = u64::from(self.grid.rotation()) * self.slot_ticks();
        (ticks * self.tick_millis()).cast_signed()
    }

    /// Length of the longest cycle, by the wall clock.
    pub(crate) fn longest_cycle_millis(&self) -> i64 {
        let ticks = self.plan().map_or(self.active_ticks(), |plan| plan.axis.longest());
        (ticks * self.tick_millis()).cast_signed()
    }

    /// The words for [`shortest_cycle_millis`](Self::shortest_cycle_millis) in refusals.
    pub(crate) fn shortest_cycle_name(&self) -> &'static str {
        if self.calendar().is_some() { "one cycle, at its shortest" } else { "one period" }
    }

    /// The longest time from one run of a place to the next; `None` with exclusions, which have no
    /// such bound.
    pub(crate) fn longest_wait_millis(&self) -> Option<i64> {
        let Some(plan) = self.plan() else { return Some(self.period_millis().cast_signed()) };
        let wait = plan.longest_wait().checked_mul(self.tick_millis().cast_signed());
        wait.filter(|_| !self.has_exclusions())
    }

    /// Whether a run can be skipped or deferred, so that finding runs takes longer.
    #[must_use]
    pub fn has_exclusions(&self) -> bool {
        self.plan().is_some_and(|plan| !plan.exclusions.is_empty())
    }

    /// Whether clocks of time zones decide: of a calendar, or of recurring exclusions.
    #[must_use]
    pub fn follows_zones(&self) -> bool {
        let recurs = |exclusion: &Exclusion| matches!(exclusion.times, Times::Recurring { .. });
        self.calendar().is_some()
            || self.plan().is_some_and(|plan| plan.exclusions.iter().any(recurs))
    }

    /// Whether exclusions defer runs.
    pub(crate) fn defers(&self) -> bool {
        let exclusions = self.plan().map_or(&[][..], |plan| &plan.exclusions);
        exclusions.iter().any(|exclusion| exclusion.policy == ExclusionPolicy::Defer)
    }

    /// Whether parts of a cycle are not active.
    pub(crate) fn has_windows(&self) -> bool {
        self.plan().is_some_and(|plan| !plan.windows.is_empty())
    }

    /// Whether both have the same active windows, wherever their cycles start.
    pub(crate) fn has_windows_of(&self, other: &Self) -> bool {
        let windows = |schedule: &Self| schedule.plan().map(|plan| plan.windows.clone());
        windows(self).unwrap_or_default() == windows(other).unwrap_or_default()
    }

    /// Whether cycles start together and the same parts of them are active.
    pub(crate) fn is_cut_like(&self, other: &Self) -> bool {
        let plans = self.plan().zip(other.plan());
        plans.is_some_and(|(one, other)| {
            one.axis.is_cut_like(&other.axis) && one.windows == other.windows
        })
    }

    /// A field that keeps the cycles from being plain periods, if one does.
    pub(crate) fn irregular_field(&self) -> Option<&'static str> {
        let plan = self.plan()?;
        Some(match (self.calendar(), plan.windows.is_empty()) {
            (Some(_), _) => "calendar",
            (None, false) => "active_windows",
            (None, true) => "exclusions",
        })
    }

    /// The first tick since the Unix epoch at or after an instant.
    pub(crate) fn ticks_from(&self, moment: Moment) -> i64 {
        -(-moment.unix_millis_ceil()).div_euclid(self.tick_millis().cast_signed())
    }

    /// The last tick since the Unix epoch at or before an instant.
    pub(crate) fn ticks_to(&self, moment: Moment) -> i64 {
        moment.unix_millis_floor().div_euclid(self.tick_millis().cast_signed())
    }

    pub(crate) fn moment_of(&self, ticks: i64) -> Option<Moment> {
        Moment::from_unix_millis(ticks.checked_mul(self.tick_millis().cast_signed())?)
    }

    /// How much of a cycle is active, and what exclusions make of it.
    #[must_use]
    pub fn cycle_shares(&self, cycle_index: i64) -> CycleShares {
        match self.plan() {
            Some(plan) => calendar::shares(plan, cycle_index),
            None => CycleShares {
                active_ticks: self.active_ticks(),
                skipped_ticks: 0,
                deferred_ticks: 0,
            },
        }
    }
}
