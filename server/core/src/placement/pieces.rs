//! Weights: a large ID is cut into pieces, which run as if each were an ID.
//!
//! An ID of weight w has k = max(1, min(n, ⌈w/q⌉)) pieces, for the schedule's quantum q and its n
//! slots. Piece j stands after the ID's own place by a fraction of the cycle: the reversed bits of
//! j (van der Corput's sequence). So any number of pieces spreads evenly, and more weight adds
//! pieces and moves none.

use crate::limits::WEIGHT;
use crate::rejection::{Reason, Rejection, in_range};

/// How many pieces an ID of `weight` is cut into: 1 to `slot_count`.
///
/// # Errors
/// When there is no quantum, or the weight is not 0 to 2^53; naming `weight`.
pub(crate) fn piece_count(
    weight: i64,
    quantum: Option<u64>,
    slot_count: u32,
) -> Result<u32, Rejection> {
    let Some(quantum) = quantum else {
        let allowed = "must not be set with a schedule without weight_quantum";
        return Err(Rejection::new(Reason::Contradictory, "weight", weight, allowed));
    };
    let wanted = in_range("weight", weight, WEIGHT)?.div_ceil(quantum);
    Ok(u32::try_from(wanted).unwrap_or(u32::MAX).clamp(1, slot_count))
}

/// The hash at which piece `piece` of a weighted ID stands: h plus the reversed bits of the piece's
/// number (van der Corput's sequence), so that more pieces move none. The sum wraps around at 2^64.
///
/// ```
/// use offbeat_core::placement::piece_hash;
///
/// // Half a cycle, a quarter and three quarters after the ID's own place.
/// assert_eq!([1, 2, 3].map(|piece| piece_hash(0, piece) >> 62), [2, 1, 3]);
/// ```
#[must_use]
pub const fn piece_hash(hash: u64, piece: u32) -> u64 {
    hash.wrapping_add((piece as u64).reverse_bits())
}
