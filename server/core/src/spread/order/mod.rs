//! The order of jobs: the turns of groups.

mod certificate;
mod cooldown;
mod groups;
mod resume;
mod round_robin;
mod spec;

pub use certificate::Certificate;
pub use groups::Groups;
pub use resume::{OrderDigest, Place};
pub use spec::{OnShortage, Policy, SpreadSpec};

use serde::{Deserialize, Serialize};

use crate::rejection::Rejection;
use certificate::Tally;
use cooldown::Cooldown;
use round_robin::RoundRobin;

/// The response of a source to a request for its next group or job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pull<T> {
    /// The next group or job.
    Ready(T),
    /// Not yet available, and the spread cannot continue without it: ask again.
    Pending,
    /// Not yet available, and the spread continues without it: only for groups.
    Later,
    /// There are no more.
    End,
}

/// The source of groups and their jobs.
pub trait Source {
    /// An open group, from which its next jobs are requested.
    type Group;
    /// A job of a group.
    type Job;

    /// The next group. Called only when a feeder needs one. On [`Pull::Later`], the feeder is
    /// passed over, and asks again in its next turn.
    fn next_group(&mut self) -> Pull<Self::Group>;

    /// The next job of a group, never [`Pull::Later`]. Called only when it is the group's turn.
    fn next_job(&mut self, group: &mut Self::Group) -> Pull<Self::Job>;

    /// How many jobs a group has. Called once, and only under `COOLDOWN`.
    fn size(&self, group: &Self::Group) -> u64;

    /// Takes back a group that needs no more jobs.
    fn close(&mut self, group: Self::Group) {
        drop(group);
    }
}

/// A job with its place in the order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DealtJob<J> {
    /// The turn, from 0. Without idle turns, also how many jobs came before.
    pub sequence: u64,
    /// The group, from 0 in the order of the source.
    pub group: u64,
    /// The job's place in its group, from 0.
    pub index: u64,
    /// The job as its source gave it.
    pub job: J,
}

/// The result of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn<J> {
    /// The job of this turn.
    Job(DealtJob<J>),
    /// Nothing, on purpose (`WAIT`): the caller lets one turn pass.
    Idle {
        /// The turn, from 0.
        sequence: u64,
    },
    /// Nothing yet: the source must answer first, or no group is open and the next one comes later.
    /// The turn has not passed.
    Pending,
    /// There are no more turns.
    End,
}

/// An open group, with the facts that the certificate needs.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct OpenGroup<G> {
    group: G,
    number: u64,
    dealt: u64,
    first_turn: u64,
    last_turn: u64,
}

impl<G> OpenGroup<G> {
    const fn new(group: G, number: u64) -> Self {
        Self { group, number, dealt: 0, first_turn: 0, last_turn: 0 }
    }

    /// The job that this group deals in a turn.
    #[inline]
    fn deal<J>(&mut self, job: J, turn: u64, tally: &mut Tally) -> Turn<J> {
        if self.dealt == 0 {
            self.first_turn = turn;
        } else {
            tally.gap(turn - self.last_turn);
        }
        self.last_turn = turn;
        let index = self.dealt;
        self.dealt += 1;
        Turn::Job(DealtJob { sequence: turn, group: self.number, index, job })
    }

    fn close<S: Source<Group = G>>(self, source: &mut S, tally: &mut Tally) {
        tally.group(self.dealt, self.last_turn - self.first_turn);
        source.close(self.group);
    }
}

/// A spread in progress. `G` is the group type of its source.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Spread<G> {
    machine: Machine<G>,
    tally: Tally,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
enum Machine<G> {
    RoundRobin(RoundRobin<G>),
    Cooldown(Cooldown<G>),
}

impl<G> Spread<G> {
    /// Begins a spread.
    ///
    /// # Errors
    /// When a count is out of its range, or a field belongs to the other policy.
    pub fn try_new(spec: &SpreadSpec) -> Result<Self, Rejection> {
        let checked = spec.check()?;
        let feeders = checked.feeder_count;
        let machine = match spec.policy {
            Policy::RoundRobin => Machine::RoundRobin(RoundRobin::new(feeders)),
            Policy::Cooldown => Machine::Cooldown(Cooldown::new(
                feeders,
                checked.max_open_group_count,
                checked.on_shortage,
            )),
        };
        Ok(Self { machine, tally: Tally::new(feeders) })
    }

    /// Deals the next job, or returns why there is none now.
    #[inline]
    pub fn next<S: Source<Group = G>>(&mut self, source: &mut S) -> Turn<S::Job> {
        match &mut self.machine {
            Machine::RoundRobin(machine) => machine.next(source, &mut self.tally),
            Machine::Cooldown(machine) => machine.next(source, &mut self.tally),
        }
    }

    /// Passes the next turns to `take`, up to `limit` turns, and none after [`Turn::Pending`] or
    /// [`Turn::End`]. The turns are those of [`next`](Self::next), at less cost.
    #[inline]
    pub fn turns<S: Source<Group = G>>(
        &mut self,
        source: &mut S,
        limit: usize,
        mut take: impl FnMut(Turn<S::Job>),
    ) {
        match &mut self.machine {
            Machine::RoundRobin(machine) => machine.turns(source, &mut self.tally, limit, take),
            Machine::Cooldown(machine) => {
                for _ in 0..limit {
                    let turn = machine.next(source, &mut self.tally);
                    let is_last = matches!(turn, Turn::Pending | Turn::End);
                    take(turn);
                    if is_last {
                        break;
                    }
                }
            }
        }
    }

    /// How many groups the spread would take now if the source had them: for feeders without one,
    /// or for a window that is not full.
    #[must_use]
    pub fn vacancies(&self) -> usize {
        match &self.machine {
            Machine::RoundRobin(machine) => machine.vacancies(),
            Machine::Cooldown(machine) => machine.vacancies(),
        }
    }

    /// The certificate so far; final once a turn was [`Turn::End`].
    #[must_use]
    pub fn certificate(&self) -> Certificate {
        let mut tally = self.tally.clone();
        match &self.machine {
            Machine::RoundRobin(machine) => machine.open().for_each(|open| tally.open(open)),
            Machine::Cooldown(machine) => machine.open().for_each(|open| tally.open(open)),
        }
        tally.certificate()
    }
}
