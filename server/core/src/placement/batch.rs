//! Many IDs placed at once.

use super::grid::unsuitable;
use super::simd::{self, Kernel};
use super::{Grid, Place, Placement};
use crate::ids::{Id, Integer};
use crate::rejection::Rejection;

/// IDs that are read before the first of them is answered.
const TAKEN: usize = 6_144;

impl Grid {
    /// Places the IDs and passes the results to `each`, in order. `ids` and `each` are trait
    /// objects, so that this is compiled once, and not for each caller.
    pub(crate) fn place_all<'a>(
        self,
        kernel: Kernel,
        placement: &Placement,
        ids: &mut dyn Iterator<Item = Result<Id<'a>, Rejection>>,
        each: &mut dyn FnMut(Result<Place, Rejection>),
    ) {
        let mut ids = ids.fuse();
        let expected = ids.size_hint().0.min(TAKEN);
        let mut taken = Vec::with_capacity(expected);
        let mut numbers = Vec::with_capacity(expected);
        let mut refused = Vec::new();
        loop {
            for (row, id) in ids.by_ref().take(TAKEN).enumerate() {
                match id {
                    Ok(id) if placement.takes(&id) => taken.push(id),
                    Ok(id) => refused.push((row, unsuitable(placement.kind(), &id))),
                    Err(rejection) => refused.push((row, rejection)),
                }
            }
            if taken.is_empty() && refused.is_empty() {
                return;
            }
            self.decide(kernel, placement, &taken, &mut numbers);
            let mut row = 0;
            let mut refusals = refused.drain(..).peekable();
            for (id, number) in taken.iter().zip(&numbers) {
                while let Some((_, rejection)) = refusals.next_if(|(at, _)| *at == row) {
                    each(Err(rejection));
                    row += 1;
                }
                each(Ok(self.decided(placement, id, *number)));
                row += 1;
            }
            refusals.for_each(|(_, rejection)| each(Err(rejection)));
            taken.clear();
            numbers.clear();
        }
    }

    /// Appends the number that decides where each ID stands: its hash, the offset from the slot
    /// that its twister draws, or the bits of its fraction. The placement must take all of the IDs.
    pub(crate) fn decide(
        self,
        kernel: Kernel,
        placement: &Placement,
        ids: &[Id<'_>],
        numbers: &mut Vec<u64>,
    ) {
        match placement {
            Placement::Hash { salt } => simd::hashes(kernel, salt, ids.iter(), numbers),
            Placement::Twister { profile, .. } => {
                let limit = self.slot_length();
                simd::draws(kernel, *profile, limit, ids.iter().map(seed), numbers);
            }
            Placement::Fraction => numbers.extend(ids.iter().map(|id| match id {
                Id::Fraction(fraction) => fraction.get().to_bits(),
                Id::Uuid(_) | Id::Integer(_) | Id::Text(_) => 0, // not taken
            })),
        }
    }

    /// The place of an ID for which [`decide`](Self::decide) appended `number`.
    #[inline]
    pub(crate) fn decided(self, placement: &Placement, id: &Id<'_>, number: u64) -> Place {
        match placement {
            Placement::Hash { .. } => self.at_hash(number),
            Placement::Twister { bucket_count, .. } => {
                self.at_seed(seed(id), *bucket_count, number)
            }
            Placement::Fraction => self.at_fraction(f64::from_bits(number)),
        }
    }
}

/// The seed that `TWISTER` takes from an ID.
#[inline]
fn seed(id: &Id<'_>) -> Integer {
    match id {
        Id::Uuid(uuid) => (*uuid).into(),
        Id::Integer(integer) => *integer,
        Id::Text(_) | Id::Fraction(_) => Integer::from(0_u128), // not taken
    }
}
