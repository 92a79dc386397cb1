//! The cycles of a schedule, worked out in chunks that all places share, and what that costs.

use core::cell::{Cell, OnceCell, RefCell};
use core::ops::Range;

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::calendar::{Budget, CyclePlan, RunFate, Timeline, WorkBudgetExhausted};
use crate::placement::{Grid, Place};
use crate::schedule::Schedule;
use crate::time::Moment;

/// Cycles that are worked out together: near the instant of most queries, and further away.
const NEAR: i64 = 8;
const FAR: i64 = 16;
/// How many cycles before that of an instant are near. The run of two cycles before can come after
/// the instant: it may be deferred up to the run of the next cycle, which may itself be shifted
/// past the end of its cycle.
pub(super) const BEFORE: i64 = 2;
/// How much the remembered chunks further away may take together: see [`Timeline::size`].
const REMEMBERED: usize = 1 << 18;

/// The cycles of a schedule that were worked out so far: what is worked out for one place serves
/// the others. Made by [`Schedule::cycle_cache`].
#[derive(Debug, Clone)]
pub struct CycleCache<'a> {
    schedule: &'a Schedule,
    /// The first of the cycles that are near.
    near_start: i64,
    near: OnceCell<Timeline>,
    far: RefCell<ChunkCache>,
    /// Cycles that were looked through, and cycles and spans that were worked out for it.
    looked_through: Cell<u64>,
    budget: Budget,
}

#[derive(Debug, Clone, Default)]
struct ChunkCache {
    /// By the first cycle of each.
    chunks: BTreeMap<i64, Rc<Timeline>>,
    size: usize,
}

impl Schedule {
    /// A cache for many queries about runs, most of them around `around`.
    ///
    /// ```
    /// use offbeat_core::{Id, Moment, Schedule, ScheduleSpec, Span, WorkBudgetExhausted};
    ///
    /// let hourly = Schedule::try_new(&ScheduleSpec::every(Span::from_seconds(3_600)))?;
    /// let place = hourly.place(&Id::text("acme")?)?;
    /// let cycles = hourly.cycle_cache(Moment::UNIX_EPOCH);
    /// let runs = cycles.runs_of(&place);
    /// let first = runs.next(0)?.unwrap();
    /// assert_eq!(runs.next(first.unix_millis + 1)?.unwrap().unix_millis, first.unix_millis + 3_600_000);
    /// assert_eq!(runs.count(0..86_400_000)?, 24);
    /// let all: Result<Vec<_>, WorkBudgetExhausted> = runs.between(0..86_400_000).collect();
    /// assert_eq!(all?.first(), Some(&first));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn cycle_cache(&self, around: Moment) -> CycleCache<'_> {
        let cycle = self.plan().map_or(0, |_| self.cycle_at(around));
        self.cycle_cache_around(cycle - BEFORE)
    }

    pub(super) fn cycle_cache_around(&self, near_start: i64) -> CycleCache<'_> {
        CycleCache {
            schedule: self,
            near_start,
            near: OnceCell::new(),
            far: RefCell::default(),
            looked_through: Cell::new(0),
            budget: Budget::default(),
        }
    }
}

impl CycleCache<'_> {
    /// Begins another answer, which has the whole work budget again.
    pub fn begin_answer(&self) {
        self.budget.renew();
    }

    pub(super) const fn schedule(&self) -> &Schedule {
        self.schedule
    }

    /// How many cycles and spans were looked through so far.
    pub(super) const fn looked_through(&self) -> u64 {
        self.looked_through.get()
    }

    /// How many cycles must be looked through to count the runs of a place in `range`: none without
    /// exclusions, where each cycle has one.
    pub(super) fn cycles_to_count(&self, range: &Range<i64>) -> u64 {
        if !self.schedule.has_exclusions() || range.is_empty() {
            return 0;
        }
        let cycle = |millis| self.schedule.cycle_of_millis(within_time(millis));
        cycle(range.start).abs_diff(cycle(range.end))
    }

    /// The cycles that are worked out together with one.
    pub(super) fn chunk(&self, cycle: i64) -> Range<i64> {
        let near = self.near_start..self.near_start + NEAR;
        if near.contains(&cycle) {
            return near;
        }
        let origin = if cycle < near.start { near.start } else { near.end };
        let start = origin + (cycle - origin).div_euclid(FAR) * FAR;
        start..start + FAR
    }

    fn work_out(
        &self,
        plan: &CyclePlan,
        cycles: Range<i64>,
    ) -> Result<Timeline, WorkBudgetExhausted> {
        let timeline = self.budget.timeline(plan, cycles)?;
        self.look_through(u64::try_from(timeline.work()).unwrap_or(u64::MAX));
        Ok(timeline)
    }

    pub(super) fn look_through(&self, count: u64) {
        self.looked_through.set(self.looked_through.get().saturating_add(count));
    }

    fn near(&self, plan: &CyclePlan, cycles: Range<i64>) -> Result<&Timeline, WorkBudgetExhausted> {
        if let Some(timeline) = self.near.get() {
            return Ok(timeline);
        }
        let timeline = self.work_out(plan, cycles)?;
        Ok(self.near.get_or_init(|| timeline))
    }

    fn far(
        &self,
        plan: &CyclePlan,
        cycles: Range<i64>,
    ) -> Result<Rc<Timeline>, WorkBudgetExhausted> {
        let mut far = self.far.borrow_mut();
        let start = cycles.start;
        if let Some(timeline) = far.chunks.get(&start) {
            return Ok(Rc::clone(timeline));
        }
        let timeline = Rc::new(self.work_out(plan, cycles)?);
        let size = timeline.size();
        if far.size + size > REMEMBERED {
            *far = ChunkCache::default();
        }
        far.size += size;
        far.chunks.insert(start, Rc::clone(&timeline));
        Ok(timeline)
    }

    /// Charges visits to places in cycles that are already worked out. Sixteen of them take as long
    /// as working out a span.
    pub(super) fn charge_visits(&self, visits: u64) -> Result<(), WorkBudgetExhausted> {
        self.budget.spend(visits / 16);
        self.budget.check()
    }

    /// Calls `ask` with the cycles that are worked out together with `cycle`.
    pub(super) fn in_cycle<T>(
        &self,
        plan: &CyclePlan,
        cycle: i64,
        ask: impl FnOnce(&Timeline) -> T,
    ) -> Result<T, WorkBudgetExhausted> {
        let cycles = self.chunk(cycle);
        Ok(if cycles.start == self.near_start {
            ask(self.near(plan, cycles)?)
        } else {
            ask(&*self.far(plan, cycles)?)
        })
    }

    /// The regular start of a place's run in a cycle, in ticks, and what becomes of the run; `None`
    /// if there is none, because the clock skips the whole cycle.
    pub(super) fn fate(
        &self,
        plan: &CyclePlan,
        grid: Grid,
        place: &Place,
        cycle_index: i64,
    ) -> Result<Option<(i64, RunFate)>, WorkBudgetExhausted> {
        if self.schedule.has_exclusions() {
            self.look_through(1);
        }
        self.in_cycle(plan, cycle_index, |timeline| {
            let map = timeline.map(cycle_index)?;
            let regular = map.instant_of(plan.offset(grid, place, map.active_ticks))?;
            Some((regular, if map.is_skipped { RunFate::Skipped } else { timeline.fate(regular) }))
        })
    }

    pub(super) fn millis(&self, ticks: i64) -> i64 {
        ticks.saturating_mul(self.schedule.tick_millis().cast_signed())
    }
}

/// The nearest instant in the years 1 to 9999, or their end.
pub(super) fn within_time(unix_millis: i64) -> i64 {
    unix_millis.clamp(Moment::MIN.unix_millis_floor(), Moment::MAX.unix_millis_ceil())
}
