//! The time of a run, in microseconds, and its seconds.

/// A second, in microseconds.
pub(super) const SECOND: u64 = 1_000_000;

/// The time of an event that never comes, or has not come yet.
pub(super) const NEVER: u64 = u64::MAX;

#[derive(Debug)]
pub(super) struct Clock {
    pub(super) now: u64,
    /// When the run ends.
    pub(super) end: u64,
    second_end: u64,
}

impl Clock {
    pub(super) const fn new(end: u64) -> Self {
        Self { now: 0, end, second_end: SECOND }
    }

    /// Advances to a time that is not earlier, and returns how far that is.
    #[inline]
    pub(super) const fn advance(&mut self, to: u64) -> u64 {
        let span = to - self.now;
        self.now = to;
        span
    }

    /// Whether the current second is over at a time.
    #[inline]
    pub(super) const fn is_second_over(&self, at: u64) -> bool {
        at >= self.second_end
    }

    pub(super) const fn begin_second(&mut self) {
        self.second_end += SECOND;
    }

    /// Whether the last second, which may be a fraction, has no row yet.
    pub(super) const fn is_within_second(&self) -> bool {
        self.second_end < self.now + SECOND
    }
}
