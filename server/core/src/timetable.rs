//! When things happen: cycles and slots on the clock, and the runs of an ID.

use core::ops::Range;

use crate::id::Id;
use crate::limits::{LISTED_SLOTS, NEXT_RUNS};
use crate::placement::Place;
use crate::rejection::{Reason, Rejection};
use crate::schedule::Schedule;
use crate::time::Moment;

/// One run of an ID. The runs of an ID are exactly one period apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// The cycle it belongs to; cycle 0 starts at the anchor, earlier ones are negative.
    pub cycle_index: i64,
    /// When it starts, in milliseconds since the Unix epoch.
    pub unix_millis: i64,
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
        let is_identity = !matches!(id, Id::Fraction(_));
        is_identity.then(|| format!("{prefix}/{}/{piece}/{id}", self.cycle_index))
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
    /// The first run at or after `from`.
    ///
    /// # Errors
    /// When a run around `from` might lie outside the years 1 to 9999.
    pub fn next_run(&self, place: &Place, from: Moment) -> Result<Run, Rejection> {
        Ok(self.runs_from(from, 1)?.next_run(place))
    }

    /// Checks that `from` leaves room for the run before it and `count` runs
    /// from it on, whatever the ID.
    ///
    /// # Errors
    /// When not, naming `from_time` and the times that do.
    pub fn runs_from(&self, from: Moment, count: usize) -> Result<Runs<'_>, Rejection> {
        let period = i128::from(self.period_millis());
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
        Ok(Runs { schedule: self, from_millis: from.unix_millis_ceil() })
    }

    /// The slot that runs at `at`.
    ///
    /// # Errors
    /// When it starts or ends outside the years 1 to 9999, naming `at_time`.
    pub fn slot_at(&self, at: Moment) -> Result<Slot, Rejection> {
        let number = self.slots_before(at.unix_millis_floor() + 1) - 1;
        self.slot_numbered(number).ok_or_else(|| outside_time("at_time", &at))
    }

    /// When a cycle starts.
    #[must_use]
    pub fn cycle_start(&self, cycle_index: i64) -> Option<Moment> {
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
        let first = self.slots_before(start.unix_millis_ceil());
        let behind = self.slots_before(end.unix_millis_ceil());
        self.slots_numbered(first..behind, &end)
    }

    fn slots_numbered(
        &self,
        numbers: Range<i128>,
        end: &dyn core::fmt::Display,
    ) -> Result<Vec<Slot>, Rejection> {
        let count = numbers.end - numbers.start;
        if !LISTED_SLOTS.allows(count) {
            let value = format_args!("{end} (a window of {count} slots)");
            let allowed = format!("the window must hold {LISTED_SLOTS}: end it earlier");
            return Err(Rejection::new(Reason::OutOfRange, "end_time", value, allowed));
        }
        numbers
            .map(|number| self.slot_numbered(number).ok_or_else(|| outside_time("end_time", end)))
            .collect()
    }

    /// The slots that start in the period from `start` on: `slot_count` of them.
    ///
    /// # Errors
    /// As [`slots_starting_in`](Self::slots_starting_in).
    pub fn slots_of_a_period_from(&self, start: Moment) -> Result<Vec<Slot>, Rejection> {
        let first = self.slots_before(start.unix_millis_ceil());
        let behind = first + i128::from(self.slot_count());
        self.slots_numbered(first..behind, &format_args!("one period after {start}"))
    }

    pub(crate) fn period_millis(&self) -> u64 {
        self.period_ticks() * self.tick_millis()
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

/// The runs of IDs around an instant.
#[derive(Debug, Clone, Copy)]
pub struct Runs<'a> {
    schedule: &'a Schedule,
    from_millis: i64,
}

impl Runs<'_> {
    /// The first run at or after the instant.
    #[must_use]
    pub fn next_run(&self, place: &Place) -> Run {
        self.run(place, 0)
    }

    /// The last run before the instant.
    #[must_use]
    pub fn last_run(&self, place: &Place) -> Run {
        self.run(place, -1)
    }

    /// The runs at or after the instant, in order, without end.
    pub fn next_runs<'p>(&'p self, place: &'p Place) -> impl Iterator<Item = Run> + 'p {
        (0..).map(|later| self.run(place, later))
    }

    fn run(&self, place: &Place, later: i64) -> Run {
        let millis =
            |ticks: u64| i64::try_from(ticks * self.schedule.tick_millis()).unwrap_or(i64::MAX);
        let period = millis(self.schedule.period_ticks());
        let first = self.schedule.anchor_millis() + millis(place.cycle_offset);
        // The smallest cycle whose run is not before the instant: a division rounded up.
        let cycle_index = -(first - self.from_millis).div_euclid(period) + later;
        Run { cycle_index, unix_millis: first + cycle_index * period }
    }
}
