//! Groups as producers send them, whole or in parts, with checks that need no other state.

use std::collections::VecDeque;

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::group::{Digest, Range};
use super::room::{GROUP_MEMORY, cost};
use crate::limits::{GROUP_ID, JOB_BYTES};
use crate::rejection::{Reason, Rejection};

/// A group, or a part of one, as a producer sends it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct GroupPart {
    /// The group, as its producer calls it: 1 to 256 bytes.
    pub group_id: String,
    /// Index within the group of the first of the jobs, from 0.
    pub first_job_index: i64,
    /// The payloads of the jobs.
    pub payloads: Vec<Bytes>,
    /// Completes the group; `None` while more parts follow.
    pub commit: Option<Commit>,
}

impl GroupPart {
    /// The most bytes of memory that it takes, if it is accepted.
    #[must_use]
    pub fn memory(&self) -> u64 {
        let bytes = self.payloads.iter().map(|payload| payload.len() as u64).sum();
        cost(&self.group_id, self.payloads.len() as u64, bytes).bytes + GROUP_MEMORY
    }
}

/// The completion of a group, against which its parts are checked.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Commit {
    /// How many jobs it has: 1 or more.
    pub job_count: i64,
    /// [`Digest`] of the payloads, 32 bytes.
    pub sha256: Bytes,
    /// The receipt of the first submission, if there was one.
    pub first_receipt: Option<Receipt>,
    /// Jobs that are not leased: from the first index of each pair up to, but not including, the
    /// second.
    pub settled_ranges: Vec<(i64, i64)>,
}

/// The epoch that received a group, and the length of its leases.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    /// The life of the spread that received the group.
    pub epoch: u64,
    /// Length of leases in that epoch, in milliseconds.
    pub lease_millis: i64,
}

/// Refuses invalid IDs of groups.
pub(super) fn check_id(id: &str) -> Result<(), Rejection> {
    if GROUP_ID.allows(id.len() as i128) {
        return Ok(());
    }
    Err(Rejection::new(Reason::OutOfRange, "group_id", id, format!("must be {GROUP_ID}")))
}

pub(super) fn check_jobs(part: &GroupPart) -> Result<(), Rejection> {
    let large = part.payloads.iter().enumerate().find(|(_, job)| job.len() > JOB_BYTES.max_size());
    if let Some((place, job)) = large {
        let (field, value) = (format!("jobs[{place}].payload"), format!("{} bytes", job.len()));
        let allowed = format!("must be {JOB_BYTES}");
        return Err(Rejection::new(Reason::OutOfRange, field, value, allowed));
    }
    Ok(())
}

pub(super) fn ranges(sent: &[(i64, i64)], job_count: usize) -> Result<VecDeque<Range>, Rejection> {
    let mut ranges = VecDeque::new();
    let mut least = 0;
    for (place, (start, end)) in sent.iter().enumerate() {
        let range = u32::try_from(*start).ok().zip(u32::try_from(*end).ok());
        let valid =
            |range: &Range| least <= range.0 && range.0 < range.1 && range.1 as usize <= job_count;
        let range = range.filter(valid).ok_or_else(|| {
            let field = format!("commit.settled_ranges[{place}]");
            let allowed =
                format!("must be within {least} to {job_count}, and its end above its start");
            Rejection::new(Reason::OutOfRange, field, format!("{start} to {end}"), allowed)
        })?;
        least = range.1 + 1; // touching ranges would be one range
        ranges.push_back(range);
    }
    Ok(ranges)
}

/// The digest of a group that comes in one part: SHA-256 over each job's length, as 8 bytes,
/// big-endian, and its bytes.
#[must_use]
pub fn content_digest(jobs: &[Bytes]) -> Digest {
    let mut hash = Sha256::new();
    for job in jobs {
        hash.update((job.len() as u64).to_be_bytes());
        hash.update(job);
    }
    hash.finalize().into()
}

pub(super) fn wrong_hash(sent: &[u8]) -> Rejection {
    let shown = sent.iter().take(33).map(|byte| format!("{byte:02x}")).collect::<String>();
    let allowed = "must be the SHA-256 over each job's length, as 8 bytes, big-endian, and its \
                   bytes: 32 bytes";
    Rejection::new(Reason::Malformed, "commit.sha256", shown, allowed)
}

/// The refusal of a group whose content differs from the first submission.
pub(super) fn differs(id: &str) -> Rejection {
    let allowed = "must have the content with which it was submitted before, or another ID";
    Rejection::new(Reason::GroupDiffers, "group_id", id, allowed)
}
