//! Feeders in turn: no sizes needed, gaps of exactly F until the first feeder stops.

use super::certificate::Tally;
use super::{Open, Pull, Source, Turn};

/// The order of the source document: a feeder that runs dry takes the next group in the
/// same turn; when no group is left it stops, and is skipped from then on. While groups
/// may still come later, it is passed over only.
#[derive(Debug)]
pub(super) struct RoundRobin<G> {
    /// Those that have not stopped, in order; `None` has no group yet.
    feeders: Vec<Option<Open<G>>>,
    /// Whose turn it is.
    current: usize,
    turn: u64,
    next_number: u64,
}

impl<G> RoundRobin<G> {
    pub(super) fn new(feeder_count: u32) -> Self {
        let feeders = (0..feeder_count).map(|_| None).collect();
        Self { feeders, current: 0, turn: 0, next_number: 0 }
    }

    pub(super) fn open(&self) -> impl Iterator<Item = &Open<G>> {
        self.feeders.iter().flatten()
    }

    pub(super) fn vacancies(&self) -> usize {
        self.feeders.iter().filter(|feeder| feeder.is_none()).count()
    }

    #[inline]
    pub(super) fn next<S: Source<Group = G>>(
        &mut self,
        source: &mut S,
        tally: &mut Tally,
    ) -> Turn<S::Job> {
        let mut passed_over = 0;
        loop {
            if self.current >= self.feeders.len() {
                self.current = 0;
            }
            if let Some(Some(open)) = self.feeders.get_mut(self.current) {
                match source.next_job(&mut open.group) {
                    Pull::Ready(job) => {
                        let dealt = open.deal(job, self.turn, tally);
                        self.turn += 1;
                        self.current += 1;
                        return dealt;
                    }
                    Pull::Pending | Pull::Later => return Turn::Pending,
                    Pull::End => {}
                }
            }
            match self.take_group(source, tally) {
                Pull::Ready(()) => {}
                Pull::Pending => return Turn::Pending,
                Pull::Later => {
                    self.current += 1;
                    passed_over += 1;
                    if passed_over >= self.feeders.len() {
                        return Turn::Pending; // none has a group
                    }
                }
                Pull::End => return Turn::End,
            }
        }
    }

    /// Gives the feeder whose turn it is the next group for the one that has ended. If there
    /// are no more, the feeder stops, and the next one has the turn; the last one is the end.
    #[inline(never)] // so that the way past it stays short
    fn take_group<S: Source<Group = G>>(&mut self, source: &mut S, tally: &mut Tally) -> Pull<()> {
        let Some(feeder) = self.feeders.get_mut(self.current) else { return Pull::End };
        if let Some(ended) = feeder.take() {
            ended.close(source, tally);
        }
        match source.next_group() {
            Pull::Ready(group) => {
                *feeder = Some(Open::new(group, self.next_number));
                self.next_number += 1;
                Pull::Ready(())
            }
            Pull::Pending => Pull::Pending,
            Pull::Later => Pull::Later,
            Pull::End => {
                self.feeders.remove(self.current);
                if self.feeders.is_empty() { Pull::End } else { Pull::Ready(()) }
            }
        }
    }
}
