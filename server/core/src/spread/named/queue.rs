//! Committed groups, in the order in which they are dealt.

use std::collections::{BTreeSet, VecDeque, vec_deque};

use serde::{Deserialize, Serialize};

use super::group::Range;
use crate::spread::{Pull, Source, Spread, Turn};

/// A group that is open, or will be.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct QueuedGroup {
    pub(super) number: u64,
    pub(super) job_count: u32,
    /// Jobs that are not to be dealt; ascending.
    pub(super) settled: VecDeque<Range>,
    pub(super) next: u32,
}

impl QueuedGroup {
    fn left(&self) -> u32 {
        let settled: u32 = self.settled.iter().map(|(start, end)| end - start).sum();
        self.job_count - self.next - settled
    }

    /// Its next job that is not settled.
    fn take_job(&mut self) -> Option<Job> {
        while let Some((start, end)) = self.settled.front().copied() {
            if self.next < start {
                break;
            }
            self.next = end;
            self.settled.pop_front();
        }
        if self.next >= self.job_count {
            return None;
        }
        let index = self.next;
        self.next += 1;
        Some(Job { group: self.number, index })
    }
}

/// Identifies a job by group and index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Job {
    pub(super) group: u64,
    pub(super) index: u32,
}

/// The groups that the spread has not taken.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Queue {
    ready: VecDeque<QueuedGroup>,
    /// Each with the time from which it may be dealt.
    quarantined: Vec<(u64, QueuedGroup)>,
    /// The times in order, so that the next one is found without a search.
    times: BTreeSet<u64>,
    /// Jobs that were not dealt yet, those of quarantined and open groups included.
    job_count: u64,
    /// Jobs of quarantined groups among them.
    quarantined_jobs: u64,
    closed: bool,
}

impl Queue {
    /// Adds a group that may be dealt from `time` on.
    pub(super) fn add(&mut self, group: QueuedGroup, time: u64, now: u64) {
        self.job_count += u64::from(group.left());
        if time <= now {
            self.ready.push_back(group);
        } else {
            self.times.insert(time);
            self.quarantined_jobs += u64::from(group.left());
            self.quarantined.push((time, group));
        }
    }

    /// Makes those groups ready whose quarantine is over, in the order of their times, however
    /// rarely this is called. Groups with the same time keep the order in which they were added.
    pub(super) fn advance(&mut self, now: u64) {
        if self.times.first().is_none_or(|time| *time > now) {
            return;
        }
        self.times = self.times.split_off(&(now + 1));
        let all = core::mem::take(&mut self.quarantined);
        let (over, still) = all.into_iter().partition(|(time, _)| *time <= now);
        self.quarantined = still;
        let mut over: Vec<(u64, QueuedGroup)> = over;
        over.sort_by_key(|(time, _)| *time);
        for (_, group) in over {
            self.quarantined_jobs -= u64::from(group.left());
            self.ready.push_back(group);
        }
    }

    /// When the next quarantine is over.
    pub(super) fn next_event(&self) -> Option<u64> {
        self.times.first().copied()
    }

    pub(super) const fn job_count(&self) -> u64 {
        self.job_count
    }

    pub(super) const fn quarantined(&self) -> usize {
        self.quarantined.len()
    }

    /// Whether there is a job that was never leased and may be.
    pub(super) fn has_ready(&self) -> bool {
        self.job_count > self.quarantined_jobs
    }

    /// Says that no more groups will be added.
    pub(super) const fn close(&mut self) {
        self.closed = true;
    }

    /// The next job in the order of the spread.
    pub(super) fn next_job(&mut self, spread: &mut Spread<QueuedGroup>) -> Option<Job> {
        match spread.next(self) {
            Turn::Job(dealt) => Some(dealt.job),
            Turn::Pending | Turn::End | Turn::Idle { .. } => None,
        }
    }

    /// Up to `count` jobs that [`next_job`](Self::next_job) would return, one after another.
    /// Takes O(open groups + jobs).
    pub(super) fn jobs_ahead(&self, spread: &Spread<QueuedGroup>, count: usize) -> Vec<Job> {
        let mut source = Lookahead { groups: self.ready.iter(), has_ended: self.has_ended() };
        let mut jobs = Vec::new();
        spread.clone().turns(&mut source, count, |turn| {
            if let Turn::Job(dealt) = turn {
                jobs.push(dealt.job);
            }
        });
        jobs
    }

    /// Whether no group comes after those that are ready.
    fn has_ended(&self) -> bool {
        self.closed && self.quarantined.is_empty()
    }
}

/// A source that reads the groups of a queue without taking them.
struct Lookahead<'a> {
    groups: vec_deque::Iter<'a, QueuedGroup>,
    has_ended: bool,
}

impl Source for Lookahead<'_> {
    type Group = QueuedGroup;
    type Job = Job;

    fn next_group(&mut self) -> Pull<QueuedGroup> {
        match self.groups.next() {
            Some(group) => Pull::Ready(group.clone()),
            None if self.has_ended => Pull::End,
            None => Pull::Later,
        }
    }

    fn next_job(&mut self, group: &mut QueuedGroup) -> Pull<Job> {
        group.take_job().map_or(Pull::End, Pull::Ready)
    }

    fn size(&self, group: &QueuedGroup) -> u64 {
        group.left().into()
    }
}

impl Source for Queue {
    type Group = QueuedGroup;
    type Job = Job;

    fn next_group(&mut self) -> Pull<QueuedGroup> {
        match self.ready.pop_front() {
            Some(group) => Pull::Ready(group),
            None if self.has_ended() => Pull::End,
            None => Pull::Later,
        }
    }

    fn next_job(&mut self, group: &mut QueuedGroup) -> Pull<Job> {
        let Some(job) = group.take_job() else { return Pull::End };
        self.job_count -= 1;
        Pull::Ready(job)
    }

    fn size(&self, group: &QueuedGroup) -> u64 {
        group.left().into()
    }
}
