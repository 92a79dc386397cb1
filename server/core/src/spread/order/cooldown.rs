//! Largest first, and no group again before it has rested: the task scheduler with cooldown.

use std::collections::{BinaryHeap, VecDeque};

use core::cmp::{Ordering, Reverse};

use serde::{Deserialize, Serialize};

use super::certificate::Tally;
use super::{OnShortage, OpenGroup, Pull, Source, Turn};

/// At most W groups are open. Of those that have rested F turns, the one with the most
/// jobs remaining goes next (the first to arrive, if several have). Takes O(log W) a job.
///
/// With all groups known it reaches every gap up to ⌊(N−c)/(M−1)⌋, which is the largest that
/// any order can have (N jobs, c groups of the largest size M).
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Cooldown<G> {
    feeder_count: u64,
    max_open_group_count: usize,
    on_shortage: OnShortage,
    ready: BinaryHeap<RestedGroup<G>>,
    /// In the order in which they will have rested, each with the turn at which it will.
    cooling: VecDeque<(u64, SizedGroup<G>)>,
    /// The group whose turn it is, while the source makes its job.
    chosen: Option<SizedGroup<G>>,
    turn: u64,
    next_number: u64,
    no_more_groups: bool,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct SizedGroup<G> {
    open: OpenGroup<G>,
    remaining: u64,
}

/// Ordered for a max-heap: by jobs remaining, then by arrival, earlier first.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct RestedGroup<G>(SizedGroup<G>);

impl<G> RestedGroup<G> {
    const fn rank(&self) -> (u64, Reverse<u64>) {
        (self.0.remaining, Reverse(self.0.open.number))
    }
}

impl<G> Ord for RestedGroup<G> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.rank().cmp(&other.rank())
    }
}

impl<G> PartialOrd for RestedGroup<G> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<G> PartialEq for RestedGroup<G> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<G> Eq for RestedGroup<G> {}

impl<G> Cooldown<G> {
    pub(super) fn new(
        feeder_count: u32,
        max_open_group_count: u32,
        on_shortage: OnShortage,
    ) -> Self {
        Self {
            feeder_count: feeder_count.into(),
            max_open_group_count: max_open_group_count as usize,
            on_shortage,
            ready: BinaryHeap::new(),
            cooling: VecDeque::new(),
            chosen: None,
            turn: 0,
            next_number: 0,
            no_more_groups: false,
        }
    }

    pub(super) fn open(&self) -> impl Iterator<Item = &OpenGroup<G>> {
        let ready = self.ready.iter().map(|rested| &rested.0.open);
        let cooling = self.cooling.iter().map(|(_, sized)| &sized.open);
        ready.chain(cooling).chain(self.chosen.iter().map(|sized| &sized.open))
    }

    pub(super) fn vacancies(&self) -> usize {
        let open = self.ready.len() + self.cooling.len() + usize::from(self.chosen.is_some());
        if self.no_more_groups { 0 } else { self.max_open_group_count.saturating_sub(open) }
    }

    pub(super) fn next<S: Source<Group = G>>(
        &mut self,
        source: &mut S,
        tally: &mut Tally,
    ) -> Turn<S::Job> {
        loop {
            let mut chosen = match self.chosen.take() {
                Some(chosen) => chosen,
                None => match self.choose(source) {
                    Pull::Ready(Some(chosen)) => chosen,
                    Pull::Ready(None) => {
                        self.turn += 1;
                        return Turn::Idle { sequence: self.turn - 1 };
                    }
                    Pull::Pending | Pull::Later => return Turn::Pending,
                    Pull::End => return Turn::End,
                },
            };
            match source.next_job(&mut chosen.open.group) {
                Pull::Ready(job) => {
                    let dealt = chosen.open.deal(job, self.turn, tally);
                    chosen.remaining = chosen.remaining.saturating_sub(1);
                    if chosen.remaining == 0 {
                        chosen.open.close(source, tally);
                    } else {
                        self.cooling.push_back((self.turn + self.feeder_count, chosen));
                    }
                    self.turn += 1;
                    return dealt;
                }
                Pull::Pending | Pull::Later => {
                    self.chosen = Some(chosen);
                    return Turn::Pending;
                }
                Pull::End => chosen.open.close(source, tally), // it had fewer jobs than it said
            }
        }
    }

    /// The group whose turn it is; `None` if all open groups must rest and the turn passes.
    fn choose<S: Source<Group = G>>(&mut self, source: &mut S) -> Pull<Option<SizedGroup<G>>> {
        if let Pull::Pending = self.refill(source) {
            return Pull::Pending;
        }
        while self.cooling.front().is_some_and(|(at, _)| *at <= self.turn) {
            self.ready.extend(self.cooling.pop_front().map(|(_, rested)| RestedGroup(rested)));
        }
        if let Some(RestedGroup(chosen)) = self.ready.pop() {
            return Pull::Ready(Some(chosen));
        }
        match (self.on_shortage, self.cooling.is_empty()) {
            (_, true) if self.no_more_groups => Pull::End,
            (_, true) => Pull::Pending,
            (OnShortage::Wait, false) => Pull::Ready(None),
            (OnShortage::Emit, false) => {
                Pull::Ready(self.cooling.pop_front().map(|(_, oldest)| oldest))
            }
        }
    }

    fn refill<S: Source<Group = G>>(&mut self, source: &mut S) -> Pull<()> {
        while !self.no_more_groups
            && self.ready.len() + self.cooling.len() < self.max_open_group_count
        {
            match source.next_group() {
                Pull::Ready(group) => {
                    let remaining = source.size(&group);
                    let open = OpenGroup::new(group, self.next_number);
                    self.next_number += 1;
                    if remaining > 0 {
                        self.ready.push(RestedGroup(SizedGroup { open, remaining }));
                    } else {
                        source.close(open.group);
                    }
                }
                Pull::Pending => return Pull::Pending,
                Pull::Later => break,
                Pull::End => self.no_more_groups = true,
            }
        }
        Pull::Ready(())
    }
}
