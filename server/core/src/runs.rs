//! The runs of places on the clock: all that due runs, newcomers and migrations ask of a
//! schedule's cycles. Times are milliseconds since the Unix epoch.

use core::cell::{Cell, RefCell};
use core::ops::Range;

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::calendar::{Fate, Plan, Timeline, usable_from};
use crate::limits::{SEARCHED_CYCLES, WORKED_OUT};
use crate::placement::Place;
use crate::rejection::{Reason, Rejection};
use crate::schedule::Schedule;
use crate::time::Moment;
use crate::timetable::Run;

/// Cycles that are worked out together, where they are more than a period.
const CHUNK: i64 = 16;
/// What the cycles that are remembered may take together: see [`Timeline::size`].
const REMEMBERED: usize = 1 << 18;

/// Cycles that are looked for one at which runs may start.
const REACHED_CYCLES: i64 = 64;

/// The cycles of a schedule: what is worked out for one place serves the others.
#[derive(Debug, Clone)]
pub struct Clock<'a> {
    schedule: &'a Schedule,
    remembered: RefCell<Remembered>,
    /// Cycles that were looked through, and what was worked out for it.
    work: Cell<u64>,
    worked_out: WorkedOut,
}

/// What was worked out for a question so far. Once it is too much nothing more is, and no run is
/// found: whoever asks has to look, and to refuse.
#[derive(Debug, Clone, Default)]
pub(crate) struct WorkedOut(Cell<u64>);

impl WorkedOut {
    /// Whether there may be more.
    fn may_grow(&self) -> bool {
        WORKED_OUT.allows(self.0.get().into())
    }

    /// Works out some cycles, unless it would be too much.
    pub(crate) fn timeline(&self, plan: &Plan, cycles: Range<i64>) -> Option<Timeline> {
        let timeline = self.may_grow().then(|| Timeline::new(plan, cycles))?;
        if !plan.exclusions.is_empty() {
            let work = u64::try_from(timeline.work()).unwrap_or(u64::MAX);
            self.0.set(self.0.get().saturating_add(work));
        }
        self.may_grow().then_some(timeline)
    }

    /// Another question begins.
    pub(crate) fn begin(&self) {
        self.0.set(0);
    }

    /// Refuses what took too much; naming `schedule`.
    pub(crate) fn check(&self) -> Result<(), Rejection> {
        if self.may_grow() {
            return Ok(());
        }
        let value = "what it excludes";
        let allowed = format!(
            "must need {WORKED_OUT} worked out for an answer: ask for fewer IDs, pieces or runs at \
             once, or take fewer recurring exclusions"
        );
        Err(Rejection::new(Reason::OutOfRange, "schedule", value, allowed))
    }
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

/// Where runs may start that are late, or smeared, from an instant on: anywhere, but for what
/// active windows and exclusions leave.
#[derive(Debug, Clone)]
pub(crate) struct Starts {
    from: i64,
    usable: Usable,
}

#[derive(Debug, Clone)]
enum Usable {
    All,
    /// The instants of ticks, in order.
    Some {
        ticks: Vec<Range<i64>>,
        tick_millis: u64,
    },
}

impl Starts {
    /// From `from` on, for a span of so many milliseconds of usable time.
    pub(crate) fn new(schedule: &Schedule, from: i64, span: u64) -> Self {
        let Some(plan) = schedule.plan().filter(|plan| plan.narrows()) else {
            return Self { from, usable: Usable::All };
        };
        let tick_millis = schedule.tick_millis();
        let first = -(-from).div_euclid(tick_millis.cast_signed());
        let ticks = usable_from(plan, first, span / tick_millis + 1, REACHED_CYCLES);
        Self { from, usable: Usable::Some { ticks, tick_millis } }
    }

    /// The instant at this position in the span; `None` if nothing may start there, nor soon after.
    pub(crate) fn at(&self, position: u64) -> Option<i64> {
        match &self.usable {
            Usable::All => Some(self.from + position.cast_signed()),
            Usable::Some { ticks, tick_millis } => {
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

impl Schedule {
    /// The cycles on the clock.
    #[must_use]
    pub fn clock(&self) -> Clock<'_> {
        let (remembered, worked_out) = (RefCell::default(), WorkedOut::default());
        Clock { schedule: self, remembered, work: Cell::new(0), worked_out }
    }

    /// The cycle that `millis` lies in.
    #[must_use]
    pub fn cycle_of_millis(&self, millis: i64) -> i64 {
        match self.plan() {
            Some(plan) => plan.axis.at(millis.div_euclid(self.tick_millis().cast_signed())),
            None => (millis - self.anchor_millis()).div_euclid(self.shortest_cycle_millis()),
        }
    }

    /// The first start of a cycle after `moment`, if it lies before the year 10000.
    #[must_use]
    pub fn cycle_start_after(&self, moment: Moment) -> Option<Moment> {
        self.cycle_start(self.cycle_of_millis(moment.unix_millis_floor()) + 1)
    }

    /// Length of a period; not with a calendar, nor with active windows or exclusions.
    pub(crate) const fn period_millis(&self) -> u64 {
        self.active_ticks() * self.tick_millis()
    }

    /// Length of the shortest cycle, by the wall clock: what spans of due runs, newcomers and
    /// migrations may be.
    pub(crate) fn shortest_cycle_millis(&self) -> i64 {
        let ticks = self.plan().map_or(self.active_ticks(), |plan| plan.axis.shortest());
        (ticks * self.tick_millis()).cast_signed()
    }

    /// What that is, in words.
    pub(crate) fn shortest_cycle_name(&self) -> &'static str {
        if self.calendar().is_some() { "one cycle, at its shortest" } else { "one period" }
    }

    /// No place waits longer from one run to the next. With exclusions there is no such bound.
    pub(crate) fn longest_wait_millis(&self) -> Option<i64> {
        let Some(plan) = self.plan() else { return Some(self.period_millis().cast_signed()) };
        let wait = plan.longest_wait().checked_mul(self.tick_millis().cast_signed());
        wait.filter(|_| !self.has_exclusions())
    }

    /// Whether a run can be skipped or deferred: to find runs then takes long.
    #[must_use]
    pub fn has_exclusions(&self) -> bool {
        self.plan().is_some_and(|plan| !plan.exclusions.is_empty())
    }

    /// A field that makes the cycles more than a period.
    pub(crate) fn irregular_field(&self) -> Option<&'static str> {
        let plan = self.plan()?;
        Some(match (self.calendar(), plan.windows.is_empty()) {
            (Some(_), _) => "calendar",
            (None, false) => "active_windows",
            (None, true) => "exclusions",
        })
    }
}
