//! What named spreads promise to producers and consumers, recorded as a history proceeds.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use offbeat_core::rejection::Reason;
use offbeat_core::spread::SpreadSpec;
use offbeat_core::spread::lease::{LeaseId, SettleAction, SettleOutcome};
use offbeat_core::spread::named::{
    BytesLeft, Commit, GroupPart, GroupState, LimitChanges, NamedSpread, NamedSpreadSpec, Receipt,
    SpreadLimits, SpreadState,
};
use sha2::{Digest as _, Sha256};

pub(crate) const LEASE: u64 = 1_000;

pub(crate) fn spec(order: SpreadSpec) -> NamedSpreadSpec {
    NamedSpreadSpec { lease_millis: LEASE.cast_signed(), ..NamedSpreadSpec::new(order) }
}

pub(crate) fn sha256(jobs: &[Bytes]) -> Bytes {
    let mut hash = Sha256::new();
    for job in jobs {
        hash.update((job.len() as u64).to_be_bytes());
        hash.update(job);
    }
    hash.finalize().to_vec().into()
}

pub(crate) fn commit(jobs: &[Bytes]) -> Commit {
    Commit { job_count: jobs.len().try_into().unwrap(), sha256: sha256(jobs), ..Commit::default() }
}

pub(crate) fn whole(id: &str, jobs: &[Bytes]) -> GroupPart {
    let commit = Some(commit(jobs));
    GroupPart { group_id: id.to_owned(), payloads: jobs.to_vec(), commit, ..GroupPart::default() }
}

pub(crate) fn jobs(id: &str, count: usize) -> Vec<Bytes> {
    (0..count).map(|index| Bytes::from(format!("{id}/{index}"))).collect()
}

/// What a producer remembers of a group until the group is settled.
#[derive(Debug, Clone, Default)]
struct ProducerGroup {
    jobs: Vec<Bytes>,
    receipt: Option<Receipt>,
    known_settled: Vec<(u32, u32)>,
    settled: bool,
}

/// Ways in which producers misbehave, to show that the ledger notices.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Habit {
    Careful,
    /// Submits groups again without their first receipt.
    ForgetsReceipts,
    /// Does not report the jobs that it knows to be settled.
    ForgetsSettled,
    /// Does not submit groups again after a restart.
    ForgetsGroups,
}

/// What happens to the spread at a restart.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Store {
    /// The spread is lost.
    Memory,
    /// A store keeps the spread, but may have lost its latest changes. Now and then the spread is
    /// read from the store, as another process would do.
    Kept,
}

#[derive(Debug, Default)]
struct JobLedger {
    /// Until when a consumer may assume that it holds the job.
    held_until: Option<u64>,
    /// Whether the producer knew that the job was settled when it last submitted.
    known_settled: bool,
    /// Whether the producer ever reported the job as settled.
    was_told: bool,
    ended: u32,
}

/// Returns a number below each limit, and so chooses what happens.
pub(crate) type Chooser = Box<dyn FnMut(usize) -> usize>;

pub(crate) struct World {
    below: Chooser,
    habit: Habit,
    store: Store,
    /// An earlier state of the spread in the store.
    earlier: Vec<u8>,
    time: u64,
    start: u64,
    epoch: u64,
    spec: NamedSpreadSpec,
    machine: NamedSpread,
    owned: BTreeMap<String, ProducerGroup>,
    ledger: BTreeMap<(String, u32), JobLedger>,
    given: Vec<(String, u32, LeaseId)>,
    consumers: [Arc<str>; 2],
    named: u32,
}

pub(crate) type Checked<T = ()> = Result<T, String>;

fn ensure(holds: bool, promise: impl FnOnce() -> String) -> Checked {
    if holds { Ok(()) } else { Err(promise()) }
}

impl World {
    pub(crate) fn new(mut below: Chooser, habit: Habit, store: Store) -> Self {
        let feeders = 1 + i64::try_from(below(4)).unwrap();
        let order = match below(2) {
            0 => SpreadSpec::round_robin(feeders),
            _ => SpreadSpec {
                max_open_group_count: Some(feeders + 1),
                ..SpreadSpec::cooldown(feeders)
            },
        };
        let max_job_count = 30;
        let limits = SpreadLimits {
            max_job_count,
            max_consumer_lease_count: 5,
            max_attempt_count: 3,
            ..SpreadLimits::default()
        };
        let spec = NamedSpreadSpec { limits, ..spec(order) };
        let machine = NamedSpread::try_new(1, &spec).unwrap();
        let consumers = ["one".into(), "two".into()];
        let (owned, ledger, given) = Default::default();
        let (time, start, epoch) = (5, 5, 1);
        Self {
            below,
            habit,
            store,
            earlier: postcard::to_stdvec(&machine).unwrap(),
            time,
            start,
            epoch,
            spec,
            machine,
            owned,
            ledger,
            given,
            consumers,
            named: 0,
        }
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.below)(limit)
    }

    const fn now(&self) -> u64 {
        self.time - self.start
    }

    /// Submits a group in one part or several. The producer does not own a group that a full
    /// spread refuses.
    fn submit_new(&mut self) -> Checked {
        self.named += 1;
        let id = format!("g{}", self.named);
        let jobs = jobs(&id, 1 + self.below(7));
        let owned =
            ProducerGroup { jobs, receipt: Some(self.receipt()), ..ProducerGroup::default() };
        if self.below(3) == 0 {
            let half = owned.jobs.len() / 2;
            let (first, second) = owned.jobs.split_at(half);
            let part = |first_job_index, jobs: &[Bytes], commit| GroupPart {
                group_id: id.clone(),
                first_job_index,
                payloads: jobs.to_vec(),
                commit,
            };
            for _ in 0..=self.below(2) {
                if self.machine.submit(self.now(), &[part(0, first, None)], BytesLeft::ALL).is_err()
                {
                    return Ok(());
                }
            }
            ensure(self.machine.group(&id).state == GroupState::Partial, || "visible".to_owned())?;
            let half = i64::try_from(half).unwrap();
            let last = part(half, second, Some(commit(&owned.jobs)));
            match self.machine.submit(self.now(), &[last], BytesLeft::ALL) {
                Err(refused) if refused.reason == Reason::LimitReached => return Ok(()),
                other => ensure(other.is_ok(), || format!("{other:?}"))?,
            }
        } else {
            match self.machine.submit(self.now(), &[whole(&id, &owned.jobs)], BytesLeft::ALL) {
                Err(refused) if refused.reason == Reason::LimitReached => {
                    ensure(self.machine.group(&id).state == GroupState::Unknown, || {
                        "a refused group left a trace".to_owned()
                    })?;
                    return Ok(());
                }
                other => ensure(other.is_ok(), || format!("{other:?}"))?,
            }
        }
        for index in 0..owned.jobs.len() {
            self.ledger.insert((id.clone(), index.try_into().unwrap()), JobLedger::default());
        }
        self.owned.insert(id, owned);
        Ok(())
    }

    const fn receipt(&self) -> Receipt {
        Receipt { epoch: self.epoch, lease_millis: LEASE.cast_signed() }
    }

    /// Submits all groups again that are not known to be settled. In the same epoch this changes
    /// nothing.
    fn submit_again(&mut self) -> Checked {
        for (id, owned) in &self.owned {
            if owned.settled || self.habit == Habit::ForgetsGroups {
                continue;
            }
            let mut part = whole(id, &owned.jobs);
            if self.habit != Habit::ForgetsReceipts {
                part.commit.as_mut().unwrap().first_receipt = owned.receipt;
            }
            if self.habit != Habit::ForgetsSettled {
                let ranges = owned.known_settled.iter().map(|(a, b)| ((*a).into(), (*b).into()));
                part.commit.as_mut().unwrap().settled_ranges = ranges.collect();
            }
            let is_lost = self.machine.group(id).state == GroupState::Unknown;
            let submitted = self.machine.submit(self.now(), &[part], BytesLeft::ALL);
            ensure(submitted.is_ok(), || format!("{id} again: {submitted:?}"))?;
            if self.store == Store::Kept && !is_lost {
                continue; // a store that has the group ignores the rest of the submission
            }
            for (start, end) in &owned.known_settled {
                for index in *start..*end {
                    let known = self.ledger.get_mut(&(id.clone(), index)).unwrap();
                    (known.known_settled, known.was_told) = (true, true);
                }
            }
        }
        Ok(())
    }

    fn ask(&mut self) -> Checked {
        for (id, owned) in &mut self.owned {
            if owned.settled {
                continue;
            }
            let status = self.machine.group(id);
            match status.state {
                GroupState::Received => owned.known_settled = status.settled_ranges,
                GroupState::Settled => owned.settled = true,
                GroupState::Unknown | GroupState::Partial | GroupState::Stored => {
                    return Err(format!("{id} is {:?}", status.state));
                }
            }
        }
        Ok(())
    }

    fn pull(&mut self, count: usize) -> Checked {
        let place = self.below(2);
        let consumer = Arc::clone(&self.consumers[place]);
        let leased = self.machine.pull(self.now(), &consumer, count).map_err(|e| e.to_string())?;
        for job in leased {
            let key = (job.group_id.to_string(), job.job_index);
            let name = format!("{}/{}", key.0, key.1);
            ensure(job.payload == name, || format!("{name} came with {:?}", job.payload))?;
            let known = self.ledger.get_mut(&key).ok_or_else(|| format!("{name} is invented"))?;
            ensure(known.held_until.is_none_or(|until| until <= self.time), || {
                format!("two leases on {name}")
            })?;
            ensure(!known.known_settled, || format!("{name} was known to be settled"))?;
            if known.held_until.is_some() {
                ensure(job.redelivered, || format!("{name} is not marked as redelivered"))?;
            }
            known.held_until = Some(self.time + LEASE);
            self.given.push((key.0, key.1, job.id));
        }
        Ok(())
    }

    fn say(&mut self, place: usize, action: SettleAction) -> Checked {
        let (group, index, id) = self.given[place].clone();
        let outcome = self.machine.settle(self.now(), id, action);
        let known = self.ledger.get_mut(&(group.clone(), index)).unwrap();
        let stale = id.epoch != self.epoch;
        ensure(!stale || outcome == SettleOutcome::Stale, || format!("{group}/{index} is stale"))?;
        match outcome {
            SettleOutcome::Acked | SettleOutcome::DeadLettered => {
                known.held_until = known.held_until.map(|_| 0);
                known.ended += 1;
            }
            SettleOutcome::Returned => known.held_until = Some(0),
            SettleOutcome::Extended { .. } => known.held_until = Some(self.time + LEASE),
            SettleOutcome::Stale => {}
        }
        Ok(())
    }

    /// Writes the spread to the store and reads it back, or advances its time. Neither may be
    /// visible.
    fn keep(&mut self) {
        if self.below(3) == 0 {
            let past = self.below(1_500) as u64;
            self.machine.advance(self.now().saturating_sub(past));
        }
        if self.below(3) == 0 {
            let bytes = postcard::to_stdvec(&self.machine).unwrap();
            self.machine = postcard::from_bytes(&bytes).unwrap();
            if self.below(4) == 0 {
                self.earlier = bytes;
            }
        }
    }

    fn restart_store(&mut self) -> Checked {
        self.epoch += 1;
        self.start = self.time;
        if self.below(2) == 0 {
            self.earlier = postcard::to_stdvec(&self.machine).unwrap();
        }
        let machine: NamedSpread = postcard::from_bytes(&self.earlier).unwrap();
        self.machine = machine.restart(self.epoch).map_err(|e| e.to_string())?;
        // Jobs that the spread had forgotten come in addition to those that it has.
        let more = LimitChanges { max_job_count: Some(1_000), ..LimitChanges::default() };
        self.machine.update(&more).map_err(|e| e.to_string())?;
        self.earlier = postcard::to_stdvec(&self.machine).unwrap();
        // Settlements of a group that the store still has are not reported to it again.
        self.ledger.values_mut().for_each(|known| known.known_settled = false);
        self.submit_again()
    }

    fn restart(&mut self) -> Checked {
        if self.store == Store::Kept {
            return self.restart_store();
        }
        self.epoch += 1;
        self.start = self.time;
        self.spec.limits.max_job_count = 1_000; // jobs with a lost settlement come back
        self.machine = NamedSpread::try_new(self.epoch, &self.spec).unwrap();
        self.submit_again()
    }

    pub(crate) fn run(mut self) -> Checked {
        for _ in 0..80 {
            if self.store == Store::Kept {
                self.keep();
            }
            match self.below(12) {
                0..3 => self.submit_new()?,
                3..6 => {
                    let count = 1 + self.below(4);
                    self.pull(count)?;
                }
                6 => self.time += [1, LEASE / 3, LEASE - 1, LEASE, 3 * LEASE][self.below(5)],
                7 => self.ask()?,
                8 if self.below(4) == 0 => self.restart()?,
                8 => self.submit_again()?,
                _ if self.given.is_empty() => {}
                _ => {
                    let place = self.below(self.given.len());
                    let action = match self.below(7) {
                        0..3 => SettleAction::Ack,
                        3 => SettleAction::Nack { delay: 300 },
                        4 => SettleAction::ExtendLease,
                        5 => SettleAction::Release { delay: 0 },
                        _ => SettleAction::DeadLetter,
                    };
                    self.say(place, action)?;
                }
            }
            let counts = self.machine.counts();
            ensure(counts.leased_jobs <= 10 && counts.consumers <= 2, || format!("{counts:?}"))?;
        }
        self.finish()
    }

    /// In the end everything is settled and nothing is left.
    fn finish(&mut self) -> Checked {
        self.machine.close();
        for _ in 0..500 {
            if self.machine.state() == SpreadState::Closed {
                break;
            }
            let before = self.given.len();
            self.pull(5)?;
            for place in before..self.given.len() {
                self.say(place, SettleAction::Ack)?;
            }
            if self.given.len() == before {
                match self.machine.next_event(self.now()) {
                    Some(event) => self.time = self.start + event,
                    None => break,
                }
            }
        }
        let state = self.machine.state();
        ensure(state == SpreadState::Closed, || format!("{state:?}: {:?}", self.machine.counts()))?;
        let (letters, _) = self.machine.dead_letters(None, 1_000);
        for (id, owned) in &self.owned {
            let settled = owned.settled || self.machine.group(id).state == GroupState::Settled;
            ensure(settled, || format!("{id} was lost"))?;
        }
        for ((id, index), known) in &self.ledger {
            let in_letters =
                letters.iter().any(|letter| *letter.group_id == **id && letter.job_index == *index);
            // Jobs whose last lease expired before a restart became dead letters without a report.
            let seen = known.ended > 0 || in_letters || known.was_told;
            ensure(seen || self.owned[id].settled, || format!("{id}/{index} was lost"))?;
        }
        let numbers: Vec<u64> = letters.iter().map(|letter| letter.number).collect();
        let counts = self.machine.counts();
        let bytes: usize = letters.iter().map(|letter| letter.payload.len()).sum();
        ensure(counts.bytes == (bytes + 8 * letters.len()) as u64, || {
            format!("{bytes} bytes: {counts:?}")
        })?;
        let deleted = self.machine.delete_dead_letters(numbers.iter().copied());
        ensure(deleted == numbers.len() as u64, || "not all were deleted".to_owned())?;
        ensure(self.machine.counts().bytes == 0, || "bytes are left".to_owned())
    }
}
