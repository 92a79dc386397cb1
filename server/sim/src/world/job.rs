//! Jobs, and when they come.

use core::cmp::Ordering;

/// A job that waits or runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Job {
    pub(super) enqueued: u64,
    /// When its first attempt began; none yet is `u64::MAX`.
    pub(super) first_start: u64,
    /// How long it would run; of suspended jobs, what is left.
    pub(super) left: u64,
    pub(super) user: u32,
    /// The place of its kind, or [`CHILD`].
    pub(super) kind: u8,
    /// The fastest lane that may take it.
    pub(super) entry: u8,
    /// The lanes that suspended it, a bit each: it ran there until their timeouts.
    pub(super) suspended: u16,
}

/// The kind of jobs that jobs enqueue.
pub(super) const CHILD: u8 = u8::MAX;

/// Something at a time; of the same time, the one that was planned first.
#[derive(Debug, Clone, Copy)]
pub(super) struct Timed<T> {
    pub(super) at: u64,
    pub(super) number: u64,
    pub(super) what: T,
}

impl<T> PartialEq for Timed<T> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<T> Eq for Timed<T> {}

impl<T> PartialOrd for Timed<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> Ord for Timed<T> {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        (self.at, self.number).cmp(&(other.at, other.number))
    }
}
