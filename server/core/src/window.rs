//! Windows of the cycle as ranges of what decides: of the hash, or of the fraction.

use core::ops::Range;

use crate::placement::fraction_offset;
use crate::rejection::{Reason, Rejection};
use crate::schedule::Schedule;
use crate::time::Moment;

impl Schedule {
    /// The offsets from the cycle, in ticks, of the runs in [`start`, `end`): a range,
    /// and a second one where the window holds the start of a cycle.
    ///
    /// # Errors
    /// When `end` is before `start`, or more than a period after it.
    pub fn offsets_running_in(
        &self,
        start: Moment,
        end: Moment,
    ) -> Result<(Range<u64>, Option<Range<u64>>), Rejection> {
        if end < start {
            let allowed = format!("must not be before start_time, {start}");
            return Err(Rejection::new(Reason::Contradictory, "end_time", end, allowed));
        }
        let period = i128::from(self.period_ticks());
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
