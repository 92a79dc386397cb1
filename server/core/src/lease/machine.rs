//! The machine.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::spec::Checked;
use super::{Lease, LeaseId, LeaseSpec, Outcome, Sequence, Settlement, Verdict};
use crate::limits::REMEMBERED_LEASES;
use crate::rejection::Rejection;

/// The jobs that have been leased and are not settled. `J` is whatever names a job.
#[derive(Debug, Clone)]
pub struct Leases<J> {
    epoch: u64,
    spec: Checked,
    jobs: BTreeMap<Sequence, Held<J>>,
    /// By deadline.
    leased: BTreeSet<(u64, Sequence)>,
    /// To be leased again, by when they may be.
    waiting: BTreeSet<(u64, Sequence)>,
    next_sequence: Sequence,
    remembered: Remembered,
}

#[derive(Debug, Clone)]
struct Held<J> {
    job: J,
    attempt: u32,
    /// The deadline of its lease; none while it waits.
    deadline: Option<u64>,
}

impl<J: Copy> Leases<J> {
    /// A machine without jobs. No two lives of it may have the same epoch.
    ///
    /// # Errors
    /// When a field is out of its range.
    pub fn try_new(epoch: u64, spec: &LeaseSpec) -> Result<Self, Rejection> {
        Ok(Self {
            epoch,
            spec: spec.check()?,
            jobs: BTreeMap::new(),
            leased: BTreeSet::new(),
            waiting: BTreeSet::new(),
            next_sequence: 0,
            remembered: Remembered::default(),
        })
    }

    /// Lends up to `count` jobs: first those that were lent before and may be again, the
    /// longest waiting first, then new ones of `next`, in its order. `next` is asked for no
    /// job that is not lent.
    pub fn lease(
        &mut self,
        now: u64,
        count: usize,
        mut next: impl FnMut() -> Option<J>,
        outcomes: &mut Vec<Outcome<J>>,
    ) -> Vec<Lease<J>> {
        self.expire(now, outcomes);
        let mut leases = Vec::new();
        while leases.len() < count && self.leased.len() < self.spec.max_outstanding {
            let Some(sequence) = self.take_waiting(now).or_else(|| self.take_new(&mut next)) else {
                break;
            };
            let Some(held) = self.jobs.get_mut(&sequence) else { break };
            let deadline = now.saturating_add(self.spec.lease);
            held.attempt += 1;
            held.deadline = Some(deadline);
            self.leased.insert((deadline, sequence));
            let id = LeaseId { epoch: self.epoch, sequence, attempt: held.attempt };
            leases.push(Lease { id, job: held.job, deadline });
        }
        leases
    }

    fn take_waiting(&mut self, now: u64) -> Option<Sequence> {
        let (_, sequence) = *self.waiting.first().filter(|(ready, _)| *ready <= now)?;
        self.waiting.pop_first();
        Some(sequence)
    }

    fn take_new(&mut self, next: &mut impl FnMut() -> Option<J>) -> Option<Sequence> {
        let job = next()?;
        let sequence = self.next_sequence;
        self.next_sequence += 1;
        self.jobs.insert(sequence, Held { job, attempt: 0, deadline: None });
        Some(sequence)
    }

    /// Takes a consumer's word for a lease, while it lasts.
    pub fn settle(
        &mut self,
        now: u64,
        id: LeaseId,
        verdict: Verdict,
        outcomes: &mut Vec<Outcome<J>>,
    ) -> Settlement {
        self.expire(now, outcomes);
        if id.epoch != self.epoch {
            return Settlement::Stale;
        }
        let LeaseId { sequence, attempt, .. } = id;
        let Some(held) = self.jobs.get_mut(&sequence).filter(|held| held.attempt == attempt) else {
            return self.remembered.settlement(id, verdict);
        };
        let Some(deadline) = held.deadline.take() else {
            return Settlement::Stale; // it was returned, or has expired, and waits
        };
        self.leased.remove(&(deadline, sequence));
        match verdict {
            Verdict::Ack => self.end(sequence, Settlement::Settled, outcomes),
            Verdict::Terminate => self.end(sequence, Settlement::DeadLettered, outcomes),
            Verdict::Nack { .. } if attempt >= self.spec.max_attempts => {
                self.end(sequence, Settlement::DeadLettered, outcomes)
            }
            Verdict::Nack { delay } => {
                self.waiting.insert((now.saturating_add(delay), sequence));
                Settlement::Returned
            }
            Verdict::Extend { lease } => {
                let deadline = now.saturating_add(lease);
                held.deadline = Some(deadline);
                self.leased.insert((deadline, sequence));
                Settlement::Extended { deadline }
            }
        }
    }

    /// Ends the leases whose time has come. Every other call does so first.
    pub fn expire(&mut self, now: u64, outcomes: &mut Vec<Outcome<J>>) {
        while let Some((deadline, sequence)) = self.leased.first().copied() {
            if deadline > now {
                return;
            }
            self.leased.pop_first();
            let Some(held) = self.jobs.get_mut(&sequence) else { continue };
            held.deadline = None;
            if held.attempt >= self.spec.max_attempts {
                self.end(sequence, Settlement::DeadLettered, outcomes);
            } else {
                self.waiting.insert((deadline, sequence));
            }
        }
    }

    /// When something happens by itself next, later than now: a lease ends, or a job may be
    /// lent again.
    #[must_use]
    pub fn next_event(&self, now: u64) -> Option<u64> {
        let later = (now.saturating_add(1), 0)..;
        let first = |times: &BTreeSet<(u64, Sequence)>| {
            times.range(later.clone()).next().map(|(time, _)| *time)
        };
        first(&self.leased).into_iter().chain(first(&self.waiting)).min()
    }

    /// Leases that have not ended, as of the last call.
    #[must_use]
    pub fn outstanding(&self) -> usize {
        self.leased.len()
    }

    /// Jobs that were lent and are to be lent again, now or later.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    fn end(
        &mut self,
        sequence: Sequence,
        settlement: Settlement,
        outcomes: &mut Vec<Outcome<J>>,
    ) -> Settlement {
        if let Some(Held { job, attempt, .. }) = self.jobs.remove(&sequence) {
            self.remembered.add(sequence, attempt, settlement);
            outcomes.push(match settlement {
                Settlement::DeadLettered => Outcome::DeadLettered { job, attempts: attempt },
                _ => Outcome::Settled(job),
            });
        }
        settlement
    }
}

/// How the last leases ended, so that a consumer who did not hear the answer may ask again.
#[derive(Debug, Clone, Default)]
struct Remembered {
    ends: BTreeMap<Sequence, (u32, Settlement)>,
    oldest_first: VecDeque<Sequence>,
}

impl Remembered {
    fn add(&mut self, sequence: Sequence, attempt: u32, settlement: Settlement) {
        self.ends.insert(sequence, (attempt, settlement));
        self.oldest_first.push_back(sequence);
        if self.oldest_first.len() > REMEMBERED_LEASES.max_size()
            && let Some(oldest) = self.oldest_first.pop_front()
        {
            self.ends.remove(&oldest);
        }
    }

    fn settlement(&self, id: LeaseId, verdict: Verdict) -> Settlement {
        let same = |settlement: Settlement| match (verdict, settlement) {
            (Verdict::Ack, Settlement::Settled)
            | (Verdict::Terminate, Settlement::DeadLettered) => settlement,
            _ => Settlement::Stale,
        };
        let end = self.ends.get(&id.sequence).filter(|(attempt, _)| *attempt == id.attempt);
        end.map_or(Settlement::Stale, |(_, settlement)| same(*settlement))
    }
}
