//! Named spreads: producers submit groups, consumers get their jobs, and no job is lost.
//!
//! Delivery is at least once, and there are never two unexpired leases on one job. The state
//! machine is free of I/O and of clocks: it takes calls and the time, and returns results. A store
//! keeps one for each name and passes it the time, in milliseconds since the spread was opened.
//!
//! A spread is opened after its earlier life has ended: its process is gone, or the spread was
//! discarded or closed in this process. Every lease of that life was granted or extended before
//! then, so before time 0. All of them have ended once the time is the length of one lease. Until
//! then, groups with a receipt of another epoch wait.

mod answers;
mod dead_letters;
mod ended;
mod group;
mod group_part;
mod intake;
mod partial_group;
mod queue;
mod redrive;
mod restart;
mod room;
mod spec;
mod submission;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub use self::answers::{
    Counts, EmptyReason, GroupState, GroupStatus, LeasedJob, NextJob, SpreadState,
};
pub use self::dead_letters::DeadLetter;
pub use self::group::Digest;
pub use self::group_part::{Commit, GroupPart, Receipt, content_digest};
pub use self::room::BytesLeft;
pub use self::spec::{LimitChanges, NamedSpreadSpec, SpreadLimits};

use self::dead_letters::DeadLetters;
use self::ended::{End, EndedGroups};
use self::group::Group;
use self::intake::Intake;
use self::queue::{Job, Queue, QueuedGroup};
use self::room::{GROUP_MEMORY, LEASE_MEMORY, Room, cost, full};
use crate::limits::{ANSWER_RANGES, CONSUMER_NAME, PULLED_BYTES, SPREAD_CONSUMERS};
use crate::rejection::{Reason, Rejection};
use crate::spread::lease::{LeaseId, Leases, Outcome, SettleAction, SettleOutcome};
use crate::spread::{Certificate, Spread, SpreadSpec};

/// A spread with a name: its groups and jobs, and the consumers that hold them.
#[derive(Debug, Serialize, Deserialize)]
pub struct NamedSpread {
    epoch: u64,
    spec: NamedSpreadSpec,
    /// The spec before its limits were changed.
    opened: NamedSpreadSpec,
    room: Room,
    state: SpreadState,
    intake: Intake,
    groups: BTreeMap<u64, Group>,
    numbers: BTreeMap<Arc<str>, u64>,
    next_number: u64,
    /// Cost of the groups, and of dead letters without a group.
    held: Room,
    queue: Queue,
    order: Spread<QueuedGroup>,
    leases: Leases<Job, Arc<str>>,
    dead_letters: DeadLetters,
    settled_jobs: u64,
    ended: EndedGroups,
    /// Empty between calls; kept for its capacity.
    #[serde(skip)]
    outcomes: Vec<Outcome<Job>>,
}

impl NamedSpread {
    /// A spread without groups. `epoch` must differ from that of every earlier life of the spread.
    ///
    /// # Errors
    /// When a field is out of its range, or belongs to the other policy.
    pub fn try_new(epoch: u64, spec: &NamedSpreadSpec) -> Result<Self, Rejection> {
        let resolved = NamedSpreadSpec { order: resolved_order(&spec.order)?, ..*spec };
        Ok(Self {
            epoch,
            spec: resolved,
            opened: resolved,
            room: spec.room()?,
            state: SpreadState::Open,
            intake: Intake::default(),
            groups: BTreeMap::new(),
            numbers: BTreeMap::new(),
            next_number: 0,
            held: Room::default(),
            queue: Queue::default(),
            order: Spread::try_new(&spec.order)?,
            leases: Leases::try_new(epoch, &spec.leases())?,
            dead_letters: DeadLetters::default(),
            settled_jobs: 0,
            ended: EndedGroups::default(),
            outcomes: Vec::new(),
        })
    }

    /// Its parameters, with every default filled in.
    #[must_use]
    pub const fn spec(&self) -> &NamedSpreadSpec {
        &self.spec
    }

    /// Changes its limits.
    ///
    /// # Errors
    /// When a limit is out of its range; no limit changes then.
    pub fn update(&mut self, changes: &LimitChanges) -> Result<(), Rejection> {
        let spec = NamedSpreadSpec { limits: self.spec.limits.with(changes), ..self.spec };
        let room = spec.room()?;
        self.leases.update(&spec.leases())?;
        (self.spec, self.room) = (spec, room);
        Ok(())
    }

    /// The first field in which a spec differs from this spread's, with both values. A spec that
    /// equals the one at opening does not differ, even if limits have changed since.
    #[must_use]
    pub fn difference(&self, spec: &NamedSpreadSpec) -> Option<(&'static str, String, String)> {
        spec.difference(&self.opened).and_then(|_| spec.difference(&self.spec))
    }

    /// Whether it takes groups.
    #[must_use]
    pub const fn state(&self) -> SpreadState {
        self.state
    }

    /// Whether it is closed and holds no dead letters.
    #[must_use]
    pub fn is_spent(&self) -> bool {
        self.state == SpreadState::Closed && self.dead_letters.len() == 0
    }

    /// The progress of groups, as of the last call. Ranges of settled jobs are listed only until
    /// there are as many as an answer takes.
    #[must_use]
    pub fn groups<'a>(&self, ids: impl Iterator<Item = &'a str>) -> Vec<GroupStatus> {
        let mut left = ANSWER_RANGES.max_size();
        ids.map(|id| {
            let mut status = self.group(id);
            status.settled_ranges.truncate(left);
            left -= status.settled_ranges.len();
            status
        })
        .collect()
    }

    /// Whether a group is settled or unknown.
    #[must_use]
    pub fn is_over(&self, id: &str) -> bool {
        !self.numbers.contains_key(id) && self.intake.job_count(id).is_none()
    }

    /// The number of groups that have been settled.
    #[must_use]
    pub const fn ended_groups(&self) -> u64 {
        self.ended.count()
    }

    /// The number of groups that were dropped without a commit.
    #[must_use]
    pub const fn dropped_groups(&self) -> u64 {
        self.intake.dropped()
    }

    /// The groups that were settled after the first `count`; `None` if some of them are forgotten.
    #[must_use]
    pub fn ended_since(&self, count: u64) -> Option<impl Iterator<Item = &str>> {
        self.ended.since(count)
    }

    /// The progress of a group, as of the last call.
    #[must_use]
    pub fn group(&self, id: &str) -> GroupStatus {
        if let Some(group) = self.numbers.get(id).and_then(|number| self.groups.get(number)) {
            return group.status();
        }
        let status = |state, job_count, settled_count, dead_letter_count| {
            let (id, settled_ranges) = (id.into(), Vec::new());
            GroupStatus { id, state, job_count, settled_count, dead_letter_count, settled_ranges }
        };
        if let Some(end) = self.ended.get(id) {
            let jobs = end.job_count.into();
            return status(GroupState::Settled, jobs, jobs, end.dead_letter_count);
        }
        match self.intake.job_count(id) {
            Some(jobs) => status(GroupState::Partial, jobs, 0, 0),
            None => status(GroupState::Unknown, 0, 0, 0),
        }
    }

    /// Leases up to `count` jobs, and no more bytes than an answer takes: first jobs that were
    /// leased before and may be leased again, then new jobs, in the order of the spread.
    ///
    /// # Errors
    /// When the consumer's name is invalid, or too many other consumers hold jobs.
    pub fn pull(
        &mut self,
        now: u64,
        consumer: &Arc<str>,
        count: usize,
    ) -> Result<Vec<LeasedJob>, Rejection> {
        self.advance(now);
        self.check_consumer(consumer)?;
        let (mut jobs, mut bytes) = (Vec::new(), 0);
        while jobs.len() < count && bytes < PULLED_BYTES.max_size() {
            let (queue, order) = (&mut self.queue, &mut self.order);
            let Some(lease) = self.leases.lease(now, consumer, || queue.next_job(order)) else {
                break;
            };
            let Some(group) = self.groups.get(&lease.job.group) else { continue };
            let job = group.content.job(lease.job.index);
            bytes += job.len();
            jobs.push(LeasedJob {
                id: lease.id,
                group_id: Arc::clone(&group.id),
                job_index: group.first_job_index + lease.job.index,
                payload: job,
                redelivered: group.redelivered || lease.id.attempt > 1,
            });
        }
        Ok(jobs)
    }

    /// Up to `count` jobs that were never leased, of the groups that were ready at the last call:
    /// in the order in which they will be leased if no group arrives in the meantime. Jobs to lease
    /// again come before them. Takes O(open groups + `count`).
    #[must_use]
    pub fn next_jobs(&self, count: usize) -> Vec<NextJob> {
        let jobs = self.queue.jobs_ahead(&self.order, count).into_iter();
        jobs.filter_map(|job| {
            let group = self.groups.get(&job.group)?;
            let job_index = group.first_job_index + job.index;
            Some(NextJob { group_id: Arc::clone(&group.id), job_index })
        })
        .collect()
    }

    /// Why a consumer could not lease a job, as of the last call.
    #[must_use]
    pub fn empty_reason(&self, consumer: &Arc<str>) -> EmptyReason {
        if self.leases.is_at_limit(consumer) {
            EmptyReason::ConsumerAtLimit
        } else if self.leases.is_full() && self.queue.has_ready() {
            EmptyReason::LeasesAtLimit
        } else {
            EmptyReason::NoReadyJob
        }
    }

    /// Refuses a consumer that may not lease any job, as of the last call.
    ///
    /// # Errors
    /// As [`pull`](Self::pull).
    pub fn check_consumer(&self, consumer: &Arc<str>) -> Result<(), Rejection> {
        check_consumer(consumer)?;
        let is_new = self.leases.held_by(consumer) == 0;
        if is_new && self.leases.consumers() >= SPREAD_CONSUMERS.max_size() {
            return Err(full("consumer_id", consumer, SPREAD_CONSUMERS));
        }
        Ok(())
    }

    /// Whether a pull of a consumer would lease a job. Time must have [passed](Self::advance).
    #[must_use]
    pub fn may_lease(&self, now: u64, consumer: &Arc<str>) -> bool {
        let has_new = || self.queue.has_ready() && !self.leases.is_full();
        !self.leases.is_at_limit(consumer) && (self.leases.has_returned(now) || has_new())
    }

    /// Settles or extends a lease, while it lasts.
    pub fn settle(&mut self, now: u64, id: LeaseId, action: SettleAction) -> SettleOutcome {
        let outcome = self.leases.settle(now, id, action, &mut self.outcomes);
        self.conclude();
        outcome
    }

    /// Moves the time forward. Calls that take `now` do so themselves.
    pub fn advance(&mut self, now: u64) {
        self.leases.expire(now, &mut self.outcomes);
        self.conclude();
        self.queue.advance(now);
        self.intake.advance(now);
    }

    /// The next time after `now` at which there may be jobs to lease, without any call.
    #[must_use]
    pub fn next_event(&self, now: u64) -> Option<u64> {
        self.leases.next_event(now).into_iter().chain(self.queue.next_event()).min()
    }

    /// Takes no more groups, drops partial ones, and ends when all jobs are settled.
    pub fn close(&mut self) {
        if self.state == SpreadState::Open {
            self.state = SpreadState::Draining;
            self.intake.clear();
            self.queue.close();
        }
        self.end_if_drained();
    }

    /// Contents in numbers, as of the last call.
    #[must_use]
    pub fn counts(&self) -> Counts {
        Counts {
            groups: self.groups.len() as u64,
            partial_groups: self.intake.len() as u64,
            quarantined_groups: self.queue.quarantined() as u64,
            ready_jobs: self.queue.job_count(),
            leased_jobs: self.leases.leased() as u64,
            returned_jobs: self.leases.waiting() as u64,
            settled_jobs: self.settled_jobs,
            dead_letters: self.dead_letters.len() as u64,
            bytes: self.held.bytes + self.intake.held().bytes,
            consumers: self.leases.consumers() as u64,
        }
    }

    /// When the oldest group that is not settled was committed, in milliseconds.
    #[must_use]
    pub fn oldest(&self) -> Option<u64> {
        self.groups.first_key_value().map(|(_, group)| group.since)
    }

    /// Bytes of memory that it takes: jobs, groups, leases, and the settled groups that it
    /// remembers.
    #[must_use]
    pub fn memory(&self) -> u64 {
        let groups = (self.groups.len() + self.intake.len()) as u64;
        let leases = (self.leases.leased() + self.leases.waiting()) as u64;
        let jobs = self.held.bytes + self.intake.held().bytes;
        jobs + GROUP_MEMORY * groups + LEASE_MEMORY * leases + self.ended.bytes()
    }

    /// Bytes of [`memory`](Self::memory) that remembering settled groups takes.
    #[must_use]
    pub const fn remembered_memory(&self) -> u64 {
        self.ended.bytes()
    }

    /// Forgets settled groups, the oldest first, until `bytes` of memory are free or none is
    /// left. Submitting a forgotten group again runs it again.
    pub fn forget_ended(&mut self, bytes: u64) {
        self.ended.forget(bytes);
    }

    /// The distances in the order of first attempts so far.
    #[must_use]
    pub fn certificate(&self) -> Certificate {
        self.order.certificate()
    }

    /// Up to `count` dead letters after a number, and no more bytes than an answer takes; and
    /// whether there are more.
    #[must_use]
    pub fn dead_letters(&self, after: Option<u64>, count: usize) -> (Vec<DeadLetter>, bool) {
        self.dead_letters.page(after, count)
    }

    /// Deletes dead letters, and returns how many there were.
    pub fn delete_dead_letters(&mut self, numbers: impl IntoIterator<Item = u64>) -> u64 {
        let mut deleted = 0;
        for (_, jobs, bytes) in numbers.into_iter().filter_map(|n| self.dead_letters.remove(n)) {
            deleted += 1;
            self.held.take(Room { groups: 0, jobs, bytes });
        }
        deleted
    }

    /// Records in their groups how jobs have ended.
    fn conclude(&mut self) {
        let mut outcomes = core::mem::take(&mut self.outcomes);
        for outcome in outcomes.drain(..) {
            let (Outcome::Settled(job) | Outcome::DeadLettered { job, .. }) = outcome;
            let Some(group) = self.groups.get_mut(&job.group) else { continue };
            self.settled_jobs += 1;
            group.settled.mark(job.index);
            if let Outcome::DeadLettered { attempts, cause, .. } = outcome {
                group.dead_letter_count += 1;
                let number = self.dead_letters.add(|number| DeadLetter {
                    number,
                    group_id: Arc::clone(&group.id),
                    job_index: group.first_job_index + job.index,
                    payload: group.content.job(job.index),
                    attempts,
                    cause,
                });
                group.dead_letters.push(number);
            }
            if group.settled.is_full() {
                self.end_group(job.group);
            }
        }
        self.outcomes = outcomes;
    }

    fn end_group(&mut self, number: u64) {
        let Some(group) = self.groups.remove(&number) else { return };
        if !group.redriven {
            self.numbers.remove(&group.id);
        }
        let (kept, kept_bytes) = self.dead_letters.keep(&group.dead_letters);
        let job_count = group.content.job_count();
        self.held.take(cost(&group.id, job_count.into(), group.content.byte_count()));
        self.held.add(Room { groups: 0, jobs: kept, bytes: kept_bytes });
        let Group { id, sha256, dead_letter_count, redriven, .. } = group;
        if !redriven {
            self.ended.add(id, End { sha256, job_count, dead_letter_count });
        }
        self.end_if_drained();
    }

    fn end_if_drained(&mut self) {
        if self.state == SpreadState::Draining && self.groups.is_empty() {
            self.state = SpreadState::Closed;
        }
    }
}

fn resolved_order(order: &SpreadSpec) -> Result<SpreadSpec, Rejection> {
    order.resolved().map_err(|rejection| rejection.under("order"))
}

/// Refuses invalid names of consumers.
fn check_consumer(name: &str) -> Result<(), Rejection> {
    if CONSUMER_NAME.allows(name.len() as i128) {
        return Ok(());
    }
    Err(Rejection::new(Reason::OutOfRange, "consumer_id", name, format!("must be {CONSUMER_NAME}")))
}
