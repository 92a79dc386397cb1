//! Keys: what places an ID, as integers in the order of the offsets that they decide. Under `HASH`
//! the hash, under `FRACTION` the bits of the fraction; `TWISTER` has none.
//!
//! All of this is of schedules whose cycles are periods, without active windows and exclusions:
//! where a clock skips an hour, runs do not come in the order of the keys.

use core::ops::Range;

use crate::placement::{Place, Placement};
use crate::rejection::Rejection;
use crate::schedule::Schedule;
use crate::time::Moment;

impl Schedule {
    /// Behind the last key.
    pub(crate) const fn key_end(&self) -> u128 {
        match self.placement() {
            Placement::Hash { .. } => 1 << 64,
            Placement::Fraction => 1.0f64.to_bits() as u128,
            Placement::Twister { .. } => 0,
        }
    }

    /// Where an ID with this key stands.
    #[expect(clippy::cast_possible_truncation, reason = "a key is below 2^64")]
    pub(crate) fn place_of_key(&self, key: u128) -> Place {
        match self.placement() {
            Placement::Fraction => self.grid().at_fraction(f64::from_bits(key as u64)),
            Placement::Hash { .. } | Placement::Twister { .. } => self.grid().at_hash(key as u64),
        }
    }

    /// The keys that run in [`start`, `end`): none, one or two ranges.
    pub(crate) fn key_ranges_in(
        &self,
        start: Moment,
        end: Moment,
    ) -> Result<Vec<Range<u128>>, Rejection> {
        let (first, second) = self.offsets_running_in(start, end)?;
        let ticks = core::iter::once(first).chain(second).filter(|ticks| !ticks.is_empty());
        Ok(ticks.map(|ticks| self.keys_at(ticks)).filter(|keys| !keys.is_empty()).collect())
    }

    fn keys_at(&self, ticks: Range<u64>) -> Range<u128> {
        match self.placement() {
            Placement::Fraction => {
                let fractions = self.fraction_window(ticks);
                u128::from(fractions.start.to_bits())..u128::from(fractions.end.to_bits())
            }
            Placement::Hash { .. } | Placement::Twister { .. } => self.hash_window(ticks),
        }
    }
}

/// What lies in a range of both; each list in order and without overlaps.
pub(crate) fn intersection(a: &[Range<u128>], b: &[Range<u128>]) -> Vec<Range<u128>> {
    let pairs =
        a.iter().flat_map(|a| b.iter().map(move |b| a.start.max(b.start)..a.end.min(b.end)));
    pairs.filter(|range| !range.is_empty()).collect()
}
