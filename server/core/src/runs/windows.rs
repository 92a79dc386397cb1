//! Windows of time as ranges of keys. A key is the integer that places an ID: under `HASH` the
//! hash, under `FRACTION` the bits of the fraction. A larger key never has a smaller offset.
//! `TWISTER` has no keys.

use core::ops::Range;

use crate::calendar::{self, ActiveTicks, merged};
use crate::limits::PREDICATE_RANGES;
use crate::placement::{Place, Placement, hash_bound, smallest_fraction};
use crate::rejection::{Reason, Rejection};
use crate::schedule::Schedule;
use crate::time::{Moment, Span};

impl Schedule {
    /// The offsets from the cycle, in ticks, of the runs in [`start`, `end`): one range, and a
    /// second one where the window holds the start of a cycle. Only where cycles are periods
    /// without windows and exclusions.
    ///
    /// # Errors
    /// When `end` is before `start`, or more than a period after it; naming `end_time`.
    pub(crate) fn offsets_running_in(
        &self,
        start: Moment,
        end: Moment,
    ) -> Result<(Range<u64>, Option<Range<u64>>), Rejection> {
        if end < start {
            let allowed = format!("must not be before start_time, {start}");
            return Err(Rejection::new(Reason::Contradictory, "end_time", end, allowed));
        }
        let period = i128::from(self.active_ticks());
        let (first, behind) = (self.ticks_before(start), self.ticks_before(end));
        let length = behind - first;
        if length > period {
            let allowed = format!(
                "must be at most a period of {} after start_time, {start}: in it every ID runs once",
                self.period()
            );
            return Err(Rejection::new(Reason::OutOfRange, "end_time", end, allowed));
        }
        let ticks = |ticks: i128| u64::try_from(ticks).unwrap_or_default(); // 0 to a period
        let from = first.rem_euclid(period);
        Ok(if length == period {
            (0..ticks(period), None)
        } else if from + length <= period {
            (ticks(from)..ticks(from + length), None)
        } else {
            let of_next_cycle = 0..ticks(from + length - period);
            (ticks(from)..ticks(period), Some(of_next_cycle))
        })
    }

    /// How many ticks start before `moment`, counted from the anchor (negative before it).
    fn ticks_before(&self, moment: Moment) -> i128 {
        let since_anchor = i128::from(moment.unix_millis_ceil()) - i128::from(self.anchor_millis());
        -(-since_anchor).div_euclid(i128::from(self.tick_millis()))
    }

    /// The hashes of the IDs whose offset from the cycle lies in `ticks`
    /// (`HASH`): [⌈t0·2^64/T⌉, ⌈t1·2^64/T⌉). A range that ends with the cycle
    /// ends at 2^64, hence the `u128`.
    ///
    /// ```
    /// use offbeat_core::{Schedule, ScheduleSpec, Span};
    ///
    /// let daily = Schedule::try_new(&ScheduleSpec::every(Span::from_seconds(86_400)))?;
    /// assert_eq!(daily.hash_window(43_200..86_400), 1 << 63..1 << 64);
    /// # Ok::<(), offbeat_core::Rejection>(())
    /// ```
    #[must_use]
    pub fn hash_window(&self, ticks: Range<u64>) -> Range<u128> {
        let of = self.active_ticks();
        hash_bound(ticks.start, of)..hash_bound(ticks.end, of)
    }

    /// The fractions whose offset from the cycle lies in `ticks` (`FRACTION`):
    /// from the smallest double whose offset is `start` or more, to the smallest
    /// whose offset is `end` or more; 1 if there is none.
    #[must_use]
    pub fn fraction_window(&self, ticks: Range<u64>) -> Range<f64> {
        let of = self.active_ticks();
        smallest_fraction(ticks.start, of)..smallest_fraction(ticks.end, of)
    }

    /// The ranges of hashes or fractions whose IDs run in [`start`, `end`), exclusions considered.
    /// They do not touch, and are in order; with plain periods and without kinds, a range at the
    /// start of a cycle comes last.
    ///
    /// # Errors
    /// When `end` is before `start` or too far after it, or there are more than 64 ranges; naming
    /// `end_time`.
    ///
    /// ```
    /// use offbeat_core::runs::KeyRanges;
    /// use offbeat_core::{Moment, Schedule, ScheduleSpec, Span};
    ///
    /// // Half of a day is half of all hashes.
    /// let daily = Schedule::try_new(&ScheduleSpec::every(Span::from_seconds(86_400)))?;
    /// let keys = daily.keys_running_in(Moment::UNIX_EPOCH, Moment::try_new(43_200, 0)?)?;
    /// assert_eq!(keys, KeyRanges::Hashes(vec![0..1 << 63]));
    /// # Ok::<(), offbeat_core::Rejection>(())
    /// ```
    pub fn keys_running_in(&self, start: Moment, end: Moment) -> Result<KeyRanges, Rejection> {
        let ranges = self.key_ranges_in(start, end)?;
        let count = ranges.len();
        if count > PREDICATE_RANGES.max_size() {
            let value = format_args!("{end} (a window of {count} ranges)");
            let allowed = format!("the window must make {PREDICATE_RANGES}: end it earlier");
            return Err(Rejection::new(Reason::OutOfRange, "end_time", value, allowed));
        }
        Ok(match self.placement() {
            Placement::Fraction => {
                let fraction = |key| f64::from_bits(u64::try_from(key).unwrap_or_default());
                let range = |keys: Range<u128>| fraction(keys.start)..fraction(keys.end);
                KeyRanges::Fractions(ranges.into_iter().map(range).collect())
            }
            Placement::Hash { .. } | Placement::Twister { .. } => KeyRanges::Hashes(ranges),
        })
    }

    /// The same ranges as keys, and any number of them.
    pub(crate) fn key_ranges_in(
        &self,
        start: Moment,
        end: Moment,
    ) -> Result<Vec<Range<u128>>, Rejection> {
        let Some(plan) = self.plan() else {
            let (first, second) = self.offsets_running_in(start, end)?;
            let offsets = core::iter::once(first).chain(second);
            let keys = offsets.flat_map(|ticks| self.keys_at(&ticks, self.active_ticks()));
            let keys =
                if self.grid().rotation() == 0 { keys.collect() } else { merged(keys.collect()) };
            return Ok(keys.into_iter().map(|(start, end)| start..end).collect());
        };
        self.check_window(start, end)?;
        let running = calendar::running_in(plan, self.ticks_from(start), self.ticks_from(end));
        let keys = running.iter().flat_map(|ActiveTicks { of, ticks }| self.keys_at(ticks, *of));
        let keys = merged(keys.filter(|(start, end)| start < end).collect());
        Ok(keys.into_iter().map(|(start, end)| start..end).collect())
    }

    /// The keys that stand at `ticks` of a cycle with `of` active ticks, as pairs of the first key
    /// and the end, which is exclusive.
    fn keys_at(&self, ticks: &Range<u64>, of: u64) -> impl Iterator<Item = (u128, u128)> + use<'_> {
        let bound = move |offset| match self.placement() {
            // Doubles in [0, 1] are in the order of their bits.
            Placement::Fraction => smallest_fraction(offset, of).to_bits().into(),
            Placement::Hash { .. } | Placement::Twister { .. } => hash_bound(offset, of),
        };
        let (first, second) = self.grid().unrotated(ticks, of);
        let ranges = core::iter::once(first).chain(second);
        ranges.map(move |ticks| (bound(ticks.start), bound(ticks.end)))
    }

    /// The first key that stands at the start of a cycle, where the places of a kind wrap around; 0
    /// without kinds.
    pub(crate) fn first_key(&self) -> u128 {
        let of = self.active_ticks();
        self.keys_at(&(0..of), of).map(|(start, _)| start).max().unwrap_or_default()
    }

    /// The end of all keys, exclusive; 0 under `TWISTER`, which has none.
    pub(crate) const fn key_end(&self) -> u128 {
        match self.placement() {
            Placement::Hash { .. } => 1 << 64,
            Placement::Fraction => 1.0f64.to_bits() as u128,
            Placement::Twister { .. } => 0,
        }
    }

    /// Where an ID with this key stands. Only where cycles are periods without active windows and
    /// exclusions.
    #[expect(clippy::cast_possible_truncation, reason = "a key is below 2^64")]
    pub(crate) fn place_of_key(&self, key: u128) -> Place {
        match self.placement() {
            Placement::Fraction => self.grid().at_fraction(f64::from_bits(key as u64)),
            Placement::Hash { .. } | Placement::Twister { .. } => self.grid().at_hash(key as u64),
        }
    }

    fn check_window(&self, start: Moment, end: Moment) -> Result<(), Rejection> {
        if end < start {
            let allowed = format!("must not be before start_time, {start}");
            return Err(Rejection::new(Reason::Contradictory, "end_time", end, allowed));
        }
        let (spare, why) = match self.calendar() {
            Some(_) => (Span::from_seconds(86_400), "a cycle and a day"),
            None => (Span::from_seconds(0), "a period"),
        };
        let most = self.period().nanos() + spare.nanos();
        if end.nanos_since(start) > most {
            let most = Span::from_millis(u64::try_from(most / 1_000_000).unwrap_or(u64::MAX));
            let allowed = format!("must be at most {why}, {most}, after start_time, {start}");
            return Err(Rejection::new(Reason::OutOfRange, "end_time", end, allowed));
        }
        Ok(())
    }
}

/// Ranges of the hash or fraction that decides an ID's place.
#[derive(Debug, Clone, PartialEq)]
pub enum KeyRanges {
    /// Ranges of hashes; one that ends at 2^64 has no upper bound.
    Hashes(Vec<Range<u128>>),
    /// Ranges of fractions; one that ends at 1 has no upper bound.
    Fractions(Vec<Range<f64>>),
}

/// The ranges that both lists cover; each list must be in order and without overlaps.
pub(crate) fn intersection(a: &[Range<u128>], b: &[Range<u128>]) -> Vec<Range<u128>> {
    let pairs =
        a.iter().flat_map(|a| b.iter().map(move |b| a.start.max(b.start)..a.end.min(b.end)));
    pairs.filter(|range| !range.is_empty()).collect()
}
