//! The state machine of leases.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde::{Deserialize, Serialize};

use super::spec::Checked;
use super::{Cause, Lease, LeaseId, LeaseSpec, Outcome, Sequence, SettleAction, SettleOutcome};
use crate::limits::REMEMBERED_LEASES;
use crate::rejection::Rejection;

/// The jobs that have been leased and are not settled. `J` names a job, `C` a
/// consumer.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(bound(deserialize = "J: Deserialize<'de>, C: Deserialize<'de> + Ord"))]
pub struct Leases<J, C> {
    epoch: u64,
    spec: Checked,
    jobs: BTreeMap<Sequence, UnsettledJob<J, C>>,
    /// The leased jobs, by deadline.
    leased: BTreeSet<(u64, Sequence)>,
    /// The jobs to lease again, by the time from which they may be leased.
    waiting: BTreeSet<(u64, Sequence)>,
    /// Number of jobs of each consumer that holds some.
    consumers: BTreeMap<C, usize>,
    next_sequence: Sequence,
    remembered: RecentOutcomes,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct UnsettledJob<J, C> {
    job: J,
    attempt: u32,
    /// Attempts that were released, and do not count.
    released: u32,
    /// Its consumer and the end of its lease; `None` while it waits.
    leased: Option<(u64, C)>,
    /// When its lease expired, if it waits because of that.
    expired: Option<u64>,
}

impl<J, C> UnsettledJob<J, C> {
    const fn is_last_attempt(&self, spec: &Checked) -> bool {
        self.attempt - self.released >= spec.max_attempt_count
    }
}

impl<J: Copy, C: Ord + Clone> Leases<J, C> {
    /// A machine without jobs. `epoch` must differ from that of every earlier life of the machine.
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
            consumers: BTreeMap::new(),
            next_sequence: 0,
            remembered: RecentOutcomes::default(),
        })
    }

    /// Leases a job: the longest waiting one of those that were leased before and may be leased
    /// again, or else a new one. `next` is called only if its job will be leased. `None` if there
    /// is no job, or a limit is reached. [`Self::expire`] should have been called for `now`.
    pub fn lease(
        &mut self,
        now: u64,
        consumer: &C,
        next: impl FnOnce() -> Option<J>,
    ) -> Option<Lease<J>> {
        if self.is_at_limit(consumer) {
            return None;
        }
        let sequence = self.take_waiting(now).or_else(|| self.take_new(next))?;
        let held = self.jobs.get_mut(&sequence)?;
        let deadline = now.saturating_add(self.spec.lease);
        held.attempt = held.attempt.saturating_add(1);
        held.leased = Some((deadline, consumer.clone()));
        held.expired = None;
        self.leased.insert((deadline, sequence));
        match self.consumers.get_mut(consumer) {
            Some(count) => *count += 1,
            None => drop(self.consumers.insert(consumer.clone(), 1)),
        }
        let id = LeaseId { epoch: self.epoch, sequence, attempt: held.attempt };
        Some(Lease { id, job: held.job, deadline })
    }

    fn take_waiting(&mut self, now: u64) -> Option<Sequence> {
        let (_, sequence) = *self.waiting.first().filter(|(ready, _)| *ready <= now)?;
        self.waiting.pop_first();
        Some(sequence)
    }

    fn take_new(&mut self, next: impl FnOnce() -> Option<J>) -> Option<Sequence> {
        if self.is_full() {
            return None;
        }
        let job = next()?;
        let sequence = self.next_sequence;
        self.next_sequence += 1;
        self.jobs.insert(
            sequence,
            UnsettledJob { job, attempt: 0, released: 0, leased: None, expired: None },
        );
        Some(sequence)
    }

    /// Settles or extends a lease, while it lasts.
    pub fn settle(
        &mut self,
        now: u64,
        id: LeaseId,
        action: SettleAction,
        outcomes: &mut Vec<Outcome<J>>,
    ) -> SettleOutcome {
        self.expire(now, outcomes);
        if id.epoch != self.epoch {
            return SettleOutcome::Stale;
        }
        let LeaseId { sequence, attempt, .. } = id;
        let Some(held) = self.jobs.get_mut(&sequence).filter(|held| held.attempt == attempt) else {
            return self.remembered.outcome(id, action);
        };
        let Some((deadline, consumer)) = held.leased.take() else {
            // The job was returned, or its lease expired, and it waits. A consumer that had no time
            // to start it may release it even after the lease expired: jobs that only wait in a
            // busy consumer must not become dead letters.
            let SettleAction::Release { delay } = action else { return SettleOutcome::Stale };
            let Some(ready) = held.expired.take() else { return SettleOutcome::Stale };
            held.released += 1;
            self.waiting.remove(&(ready, sequence));
            let later = now.saturating_add(delay);
            return self.put_back(if delay == 0 { ready } else { later }, sequence);
        };
        self.leased.remove(&(deadline, sequence));
        if action == SettleAction::ExtendLease {
            let deadline = now.saturating_add(self.spec.lease);
            held.leased = Some((deadline, consumer));
            self.leased.insert((deadline, sequence));
            return SettleOutcome::Extended { deadline };
        }
        let is_last = held.is_last_attempt(&self.spec);
        if matches!(action, SettleAction::Release { .. }) {
            held.released += 1;
        }
        self.forget(&consumer);
        match action {
            SettleAction::Ack => self.end(sequence, None, outcomes),
            SettleAction::DeadLetter => self.end(sequence, Some(Cause::Consumer), outcomes),
            SettleAction::Nack { .. } if is_last => {
                self.end(sequence, Some(Cause::AttemptsExhausted), outcomes)
            }
            SettleAction::Nack { delay } | SettleAction::Release { delay } => {
                self.put_back(now.saturating_add(delay), sequence)
            }
            SettleAction::ExtendLease => self.put_back(now, sequence), // handled above
        }
    }

    /// Ends expired leases.
    pub fn expire(&mut self, now: u64, outcomes: &mut Vec<Outcome<J>>) {
        while let Some((deadline, sequence)) = self.leased.first().copied() {
            if deadline > now {
                return;
            }
            self.leased.pop_first();
            let Some(held) = self.jobs.get_mut(&sequence) else { continue };
            let is_last = held.is_last_attempt(&self.spec);
            held.expired = Some(deadline);
            if let Some((_, consumer)) = held.leased.take() {
                self.forget(&consumer);
            }
            if is_last {
                self.end(sequence, Some(Cause::AttemptsExhausted), outcomes);
            } else {
                self.put_back(deadline, sequence);
            }
        }
    }

    /// The next time after `now` at which something happens without a call: a lease ends, or a job
    /// may be leased again.
    #[must_use]
    pub fn next_event(&self, now: u64) -> Option<u64> {
        let later = (now.saturating_add(1), 0)..;
        let first = |times: &BTreeSet<(u64, Sequence)>| {
            times.range(later.clone()).next().map(|(time, _)| *time)
        };
        first(&self.leased).into_iter().chain(first(&self.waiting)).min()
    }

    /// The number of leases that had not ended at the last call.
    #[must_use]
    pub fn leased(&self) -> usize {
        self.leased.len()
    }

    /// The number of jobs that were leased and will be leased again, now or later.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Whether a job that was leased before may be leased again now.
    #[must_use]
    pub fn has_returned(&self, now: u64) -> bool {
        self.waiting.first().is_some_and(|(ready, _)| *ready <= now)
    }

    /// The number of consumers that hold jobs.
    #[must_use]
    pub fn consumers(&self) -> usize {
        self.consumers.len()
    }

    /// Whether new jobs must wait, because too many jobs are leased or wait to be leased again.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.jobs.len() >= self.spec.max_outstanding
    }

    /// Whether a consumer holds as many jobs as one consumer may.
    #[must_use]
    pub fn is_at_limit(&self, consumer: &C) -> bool {
        self.held_by(consumer) >= self.spec.max_consumer_lease_count
    }

    /// Changes the limits from now on.
    ///
    /// # Errors
    /// When a field is out of its range.
    pub fn update(&mut self, spec: &LeaseSpec) -> Result<(), Rejection> {
        self.spec = spec.check()?;
        Ok(())
    }

    /// How many jobs a consumer holds.
    #[must_use]
    pub fn held_by(&self, consumer: &C) -> usize {
        self.consumers.get(consumer).copied().unwrap_or(0)
    }

    fn forget(&mut self, consumer: &C) {
        if let Some(count) = self.consumers.get_mut(consumer) {
            *count -= 1;
            if *count == 0 {
                self.consumers.remove(consumer);
            }
        }
    }

    fn put_back(&mut self, ready: u64, sequence: Sequence) -> SettleOutcome {
        self.waiting.insert((ready, sequence));
        SettleOutcome::Returned
    }

    fn end(
        &mut self,
        sequence: Sequence,
        cause: Option<Cause>,
        outcomes: &mut Vec<Outcome<J>>,
    ) -> SettleOutcome {
        let outcome = cause.map_or(SettleOutcome::Acked, |_| SettleOutcome::DeadLettered);
        if let Some(UnsettledJob { job, attempt, .. }) = self.jobs.remove(&sequence) {
            self.remembered.add(sequence, attempt, outcome);
            outcomes.push(match cause {
                Some(cause) => Outcome::DeadLettered { job, attempts: attempt, cause },
                None => Outcome::Settled(job),
            });
        }
        outcome
    }
}

/// Outcomes of the last leases, so that a consumer that missed the response can ask again.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct RecentOutcomes {
    ends: BTreeMap<Sequence, (u32, SettleOutcome)>,
    oldest_first: VecDeque<Sequence>,
}

impl RecentOutcomes {
    fn add(&mut self, sequence: Sequence, attempt: u32, outcome: SettleOutcome) {
        self.ends.insert(sequence, (attempt, outcome));
        self.oldest_first.push_back(sequence);
        if self.oldest_first.len() > REMEMBERED_LEASES.max_size()
            && let Some(oldest) = self.oldest_first.pop_front()
        {
            self.ends.remove(&oldest);
        }
    }

    fn outcome(&self, id: LeaseId, action: SettleAction) -> SettleOutcome {
        let same = |outcome: SettleOutcome| match (action, outcome) {
            (SettleAction::Ack, SettleOutcome::Acked)
            | (SettleAction::DeadLetter, SettleOutcome::DeadLettered) => outcome,
            _ => SettleOutcome::Stale,
        };
        let end = self.ends.get(&id.sequence).filter(|(attempt, _)| *attempt == id.attempt);
        end.map_or(SettleOutcome::Stale, |(_, outcome)| same(*outcome))
    }
}
