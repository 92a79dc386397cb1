//! The runs of places on the clock: all that due runs, newcomers and migrations ask of a
//! schedule's cycles. Times are milliseconds since the Unix epoch.

use core::cell::{Cell, RefCell};
use core::ops::Range;

use std::collections::BTreeMap;
use std::rc::Rc;

use super::Run;
use crate::calendar::{Fate, Plan, Timeline, WorkedOut};
use crate::limits::SEARCHED_CYCLES;
use crate::placement::Place;
use crate::schedule::Schedule;
use crate::time::Moment;

/// Cycles that are worked out together, where they are more than a period.
const CHUNK: i64 = 16;
/// What the cycles that are remembered may take together: see [`Timeline::size`].
const REMEMBERED: usize = 1 << 18;

/// The cycles of a schedule: what is worked out for one place serves the others.
#[derive(Debug, Clone)]
pub struct Clock<'a> {
    schedule: &'a Schedule,
    remembered: RefCell<Remembered>,
    /// Cycles that were looked through, and what was worked out for it.
    work: Cell<u64>,
    worked_out: WorkedOut,
}

#[derive(Debug, Clone, Default)]
struct Remembered {
    timelines: BTreeMap<i64, Rc<Timeline>>,
    size: usize,
}

impl Clock<'_> {
    /// When a place runs.
    #[must_use]
    pub fn times(&self, place: &Place) -> RunTimes<'_> {
        RunTimes { clock: self, place: *place }
    }

    /// How much was looked through so far: 0 for a schedule without exclusions.
    pub(crate) const fn work(&self) -> u64 {
        self.work.get()
    }

    pub(crate) const fn worked_out(&self) -> &WorkedOut {
        &self.worked_out
    }

    /// How many cycles must be looked through to count the runs of a place in `range`: none without
    /// exclusions, where each cycle has one.
    pub(crate) fn cycles_to_count(&self, range: &Range<i64>) -> u64 {
        if !self.schedule.has_exclusions() || range.is_empty() {
            return 0;
        }
        let cycle = |millis| self.schedule.cycle_of_millis(millis);
        cycle(range.start).abs_diff(cycle(range.end))
    }

    fn timeline(&self, plan: &Plan, index: i64) -> Option<Rc<Timeline>> {
        let chunk = index.div_euclid(CHUNK);
        let mut remembered = self.remembered.borrow_mut();
        if let Some(timeline) = remembered.timelines.get(&chunk) {
            return Some(Rc::clone(timeline));
        }
        let cycles = chunk * CHUNK..(chunk + 1) * CHUNK;
        let timeline = Rc::new(self.worked_out.timeline(plan, cycles)?);
        let (size, work) = (timeline.size(), timeline.work());
        self.work.set(self.work.get().saturating_add(u64::try_from(work).unwrap_or(u64::MAX)));
        if remembered.size + size > REMEMBERED {
            *remembered = Remembered::default();
        }
        remembered.size += size;
        remembered.timelines.insert(chunk, Rc::clone(&timeline));
        Some(timeline)
    }
}

/// The runs of one place, in the order of their cycles.
#[derive(Debug, Clone, Copy)]
pub struct RunTimes<'a> {
    clock: &'a Clock<'a>,
    place: Place,
}

impl RunTimes<'_> {
    /// The first run at or after `millis`; none if exclusions skip 1,000 cycles.
    #[must_use]
    pub fn first_from(&self, millis: i64) -> Option<Run> {
        let Some(plan) = self.schedule().plan() else {
            return Some(self.plain_run(self.plain_cycles_before(millis)));
        };
        let cycle = self.schedule().cycle_of_millis(millis);
        let cycles = cycle - 2..cycle + SEARCHED_CYCLES.maximum;
        let mut runs = cycles.filter_map(|index| self.run(plan, index));
        runs.find(|run| run.unix_millis >= millis).filter(in_time)
    }

    /// The last run before `millis`; none if exclusions skip 1,000 cycles.
    #[must_use]
    pub fn last_before(&self, millis: i64) -> Option<Run> {
        let Some(plan) = self.schedule().plan() else {
            return Some(self.plain_run(self.plain_cycles_before(millis) - 1));
        };
        let cycle = self.schedule().cycle_of_millis(millis);
        let cycles = cycle - SEARCHED_CYCLES.maximum..=cycle + 1;
        let mut runs = cycles.rev().filter_map(|index| self.run(plan, index));
        runs.find(|run| run.unix_millis < millis).filter(in_time)
    }

    /// The runs that start in `range`, in order, one by one.
    pub fn between(&self, range: Range<i64>) -> impl DoubleEndedIterator<Item = Run> {
        let (runs, plan) = (*self, self.schedule().plan());
        let cycles = match plan {
            _ if range.is_empty() => 0..0,
            None => self.plain_cycles_before(range.start)..self.plain_cycles_before(range.end),
            Some(_) => self.cycles_around(&range),
        };
        let run = move |index| match plan {
            None => Some(runs.plain_run(index)),
            Some(plan) => runs.run(plan, index).filter(|run| range.contains(&run.unix_millis)),
        };
        cycles.filter_map(run)
    }

    /// How many runs start in `range`.
    #[must_use]
    pub fn count(&self, range: Range<i64>) -> u64 {
        if range.is_empty() {
            return 0;
        }
        match self.schedule().plan() {
            None => {
                let before = |millis| self.plain_cycles_before(millis);
                before(range.start).abs_diff(before(range.end))
            }
            Some(plan) if !self.schedule().has_exclusions() => {
                let before = |millis| self.cycles_before(plan, millis);
                before(range.start).abs_diff(before(range.end))
            }
            Some(_) => u64::try_from(self.between(range).count()).unwrap_or(u64::MAX),
        }
    }

    const fn schedule(&self) -> &Schedule {
        self.clock.schedule
    }

    /// All cycles that can have a run in `range`. One of two cycles before can come later: it is
    /// deferred up to the next, and that may be shifted over the end of its cycle.
    fn cycles_around(&self, range: &Range<i64>) -> Range<i64> {
        let cycle = |millis| self.schedule().cycle_of_millis(millis);
        cycle(range.start) - 2..cycle(range.end) + 2
    }

    /// The first cycle whose run is not before `millis`, where each has one.
    fn cycles_before(&self, plan: &Plan, millis: i64) -> i64 {
        let cycle = self.schedule().cycle_of_millis(millis);
        let is_before =
            |index: &i64| self.run(plan, *index).is_some_and(|run| run.unix_millis < millis);
        let last = (cycle - 2..=cycle + 1).rev().find(is_before);
        last.map_or(cycle - 2, |last| last + 1)
    }

    /// The run of a cycle; `None` if it is skipped.
    fn run(&self, plan: &Plan, index: i64) -> Option<Run> {
        let schedule = self.schedule();
        if schedule.has_exclusions() {
            self.clock.work.set(self.clock.work.get().saturating_add(1));
        }
        let timeline = self.clock.timeline(plan, index)?;
        let map = timeline.map(index)?;
        let offset = plan.offset(schedule.grid(), &self.place, map.active_ticks);
        let regular = map.instant_of(offset)?;
        let instant = match timeline.fate(regular) {
            Fate::Regular => regular,
            Fate::Deferred(instant) => instant,
            Fate::Skipped => return None,
        };
        let millis = |ticks: i64| ticks.saturating_mul(schedule.tick_millis().cast_signed());
        Some(Run {
            cycle_index: index,
            unix_millis: millis(instant),
            regular_unix_millis: millis(regular),
        })
    }

    /// The first cycle whose run is not before `millis`: a division rounded up.
    fn plain_cycles_before(&self, millis: i64) -> i64 {
        -(self.plain_origin() - millis).div_euclid(self.plain_period())
    }

    fn plain_run(&self, cycle_index: i64) -> Run {
        let unix_millis = self.plain_origin() + cycle_index * self.plain_period();
        Run { cycle_index, unix_millis, regular_unix_millis: unix_millis }
    }

    /// The run of cycle 0.
    fn plain_origin(&self) -> i64 {
        let schedule = self.schedule();
        let offset = self.place.cycle_offset * schedule.tick_millis(); // 3,660 days at most
        schedule.anchor_millis() + offset.cast_signed()
    }

    fn plain_period(&self) -> i64 {
        self.schedule().period_millis().cast_signed()
    }
}

fn in_time(run: &Run) -> bool {
    Moment::from_unix_millis(run.unix_millis).is_some()
}

impl Schedule {
    /// The cycles on the clock.
    #[must_use]
    pub fn clock(&self) -> Clock<'_> {
        let (remembered, worked_out) = (RefCell::default(), WorkedOut::default());
        Clock { schedule: self, remembered, work: Cell::new(0), worked_out }
    }
}
