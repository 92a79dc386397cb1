//! When a place runs: the next time, the last, those between two instants, and how many.
//!
//! All queries about runs are answered here. Where cycles are periods, a run is an addition. Where
//! they are units of a calendar, or have active windows or exclusions, cycles are worked out in
//! chunks that all places share. This work is charged to a budget, so every query can end with
//! [`WorkBudgetExhausted`]. Instants are milliseconds since the Unix epoch; those outside the years
//! 1 to 9999 count as the nearest inside.

use core::ops::Range;

use super::Run;
use super::cycle_cache::{BEFORE, CycleCache, within_time};
use super::plain::PlainCycle;
use super::starts::REACHED_CYCLES;
use crate::calendar::{CyclePlan, RunFate, WorkBudgetExhausted};
use crate::limits::SEARCHED_CYCLES;
use crate::placement::{Grid, Place};
use crate::schedule::Schedule;

/// The runs of one place, in the order of their cycles. Made by [`CycleCache::runs_of`].
#[derive(Debug, Clone, Copy)]
pub struct PlaceRuns<'a> {
    cache: &'a CycleCache<'a>,
    place: Place,
    /// The grid of the kind that has this place.
    grid: Grid,
}

impl CycleCache<'_> {
    /// The runs of a place.
    #[must_use]
    pub const fn runs_of(&self, place: &Place) -> PlaceRuns<'_> {
        PlaceRuns { cache: self, place: *place, grid: self.schedule().grid() }
    }

    /// The runs of another kind of the ID that stands at `place`; it stands `offset` slots after
    /// kind 0.
    pub(super) fn runs_of_kind(&self, place: &Place, offset: u32) -> PlaceRuns<'_> {
        let own = self.schedule().grid();
        let slots = own.slot_count();
        let place = own.turned(place, (offset + slots - own.rotation()) % slots);
        PlaceRuns { cache: self, place, grid: own.rotated(offset) }
    }
}

impl<'a> PlaceRuns<'a> {
    /// The first run at or after `unix_millis`; `None` if exclusions skip 1,000 cycles, or it would
    /// be after the year 9999.
    ///
    /// # Errors
    /// When the answer needs more work than its budget allows.
    pub fn next(&self, unix_millis: i64) -> Result<Option<Run>, WorkBudgetExhausted> {
        self.all_from(unix_millis).next().transpose()
    }

    /// The same, but `None` if exclusions skip the next 64 cycles, so that little is looked through
    /// for a place that never runs.
    pub(super) fn next_soon(&self, unix_millis: i64) -> Result<Option<Run>, WorkBudgetExhausted> {
        let millis = within_time(unix_millis);
        if self.schedule().plan().is_none() {
            return self.next(millis);
        }
        let cycle = self.schedule().cycle_of_millis(millis);
        let found = self.first_in(cycle - BEFORE..cycle + REACHED_CYCLES, millis)?;
        Ok(found.filter(Run::is_in_time))
    }

    /// The last run before `unix_millis`; `None` if exclusions skip 1,000 cycles, or it would be
    /// before the year 1.
    ///
    /// # Errors
    /// When the answer needs more work than its budget allows.
    pub fn last(&self, unix_millis: i64) -> Result<Option<Run>, WorkBudgetExhausted> {
        let millis = within_time(unix_millis);
        self.last_before(self.schedule().cycle_of_millis(millis), millis)
    }

    /// All runs at or after `unix_millis`, in order. They end with the year 9999, where exclusions
    /// skip 1,000 cycles one after another, or with the first error.
    pub fn all_from(
        &self,
        unix_millis: i64,
    ) -> impl Iterator<Item = Result<Run, WorkBudgetExhausted>> + use<'a> {
        let millis = within_time(unix_millis);
        self.all_from_cycle(self.schedule().cycle_of_millis(millis), millis)
    }

    /// The same as [`all_from`](Self::all_from) for an instant whose cycle is known.
    pub(super) fn all_from_cycle(
        &self,
        cycle: i64,
        millis: i64,
    ) -> impl Iterator<Item = Result<Run, WorkBudgetExhausted>> + use<'a> {
        let runs = *self;
        let first = match self.schedule().plan() {
            None => self.plain_cycles_before(millis),
            Some(_) => cycle - BEFORE,
        };
        let mut index = Some(first);
        core::iter::from_fn(move || {
            let first = index.take()?;
            let found = runs.first_in(first..first.max(cycle) + SEARCHED_CYCLES.maximum, millis);
            let found = found.map(|run| run.filter(Run::is_in_time));
            index = found.ok().flatten().map(|run| run.cycle_index + 1);
            found.transpose()
        })
    }

    /// The first run at or after `millis` of one of these cycles.
    pub(super) fn first_in(
        &self,
        cycles: Range<i64>,
        millis: i64,
    ) -> Result<Option<Run>, WorkBudgetExhausted> {
        let Some(plan) = self.schedule().plan() else {
            return Ok(Some(self.plain_run(cycles.start)));
        };
        for cycle in cycles {
            let run = self.run(plan, cycle)?;
            if run.is_some_and(|run| run.unix_millis >= millis) {
                return Ok(run);
            }
        }
        Ok(None)
    }

    /// The same as [`last`](Self::last) for an instant whose cycle is known.
    pub(super) fn last_before(
        &self,
        cycle: i64,
        millis: i64,
    ) -> Result<Option<Run>, WorkBudgetExhausted> {
        let Some(plan) = self.schedule().plan() else {
            let last = self.plain_run(self.plain_cycles_before(millis) - 1);
            return Ok(Some(last).filter(Run::is_in_time));
        };
        for cycle in (cycle - SEARCHED_CYCLES.maximum..=cycle + 1).rev() {
            let run = self.run(plan, cycle)?;
            if run.is_some_and(|run| run.unix_millis < millis) {
                return Ok(run.filter(Run::is_in_time));
            }
        }
        Ok(None)
    }

    /// The runs that start in `range`, in order. After an error, the rest can be incomplete.
    pub fn between(
        &self,
        range: Range<i64>,
    ) -> impl DoubleEndedIterator<Item = Result<Run, WorkBudgetExhausted>> + use<'a> {
        let (runs, plan) = (*self, self.schedule().plan());
        let range = within_time(range.start)..within_time(range.end);
        let cycles = match plan {
            _ if range.is_empty() => 0..0,
            None => self.plain_cycles_before(range.start)..self.plain_cycles_before(range.end),
            Some(_) => self.cycles_around(&range),
        };
        cycles.filter_map(move |cycle| {
            let Some(plan) = plan else { return Some(Ok(runs.plain_run(cycle))) };
            let run = runs.run(plan, cycle);
            run.map(|run| run.filter(|run| range.contains(&run.unix_millis))).transpose()
        })
    }

    /// How many runs start in `range`.
    ///
    /// # Errors
    /// When the answer needs more work than its budget allows.
    pub fn count(&self, range: Range<i64>) -> Result<u64, WorkBudgetExhausted> {
        let range = within_time(range.start)..within_time(range.end);
        if range.is_empty() {
            return Ok(0);
        }
        self.tally([range.start, range.end]).map(|([count, _], _)| count)
    }

    /// How many runs start from each of these ascending instants up to the next one (0 for the
    /// last); and how many regular runs between the first and the last do not happen, because
    /// exclusions skip them or the clock skips their whole cycle.
    ///
    /// # Errors
    /// When the answer needs more work than its budget allows.
    pub fn tally<const N: usize>(
        &self,
        instants: [i64; N],
    ) -> Result<([u64; N], u64), WorkBudgetExhausted> {
        let instants = instants.map(within_time);
        let mut counts = [0; N];
        let whole = instants.first().copied().unwrap_or(0)..instants.last().copied().unwrap_or(0);
        if whole.is_empty() {
            return Ok((counts, 0));
        }
        let Some(plan) = self.schedule().plan().filter(|plan| !plan.exclusions.is_empty()) else {
            let mut firsts = [0; N];
            for (first, instant) in firsts.iter_mut().zip(instants) {
                *first = self.first_cycle(instant)?;
            }
            let plan = self.schedule().plan();
            let skipped = |cycles| plan.map_or(0, |plan| plan.axis.skipped_units(cycles));
            let mut all_skipped = 0;
            for ((count, first), next) in counts.iter_mut().zip(firsts).zip(firsts.iter().skip(1)) {
                let skipped = skipped(first..*next);
                all_skipped += skipped;
                *count = next.abs_diff(first) - skipped;
            }
            return Ok((counts, all_skipped));
        };
        let mut skipped = 0;
        for cycle in self.cycles_around(&whole) {
            let Some((regular, fate)) = self.cache.fate(plan, self.grid, &self.place, cycle)?
            else {
                continue;
            };
            let instant = match fate {
                RunFate::Regular => regular,
                RunFate::Deferred(instant) => instant,
                RunFate::Skipped => {
                    skipped += u64::from(whole.contains(&self.cache.millis(regular)));
                    continue;
                }
            };
            let instant = self.cache.millis(instant);
            let behind = instants.partition_point(|bound| *bound <= instant);
            if let Some(count) = behind.checked_sub(1).and_then(|part| counts.get_mut(part))
                && whole.contains(&instant)
            {
                *count += 1;
            }
        }
        Ok((counts, skipped))
    }

    /// The first cycle whose run is not before an instant, if every cycle has one.
    fn first_cycle(&self, millis: i64) -> Result<i64, WorkBudgetExhausted> {
        match self.schedule().plan() {
            None => Ok(self.plain_cycles_before(millis)),
            Some(plan) => self.cycles_before(plan, millis),
        }
    }

    /// The run of a cycle; `None` if it is skipped.
    fn run(&self, plan: &CyclePlan, cycle_index: i64) -> Result<Option<Run>, WorkBudgetExhausted> {
        let fate = self.cache.fate(plan, self.grid, &self.place, cycle_index)?;
        Ok(fate.and_then(|(regular, fate)| {
            let instant = match fate {
                RunFate::Regular => regular,
                RunFate::Deferred(instant) => instant,
                RunFate::Skipped => return None,
            };
            let millis = |ticks| self.cache.millis(ticks);
            let (unix_millis, regular_unix_millis) = (millis(instant), millis(regular));
            Some(Run { cycle_index, unix_millis, regular_unix_millis })
        }))
    }

    const fn schedule(&self) -> &'a Schedule {
        self.cache.schedule()
    }

    /// All cycles that can have a run in `range`.
    fn cycles_around(&self, range: &Range<i64>) -> Range<i64> {
        let cycle = |millis| self.schedule().cycle_of_millis(millis);
        cycle(range.start) - BEFORE..cycle(range.end) + 2
    }

    /// The first cycle whose run is not before `millis`, if every cycle has one.
    fn cycles_before(&self, plan: &CyclePlan, millis: i64) -> Result<i64, WorkBudgetExhausted> {
        let cycle = self.schedule().cycle_of_millis(millis);
        for cycle in (cycle - BEFORE..=cycle + 1).rev() {
            let run = self.run(plan, cycle)?;
            if run.is_some_and(|run| run.unix_millis < millis) {
                return Ok(cycle + 1);
            }
        }
        Ok(cycle - BEFORE)
    }

    /// The first cycle whose run is not before `millis`, where cycles are periods.
    fn plain_cycles_before(&self, millis: i64) -> i64 {
        PlainCycle::new(self.schedule(), millis).next(self.place.cycle_offset).cycle_index
    }

    fn plain_run(&self, cycle_index: i64) -> Run {
        let schedule = self.schedule();
        let (period, tick) = (schedule.period_millis(), schedule.tick_millis());
        let offset = (self.place.cycle_offset * tick).cast_signed(); // 3,660 days at most
        let start = schedule.anchor_millis() + cycle_index * period.cast_signed();
        Run::regular(cycle_index, start + offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calendar::{CalendarSpec, CalendarUnit};
    use crate::schedule::{CycleSpec, ScheduleSpec};
    use crate::time::{Moment, Span};

    fn daily() -> Schedule {
        let time_zone = "Europe/Berlin".to_owned();
        Schedule::try_new(&ScheduleSpec {
            cycle: CycleSpec::Calendar(CalendarSpec { unit: CalendarUnit::Day, time_zone }),
            ..ScheduleSpec::every(Span::from_seconds(1))
        })
        .unwrap()
    }

    #[test]
    fn every_question_says_that_the_budget_is_spent() {
        let schedule = daily();
        let place = schedule.place_of_hash(1 << 63);
        let cache = schedule.cycle_cache(Moment::UNIX_EPOCH);
        assert_eq!(cache.charge_visits(u64::MAX), Err(WorkBudgetExhausted));
        let runs = cache.runs_of(&place);
        assert_eq!(runs.next(0), Err(WorkBudgetExhausted));
        assert_eq!(runs.last(0), Err(WorkBudgetExhausted));
        assert_eq!(runs.count(0..1), Err(WorkBudgetExhausted));
        assert_eq!(runs.all_from(0).collect::<Vec<_>>(), [Err(WorkBudgetExhausted)]);
        assert_eq!(runs.between(0..1).next_back(), Some(Err(WorkBudgetExhausted)));
        cache.begin_answer();
        assert!(runs.next(0).is_ok_and(|run| run.is_some()));
    }

    /// The instants are as far as possible outside the years 1 to 9999.
    #[test]
    fn any_instant_may_be_asked_for() {
        let plain = Schedule::try_new(&ScheduleSpec::every(Span::from_seconds(3_600))).unwrap();
        for schedule in [plain, daily()] {
            let place = schedule.place_of_hash(1 << 63);
            let cache = schedule.cycle_cache(Moment::UNIX_EPOCH);
            let runs = cache.runs_of(&place);
            let (first, last) = (runs.next(i64::MIN).unwrap(), runs.last(i64::MAX).unwrap());
            assert_eq!(runs.last(i64::MIN), Ok(None));
            assert_eq!(runs.next(i64::MAX), Ok(None));
            let cycles = last.unwrap().cycle_index - first.unwrap().cycle_index;
            assert_eq!(runs.count(i64::MIN..i64::MAX), Ok(cycles.unsigned_abs() + 1));
            assert_eq!(schedule.cycle_start(i64::MAX), None);
            assert_eq!(schedule.cycle_start(i64::MIN), None);
            for cycle in [i64::MIN, i64::MAX] {
                assert_eq!(schedule.place_in(&place, cycle), place);
                assert_eq!(schedule.active_ticks_of(cycle), schedule.active_ticks());
            }
        }
    }
}
