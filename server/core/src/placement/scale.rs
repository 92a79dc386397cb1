//! Shares of a cycle and ticks in it, in both directions: which tick a hash or a fraction stands
//! at, and which hashes and fractions stand at a tick or after it.

/// ⌊hash·whole / 2^64⌋.
pub(crate) const fn scale(hash: u64, whole: u64) -> u64 {
    ((hash as u128 * whole as u128) >> 64) as u64
}

/// min(⌊fraction·period⌋, period−1); periods are below 2^53, so the double holds them.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "the fraction is in [0, 1) and the period below 2^53"
)]
pub(crate) fn fraction_offset(fraction: f64, period_ticks: u64) -> u64 {
    ((fraction * period_ticks as f64) as u64).min(period_ticks - 1)
}

/// The smallest hash whose offset is at least `offset`, in a cycle of T = `ticks`: ⌈offset·2^64/T⌉.
pub(crate) fn hash_bound(offset: u64, ticks: u64) -> u128 {
    (u128::from(offset) << 64).div_ceil(u128::from(ticks.max(1)))
}

/// The smallest fraction whose offset is at least `offset`, in a cycle of `ticks`; 1 if there is
/// none.
pub(crate) fn smallest_fraction(offset: u64, ticks: u64) -> f64 {
    // Doubles in [0, 1] are in the order of their bits, and a larger one never has a smaller
    // offset.
    let (mut below, mut reaches) = (0, 1.0f64.to_bits());
    while below < reaches {
        let middle = below.midpoint(reaches);
        if fraction_offset(f64::from_bits(middle), ticks) >= offset {
            reaches = middle;
        } else {
            below = middle + 1;
        }
    }
    f64::from_bits(reaches)
}

/// The greatest number that divides both; of 0 and another, the other.
pub(crate) const fn greatest_common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}
