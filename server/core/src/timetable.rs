//! When things happen: cycles and slots on the clock, and the runs of an ID.

use core::fmt::Write as _;
use core::ops::Range;

use crate::calendar::{self, CycleShares, FoundRun, Search, SlotSpan};
use crate::id::Id;
use crate::limits::{LISTED_SLOTS, NEXT_RUNS};
use crate::placement::Place;
use crate::rejection::{Reason, Rejection};
use crate::schedule::Schedule;
use crate::time::Moment;

/// One run of an ID: one in each cycle, but for those that exclusions skip, in the order of
/// the cycles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// The cycle it belongs to; cycle 0 starts at the anchor, or is the unit of the calendar
    /// that holds 1 January 1970; earlier ones are negative. A deferred run keeps its cycle.
    pub cycle_index: i64,
    /// When it starts, in milliseconds since the Unix epoch.
    pub unix_millis: i64,
    /// When it would start but for an exclusion, in milliseconds since the Unix epoch: the same,
    /// unless it is deferred.
    pub regular_unix_millis: i64,
}

impl Run {
    /// The run's key: `prefix/cycle index/piece/canonical ID`, with the prefix of
    /// [`Schedule::run_key_prefix`]. The piece is 0 for an ID without weight; the
    /// ID comes last, since it may hold slashes.
    ///
    /// A fraction has none: two rows may have stored the same, and one of them
    /// would be taken for the other.
    #[must_use]
    pub fn key(&self, prefix: &str, id: &Id<'_>) -> Option<String> {
        self.key_of_piece(prefix, 0, id)
    }

    /// The same for a piece of a weighted ID, from 0.
    #[must_use]
    pub fn key_of_piece(&self, prefix: &str, piece: u32, id: &Id<'_>) -> Option<String> {
        id.is_identity().then(|| {
            let mut key = String::with_capacity(prefix.len() + 64);
            self.write_key(&mut key, prefix, piece, &id.to_string());
            key
        })
    }

    /// The same for who has the canonical text of the ID, behind what `key` holds.
    pub fn write_key(&self, key: &mut String, prefix: &str, piece: u32, canonical_id: &str) {
        key.push_str(prefix);
        key.push('/');
        let _ = write!(key, "{}/{piece}/", self.cycle_index); // writing to a String cannot fail
        key.push_str(canonical_id);
    }
}

/// One slot of one cycle: the half-open span [start, end).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot {
    /// The slot, from 0.
    pub index: u32,
    /// The cycle it belongs to.
    pub cycle_index: i64,
    /// When it starts.
    pub start: Moment,
    /// When it ends, and the next one starts.
    pub end: Moment,
}

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

    /// The first tick since the Unix epoch at or after an instant.
    pub(crate) fn ticks_from(&self, moment: Moment) -> i64 {
        -(-moment.unix_millis_ceil()).div_euclid(self.tick_millis().cast_signed())
    }

    /// The last tick since the Unix epoch at or before an instant.
    fn ticks_to(&self, moment: Moment) -> i64 {
        moment.unix_millis_floor().div_euclid(self.tick_millis().cast_signed())
    }

    fn moment_of(&self, ticks: i64) -> Option<Moment> {
        Moment::from_unix_millis(ticks.checked_mul(self.tick_millis().cast_signed())?)
    }

    /// The cycle of an instant.
    #[must_use]
    pub fn cycle_at(&self, at: Moment) -> i64 {
        match self.plan() {
            Some(plan) => plan.axis.at(self.ticks_to(at)),
            None => {
                let number = self.slots_before(at.unix_millis_floor() + 1) - 1;
                let cycle = number.div_euclid(i128::from(self.slot_count()));
                i64::try_from(cycle).unwrap_or_default() // milliseconds count further
            }
        }
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

    /// The slot that runs at `at`; none outside of the active windows.
    ///
    /// # Errors
    /// When it starts or ends outside the years 1 to 9999, naming `at_time`.
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

    /// When a cycle starts, which is where the one before it ends.
    #[must_use]
    pub fn cycle_start(&self, cycle_index: i64) -> Option<Moment> {
        if let Some(plan) = self.plan() {
            return self.moment_of(plan.axis.instant_of(plan.axis.start(cycle_index)));
        }
        self.slot_start(i128::from(cycle_index) * i128::from(self.slot_count()))
    }

    /// The slots that start in [`start`, `end`), in order.
    ///
    /// # Errors
    /// When `end` is before `start`, there are more than 4,096, or one of them
    /// lies outside the years 1 to 9999; naming `end_time`.
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
