//! The distances of a spread, with bounds that no order can exceed.

use core::cmp::Reverse;

use std::collections::BinaryHeap;

use serde::{Deserialize, Serialize};

use super::OpenGroup;

/// The distances that a spread has reached. Distances and spans are in turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Certificate {
    /// Number of jobs dealt.
    pub job_count: u64,
    /// Groups that dealt a job.
    pub group_count: u64,
    /// The smallest distance between two jobs of one group; `None` if no group had two.
    pub min_gap_turns: Option<u64>,
    /// The largest possible minimum distance of these groups in any order without idle turns,
    /// ⌊(N−c)/(M−1)⌋ (N jobs, c groups of the largest size M); `None` if no group had two jobs.
    pub best_min_gap_turns: Option<u64>,
    /// Pairs of neighbours in a group that were dealt less than F turns apart.
    pub close_pair_count: u64,
    /// A lower bound of the close pairs in any order of these groups without idle turns:
    /// Σ max(0, nᵢ − 1 − ⌊(N−nᵢ)/(F−1)⌋); 0 when F is 1.
    pub close_pair_lower_bound: u64,
    /// The widest span from the first job of a group to its last.
    pub widest_span_turns: u64,
}

/// Counts of a running spread, in memory that does not grow with it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Tally {
    feeder_count: u64,
    min_gap_turns: u64,
    close_pairs: u64,
    jobs: u64,
    groups: u64,
    widest_span_turns: u64,
    /// The F largest groups. A term of the lower bound is above zero only for groups of more
    /// than N/F jobs. There are less than F of those, and N only grows.
    largest: BinaryHeap<Reverse<u64>>,
    largest_size: u64,
    largest_count: u64,
}

impl Tally {
    pub(super) fn new(feeder_count: u32) -> Self {
        Self {
            feeder_count: feeder_count.into(),
            min_gap_turns: u64::MAX,
            close_pairs: 0,
            jobs: 0,
            groups: 0,
            widest_span_turns: 0,
            largest: BinaryHeap::new(),
            largest_size: 0,
            largest_count: 0,
        }
    }

    /// Counts a distance between neighbours of a group.
    #[inline]
    pub(super) fn gap(&mut self, gap: u64) {
        self.min_gap_turns = self.min_gap_turns.min(gap);
        self.close_pairs += u64::from(gap < self.feeder_count);
    }

    /// Counts a group that has ended.
    pub(super) fn group(&mut self, size: u64, span: u64) {
        if size == 0 {
            return;
        }
        self.jobs += size;
        self.groups += 1;
        self.widest_span_turns = self.widest_span_turns.max(span);
        if size > self.largest_size {
            (self.largest_size, self.largest_count) = (size, 1);
        } else if size == self.largest_size {
            self.largest_count += 1;
        }
        if (self.largest.len() as u64) < self.feeder_count {
            self.largest.push(Reverse(size));
        } else if let Some(mut smallest) = self.largest.peek_mut()
            && smallest.0 < size
        {
            *smallest = Reverse(size);
        }
    }

    /// Counts a group that has not ended.
    pub(super) fn open<G>(&mut self, open: &OpenGroup<G>) {
        self.group(open.dealt, open.last_turn - open.first_turn);
    }

    pub(super) fn certificate(&self) -> Certificate {
        let has_pairs = self.largest_size > 1;
        Certificate {
            job_count: self.jobs,
            group_count: self.groups,
            min_gap_turns: has_pairs.then_some(self.min_gap_turns),
            best_min_gap_turns: has_pairs
                .then(|| (self.jobs - self.largest_count) / (self.largest_size - 1)),
            close_pair_count: self.close_pairs,
            close_pair_lower_bound: self.lower_bound(),
            widest_span_turns: self.widest_span_turns,
        }
    }

    fn lower_bound(&self) -> u64 {
        if self.feeder_count == 1 {
            return 0;
        }
        let unavoidable = |&Reverse(size): &Reverse<u64>| {
            let windows = (self.jobs - size) / (self.feeder_count - 1);
            (size - 1).saturating_sub(windows)
        };
        self.largest.iter().map(unavoidable).sum()
    }
}
