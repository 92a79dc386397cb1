//! The runs of IDs around an instant.

use crate::calendar::{FoundRun, Search};
use crate::limits::NEXT_RUNS;
use crate::placement::Place;
use crate::rejection::{Reason, Rejection};
use crate::runs::Run;
use crate::schedule::Schedule;
use crate::time::Moment;

/// Whether `count` next runs may be asked for.
///
/// # Errors
/// When not, naming `next_run_count`.
pub fn check_run_count(count: i64) -> Result<usize, Rejection> {
    usize::try_from(count).ok().filter(|_| NEXT_RUNS.allows(i128::from(count))).ok_or_else(|| {
        let allowed = format!("must be {NEXT_RUNS}");
        Rejection::new(Reason::OutOfRange, "next_run_count", count, allowed)
    })
}

impl Schedule {
    /// The first run at or after `from`, unless exclusions skip 1,000 cycles one after another.
    ///
    /// # Errors
    /// When a run around `from` might lie outside the years 1 to 9999.
    pub fn next_run(&self, place: &Place, from: Moment) -> Result<Option<Run>, Rejection> {
        Ok(self.runs_from(from, 1)?.next_run(place))
    }

    /// Checks that `from` leaves room for the run before it and `count` runs
    /// from it on, whatever the ID.
    ///
    /// # Errors
    /// When not, naming `from_time` and the times that do.
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

    /// The runs around `from`. With exclusions some cycles are worked out here and now.
    ///
    /// # Errors
    /// As [`check_from`](Self::check_from).
    pub fn runs_from(&self, from: Moment, count: usize) -> Result<Runs<'_>, Rejection> {
        self.check_from(from, count)?;
        let from_millis = from.unix_millis_ceil();
        let search = self.plan().map(|plan| {
            let tick = self.tick_millis().cast_signed();
            let times = Moment::MIN.unix_millis_floor()..Moment::MAX.unix_millis_ceil();
            let times = times.start / tick..times.end / tick;
            Search::new(plan, self.grid(), self.ticks_from(from), times)
        });
        Ok(Runs { schedule: self, plain: PlainRuns::new(self, from_millis), search })
    }

    /// No cycle takes longer, in milliseconds; on days without end, changes of the clock included.
    fn greatest_millis(&self) -> i128 {
        let period = self.period().nanos() / 1_000_000;
        if self.calendar().is_some() { period + 86_400_000 } else { period }
    }
}

/// The runs of IDs around an instant.
#[derive(Debug)]
pub struct Runs<'a> {
    schedule: &'a Schedule,
    /// Where all cycles are alike.
    plain: PlainRuns,
    /// Where cycles are more than a period.
    search: Option<Search<'a>>,
}

impl Runs<'_> {
    /// The first run at or after the instant; none if exclusions skip 1,000 cycles.
    #[must_use]
    pub fn next_run(&self, place: &Place) -> Option<Run> {
        self.next_runs(place).next()
    }

    /// The next run of each place: quicker than one by one, where exclusions skip many cycles.
    #[must_use]
    pub fn next_run_of_each(&self, places: &[Place]) -> Vec<Option<Run>> {
        match &self.search {
            None => places.iter().map(|place| Some(self.plain_run(place, 0))).collect(),
            Some(search) => {
                let found = search.next_of_each(places).into_iter();
                found.map(|run| run.map(|run| self.found(run))).collect()
            }
        }
    }

    /// The last run before the instant; none if exclusions skip 1,000 cycles.
    #[must_use]
    pub fn last_run(&self, place: &Place) -> Option<Run> {
        match &self.search {
            None => Some(self.plain_run(place, -1)),
            Some(search) => search.last(place).map(|run| self.found(run)),
        }
    }

    /// The runs at or after the instant, in order; they end where exclusions skip 1,000 cycles
    /// one after another.
    pub fn next_runs<'p>(&'p self, place: &'p Place) -> impl Iterator<Item = Run> + 'p {
        let found = self.search.iter().flat_map(|search| search.next(place));
        let plain = self.search.is_none().then_some(0..).into_iter().flatten();
        found.map(|run| self.found(run)).chain(plain.map(|later| self.plain_run(place, later)))
    }

    /// Refuses what took too much: to be asked behind the runs. One that skips so much that
    /// too many cycles would have to be worked out seems to have no runs.
    ///
    /// # Errors
    /// When more than the limit of cycles and excluded spans were needed; naming `schedule`.
    pub fn check_work(&self) -> Result<(), Rejection> {
        self.search.as_ref().map_or(Ok(()), |search| search.worked_out().check())
    }

    /// Another question begins, which may take as much again.
    pub fn begin_answer(&self) {
        if let Some(search) = &self.search {
            search.worked_out().begin();
        }
    }

    /// Whether all cycles are alike and of one length: then every ID runs in each.
    #[must_use]
    pub const fn is_plain(&self) -> bool {
        self.search.is_none()
    }

    /// The cycle of the instant.
    #[must_use]
    pub fn cycle(&self) -> i64 {
        match &self.search {
            Some(search) => search.cycle(),
            None => self.plain.cycle_index,
        }
    }

    fn found(&self, run: FoundRun) -> Run {
        let millis = |ticks: i64| ticks.saturating_mul(self.schedule.tick_millis().cast_signed());
        Run {
            cycle_index: run.cycle_index,
            unix_millis: millis(run.instant),
            regular_unix_millis: millis(run.regular),
        }
    }

    fn plain_run(&self, place: &Place, later: i64) -> Run {
        let next = self.plain.next(place.cycle_offset);
        let unix_millis = next.unix_millis + later * self.plain.period;
        let cycle_index = next.cycle_index + later;
        Run { cycle_index, unix_millis, regular_unix_millis: unix_millis }
    }

    pub(crate) const fn schedule(&self) -> &Schedule {
        self.schedule
    }

    pub(crate) fn plain(&self) -> Option<PlainRuns> {
        self.is_plain().then_some(self.plain)
    }
}

/// The cycle of an instant, where all cycles are alike and of one length. In milliseconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PlainRuns {
    cycle_index: i64,
    cycle_start: i64,
    /// From the start of the cycle to the instant.
    passed: i64,
    period: i64,
    tick: i64,
}

impl PlainRuns {
    fn new(schedule: &Schedule, unix_millis: i64) -> Self {
        let tick = schedule.tick_millis().cast_signed();
        let period = schedule.active_ticks().cast_signed() * tick; // up to 3,660 days
        let passed = (unix_millis - schedule.anchor_millis()).rem_euclid(period);
        let cycle_index = (unix_millis - schedule.anchor_millis()).div_euclid(period);
        Self { cycle_index, cycle_start: unix_millis - passed, passed, period, tick }
    }

    /// The first run at or after the instant, of an ID that runs so many ticks into each cycle:
    /// in this one or in the next, without a division.
    #[inline]
    pub(crate) fn next(self, cycle_offset: u64) -> Run {
        let offset = cycle_offset.cast_signed() * self.tick;
        let later = i64::from(offset < self.passed);
        let unix_millis = self.cycle_start + later * self.period + offset;
        let cycle_index = self.cycle_index + later;
        Run { cycle_index, unix_millis, regular_unix_millis: unix_millis }
    }
}
