//! Smears: where in a span late runs start, so that they do not all start now.
//!
//! The place in the span is independent of the place in the cycle: IDs of one slot that missed
//! their runs together are spread over the span.

use crate::ids::{Id, digest};
use crate::limits::DUE_PAGED_RUNS;
use crate::placement::Placement;
use crate::schedule::Schedule;

impl Schedule {
    /// The hash that smears an ID: u, the last 8 bytes, big-endian, of MD5(salt ‖ canonical text of
    /// the ID).
    /// `HASH` places by the first 8. Other placements have no salt.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "the lower half is meant")]
    pub fn smear_hash(&self, id: &Id<'_>) -> u64 {
        match self.placement() {
            Placement::Hash { salt } => digest(salt, id) as u64,
            Placement::Twister { .. } | Placement::Fraction => digest("", id) as u64,
        }
    }
}

/// Where run `index` of `count` starts in a span: ⌊(index·2^64 + hash)·span / (count·2^64)⌋. Each
/// run has an equal part of the span to itself, so that runs keep their order.
#[must_use]
#[expect(clippy::cast_possible_truncation, reason = "less than the span")]
pub(crate) fn position(hash: u64, index: u64, count: u64, span: u64) -> u64 {
    debug_assert!(index < count && DUE_PAGED_RUNS.allows(count.into()), "rows are limited");
    let share = u128::from(index) << 64 | u128::from(hash);
    // Below 2^(64 + 24) and 2^39: a product of fewer than 128 bits.
    (share * u128::from(span) / (u128::from(count) << 64)) as u64
}
