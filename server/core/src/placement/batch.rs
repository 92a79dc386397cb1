//! Many IDs placed at once.

use core::num::NonZeroU64;

use super::grid::unsuitable;
use super::{Grid, Place, Placement};
use crate::ids::{Id, Integer};
use crate::kernels::{self, Kernel};
use crate::rejection::Rejection;

/// IDs that are taken in before any of them is answered.
const TAKEN: usize = 6_144;

impl Grid {
    /// Places the IDs; `each` hears of them in order. Compiled once, not for each kind of ID and
    /// each caller.
    pub(crate) fn place_all<'a>(
        self,
        kernel: Kernel,
        placement: &Placement,
        ids: &mut dyn Iterator<Item = Result<Id<'a>, Rejection>>,
        each: &mut dyn FnMut(Result<Place, Rejection>),
    ) {
        match placement {
            Placement::Fraction => {
                for id in ids {
                    each(id.and_then(|id| self.place(placement, &id)));
                }
            }
            Placement::Hash { salt } => self.in_turns(
                placement,
                ids,
                |ids, hashes| kernels::hashes(kernel, salt, ids.iter(), hashes),
                |_, hash| self.at_hash(hash),
                each,
            ),
            &Placement::Twister { bucket_count, profile } => self.in_turns(
                placement,
                ids,
                |ids, numbers| {
                    let limit = NonZeroU64::new(self.slot_ticks()).unwrap_or(NonZeroU64::MIN);
                    kernels::draws(kernel, profile, limit, ids.iter().map(seed), numbers);
                },
                |id, slot_offset| self.at_seed(seed(id), bucket_count, slot_offset),
                each,
            ),
        }
    }

    /// Takes some IDs in, has a number decided for each, and answers with its place; then the next.
    fn in_turns<'a>(
        self,
        placement: &Placement,
        ids: &mut dyn Iterator<Item = Result<Id<'a>, Rejection>>,
        decide: impl Fn(&[Id<'a>], &mut Vec<u64>),
        place: impl Fn(&Id<'a>, u64) -> Place,
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
            decide(&taken, &mut numbers);
            let mut row = 0;
            let mut refusals = refused.drain(..).peekable();
            for (id, number) in taken.iter().zip(&numbers) {
                while let Some((_, rejection)) = refusals.next_if(|(at, _)| *at == row) {
                    each(Err(rejection));
                    row += 1;
                }
                each(Ok(place(id, *number)));
                row += 1;
            }
            refusals.for_each(|(_, rejection)| each(Err(rejection)));
            taken.clear();
            numbers.clear();
        }
    }
}

/// What an ID that `TWISTER` takes seeds it with.
fn seed(id: &Id<'_>) -> Integer {
    match id {
        Id::Uuid(uuid) => (*uuid).into(),
        Id::Integer(integer) => *integer,
        Id::Text(_) | Id::Fraction(_) => Integer::from(0_u128), // not taken
    }
}
