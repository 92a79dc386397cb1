//! Windows of the cycle as ranges of what decides: of the hash, or of the fraction.

use core::ops::Range;

use crate::placement::fraction_offset;
use crate::schedule::Schedule;

impl Schedule {
    /// The hashes of the IDs whose offset from the cycle lies in `ticks`
    /// (`HASH`): [⌈t0·2^64/T⌉, ⌈t1·2^64/T⌉). A range that ends with the cycle
    /// ends at 2^64, hence the `u128`.
    #[must_use]
    pub fn hash_window(&self, ticks: Range<u64>) -> Range<u128> {
        let bound =
            |offset: u64| (u128::from(offset) << 64).div_ceil(u128::from(self.period_ticks()));
        bound(ticks.start)..bound(ticks.end)
    }

    /// The fractions whose offset from the cycle lies in `ticks` (`FRACTION`):
    /// from the smallest double whose offset is `start` or more, to the smallest
    /// whose offset is `end` or more; 1 if there is none.
    #[must_use]
    pub fn fraction_window(&self, ticks: Range<u64>) -> Range<f64> {
        self.smallest_fraction(ticks.start)..self.smallest_fraction(ticks.end)
    }

    fn smallest_fraction(&self, offset: u64) -> f64 {
        // Doubles in [0, 1] are ordered as their bits; the offset never falls as they rise.
        let (mut below, mut reaches) = (0, 1.0f64.to_bits());
        while below < reaches {
            let middle = below.midpoint(reaches);
            if fraction_offset(f64::from_bits(middle), self.period_ticks()) >= offset {
                reaches = middle;
            } else {
                below = middle + 1;
            }
        }
        f64::from_bits(reaches)
    }
}
