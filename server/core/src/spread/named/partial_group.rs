//! The parts of a group without its commit.

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::room::{Room, cost};

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(from = "StoredPartialGroup")]
pub(super) struct PartialGroup {
    pub(super) bytes: Vec<u8>,
    pub(super) ends: Vec<u32>,
    /// Digest of the parts; computed again after a restore.
    #[serde(skip)]
    pub(super) hash: Sha256,
    pub(super) last_part: u64,
    pub(super) age: u64,
}

/// The stored form, without the hash.
#[derive(Deserialize)]
struct StoredPartialGroup {
    bytes: Vec<u8>,
    ends: Vec<u32>,
    last_part: u64,
    age: u64,
}

impl From<StoredPartialGroup> for PartialGroup {
    fn from(StoredPartialGroup { bytes, ends, last_part, age }: StoredPartialGroup) -> Self {
        let mut hash = Sha256::new();
        let mut start = 0;
        for end in ends.iter().map(|end| *end as usize) {
            let job = bytes.get(start..end).unwrap_or_default();
            hash.update((job.len() as u64).to_be_bytes());
            hash.update(job);
            start = end;
        }
        Self { bytes, ends, hash, last_part, age }
    }
}

impl PartialGroup {
    pub(super) fn append(&mut self, jobs: &[Bytes], now: u64) {
        self.last_part = now;
        for job in jobs {
            self.hash.update((job.len() as u64).to_be_bytes());
            self.hash.update(job);
            self.bytes.extend_from_slice(job);
            self.ends.push(u32::try_from(self.bytes.len()).unwrap_or(u32::MAX));
        }
    }

    pub(super) fn cost(&self, id: &str) -> Room {
        cost(id, self.ends.len() as u64, self.bytes.len() as u64)
    }

    /// Whether these jobs are already there, from index `first` on.
    pub(super) fn has(&self, first: usize, jobs: &[Bytes]) -> bool {
        let start = first.checked_sub(1).and_then(|last| self.ends.get(last)).copied();
        let mut start = start.unwrap_or(0) as usize;
        jobs.iter().enumerate().all(|(place, job)| {
            let Some(end) = self.ends.get(first + place) else { return false };
            let there = self.bytes.get(start..*end as usize);
            start = *end as usize;
            there == Some(job)
        })
    }
}
