//! The jobs of a group, and its progress.

use std::sync::Arc;

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use super::answers::{GroupState, GroupStatus};
use crate::limits::SETTLED_RANGES;

/// SHA-256 over each job's length, as 8 bytes, big-endian, and its bytes.
pub type Digest = [u8; 32];

/// Jobs from the first up to, but not including, the second.
pub(super) type Range = (u32, u32);

/// Jobs, end to end.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Content {
    bytes: Bytes,
    /// End of each job.
    ends: Vec<u32>,
}

impl Content {
    pub(super) const fn new(bytes: Bytes, ends: Vec<u32>) -> Self {
        Self { bytes, ends }
    }

    pub(super) fn job_count(&self) -> u32 {
        u32::try_from(self.ends.len()).unwrap_or(u32::MAX)
    }

    pub(super) fn byte_count(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// A job, without copying it.
    pub(super) fn job(&self, index: u32) -> Bytes {
        let end = |index: u32| self.ends.get(index as usize).map(|end| *end as usize);
        let start = index.checked_sub(1).and_then(end).unwrap_or(0);
        end(index).map_or_else(Bytes::new, |end| self.bytes.slice(start..end))
    }
}

/// A group that is committed and not settled.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Group {
    pub(super) id: Arc<str>,
    /// Index, in the group of the producer, of the first job of `content`.
    pub(super) first_job_index: u32,
    pub(super) content: Content,
    pub(super) sha256: Digest,
    /// When it was committed, in milliseconds.
    pub(super) since: u64,
    /// The longest time for which consumers may hold its jobs, by leases of this epoch or an
    /// earlier one, in milliseconds.
    pub(super) longest_lease: u64,
    /// Whether a consumer of an earlier epoch may have had its jobs.
    pub(super) redelivered: bool,
    pub(super) settled: Marks,
    /// Its dead letters, by number.
    pub(super) dead_letters: Vec<u64>,
    pub(super) dead_letter_count: u64,
    /// Whether it is a redriven dead letter. Its ID is that of the group it came from.
    pub(super) redriven: bool,
}

impl Group {
    pub(super) fn status(&self) -> GroupStatus {
        GroupStatus {
            id: Arc::clone(&self.id),
            state: GroupState::Received,
            job_count: self.content.job_count().into(),
            settled_count: self.settled.count.into(),
            dead_letter_count: self.dead_letter_count,
            settled_ranges: self.settled.ranges().take(SETTLED_RANGES.max_size()).collect(),
        }
    }
}

/// A set of numbers below a length.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Marks {
    words: Vec<u64>,
    length: u32,
    count: u32,
}

impl Marks {
    pub(super) fn new(length: u32) -> Self {
        Self { words: vec![0; length.div_ceil(64) as usize], length, count: 0 }
    }

    pub(super) fn mark(&mut self, number: u32) {
        let Some(word) = self.words.get_mut(number as usize / 64) else { return };
        let bit = 1 << (number % 64);
        self.count += u32::from(*word & bit == 0);
        *word |= bit;
    }

    pub(super) const fn is_full(&self) -> bool {
        self.count == self.length
    }

    fn has(&self, number: u32) -> bool {
        let word = self.words.get(number as usize / 64);
        word.is_some_and(|word| word >> (number % 64) & 1 == 1)
    }

    /// The ranges of marked numbers, in order.
    pub(super) fn ranges(&self) -> impl Iterator<Item = Range> {
        let mut from = 0;
        core::iter::from_fn(move || {
            let start = self.first(from, true);
            from = self.first(start, false);
            (start < self.length).then_some((start, from))
        })
    }

    /// The first number from `from` on that is marked (or not marked); the length if there is none.
    fn first(&self, mut from: u32, marked: bool) -> u32 {
        let nothing = if marked { 0 } else { u64::MAX };
        while from < self.length {
            let whole = from.is_multiple_of(64)
                && self.words.get(from as usize / 64).is_some_and(|word| *word == nothing);
            if !whole && self.has(from) == marked {
                return from;
            }
            from += if whole { 64 } else { 1 };
        }
        self.length
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_cover_exactly_the_marked_indexes() {
        for length in [1, 63, 64, 65, 130, 200] {
            for step in [1, 2, 3, 63, 64, 65] {
                let mut marks = Marks::new(length);
                let marked: Vec<u32> = (0..length).filter(|n| n / step % 2 == 1).collect();
                marked.iter().for_each(|n| marks.mark(*n));
                marked.iter().for_each(|n| marks.mark(*n));
                let ranges: Vec<Range> = marks.ranges().collect();
                assert_eq!(marks.count as usize, marked.len());
                let read: Vec<u32> = ranges.iter().flat_map(|(a, b)| *a..*b).collect();
                assert_eq!(read, marked, "{length} {step}");
                assert!(ranges.windows(2).all(|pair| pair[0].1 < pair[1].0));
            }
        }
    }

    #[test]
    fn jobs_are_cut_where_they_end() {
        let content = Content::new(Bytes::from_static(b"abcd"), vec![1, 1, 4]);
        assert_eq!([content.job(0), content.job(1), content.job(2)], ["a", "", "bcd"]);
    }
}
