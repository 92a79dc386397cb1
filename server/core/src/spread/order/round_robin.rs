//! Feeders in turn: no sizes needed, gaps of exactly F until the first feeder stops.

use serde::{Deserialize, Serialize};

use super::certificate::Tally;
use super::{OpenGroup, Pull, Source, Turn};

/// Feeders in turn. A feeder that runs dry takes the next group in the same turn. When no group is
/// left, it stops, and is skipped from then on. Where groups may still come later, another feeder
/// begins with the next one, at the end of the round.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct RoundRobin<G> {
    feeder_count: usize,
    /// The feeders that have begun, in order; `None` has stopped.
    feeders: Vec<Option<OpenGroup<G>>>,
    /// How many of them have not stopped.
    open: usize,
    /// The feeder whose turn it is; after the last one, the next to begin.
    current: usize,
    /// Whether the current feeder has no group, and waits for the next one.
    is_waiting: bool,
    no_more_groups: bool,
    turn: u64,
    next_number: u64,
}

impl<G> RoundRobin<G> {
    pub(super) const fn new(feeder_count: u32) -> Self {
        Self {
            feeder_count: feeder_count as usize,
            feeders: Vec::new(),
            open: 0,
            current: 0,
            is_waiting: false,
            no_more_groups: false,
            turn: 0,
            next_number: 0,
        }
    }

    pub(super) fn open(&self) -> impl Iterator<Item = &OpenGroup<G>> {
        self.feeders.iter().flatten()
    }

    pub(super) const fn vacancies(&self) -> usize {
        if self.no_more_groups { 0 } else { self.feeder_count - self.open }
    }

    #[inline]
    pub(super) fn next<S: Source<Group = G>>(
        &mut self,
        source: &mut S,
        tally: &mut Tally,
    ) -> Turn<S::Job> {
        let mut turn = Turn::Pending;
        self.turns(source, tally, 1, |given| turn = given);
        turn
    }

    /// See [`super::Spread::turns`].
    #[inline]
    pub(super) fn turns<S: Source<Group = G>>(
        &mut self,
        source: &mut S,
        tally: &mut Tally,
        limit: usize,
        mut take: impl FnMut(Turn<S::Job>),
    ) {
        let mut left = limit;
        while left > 0 {
            let (dealt, next) = self.deal(source, tally, left, &mut take);
            left -= dealt;
            let next = if next == Pull::End { self.go_on(source, tally) } else { next };
            match next {
                Pull::Ready(()) => {}
                Pull::Pending | Pull::Later => return take(Turn::Pending),
                Pull::End => return take(Turn::End),
            }
        }
    }

    /// Deals round after round, until a feeder has no job: then the result is `End`. All that
    /// changes in each turn is local.
    #[inline]
    fn deal<S: Source<Group = G>>(
        &mut self,
        source: &mut S,
        tally: &mut Tally,
        limit: usize,
        take: &mut impl FnMut(Turn<S::Job>),
    ) -> (usize, Pull<()>) {
        let (is_round, turn) = (self.is_round(), self.turn);
        let feeders = self.feeders.as_mut_slice();
        let (mut dealt, mut current, mut next) = (0, self.current, Pull::Ready(()));
        while dealt < limit {
            if current >= feeders.len() && is_round {
                current = 0;
            }
            let Some(Some(open)) = feeders.get_mut(current) else {
                next = Pull::End;
                break;
            };
            match source.next_job(&mut open.group) {
                Pull::Ready(job) => take(open.deal(job, turn + dealt as u64, tally)),
                Pull::Pending | Pull::Later => {
                    next = Pull::Pending;
                    break;
                }
                Pull::End => {
                    next = Pull::End;
                    break;
                }
            }
            dealt += 1;
            current += 1;
        }
        (self.current, self.turn) = (current, turn + dealt as u64);
        (dealt, next)
    }

    /// Whether the first feeder follows the last one: none has stopped, and none is to begin.
    #[inline]
    const fn is_round(&self) -> bool {
        let none_begins = self.open == self.feeder_count || self.no_more_groups;
        self.open == self.feeders.len() && none_begins && self.open > 0
    }

    /// Continues where there is no job: the group has ended, the feeder has stopped, or the round
    /// has ended.
    #[inline(never)] // so that the common path stays short
    fn go_on<S: Source<Group = G>>(&mut self, source: &mut S, tally: &mut Tally) -> Pull<()> {
        if let Some(ended) = self.feeders.get_mut(self.current).and_then(Option::take) {
            self.open -= 1;
            ended.close(source, tally);
            self.is_waiting = true;
        }
        let is_new = self.current >= self.feeders.len();
        let may_begin = is_new && self.open < self.feeder_count && !self.no_more_groups;
        if self.is_waiting || may_begin {
            match source.next_group() {
                Pull::Ready(group) => {
                    self.begin(group);
                    return Pull::Ready(());
                }
                Pull::Pending => return Pull::Pending,
                Pull::Later => {}
                Pull::End => self.no_more_groups = true,
            }
            self.is_waiting = false;
        }
        if self.open == 0 {
            (self.current, self.feeders) = (0, Vec::new());
            return if self.no_more_groups { Pull::End } else { Pull::Later };
        }
        if is_new {
            self.forget_stopped();
            self.current = 0;
        } else {
            self.current += 1;
        }
        Pull::Ready(())
    }

    /// Gives a group to the feeder whose turn it is.
    fn begin(&mut self, group: G) {
        let open = Some(OpenGroup::new(group, self.next_number));
        match self.feeders.get_mut(self.current) {
            Some(feeder) => *feeder = open,
            None => self.feeders.push(open),
        }
        self.next_number += 1;
        self.open += 1;
        self.is_waiting = false;
    }

    /// Called between two rounds. Without it, each round would visit all feeders that have stopped.
    fn forget_stopped(&mut self) {
        if self.feeders.len() > 2 * self.open {
            self.feeders.retain(Option::is_some);
        }
    }
}
