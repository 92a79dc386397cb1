//! Named spreads: groups come from producers, jobs go to consumers, and none is lost.
//!
//! Delivery is at least once, and never are two unexpired leases on one job. The machine is
//! free of I/O and of clocks: calls and the time go in, answers come out. A store keeps one
//! for each name and passes it the time, in milliseconds since the spread was opened.
//!
//! A spread is opened after its earlier life has ended: its process is gone, or it was
//! discarded or closed in this one. Every lease of that life was given or extended before then,
//! so before time 0. All of them have ended when the time is one lease's length, and until then
//! groups with a receipt of another epoch wait.

mod dead_letters;
mod ended;
mod group;
mod intake;
mod queue;
mod spec;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use bytes::Bytes;

pub use self::dead_letters::DeadLetter;
pub use self::group::Digest;
pub use self::intake::{Commit, GroupPart, Receipt};
pub use self::spec::NamedSpreadSpec;

use self::dead_letters::DeadLetters;
use self::ended::{End, EndedGroups};
use self::group::{Group, Marks};
use self::intake::{Complete, Intake, check_id, cost, differs, digest, full, wrong_hash};
use self::queue::{Job, Queue, Waiting};
use self::spec::Room;
use crate::limits::{ANSWER_BYTES, ANSWER_RANGES, CONSUMER_NAME, SPREAD_CONSUMERS};
use crate::rejection::{Reason, Rejection};
use crate::spread::lease::{LeaseId, Leases, Outcome, Settlement, Verdict};
use crate::spread::{Certificate, Spread};

/// Memory that a group takes beside what [`cost`] counts, in bytes.
const GROUP_MEMORY: u64 = 480;

/// Memory that a lease takes, in bytes.
const LEASE_MEMORY: u64 = 160;

/// How safe a group is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GroupState {
    /// Never submitted, dropped before its commit, or forgotten.
    Unknown,
    /// Its commit has not come.
    Partial,
    /// It is held, and lost with what holds it.
    Received,
    /// Each of its jobs was finished or given up.
    Settled,
}

/// What has become of a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupStatus {
    /// The group.
    pub id: Arc<str>,
    /// How safe it is.
    pub state: GroupState,
    /// How many jobs have come.
    pub job_count: u64,
    /// How many of them are settled, dead letters included.
    pub settled_count: u64,
    /// How many of them were given up.
    pub dead_letter_count: u64,
    /// Which are settled, while the group is [`GroupState::Received`]; the first 1,024 ranges.
    pub settled_ranges: Vec<(u32, u32)>,
}

/// Whether a spread takes groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpreadState {
    /// It takes groups and deals their jobs.
    Open,
    /// It deals what it has, and takes no more.
    Draining,
    /// All is settled.
    Closed,
}

/// A job that is lent, with all that its consumer needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeasedJob {
    /// What settles it.
    pub id: LeaseId,
    /// The group, as its producer calls it.
    pub group_id: Arc<str>,
    /// Its place in the group, from 0.
    pub index: u32,
    /// The job.
    pub job: Bytes,
    /// Whether a consumer may have had it before.
    pub redelivered: bool,
}

/// What a spread holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counts {
    /// Committed groups that are not settled.
    pub groups: u64,
    /// Groups whose commit has not come.
    pub partial_groups: u64,
    /// Groups that wait for an earlier epoch's leases.
    pub quarantined_groups: u64,
    /// Jobs that were not lent yet.
    pub ready_jobs: u64,
    /// Jobs that are lent.
    pub leased_jobs: u64,
    /// Jobs to be lent again.
    pub returned_jobs: u64,
    /// Jobs that were settled, dead letters included.
    pub settled_jobs: u64,
    /// Jobs given up and not deleted.
    pub dead_letters: u64,
    /// Bytes of jobs, with what holding them takes.
    pub bytes: u64,
    /// Consumers that hold jobs.
    pub consumers: u64,
}

/// What other spreads leave to one, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BytesLeft {
    /// For now.
    pub now: u64,
    /// If they held nothing.
    pub at_most: u64,
}

impl BytesLeft {
    /// There are no others.
    pub const ALL: Self = Self { now: u64::MAX, at_most: u64::MAX };
}

/// A spread with a name: what it holds, and who has what of it.
#[derive(Debug)]
pub struct NamedSpread {
    epoch: u64,
    spec: NamedSpreadSpec,
    room: Room,
    state: SpreadState,
    intake: Intake,
    groups: BTreeMap<u64, Group>,
    numbers: BTreeMap<Arc<str>, u64>,
    next_number: u64,
    /// What the groups hold, and dead letters without one.
    held: Room,
    queue: Queue,
    order: Spread<Waiting>,
    leases: Leases<Job, Arc<str>>,
    dead_letters: DeadLetters,
    settled_jobs: u64,
    ended: EndedGroups,
    /// Empty between calls; kept for its room.
    outcomes: Vec<Outcome<Job>>,
}

impl NamedSpread {
    /// A spread without groups. No two lives of it may have the same epoch.
    ///
    /// # Errors
    /// When a field is out of its range, or belongs to the other policy.
    pub fn try_new(epoch: u64, spec: &NamedSpreadSpec) -> Result<Self, Rejection> {
        Ok(Self {
            epoch,
            spec: NamedSpreadSpec { order: spec.order.resolved()?, ..*spec },
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

    /// Whether it takes groups.
    #[must_use]
    pub const fn state(&self) -> SpreadState {
        self.state
    }

    /// Whether it is closed and holds nothing that anybody could still want.
    #[must_use]
    pub fn is_spent(&self) -> bool {
        self.state == SpreadState::Closed && self.dead_letters.len() == 0
    }

    /// Takes groups, whole or in parts: all of them, or, if one is refused, none.
    ///
    /// # Errors
    /// When a group is not what it says it is, was another before, or does not fit.
    ///
    /// `elsewhere` is what other spreads leave to this one.
    pub fn submit(
        &mut self,
        now: u64,
        parts: &[GroupPart],
        elsewhere: BytesLeft,
    ) -> Result<Vec<GroupStatus>, Rejection> {
        self.advance(now);
        if self.state != SpreadState::Open {
            let allowed = "must be open: it takes no groups any more";
            return Err(Rejection::new(Reason::SpreadClosing, "spread", "closing", allowed));
        }
        let (taken, partial) = (self.held, self.intake.held());
        let free = |room: u64, a: u64, b: u64| room.saturating_sub(a).saturating_sub(b);
        let free = Room {
            groups: free(self.room.groups, taken.groups, partial.groups),
            jobs: free(self.room.jobs, taken.jobs, partial.jobs),
            bytes: free(self.room.bytes, taken.bytes, partial.bytes),
        };
        let room = Room { bytes: self.room.bytes.min(elsewhere.at_most), ..self.room };
        let mut call = self.intake.call(free, room, elsewhere.now, now);
        let (numbers, groups, ended) = (&self.numbers, &self.groups, &self.ended);
        let known = |id: &str| {
            let group = numbers.get(id).and_then(|number| groups.get(number));
            group
                .map(|group| (group.sha256, group.content.job_count()))
                .or_else(|| ended.get(id).map(|end| (end.sha256, end.job_count)))
        };
        let mut ids = BTreeSet::new();
        let mut take = |part: &GroupPart| {
            check_id(&part.group_id)?;
            if !ids.insert(part.group_id.clone()) {
                let (id, allowed) = (&part.group_id, "must be in a call once");
                return Err(Rejection::new(Reason::Contradictory, "group_id", id, allowed));
            }
            match known(&part.group_id) {
                Some((sha256, job_count)) => check_same(part, sha256, job_count),
                None => call.take(part),
            }
        };
        let refused = parts.iter().enumerate().find_map(|(place, part)| {
            take(part).err().map(|rejection| rejection.under(&format!("groups[{place}]")))
        });
        if let Some(rejection) = refused {
            call.undo();
            return Err(rejection);
        }
        for complete in call.keep() {
            self.add(complete, now);
        }
        Ok(self.groups(parts.iter().map(|part| &*part.group_id)))
    }

    fn add(&mut self, complete: Complete, now: u64) {
        let Complete { id, content, sha256, first_receipt, settled } = complete;
        let earlier = first_receipt.filter(|receipt| receipt.epoch != self.epoch);
        // That receipt's leases were given before time 0, at which this life of the spread began.
        let lease = |receipt: Receipt| receipt.lease_millis.max(self.spec.lease_millis);
        let time = earlier.map_or(0, |receipt| lease(receipt).unsigned_abs());
        let number = self.next_number;
        self.next_number += 1;
        let job_count = content.job_count();
        let mut marks = Marks::new(job_count);
        settled.iter().flat_map(|(start, end)| *start..*end).for_each(|index| marks.mark(index));
        self.held.add(cost(&id, job_count.into(), content.byte_count()));
        self.numbers.insert(Arc::clone(&id), number);
        let is_settled = marks.is_full();
        self.groups.insert(
            number,
            Group {
                id,
                content,
                sha256,
                since: now,
                redelivered: earlier.is_some(),
                settled: marks,
                dead_letters: Vec::new(),
                dead_letter_count: 0,
            },
        );
        if is_settled {
            self.end_group(number);
        } else {
            self.queue.add(Waiting { number, job_count, settled, next: 0 }, time, now);
        }
    }

    /// What has become of groups, as of the last call; the first ones with the ranges of their
    /// settled jobs, until there are as many as an answer takes.
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

    /// How many groups have been settled.
    #[must_use]
    pub const fn ended_groups(&self) -> u64 {
        self.ended.count()
    }

    /// How many groups have been dropped without a commit.
    #[must_use]
    pub const fn dropped_groups(&self) -> u64 {
        self.intake.dropped()
    }

    /// The groups that were settled after so many others had been; none, if that is too long
    /// ago to say.
    #[must_use]
    pub fn ended_since(&self, count: u64) -> Option<impl Iterator<Item = &str>> {
        self.ended.since(count)
    }

    /// What has become of a group, as of the last call.
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

    /// Lends up to `count` jobs, not more than an answer takes: first those that were lent
    /// before and may be again, then new ones, in the order of the spread.
    ///
    /// # Errors
    /// When the consumer's name is none, or too many others hold jobs.
    pub fn pull(
        &mut self,
        now: u64,
        consumer: &Arc<str>,
        count: usize,
    ) -> Result<Vec<LeasedJob>, Rejection> {
        check_consumer(consumer)?;
        self.advance(now);
        let is_new = self.leases.held_by(consumer) == 0;
        if is_new && self.leases.consumers() >= SPREAD_CONSUMERS.max_size() {
            return Err(full("consumer", consumer, SPREAD_CONSUMERS));
        }
        let (mut jobs, mut bytes) = (Vec::new(), 0);
        while jobs.len() < count && bytes < ANSWER_BYTES.max_size() {
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
                index: lease.job.index,
                job,
                redelivered: group.redelivered || lease.id.attempt > 1,
            });
        }
        Ok(jobs)
    }

    /// Takes a consumer's word for a lease, while it lasts.
    pub fn settle(&mut self, now: u64, id: LeaseId, verdict: Verdict) -> Settlement {
        let settlement = self.leases.settle(now, id, verdict, &mut self.outcomes);
        self.conclude();
        settlement
    }

    /// Lets time pass. The other calls do so first.
    pub fn advance(&mut self, now: u64) {
        self.leases.expire(now, &mut self.outcomes);
        self.conclude();
        self.queue.advance(now);
        self.intake.advance(now);
    }

    /// When there may be jobs to lend next by the passing of time alone, later than now.
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

    /// What it holds, as of the last call.
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

    /// When the oldest of the groups that are not settled was committed.
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

    /// The order of first attempts so far.
    #[must_use]
    pub fn certificate(&self) -> Certificate {
        self.order.certificate()
    }

    /// Up to `count` jobs that were given up, after a number, no more than an answer takes;
    /// and whether there are more.
    #[must_use]
    pub fn dead_letters(&self, after: Option<u64>, count: usize) -> (Vec<DeadLetter>, bool) {
        self.dead_letters.page(after, count)
    }

    /// Deletes jobs that were given up, and says how many there were.
    pub fn delete_dead_letters(&mut self, numbers: impl IntoIterator<Item = u64>) -> u64 {
        let mut deleted = 0;
        for (jobs, bytes) in numbers.into_iter().filter_map(|n| self.dead_letters.delete(n)) {
            deleted += 1;
            self.held.take(Room { groups: 0, jobs, bytes });
        }
        deleted
    }

    /// Writes down how jobs have ended.
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
                    index: job.index,
                    job: group.content.job(job.index),
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
        self.numbers.remove(&group.id);
        let (kept, kept_bytes) = self.dead_letters.keep(&group.dead_letters);
        let job_count = group.content.job_count();
        self.held.take(cost(&group.id, job_count.into(), group.content.byte_count()));
        self.held.add(Room { groups: 0, jobs: kept, bytes: kept_bytes });
        let Group { id, sha256, dead_letter_count, .. } = group;
        self.ended.add(id, End { sha256, job_count, dead_letter_count });
        self.end_if_drained();
    }

    fn end_if_drained(&mut self) {
        if self.state == SpreadState::Draining && self.groups.is_empty() {
            self.state = SpreadState::Closed;
        }
    }
}

/// Refuses names of consumers that are none.
fn check_consumer(name: &str) -> Result<(), Rejection> {
    if CONSUMER_NAME.allows(name.len() as i128) {
        return Ok(());
    }
    Err(Rejection::new(Reason::OutOfRange, "consumer", name, format!("must be {CONSUMER_NAME}")))
}

/// Refuses a part that does not belong to the group that was committed under its ID.
fn check_same(part: &GroupPart, sha256: Digest, job_count: u32) -> Result<(), Rejection> {
    let Some(commit) = &part.commit else {
        return Ok(()); // the commit will tell
    };
    if commit.job_count != i64::from(job_count) || *commit.sha256 != sha256 {
        return Err(differs(&part.group_id));
    }
    let is_whole = part.first_index == 0 && part.jobs.len() == job_count as usize;
    if is_whole && digest(&part.jobs) != sha256 {
        return Err(wrong_hash(&commit.sha256));
    }
    Ok(())
}
