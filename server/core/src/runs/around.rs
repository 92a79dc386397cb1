//! The runs of IDs around an instant.

use super::Run;
use super::cycle_cache::{BEFORE, CycleCache};
use super::plain::PlainCycle;
use crate::calendar::WorkBudgetExhausted;
use crate::limits::{NEXT_RUNS, SEARCHED_CYCLES};
use crate::placement::Place;
use crate::rejection::{Reason, Rejection};
use crate::schedule::Schedule;
use crate::time::Moment;

/// Checks how many next runs are listed.
///
/// # Errors
/// When it is out of range, naming `next_run_count`.
pub fn check_run_count(count: i64) -> Result<usize, Rejection> {
    usize::try_from(count).ok().filter(|_| NEXT_RUNS.allows(i128::from(count))).ok_or_else(|| {
        let allowed = format!("must be {NEXT_RUNS}");
        Rejection::new(Reason::OutOfRange, "next_run_count", count, allowed)
    })
}

impl Schedule {
    /// The first run at or after `from`; `None` if exclusions skip 1,000 cycles one after another.
    ///
    /// # Errors
    /// When a run around `from` might lie outside the years 1 to 9999, naming `from_time`; or when
    /// the answer needs more work than its budget allows, naming `schedule`.
    ///
    /// ```
    /// use offbeat_core::{Id, Moment, Schedule, ScheduleSpec, Span};
    ///
    /// let daily = Schedule::try_new(&ScheduleSpec::every(Span::from_seconds(86_400)))?;
    /// let place = daily.place(&Id::text("acme")?)?;
    /// let run = daily.next_run(&place, Moment::UNIX_EPOCH)?.unwrap();
    /// assert_eq!(run.unix_millis, i64::try_from(place.cycle_offset * 1_000).unwrap());
    /// # Ok::<(), offbeat_core::Rejection>(())
    /// ```
    pub fn next_run(&self, place: &Place, from: Moment) -> Result<Option<Run>, Rejection> {
        Ok(self.runs_from(from, 1)?.next_run(place)?)
    }

    /// Checks that `from` leaves room for the run before it and `count` runs
    /// from it on, for any ID.
    ///
    /// # Errors
    /// When it does not, naming `from_time` and the times that do.
    pub fn check_from(&self, from: Moment, count: usize) -> Result<(), Rejection> {
        let period = self.greatest_millis();
        let cycles = i128::try_from(count.max(1)).unwrap_or(i128::MAX);
        let millis = i128::from(from.unix_millis_ceil());
        let earliest = i128::from(Moment::MIN.unix_millis_floor()) + period;
        let latest = i128::from(Moment::MAX.unix_millis_ceil()) - cycles.saturating_mul(period);
        if !(earliest..=latest).contains(&millis) {
            let at = |millis: i128| i64::try_from(millis).ok().and_then(Moment::from_unix_millis);
            let allowed = match (at(earliest), at(latest)) {
                (Some(earliest), Some(latest)) if earliest <= latest => {
                    format!(
                        "must be {earliest} to {latest}, so that every run is in the years 1 to 9999"
                    )
                }
                _ => format!(
                    "{cycles} cycles of {} do not fit into the years 1 to 9999",
                    self.period()
                ),
            };
            return Err(Rejection::new(Reason::OutOfRange, "from_time", from, allowed));
        }
        Ok(())
    }

    /// The runs around `from`.
    ///
    /// # Errors
    /// As [`check_from`](Self::check_from).
    ///
    /// ```
    /// use offbeat_core::{Id, Moment, Schedule, ScheduleSpec, Span};
    ///
    /// let daily = Schedule::try_new(&ScheduleSpec::every(Span::from_seconds(86_400)))?;
    /// let place = daily.place(&Id::text("acme")?)?;
    /// let runs = daily.runs_from(Moment::UNIX_EPOCH, 3)?;
    /// let cycles: Result<Vec<_>, _> =
    ///     runs.next_runs(&place).take(3).map(|run| run.map(|run| run.cycle_index)).collect();
    /// assert_eq!(cycles?, [0, 1, 2]);
    /// assert_eq!(runs.last_run(&place)?.unwrap().cycle_index, -1);
    /// # Ok::<(), offbeat_core::Rejection>(())
    /// ```
    pub fn runs_from(&self, from: Moment, count: usize) -> Result<Runs<'_>, Rejection> {
        self.check_from(from, count)?;
        let from = from.unix_millis_ceil();
        let plain = PlainCycle::new(self, from);
        let cycle = self.plan().map_or(plain.index, |_| self.cycle_of_millis(from));
        Ok(Runs { cache: self.cycle_cache_around(cycle - BEFORE), plain, from, cycle })
    }

    /// The length that no cycle exceeds, in milliseconds. With a calendar, a day is added for
    /// changes of the clock.
    fn greatest_millis(&self) -> i128 {
        let period = self.period().nanos() / 1_000_000;
        if self.calendar().is_some() { period + 86_400_000 } else { period }
    }
}

/// The runs of IDs around an instant. Made by [`Schedule::runs_from`].
#[derive(Debug)]
pub struct Runs<'a> {
    cache: CycleCache<'a>,
    /// The cycle of the instant, where all cycles are alike; otherwise unused.
    plain: PlainCycle,
    /// The instant, in milliseconds since the Unix epoch, and its cycle.
    from: i64,
    cycle: i64,
}

impl Runs<'_> {
    /// The first run at or after the instant; `None` if exclusions skip 1,000 cycles.
    ///
    /// # Errors
    /// When the answer needs more work than its budget allows.
    pub fn next_run(&self, place: &Place) -> Result<Option<Run>, WorkBudgetExhausted> {
        if self.is_plain() {
            return Ok(Some(self.plain.next(place.cycle_offset)));
        }
        self.next_runs(place).next().transpose()
    }

    /// The next run of each place. Faster than one by one where exclusions skip many cycles: each
    /// chunk of cycles is worked out once.
    ///
    /// # Errors
    /// When the answer needs more work than its budget allows.
    pub fn next_run_of_each(
        &self,
        places: &[Place],
    ) -> Result<Vec<Option<Run>>, WorkBudgetExhausted> {
        if self.is_plain() {
            return places.iter().map(|place| self.next_run(place)).collect();
        }
        let mut found = vec![None; places.len()];
        let mut left: Vec<_> = places.iter().zip(&mut found).collect();
        let (mut start, end) = (self.cycle - BEFORE, self.cycle + SEARCHED_CYCLES.maximum);
        while start < end && !left.is_empty() {
            let cycles = start..self.cache.chunk(start).end.min(end);
            start = cycles.end;
            for (place, run) in &mut left {
                **run = self.cache.runs_of(place).first_in(cycles.clone(), self.from)?;
            }
            let visited = (cycles.end - cycles.start).unsigned_abs() * left.len() as u64;
            self.cache.charge_visits(visited)?;
            left.retain(|(_, run)| run.is_none());
        }
        Ok(found.into_iter().map(|run| run.filter(Run::is_in_time)).collect())
    }

    /// The last run before the instant; `None` if exclusions skip 1,000 cycles.
    ///
    /// # Errors
    /// When the answer needs more work than its budget allows.
    pub fn last_run(&self, place: &Place) -> Result<Option<Run>, WorkBudgetExhausted> {
        if self.is_plain() {
            return Ok(Some(self.plain.last(place.cycle_offset)));
        }
        self.cache.runs_of(place).last_before(self.cycle, self.from)
    }

    /// The runs at or after the instant, in order. They end where exclusions skip 1,000 cycles one
    /// after another, or with the first error.
    pub fn next_runs(
        &self,
        place: &Place,
    ) -> impl Iterator<Item = Result<Run, WorkBudgetExhausted>> {
        self.cache.runs_of(place).all_from_cycle(self.cycle, self.from)
    }

    /// Begins another answer, which has the whole work budget again.
    pub fn begin_answer(&self) {
        self.cache.begin_answer();
    }

    /// Whether all cycles are alike and of one length: then every ID runs in each.
    #[must_use]
    pub const fn is_plain(&self) -> bool {
        self.schedule().is_plain()
    }

    /// The cycle of the instant.
    #[must_use]
    pub const fn cycle(&self) -> i64 {
        self.cycle
    }

    pub(super) const fn schedule(&self) -> &Schedule {
        self.cache.schedule()
    }

    pub(super) fn plain(&self) -> Option<PlainCycle> {
        self.is_plain().then_some(self.plain)
    }
}
