//! The distances between runs of different kinds of a user.

use super::clock::NEVER;
use super::job::{CHILD, Job};

#[derive(Debug)]
pub(super) struct KindDistances {
    /// By user; empty where there is only one kind.
    latest: Vec<LatestRuns>,
    least: u64,
}

/// The latest run of a user, and the latest run of another kind.
#[derive(Debug, Clone, Copy)]
struct LatestRuns {
    at: u64,
    other: u64,
    kind: u8,
}

impl KindDistances {
    pub(super) fn new(population: u32, kind_count: usize) -> Self {
        let none = LatestRuns { at: NEVER, other: NEVER, kind: 0 };
        let users = if kind_count > 1 { population as usize } else { 0 };
        Self { latest: vec![none; users], least: NEVER }
    }

    /// Counts a job that is enqueued now.
    #[inline]
    pub(super) fn enqueued(&mut self, job: &Job) {
        if job.kind == CHILD {
            return;
        }
        let Some(latest) = self.latest.get_mut(job.user as usize) else { return };
        let before = if latest.kind == job.kind { latest.other } else { latest.at };
        // Without an earlier run, the distance is as large as possible.
        self.least = self.least.min(before.abs_diff(job.enqueued));
        if latest.kind != job.kind {
            latest.other = latest.at;
        }
        (latest.at, latest.kind) = (job.enqueued, job.kind);
    }

    /// The least distance, if there were two kinds of a user at all.
    pub(super) fn least(&self, end: u64) -> Option<u64> {
        (self.least <= end).then_some(self.least)
    }
}
