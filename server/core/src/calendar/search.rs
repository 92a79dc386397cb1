//! The runs of an ID around an instant.

use core::cell::RefCell;
use core::ops::Range;

use std::rc::Rc;

use super::budget::WorkedOut;
use super::cycles::Plan;
use super::timeline::{Fate, Timeline};
use crate::limits::SEARCHED_CYCLES;
use crate::placement::{Grid, Place};

/// Cycles that are worked out together.
const CHUNK: i64 = 8;

/// A run, in ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FoundRun {
    pub(crate) cycle_index: i64,
    pub(crate) instant: i64,
    /// When it would start but for an exclusion.
    pub(crate) regular: i64,
}

/// Searches runs around an instant. The runs of an ID come in the order of their cycles.
#[derive(Debug)]
pub(crate) struct Search<'a> {
    plan: &'a Plan,
    grid: Grid,
    from: i64,
    /// The instants at which a run may be.
    times: Range<i64>,
    /// The cycle of the instant.
    cycle: i64,
    near: Rc<Timeline>,
    /// The chunk further away that was asked for last.
    far: RefCell<Option<Rc<Timeline>>>,
    worked_out: WorkedOut,
}

impl<'a> Search<'a> {
    pub(crate) fn new(plan: &'a Plan, grid: Grid, from: i64, times: Range<i64>) -> Self {
        let cycle = plan.axis.at(from);
        // Runs of two cycles before can come later than `from`: one is deferred up to the
        // next, and that may be shifted over the end of its cycle.
        let near = Rc::new(Timeline::new(plan, cycle - 2..cycle - 2 + CHUNK));
        let (far, worked_out) = (RefCell::new(None), WorkedOut::default());
        Self { plan, grid, from, times, cycle, near, far, worked_out }
    }

    pub(crate) const fn worked_out(&self) -> &WorkedOut {
        &self.worked_out
    }

    /// The cycle of the instant.
    pub(crate) const fn cycle(&self) -> i64 {
        self.cycle
    }

    fn timeline(&self, index: i64) -> Option<Rc<Timeline>> {
        let holds = |timeline: &Rc<Timeline>| timeline.cycles().contains(&index);
        if holds(&self.near) {
            return Some(Rc::clone(&self.near));
        }
        let mut far = self.far.borrow_mut();
        if let Some(timeline) = far.as_ref().filter(|timeline| holds(timeline)) {
            return Some(Rc::clone(timeline));
        }
        let first = self.cycle - 2;
        let start = first + (index - first).div_euclid(CHUNK) * CHUNK;
        let timeline = Rc::new(self.worked_out.timeline(self.plan, start..start + CHUNK)?);
        *far = Some(Rc::clone(&timeline));
        Some(timeline)
    }

    /// The run of a place in a cycle; `None` if it is skipped.
    fn run(&self, place: &Place, index: i64) -> Option<FoundRun> {
        let timeline = self.timeline(index)?;
        let map = timeline.map(index)?;
        let regular = map.instant_of(self.plan.offset(self.grid, place, map.active_ticks))?;
        let instant = match timeline.fate(regular) {
            Fate::Regular => regular,
            Fate::Deferred(instant) => instant,
            Fate::Skipped => return None,
        };
        Some(FoundRun { cycle_index: index, instant, regular })
    }

    /// The runs at or after the instant, in order; they end where 1,000 cycles one after another
    /// have none, or time ends.
    pub(crate) fn next(&self, place: &Place) -> impl Iterator<Item = FoundRun> {
        let place = *place;
        let mut index = self.cycle - 2;
        core::iter::from_fn(move || {
            let last = index.max(self.cycle) + SEARCHED_CYCLES.maximum;
            while index < last {
                index += 1;
                if let Some(run) = self.run(&place, index - 1)
                    && run.instant >= self.from
                {
                    return self.times.contains(&run.instant).then_some(run);
                }
            }
            None
        })
        .fuse()
    }

    /// The last run before the instant, unless there is none in 1,000 cycles.
    pub(crate) fn last(&self, place: &Place) -> Option<FoundRun> {
        let cycles = self.cycle - SEARCHED_CYCLES.maximum..=self.cycle + 1;
        cycles
            .rev()
            .filter_map(|index| self.run(place, index))
            .find(|run| run.instant < self.from)
            .filter(|run| self.times.contains(&run.instant))
    }

    /// The next run of each place: cycle by cycle, so that each is worked out once.
    pub(crate) fn next_of_each(&self, places: &[Place]) -> Vec<Option<FoundRun>> {
        let mut runs = vec![None; places.len()];
        let mut left: Vec<usize> = (0..places.len()).collect();
        let first = self.cycle - 2;
        let last = self.cycle + SEARCHED_CYCLES.maximum;
        let mut start = first;
        while start < last && !left.is_empty() {
            left.retain(|row| {
                let (Some(place), Some(found)) = (places.get(*row), runs.get_mut(*row)) else {
                    return false;
                };
                *found = (start..last.min(start + CHUNK))
                    .filter_map(|index| self.run(place, index))
                    .find(|run| run.instant >= self.from);
                found.is_none()
            });
            start += CHUNK;
        }
        for run in &mut runs {
            *run = run.filter(|run| self.times.contains(&run.instant));
        }
        runs
    }
}
