//! A cycle cut into slots.

use core::num::NonZeroU64;
use core::ops::Range;

use super::{
    Place, Placement, PlacementKind, Profile, Why, fraction_offset, piece_hash, scale, simd,
};
use crate::ids::{Id, Integer, hash};
use crate::rejection::{Reason, Rejection};

/// A cycle cut into slots of equal length, in ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Grid {
    slot_count: u32,
    slot_ticks: NonZeroU64,
    /// Slots by which all IDs stand later than their placement says, around the cycle: those of a
    /// kind. Less than the slot count.
    rotation: u32,
}

impl Grid {
    pub(crate) const fn new(slot_count: u32, slot_ticks: NonZeroU64) -> Self {
        Self { slot_count, slot_ticks, rotation: 0 }
    }

    /// The same grid for a kind that stands `slots` slots after kind 0.
    pub(crate) const fn rotated(self, slots: u32) -> Self {
        Self { rotation: slots % self.slot_count, ..self }
    }

    pub(crate) const fn rotation(self) -> u32 {
        self.rotation
    }

    pub(crate) const fn slot_count(self) -> u32 {
        self.slot_count
    }

    pub(crate) const fn slot_ticks(self) -> u64 {
        self.slot_ticks.get()
    }

    /// The same as [`slot_ticks`](Self::slot_ticks), as a number that is never 0.
    pub(super) const fn slot_length(self) -> NonZeroU64 {
        self.slot_ticks
    }

    pub(crate) const fn period_ticks(self) -> u64 {
        self.slot_count as u64 * self.slot_ticks.get()
    }

    /// Where the rotation moves an active tick, in a cycle with `of` active ticks. The slot count
    /// must divide `of`.
    #[inline]
    pub(crate) fn rotate(self, offset: u64, of: u64) -> u64 {
        let moved = offset + self.shift(of);
        if moved < of { moved } else { moved - of }
    }

    /// The active ticks that the rotation moves to `ticks`, in a cycle with `of` active ticks: one
    /// range, or two in order if they wrap around the end of the cycle.
    pub(crate) fn unrotated(self, ticks: &Range<u64>, of: u64) -> (Range<u64>, Option<Range<u64>>) {
        let shift = self.shift(of);
        if ticks.start >= shift {
            (ticks.start - shift..ticks.end - shift, None)
        } else if ticks.end <= shift {
            (ticks.start + of - shift..ticks.end + of - shift, None)
        } else {
            (0..ticks.end - shift, Some(ticks.start + of - shift..of))
        }
    }

    /// The slot whose IDs the rotation moves to this one.
    pub(crate) const fn unrotated_slot(self, slot: u32) -> u32 {
        (slot + (self.slot_count - self.rotation)) % self.slot_count
    }

    /// The rotation in ticks.
    fn shift(self, of: u64) -> u64 {
        u64::from(self.rotation) * (of / u64::from(self.slot_count))
    }

    /// The place of an ID that stands, before the rotation, at an offset from the cycle's start.
    #[inline]
    fn at_offset(self, offset: u64, why: Why) -> Place {
        self.standing_at(self.rotate(offset, self.period_ticks()), why)
    }

    /// The place at an offset from the cycle's start, after the rotation.
    #[expect(clippy::cast_possible_truncation, reason = "the offset is less than the period")]
    #[inline]
    fn standing_at(self, cycle_offset: u64, why: Why) -> Place {
        let slot = (cycle_offset / self.slot_ticks) as u32;
        Place { slot, slot_offset: cycle_offset % self.slot_ticks, cycle_offset, why }
    }

    /// The place of a hash. As the slot count n divides the period of T ticks, the slot is (h·n) >>
    /// 64.
    pub(crate) fn at_hash(self, hash: u64) -> Place {
        self.at_offset(scale(hash, self.period_ticks()), Why::Hash(hash))
    }

    /// The place, as another kind, of the ID that stands at `place`. The other kind stands `slots`
    /// slots after the kind of this grid, around the cycle.
    pub(crate) fn turned(self, place: &Place, slots: u32) -> Place {
        let offset = u64::from(place.slot) * self.slot_ticks.get() + place.slot_offset;
        let other = Self { rotation: slots % self.slot_count, ..self };
        self.standing_at(other.rotate(offset, self.period_ticks()), place.why)
    }

    /// The place of a piece of the ID that stands at `place`. Under `TWISTER` and `FRACTION` the
    /// offset is shifted: (offset + ⌊reversed bits of the piece·T / 2^64⌋) mod T, in active time.
    pub(crate) fn piece(self, place: &Place, piece: u32) -> Place {
        match place.why {
            _ if piece == 0 => *place,
            Why::Hash(hash) => self.at_hash(piece_hash(hash, piece)),
            why @ (Why::Bucket(_) | Why::Fraction(_)) => {
                let period = self.period_ticks();
                let shift = scale(u64::from(piece).reverse_bits(), period);
                let offset = u64::from(place.slot) * self.slot_ticks.get() + place.slot_offset;
                self.standing_at((offset + shift) % period, why)
            }
        }
    }

    pub(crate) fn at_fraction(self, fraction: f64) -> Place {
        let offset = fraction_offset(fraction, self.period_ticks());
        self.at_offset(offset, Why::Fraction(fraction))
    }

    #[expect(clippy::cast_possible_truncation, reason = "less than the slot count, a u32")]
    fn at_bucket(self, bucket: u32, bucket_count: u32, slot_offset: u64) -> Place {
        // A bucket count is a power of two, 256 or 65,536; and the offset is less than a slot.
        let slot =
            (u64::from(bucket) * u64::from(self.slot_count)) >> bucket_count.trailing_zeros();
        let slot = self.rotate(slot, self.slot_count.into());
        let cycle_offset = slot * self.slot_ticks.get() + slot_offset;
        Place { slot: slot as u32, slot_offset, cycle_offset, why: Why::Bucket(bucket) }
    }

    pub(crate) fn place(self, placement: &Placement, id: &Id<'_>) -> Result<Place, Rejection> {
        match (placement, *id) {
            (Placement::Hash { salt }, Id::Uuid(_) | Id::Integer(_) | Id::Text(_)) => {
                Ok(self.at_hash(hash(salt, id)))
            }
            (&Placement::Twister { bucket_count, profile }, Id::Uuid(seed)) => {
                Ok(self.draw(seed.into(), bucket_count, profile))
            }
            (&Placement::Twister { bucket_count, profile }, Id::Integer(seed)) => {
                Ok(self.draw(seed, bucket_count, profile))
            }
            (Placement::Fraction, Id::Fraction(fraction)) => Ok(self.at_fraction(fraction.get())),
            _ => Err(unsuitable(placement.kind(), id)),
        }
    }

    fn draw(self, seed: Integer, bucket_count: u32, profile: Profile) -> Place {
        self.at_seed(seed, bucket_count, simd::draw(profile, self.slot_ticks, seed))
    }

    #[expect(clippy::cast_possible_truncation, reason = "less than the bucket count, a u32")]
    #[inline]
    pub(super) fn at_seed(self, seed: Integer, bucket_count: u32, slot_offset: u64) -> Place {
        let bucket = seed.rem_euclid(u64::from(bucket_count)) as u32;
        self.at_bucket(bucket, bucket_count, slot_offset)
    }
}

pub(super) fn unsuitable(placement: PlacementKind, id: &Id<'_>) -> Rejection {
    let allowed = match placement {
        PlacementKind::Hash => {
            "HASH takes UUIDs, integers and text; a stored fraction needs FRACTION"
        }
        PlacementKind::Twister => {
            "TWISTER takes UUIDs and integers; text has no meaning as a seed: use HASH"
        }
        PlacementKind::Fraction => "FRACTION takes the fraction in [0, 1) that the caller stored",
    };
    let shown = match id {
        Id::Fraction(fraction) => format!("{:?}", fraction.get()),
        Id::Text(text) => format!("{:?}", text.get()),
        Id::Uuid(_) | Id::Integer(_) => id.to_string(),
    };
    let value = format_args!("the {} {shown}", id.type_name());
    Rejection::new(Reason::IdTypeUnsuitable, "", value, allowed)
}
