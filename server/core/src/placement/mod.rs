//! Placements: how an ID becomes a slot and an offset.

mod batch;
mod grid;
mod pieces;
mod scale;
pub mod simd;
mod twister;

use crate::ids::Id;

pub use pieces::piece_hash;
pub use simd::Kernel;
pub use twister::{Profile, Twister};

pub(crate) use grid::Grid;
pub(crate) use pieces::piece_count;
pub(crate) use scale::{
    fraction_offset, greatest_common_divisor, hash_bound, scale, smallest_fraction,
};

/// A placement by name, as a caller asks for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PlacementKind {
    /// By the MD5 of salt and canonical ID.
    #[default]
    Hash,
    /// By the last byte or two of the ID, and a Mersenne twister seeded with it.
    Twister,
    /// By a fraction that the caller stored.
    Fraction,
}

impl PlacementKind {
    /// The name in canonical texts and refusals.
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
        /// Buckets, 256 or 65,536: a slot holds one or more.
        bucket_count: u32,
        /// The language whose twister draws the offset.
        profile: Profile,
    },
    /// offset from the cycle = min(⌊u·T⌋, T−1), one IEEE double multiplication;
    /// slot = offset / slot length, rounded down.
    Fraction,
}

impl Placement {
    /// The placement without its parameters.
    #[must_use]
    pub const fn kind(&self) -> PlacementKind {
        match self {
            Self::Hash { .. } => PlacementKind::Hash,
            Self::Twister { .. } => PlacementKind::Twister,
            Self::Fraction => PlacementKind::Fraction,
        }
    }

    /// Whether IDs of this type can be placed.
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
    /// Ticks from the start of the cycle, by the wall clock; less than the cycle's length.
    pub cycle_offset: u64,
    /// The number that the place was computed from.
    pub why: Why,
}

/// The explanation of a place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Why {
    /// Under `HASH`: the hash h, any of 64 bits.
    Hash(u64),
    /// Under `TWISTER`: the bucket, from 0; the offset was drawn.
    Bucket(u32),
    /// Under `FRACTION`: the fraction u, in [0, 1).
    Fraction(f64),
}
