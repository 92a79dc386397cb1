//! Groups that are settled, so that submitting them again is harmless.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::group::Digest;
use crate::limits::REMEMBERED_GROUPS;

/// Bytes to remember a group, without its ID.
const MEMORY: u64 = 160;

/// Settled groups, up to [`REMEMBERED_GROUPS`]; the oldest are forgotten first.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct EndedGroups {
    ends: BTreeMap<Arc<str>, End>,
    oldest_first: VecDeque<Arc<str>>,
    /// All groups that were ever added.
    count: u64,
    bytes: u64,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct End {
    pub(super) sha256: Digest,
    pub(super) job_count: u32,
    pub(super) dead_letter_count: u64,
}

impl EndedGroups {
    pub(super) fn get(&self, id: &str) -> Option<&End> {
        self.ends.get(id)
    }

    pub(super) const fn count(&self) -> u64 {
        self.count
    }

    /// Bytes of memory that remembering takes.
    pub(super) const fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(super) fn add(&mut self, id: Arc<str>, end: End) {
        self.count += 1;
        self.bytes += memory(&id);
        self.ends.insert(Arc::clone(&id), end);
        self.oldest_first.push_back(id);
        if self.oldest_first.len() > REMEMBERED_GROUPS.max_size() {
            self.forget_oldest();
        }
    }

    /// Forgets the oldest groups until `bytes` are free, or no group is left.
    pub(super) fn forget(&mut self, bytes: u64) {
        let target = self.bytes.saturating_sub(bytes);
        while self.bytes > target {
            self.forget_oldest();
        }
    }

    fn forget_oldest(&mut self) {
        if let Some(oldest) = self.oldest_first.pop_front() {
            self.ends.remove(&oldest);
            self.bytes -= memory(&oldest);
        }
    }

    /// The groups that were added after the first `count`; `None` if some of them are forgotten.
    pub(super) fn since(&self, count: u64) -> Option<impl Iterator<Item = &str>> {
        let new = usize::try_from(self.count.checked_sub(count)?).ok()?;
        let skipped = self.oldest_first.len().checked_sub(new)?;
        Some(self.oldest_first.iter().skip(skipped).map(|id| &**id))
    }
}

fn memory(id: &str) -> u64 {
    MEMORY + id.len() as u64
}
