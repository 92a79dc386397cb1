//! Placements: how an ID becomes a slot and an offset.

mod batch;

use core::num::NonZeroU64;

use md5::{Digest, Md5};

use crate::id::{Id, Integer};
use crate::kernels;
use crate::rejection::{Reason, Rejection};
use crate::twister::Profile;

/// A placement by name, as a caller asks for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PlacementKind {
    /// By the MD5 of salt and canonical ID.
    #[default]
    Hash,
    /// By the last byte or two, and a Mersenne twister seeded with the ID.
    Twister,
    /// By a fraction that the caller stored.
    Fraction,
}

impl PlacementKind {
    /// The name in canonical texts, the same as in the protobuf.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Hash => "HASH",
            Self::Twister => "TWISTER",
            Self::Fraction => "FRACTION",
        }
    }
}

/// A placement with everything it needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Placement {
    /// h = first 8 bytes of MD5(salt ‖ canonical ID), big-endian;
    /// slot = h·n / 2^64, offset from the cycle = h·T / 2^64, rounded down.
    Hash {
        /// The namespace: schedules with different salts place an ID independently.
        salt: String,
    },
    /// bucket = the ID modulo the bucket count (of a UUID: its last byte or two);
    /// slot = bucket·n / bucket count, rounded down; offset from the slot = the
    /// first draw below the slot length of a twister seeded with the ID.
    Twister {
        /// 256 or 65,536.
        bucket_count: u32,
        /// Whose twister.
        profile: Profile,
    },
    /// offset from the cycle = min(⌊u·T⌋, T−1), one IEEE double multiplication;
    /// slot = offset / slot length, rounded down.
    Fraction,
}

impl Placement {
    /// Which of the three it is.
    #[must_use]
    pub const fn kind(&self) -> PlacementKind {
        match self {
            Self::Hash { .. } => PlacementKind::Hash,
            Self::Twister { .. } => PlacementKind::Twister,
            Self::Fraction => PlacementKind::Fraction,
        }
    }

    /// Whether IDs of this type have a place.
    const fn takes(&self, id: &Id<'_>) -> bool {
        match self {
            Self::Hash { .. } => !matches!(id, Id::Fraction(_)),
            Self::Twister { .. } => matches!(id, Id::Uuid(_) | Id::Integer(_)),
            Self::Fraction => matches!(id, Id::Fraction(_)),
        }
    }
}

/// Where an ID stands in every cycle. Offsets are in ticks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Place {
    /// The slot, from 0.
    pub slot: u32,
    /// Ticks from the start of the slot; less than the slot's length.
    pub slot_offset: u64,
    /// Ticks from the start of the cycle; less than the period.
    pub cycle_offset: u64,
    /// What decided.
    pub why: Why,
}

/// What decided a place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Why {
    /// The hash h.
    Hash(u64),
    /// The bucket, from 0.
    Bucket(u32),
    /// The fraction u.
    Fraction(f64),
}

/// A cycle cut into slots of equal length, in ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Grid {
    slot_count: u32,
    slot_ticks: NonZeroU64,
}

impl Grid {
    pub(crate) const fn new(slot_count: u32, slot_ticks: NonZeroU64) -> Self {
        Self { slot_count, slot_ticks }
    }

    pub(crate) const fn slot_count(self) -> u32 {
        self.slot_count
    }

    pub(crate) const fn slot_ticks(self) -> u64 {
        self.slot_ticks.get()
    }

    pub(crate) const fn period_ticks(self) -> u64 {
        self.slot_count as u64 * self.slot_ticks.get()
    }

    /// The place at an offset from the cycle's start.
    #[expect(clippy::cast_possible_truncation, reason = "the offset is less than the period")]
    fn at_offset(self, cycle_offset: u64, why: Why) -> Place {
        let slot = (cycle_offset / self.slot_ticks) as u32;
        Place { slot, slot_offset: cycle_offset % self.slot_ticks, cycle_offset, why }
    }

    /// The place of a hash. As n divides T, ⌊offset / slot length⌋ is (h·n) >> 64.
    pub(crate) fn at_hash(self, hash: u64) -> Place {
        self.at_offset(scale(hash, self.period_ticks()), Why::Hash(hash))
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
                self.at_offset((offset + shift) % period, why)
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
        self.at_seed(seed, bucket_count, kernels::draw(profile, self.slot_ticks, seed))
    }

    #[expect(clippy::cast_possible_truncation, reason = "less than the bucket count, a u32")]
    #[inline]
    pub(crate) fn at_seed(self, seed: Integer, bucket_count: u32, slot_offset: u64) -> Place {
        let bucket = seed.rem_euclid(u64::from(bucket_count)) as u32;
        self.at_bucket(bucket, bucket_count, slot_offset)
    }
}

fn unsuitable(placement: PlacementKind, id: &Id<'_>) -> Rejection {
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

/// The first 8 bytes, big-endian, of MD5(salt ‖ canonical text of the ID).
///
/// MD5 (RFC 1321) because every database has it; it guards nothing.
#[must_use]
pub fn hash(salt: &str, id: &Id<'_>) -> u64 {
    (digest(salt, id) >> 64) as u64
}

/// MD5(salt ‖ canonical text of the ID), read as one big-endian integer.
pub(crate) fn digest(salt: &str, id: &Id<'_>) -> u128 {
    let mut md5 = Md5::new_with_prefix(salt);
    match id {
        Id::Text(text) => md5.update(text.get()),
        Id::Uuid(uuid) => {
            let mut buffer = uuid::Uuid::encode_buffer();
            let text = uuid::Uuid::from_u128(*uuid).as_hyphenated().encode_lower(&mut buffer);
            md5.update(text);
        }
        Id::Integer(_) | Id::Fraction(_) => md5.update(id.to_string()),
    }
    let digest: [u8; 16] = md5.finalize().into();
    u128::from_be_bytes(digest)
}

/// The hash at which piece `piece` of a weighted ID stands: h plus the bits of
/// the piece's number reversed (van der Corput's sequence), so that more
/// pieces move none.
#[must_use]
pub const fn piece_hash(hash: u64, piece: u32) -> u64 {
    hash.wrapping_add((piece as u64).reverse_bits())
}
