//! Windows of the cycle as ranges of what decides: of the hash, or of the fraction.

use core::ops::Range;

use crate::calendar::{self, ActiveTicks};
use crate::limits::PREDICATE_RANGES;
use crate::placement::{PlacementKind, hash_bound, smallest_fraction};
use crate::rejection::{Reason, Rejection};
use crate::schedule::Schedule;
use crate::time::{Moment, Span};

impl Schedule {
    /// Where cycles are periods without windows and exclusions: the offsets from the cycle, in
    /// ticks, of the runs in [`start`, `end`): a range, and a second one where the window holds
    /// the start of a cycle.
    ///
    /// # Errors
    /// When `end` is before `start`, or more than a period after it.
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

    /// The ranges of what decides, of the hash or of the fraction, whose IDs run in
    /// [`start`, `end`), exclusions considered; in order, not touching.
    ///
    /// # Errors
    /// When `end` is before `start` or too far after it, or there are more than 64 ranges.
    pub fn keys_running_in(&self, start: Moment, end: Moment) -> Result<KeyRanges, Rejection> {
        let Some(plan) = self.plan() else {
            return self.plain_keys_running_in(start, end);
        };
        self.check_window(start, end)?;
        let running = calendar::running_in(plan, self.ticks_from(start), self.ticks_from(end));
        let ranges = match self.placement().kind() {
            PlacementKind::Fraction => {
                // Doubles in [0, 1] are ordered as their bits.
                let bound = |offset, of| u128::from(smallest_fraction(offset, of).to_bits());
                let fraction = |bits: u128| f64::from_bits(u64::try_from(bits).unwrap_or_default());
                let range = |range: Range<u128>| fraction(range.start)..fraction(range.end);
                KeyRanges::Fractions(merged(&running, bound).into_iter().map(range).collect())
            }
            PlacementKind::Hash | PlacementKind::Twister => {
                KeyRanges::Hashes(merged(&running, hash_bound))
            }
        };
        let count = ranges.len();
        if !PREDICATE_RANGES.allows(count.into()) {
            let value = format_args!("{end} (a window of {count} ranges)");
            let allowed = format!("the window must make {PREDICATE_RANGES}: end it earlier");
            return Err(Rejection::new(Reason::OutOfRange, "end_time", value, allowed));
        }
        Ok(ranges)
    }

    /// One range, or two where the window holds the start of a cycle: what is behind it comes last.
    fn plain_keys_running_in(&self, start: Moment, end: Moment) -> Result<KeyRanges, Rejection> {
        let (first, second) = self.offsets_running_in(start, end)?;
        let offsets = [Some(first), second].into_iter().flatten();
        Ok(if self.placement().kind() == PlacementKind::Fraction {
            KeyRanges::Fractions(offsets.map(|ticks| self.fraction_window(ticks)).collect())
        } else {
            KeyRanges::Hashes(offsets.map(|ticks| self.hash_window(ticks)).collect())
        })
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

/// Ranges of what decides an ID's place.
#[derive(Debug, Clone, PartialEq)]
pub enum KeyRanges {
    /// Of hashes; one that ends at 2^64 is open.
    Hashes(Vec<Range<u128>>),
    /// Of fractions; one that ends at 1 is open.
    Fractions(Vec<Range<f64>>),
}

impl KeyRanges {
    /// How many.
    fn len(&self) -> u32 {
        let len = match self {
            Self::Hashes(ranges) => ranges.len(),
            Self::Fractions(ranges) => ranges.len(),
        };
        u32::try_from(len).unwrap_or(u32::MAX)
    }
}

/// The ranges of keys that stand at active ticks, as few as can be.
fn merged(running: &[ActiveTicks], bound: impl Fn(u64, u64) -> u128) -> Vec<Range<u128>> {
    let mut ranges: Vec<Range<u128>> = running
        .iter()
        .map(|ActiveTicks { of, ticks }| bound(ticks.start, *of)..bound(ticks.end, *of))
        .filter(|range| !range.is_empty())
        .collect();
    ranges.sort_unstable_by_key(|range| range.start);
    let mut merged: Vec<Range<u128>> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match merged.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    merged
}
