//! What a named spread answers: its own state, that of its groups, and the jobs that it leases.

use std::sync::Arc;

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::spread::lease::LeaseId;

/// How safe a group is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GroupState {
    /// Never submitted, dropped before its commit, or forgotten.
    Unknown,
    /// Its commit has not come.
    Partial,
    /// It is held, and lost with what holds it.
    Received,
    /// What holds it has written it to disk. No spread says this of itself: its store does.
    Stored,
    /// Each of its jobs was finished, or is a dead letter.
    Settled,
}

/// What has become of a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupStatus {
    /// The group.
    pub id: Arc<str>,
    /// How safe it is.
    pub state: GroupState,
    /// How many jobs have come.
    pub job_count: u64,
    /// How many of them are settled, dead letters included.
    pub settled_count: u64,
    /// How many of them are dead letters.
    pub dead_letter_count: u64,
    /// Which are settled, while the group is held; the first 1,024 ranges.
    pub settled_ranges: Vec<(u32, u32)>,
}

/// Whether a spread takes groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum SpreadState {
    /// It takes groups and deals their jobs.
    Open,
    /// It deals what it has, and takes no more.
    Draining,
    /// All is settled.
    Closed,
}

/// A job that is leased, with all that its consumer needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeasedJob {
    /// What settles it.
    pub id: LeaseId,
    /// The group, as its producer calls it.
    pub group_id: Arc<str>,
    /// Its index within the group, from 0.
    pub job_index: u32,
    /// The payload.
    pub payload: Bytes,
    /// Whether a consumer may have had it before.
    pub redelivered: bool,
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
    /// There is no job left, and there will be none.
    Ended,
}

/// What a spread holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counts {
    /// Committed groups that are not settled.
    pub groups: u64,
    /// Groups whose commit has not come.
    pub partial_groups: u64,
    /// Groups that wait for an earlier epoch's leases.
    pub quarantined_groups: u64,
    /// Jobs that were not leased yet.
    pub ready_jobs: u64,
    /// Jobs that are leased.
    pub leased_jobs: u64,
    /// Jobs to be leased again.
    pub returned_jobs: u64,
    /// Jobs that were settled, dead letters included.
    pub settled_jobs: u64,
    /// Dead letters.
    pub dead_letters: u64,
    /// Bytes of jobs, with what holding them takes.
    pub bytes: u64,
    /// Consumers that hold jobs.
    pub consumers: u64,
}
