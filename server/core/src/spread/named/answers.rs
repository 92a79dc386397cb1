//! Results of a named spread: its state, that of its groups, and the jobs that it leases.

use std::sync::Arc;

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::spread::lease::LeaseId;

/// How far a group has come, and how safe it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GroupState {
    /// Never submitted, dropped before its commit, or forgotten.
    Unknown,
    /// Its commit has not arrived.
    Partial,
    /// It is held, but not on disk for certain: it is lost with its store.
    Received,
    /// Its store has written it to disk. Only the store sets this state.
    Stored,
    /// Each of its jobs is done, or is a dead letter.
    Settled,
}

/// The progress of a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupStatus {
    /// The group, as its producer calls it.
    pub id: Arc<str>,
    /// How far it has come.
    pub state: GroupState,
    /// Jobs received.
    pub job_count: u64,
    /// Settled jobs, dead letters included.
    pub settled_count: u64,
    /// Dead letters.
    pub dead_letter_count: u64,
    /// Ranges of settled jobs, while the group is held; the first 1,024 ranges.
    pub settled_ranges: Vec<(u32, u32)>,
}

/// Whether a spread takes groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum SpreadState {
    /// It takes groups and deals their jobs.
    Open,
    /// It deals its jobs, and takes no more groups.
    Draining,
    /// All jobs are settled, and it takes no more groups.
    Closed,
}

/// A leased job, as its consumer gets it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeasedJob {
    /// Identifies the lease in a settlement.
    pub id: LeaseId,
    /// The group, as its producer calls it.
    pub group_id: Arc<str>,
    /// Its index within the group, from 0.
    pub job_index: u32,
    /// The job, as its producer submitted it.
    pub payload: Bytes,
    /// Whether a consumer may have had it before.
    pub redelivered: bool,
}

/// A job that was never leased.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NextJob {
    /// The group, as its producer calls it.
    pub group_id: Arc<str>,
    /// Its index within the group, from 0.
    pub job_index: u32,
}

/// Why a consumer could not lease a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EmptyReason {
    /// No job is ready.
    NoReadyJob,
    /// The consumer holds as many jobs as it may.
    ConsumerAtLimit,
    /// All consumers together hold as many jobs as may be leased at once.
    LeasesAtLimit,
    /// No job is left, and none will come.
    Ended,
}

/// Contents of a spread, in numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counts {
    /// Committed groups that are not settled.
    pub groups: u64,
    /// Groups without their commit.
    pub partial_groups: u64,
    /// Groups that wait for the leases of an earlier epoch to end.
    pub quarantined_groups: u64,
    /// Jobs that were never leased.
    pub ready_jobs: u64,
    /// Jobs that are leased.
    pub leased_jobs: u64,
    /// Jobs to be leased again.
    pub returned_jobs: u64,
    /// Jobs that were settled, dead letters included.
    pub settled_jobs: u64,
    /// Dead letters.
    pub dead_letters: u64,
    /// Bytes of jobs, including the overhead of holding them.
    pub bytes: u64,
    /// Consumers that hold jobs.
    pub consumers: u64,
}
