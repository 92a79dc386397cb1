//! Going on with a spread in another process.

use crate::rejection::{Reason, Rejection};

/// A digest of turns, in their order: equal for equal orders, and different for orders that
/// differ in one turn. It guards against mistakes, and against nobody's malice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OrderDigest(u64);

impl OrderDigest {
    /// That of the turns before, as a token says it.
    #[must_use]
    pub const fn from_value(value: u64) -> Self {
        Self(value)
    }

    /// As a token says it.
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

/// A place in a spread, to be reached again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// How many turns the digest is of.
    pub digest_sequence: u64,
    /// Of the turns before that one.
    pub digest: OrderDigest,
    /// The turn to go on with.
    pub next_sequence: u64,
}

impl Place {
    /// Reads a place.
    ///
    /// # Errors
    /// When a turn is negative, or the digest is of turns behind the place.
    pub fn try_new(
        digest_sequence: i64,
        digest: u64,
        next_sequence: i64,
    ) -> Result<Self, Rejection> {
        let turn = |field: &str, sequence: i64, most: i64| {
            let turn = u64::try_from(sequence).ok().filter(|_| sequence <= most);
            turn.ok_or_else(|| {
                let allowed = match most {
                    i64::MAX => "must be 0 or more, a turn".to_owned(),
                    most => format!("must be 0 to {most}, next_sequence"),
                };
                Rejection::new(Reason::OutOfRange, field, sequence, allowed)
            })
        };
        Ok(Self {
            next_sequence: turn("next_sequence", next_sequence, i64::MAX)?,
            digest_sequence: turn("digest_sequence", digest_sequence, next_sequence)?,
            digest: OrderDigest::from_value(digest),
        })
    }

    /// Checks the order before turn `sequence`, if the digest is of it.
    ///
    /// # Errors
    /// When it is another.
    pub fn check(&self, sequence: u64, digest: OrderDigest) -> Result<(), Rejection> {
        if sequence != self.digest_sequence || digest == self.digest {
            return Ok(());
        }
        let found = format!("another order of the first {sequence} turns");
        Err(differs(found))
    }

    /// Checks that a spread which ended after `turns` turns has the place.
    ///
    /// # Errors
    /// When it has fewer turns.
    pub fn check_end(&self, turns: u64) -> Result<(), Rejection> {
        if self.next_sequence <= turns {
            return Ok(());
        }
        Err(differs(format!("{turns} turns in all, before turn {}", self.next_sequence)))
    }
}

fn differs(found: String) -> Rejection {
    let allowed = "must be the groups of the spread that the token is of, in their order";
    Rejection::new(Reason::OrderDiffers, "resume_token", found, allowed)
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
