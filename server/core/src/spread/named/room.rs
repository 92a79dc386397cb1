//! The room of a named spread, the cost of groups and leases, and the refusal when it is full.

use serde::{Deserialize, Serialize};

use crate::limits::Limit;
use crate::rejection::{Reason, Rejection};

/// How much is held, or may be held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct Room {
    pub(super) groups: u64,
    pub(super) jobs: u64,
    pub(super) bytes: u64,
}

impl Room {
    pub(super) const fn add(&mut self, more: Self) {
        self.groups += more.groups;
        self.jobs += more.jobs;
        self.bytes += more.bytes;
    }

    /// Frees a cost that was added before.
    pub(super) const fn take(&mut self, less: Self) {
        self.groups = self.groups.saturating_sub(less.groups);
        self.jobs = self.jobs.saturating_sub(less.jobs);
        self.bytes = self.bytes.saturating_sub(less.bytes);
    }
}

/// Bytes that other spreads leave to one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct BytesLeft {
    /// Free at this moment.
    pub now: u64,
    /// Free if the other spreads held nothing.
    pub at_most: u64,
}

impl BytesLeft {
    /// The bytes left without other spreads.
    pub const ALL: Self = Self { now: u64::MAX, at_most: u64::MAX };
}

/// Bytes to hold a group, without its ID and its jobs.
const GROUP_OVERHEAD: u64 = 64;
/// Bytes to hold each of its jobs, without the payload.
pub(super) const JOB_OVERHEAD: u64 = 8;

/// The cost of holding a group.
pub(super) const fn cost(id: &str, jobs: u64, bytes: u64) -> Room {
    Room { groups: 1, jobs, bytes: bytes + GROUP_OVERHEAD + id.len() as u64 + JOB_OVERHEAD * jobs }
}

/// Memory of a group that [`cost`] does not count, in bytes.
pub(super) const GROUP_MEMORY: u64 = 480;

/// Memory that a lease takes, in bytes.
pub(super) const LEASE_MEMORY: u64 = 160;

/// The refusal for a limit that is reached at the moment.
pub(super) fn full(field: &str, value: impl core::fmt::Display, held: Limit) -> Rejection {
    let allowed = format!(
        "there is no room among the {}: try again later, when others are settled (and dead letters deleted)",
        held.name
    );
    Rejection::new(Reason::LimitReached, field, value, allowed)
}
