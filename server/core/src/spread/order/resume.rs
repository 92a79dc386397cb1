//! Resuming a spread in another process.

use crate::limits::TOKEN_TURNS;
use crate::rejection::{Reason, Rejection, in_range};

/// A digest of turns, in their order: equal for equal orders, and different for orders that
/// differ in one turn. It guards against mistakes, not against malice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OrderDigest(u64);

impl OrderDigest {
    /// The digest of the turns so far, from the value in a token.
    #[must_use]
    pub const fn from_value(value: u64) -> Self {
        Self(value)
    }

    /// The value for a token.
    #[must_use]
    pub const fn value(self) -> u64 {
        self.0
    }

    /// Adds turns: the group of each, or -1.
    pub fn extend(&mut self, group_indexes: &[i64]) {
        // An odd factor and an exclusive or lose nothing: one other turn is another digest.
        const FACTOR: u64 = 0x517c_c1b7_2722_0a95;
        self.0 = group_indexes.iter().fold(self.0, |digest, group| {
            (digest.rotate_left(5) ^ group.cast_unsigned().wrapping_add(1)).wrapping_mul(FACTOR)
        });
    }
}

/// A place in a spread, which another process returns to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The first turn of `group_indexes`.
    first_sequence: u64,
    /// Of the turns before that one.
    digest: OrderDigest,
    /// The groups of the turns from that one up to the place.
    group_indexes: Vec<i64>,
}

impl Place {
    /// The place after the turns of `group_indexes`. The first of them is turn `first_sequence`,
    /// and `digest` is that of the turns before it.
    ///
    /// # Errors
    /// When `first_sequence` is negative, or there are too many turns.
    pub fn try_new(
        first_sequence: i64,
        digest: u64,
        group_indexes: Vec<i64>,
    ) -> Result<Self, Rejection> {
        let count = i64::try_from(group_indexes.len()).unwrap_or(i64::MAX);
        in_range("taken_group_indexes", count, TOKEN_TURNS)?;
        let first_sequence = u64::try_from(first_sequence).map_err(|_| {
            let allowed = "must be 0 or more, a turn";
            Rejection::new(Reason::OutOfRange, "first_sequence", first_sequence, allowed)
        })?;
        Ok(Self { first_sequence, digest: OrderDigest::from_value(digest), group_indexes })
    }

    /// How many turns from `sequence` on may be dealt before the next check, if there is one.
    #[must_use]
    pub fn turns_to_check(&self, sequence: u64) -> Option<u64> {
        let places = [self.first_sequence, self.next_sequence()];
        places.into_iter().find(|place| *place > sequence).map(|place| place - sequence)
    }

    /// The turn to continue with.
    #[must_use]
    pub fn next_sequence(&self) -> u64 {
        self.first_sequence.saturating_add(self.group_indexes.len() as u64)
    }

    /// Checks turns from `sequence` on; `before` is the digest of the turns before them.
    ///
    /// # Errors
    /// When they differ from the turns that lead to the place.
    pub fn check(
        &self,
        sequence: u64,
        before: OrderDigest,
        group_indexes: &[i64],
    ) -> Result<(), Rejection> {
        if sequence == self.first_sequence && before != self.digest {
            return Err(differs(format!("another order of the first {sequence} turns")));
        }
        let Some(skipped) = sequence.checked_sub(self.first_sequence) else { return Ok(()) };
        let skipped = usize::try_from(skipped).unwrap_or(usize::MAX);
        let expected = self.group_indexes.get(skipped..).unwrap_or_default();
        match expected.iter().zip(group_indexes).position(|(expected, turn)| expected != turn) {
            Some(place) => Err(differs(format!("another turn {}", sequence + place as u64))),
            None => Ok(()),
        }
    }

    /// Checks that a spread that ended after `turns` turns has the place.
    ///
    /// # Errors
    /// When it has fewer turns.
    pub fn check_end(&self, turns: u64) -> Result<(), Rejection> {
        if self.next_sequence() <= turns {
            return Ok(());
        }
        Err(differs(format!("{turns} turns in all, before turn {}", self.next_sequence())))
    }
}

fn differs(found: String) -> Rejection {
    let allowed = "must be the groups of the spread that the token is of, in their order";
    Rejection::new(Reason::OrderDiffers, "resume", found, allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(groups: &[i64]) -> OrderDigest {
        let mut digest = OrderDigest::default();
        digest.extend(groups);
        digest
    }

    #[test]
    fn digests_grow_turn_by_turn_and_tell_orders_apart() {
        let order = [0, 1, 2, 0, 1, -1, 3];
        let mut parts = OrderDigest::default();
        order.chunks(3).for_each(|part| parts.extend(part));
        assert_eq!(parts, digest(&order));
        let mut seen = std::collections::BTreeSet::from([digest(&order).value()]);
        for place in 0..order.len() {
            for group in -1..50 {
                let mut other = order;
                other[place] = group;
                assert!(other == order || seen.insert(digest(&other).value()), "{other:?}");
            }
        }
        assert_ne!(digest(&[]), digest(&[0]));
        assert_ne!(digest(&[0]), digest(&[0, 0]));
    }
}
