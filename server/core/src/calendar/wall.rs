//! Readings of wall clocks.

use core::ops::{Add, Sub};

/// A time that a wall clock shows, in ticks since it showed 1970-01-01T00:00:00. Instants, in ticks
/// since the Unix epoch, are plain numbers: only a [`UtcOffset`] makes one of the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Wall(pub(crate) i64);

/// How many ticks a wall clock is ahead of UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct UtcOffset(pub(crate) i64);

/// The reading at an instant.
impl Add<UtcOffset> for i64 {
    type Output = Wall;

    fn add(self, offset: UtcOffset) -> Wall {
        Wall(self + offset.0)
    }
}

/// The instant at which the clock shows a time.
impl Sub<UtcOffset> for Wall {
    type Output = i64;

    fn sub(self, offset: UtcOffset) -> i64 {
        self.0 - offset.0
    }
}

/// So many ticks later on the clock.
impl Add<i64> for Wall {
    type Output = Self;

    fn add(self, ticks: i64) -> Self {
        Self(self.0.saturating_add(ticks))
    }
}

/// Ticks from one time on the clock to another.
impl Sub for Wall {
    type Output = i64;

    fn sub(self, earlier: Self) -> i64 {
        self.0 - earlier.0
    }
}
