//! Groups that come in, in parts, until their commit.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use bytes::Bytes;
use sha2::{Digest as _, Sha256};

use super::group::{Content, Digest, Range};
use super::spec::Room;
use crate::limits::{GROUP_ID, JOB_BYTES, LEASE_MILLIS, Limit, PARTIAL_GROUP_MILLIS};
use crate::rejection::{Reason, Rejection};

/// A group, or a part of one, as a producer sends it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GroupPart {
    /// The group, as its producer calls it: 1 to 256 bytes.
    pub group_id: String,
    /// The place of the first of the jobs in the group, from 0.
    pub first_index: i64,
    /// The jobs.
    pub jobs: Vec<Bytes>,
    /// Ends the group.
    pub commit: Option<Commit>,
    /// Where it was first received, if it was before.
    pub first_receipt: Option<Receipt>,
    /// Jobs that are not to be dealt: from the first number of each pair up to the second.
    pub settled_ranges: Vec<i64>,
}

impl GroupPart {
    /// Bytes of memory that it takes at most, if it is taken.
    #[must_use]
    pub fn memory(&self) -> u64 {
        let bytes = self.jobs.iter().map(|job| job.len() as u64).sum();
        cost(&self.group_id, self.jobs.len() as u64, bytes).bytes + super::GROUP_MEMORY
    }
}

/// What a group must be to be complete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commit {
    /// How many jobs it has: 1 or more.
    pub job_count: i64,
    /// [`Digest`], 32 bytes.
    pub sha256: Bytes,
}

/// Where a group was received, and how long its jobs were lent at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Receipt {
    /// The life of the spread.
    pub epoch: u64,
    /// In milliseconds.
    pub lease_millis: i64,
}

/// A group that has come in whole.
#[derive(Debug)]
pub(super) struct Complete {
    pub(super) id: Arc<str>,
    pub(super) content: Content,
    pub(super) sha256: Digest,
    pub(super) first_receipt: Option<Receipt>,
    pub(super) settled: VecDeque<Range>,
}

/// Groups whose commit has not come.
#[derive(Debug, Default)]
pub(super) struct Intake {
    partial: BTreeMap<Arc<str>, Partial>,
    /// In the order in which they began.
    by_age: BTreeMap<u64, Arc<str>>,
    next_age: u64,
    /// Before this time none is dropped.
    next_drop: u64,
    held: Room,
    /// Groups that were dropped without a commit.
    dropped: u64,
}

#[derive(Debug, Clone, Default)]
struct Partial {
    bytes: Vec<u8>,
    ends: Vec<u32>,
    hash: Sha256,
    last_part: u64,
    age: u64,
}

/// What holding a group takes beside its ID and its jobs, in bytes.
const GROUP_OVERHEAD: u64 = 64;
/// And each of its jobs.
pub(super) const JOB_OVERHEAD: u64 = 8;

/// What holding a group takes.
pub(super) const fn cost(id: &str, jobs: u64, bytes: u64) -> Room {
    Room { groups: 1, jobs, bytes: bytes + GROUP_OVERHEAD + id.len() as u64 + JOB_OVERHEAD * jobs }
}

/// How a partial group was before a call, so that a call that is refused leaves no trace.
#[derive(Debug)]
enum Before {
    Absent,
    /// It only grew.
    Shorter {
        bytes: usize,
        jobs: usize,
        hash: Box<Sha256>,
        last_part: u64,
    },
    /// It was begun anew.
    Other(Box<Partial>),
}

/// The parts of one call: all are taken, or none.
#[derive(Debug)]
pub(super) struct Call<'a> {
    intake: &'a mut Intake,
    /// What may come to what is held.
    free: Room,
    /// What may be held at all.
    room: Room,
    undo: Vec<(Arc<str>, Before)>,
    complete: Vec<Completion>,
    /// Bytes that may come to what all spreads hold; not to be exceeded by anybody.
    elsewhere: u64,
    now: u64,
}

#[derive(Debug)]
struct Completion {
    id: Arc<str>,
    sha256: Digest,
    first_receipt: Option<Receipt>,
    settled: VecDeque<Range>,
}

impl Intake {
    pub(super) const fn held(&self) -> Room {
        self.held
    }

    pub(super) fn len(&self) -> usize {
        self.partial.len()
    }

    /// How many jobs of a partial group have come.
    pub(super) fn job_count(&self, id: &str) -> Option<u64> {
        self.partial.get(id).map(|partial| partial.ends.len() as u64)
    }

    /// How many groups have been dropped without a commit.
    pub(super) const fn dropped(&self) -> u64 {
        self.dropped
    }

    pub(super) fn clear(&mut self) {
        let dropped = self.dropped + self.partial.len() as u64;
        *self = Self { dropped, ..Self::default() };
    }

    /// Drops groups whose next part has not come in time.
    pub(super) fn advance(&mut self, now: u64) {
        if now < self.next_drop {
            return;
        }
        let Self { partial, by_age, held, next_drop, dropped, .. } = self;
        *next_drop = u64::MAX;
        partial.retain(|id, group| {
            let drop_at = group.last_part + PARTIAL_GROUP_MILLIS.max_size() as u64;
            if now < drop_at {
                *next_drop = drop_at.min(*next_drop);
                return true;
            }
            held.take(group.cost(id));
            by_age.remove(&group.age);
            *dropped += 1;
            false
        });
    }

    /// The one that began first: it may go beyond the limits, so that one is always
    /// completed, and makes room for the others.
    fn is_oldest(&self, id: &str) -> bool {
        self.by_age.first_key_value().is_some_and(|(_, oldest)| **oldest == *id)
    }

    /// Begins a call; `free` is what may come to what is held, `room` all that may be.
    pub(super) fn call(&mut self, free: Room, room: Room, elsewhere: u64, now: u64) -> Call<'_> {
        let (undo, complete) = (Vec::new(), Vec::new());
        Call { intake: self, free, room, undo, complete, elsewhere, now }
    }
}

/// The refusal of a group that has another content than before.
pub(super) fn differs(id: &str) -> Rejection {
    let allowed = "must have the content with which it was submitted before, or another ID";
    Rejection::new(Reason::GroupDiffers, "group_id", id, allowed)
}

/// What a limit says that is reached for now.
pub(super) fn full(field: &str, value: impl core::fmt::Display, held: Limit) -> Rejection {
    let allowed = format!(
        "there is no room among the {}: try again later, when others are settled (and dead letters deleted)",
        held.name
    );
    Rejection::new(Reason::LimitReached, field, value, allowed)
}

impl Call<'_> {
    /// Takes a part of a group that is not committed.
    pub(super) fn take(&mut self, part: &GroupPart) -> Result<(), Rejection> {
        let id: Arc<str> = part.group_id.as_str().into();
        check_jobs(part)?;
        self.append(&id, part)?;
        if let Some(commit) = &part.commit {
            self.commit(&id, part, commit)?;
        }
        Ok(())
    }

    fn append(&mut self, id: &Arc<str>, part: &GroupPart) -> Result<(), Rejection> {
        let known = self.intake.partial.get(id);
        let have = known.map_or(0, |partial| partial.ends.len());
        let misplaced = || {
            let allowed = format!("must be 0 to {have}, the number of jobs that have come");
            Rejection::new(Reason::OutOfRange, "first_index", part.first_index, allowed)
        };
        let first = usize::try_from(part.first_index).map_err(|_| misplaced())?;
        if first > have || (0 < first && first < have && first + part.jobs.len() > have) {
            return Err(misplaced());
        }
        // A whole group that is shorter than what has come is another one.
        let is_shorter =
            first == 0 && part.commit.is_some() && (1..have).contains(&part.jobs.len());
        let has_come = known.is_some_and(|partial| partial.has(first, &part.jobs));
        if has_come && !is_shorter {
            return Ok(());
        }
        if 0 < first && first < have {
            return Err(differs(id));
        }
        let before = match self.intake.partial.get_mut(id) {
            None => Before::Absent,
            Some(partial) if first == 0 => {
                let fresh = Partial { age: partial.age, ..Partial::default() };
                let other = core::mem::replace(partial, fresh);
                let less =
                    Room { bytes: other.cost(id).bytes - cost(id, 0, 0).bytes, ..other.cost(id) };
                self.free.add(Room { groups: 0, ..less });
                self.elsewhere = self.elsewhere.saturating_add(less.bytes);
                Before::Other(Box::new(other))
            }
            Some(partial) => Before::Shorter {
                bytes: partial.bytes.len(),
                jobs: partial.ends.len(),
                hash: Box::new(partial.hash.clone()),
                last_part: partial.last_part,
            },
        };
        let is_new = matches!(before, Before::Absent);
        self.undo.push((Arc::clone(id), before));
        let bytes = part.jobs.iter().map(|job| job.len() as u64).sum();
        let whole = cost(id, part.jobs.len() as u64, bytes);
        let counted = if is_new { 0 } else { cost(id, 0, 0).bytes };
        let more = Room { groups: is_new.into(), bytes: whole.bytes - counted, ..whole };
        self.make_room(id, more)?;
        let intake = &mut *self.intake;
        let partial = intake.partial.entry(Arc::clone(id)).or_default();
        if is_new {
            partial.age = intake.next_age;
            intake.by_age.insert(intake.next_age, Arc::clone(id));
            intake.next_age += 1;
        }
        partial.append(&part.jobs, self.now);
        intake.next_drop = intake.next_drop.min(self.now + PARTIAL_GROUP_MILLIS.max_size() as u64);
        Ok(())
    }

    /// Refuses what will never fit, and what does not fit now.
    fn make_room(&mut self, id: &str, more: Room) -> Result<(), Rejection> {
        use crate::limits::{SPREAD_BYTES, SPREAD_GROUPS, SPREAD_JOBS};
        let held = self.intake.partial.get(id).map_or_else(Room::default, |p| p.cost(id));
        let (jobs, bytes) = (held.jobs + more.jobs, held.bytes + more.bytes);
        let never = |value: u64, most: u64, unit: &str| {
            let allowed = format!("must be 0 to {most} {unit} in one group of this spread");
            Rejection::new(Reason::OutOfRange, "jobs", format!("{value} {unit}"), allowed)
        };
        // Where a job ends is 32 bits.
        let most_bytes = self.room.bytes.min(u32::MAX.into());
        if jobs > self.room.jobs {
            return Err(never(jobs, self.room.jobs, "jobs"));
        }
        if bytes > most_bytes {
            return Err(never(bytes, most_bytes, "bytes, with what holding it takes"));
        }
        let elsewhere = self.elsewhere.checked_sub(more.bytes);
        self.elsewhere = elsewhere.ok_or_else(|| full("jobs", more.bytes, SPREAD_BYTES))?;
        let may_exceed = more.groups == 0 && self.intake.is_oldest(id);
        let free = &mut self.free;
        for (free, more, limit) in [
            (&mut free.groups, more.groups, SPREAD_GROUPS),
            (&mut free.jobs, more.jobs, SPREAD_JOBS),
            (&mut free.bytes, more.bytes, SPREAD_BYTES),
        ] {
            *free = match free.checked_sub(more) {
                Some(left) => left,
                None if may_exceed => 0,
                None => return Err(full("jobs", more, limit)),
            };
        }
        Ok(())
    }

    fn commit(
        &mut self,
        id: &Arc<str>,
        part: &GroupPart,
        commit: &Commit,
    ) -> Result<(), Rejection> {
        let Some(partial) = self.intake.partial.get(id) else { return Ok(()) };
        let have = partial.ends.len();
        if i64::try_from(have) != Ok(commit.job_count) || have == 0 {
            let allowed = match have {
                0 => "must be 1 job or more".to_owned(),
                _ => format!("must be {have}, the number of jobs that have come"),
            };
            let field = "commit.job_count";
            return Err(Rejection::new(Reason::OutOfRange, field, commit.job_count, allowed));
        }
        let sha256: Digest = partial.hash.clone().finalize().into();
        if *commit.sha256 != sha256 {
            return Err(wrong_hash(&commit.sha256));
        }
        let settled = ranges(&part.settled_ranges, have)?;
        let first_receipt = part.first_receipt;
        if let Some(receipt) = first_receipt
            && !LEASE_MILLIS.allows(receipt.lease_millis.into())
        {
            let (field, allowed) = ("first_receipt.lease", format!("must be {LEASE_MILLIS}"));
            let value = receipt.lease_millis;
            return Err(Rejection::new(Reason::OutOfRange, field, value, allowed));
        }
        let id = Arc::clone(id);
        self.complete.push(Completion { id, sha256, first_receipt, settled });
        Ok(())
    }

    /// Leaves everything as it was before the call.
    pub(super) fn undo(self) {
        for (id, before) in self.undo.into_iter().rev() {
            match before {
                Before::Absent => {
                    if let Some(partial) = self.intake.partial.remove(&id) {
                        self.intake.by_age.remove(&partial.age);
                    }
                }
                Before::Other(partial) => drop(self.intake.partial.insert(id, *partial)),
                Before::Shorter { bytes, jobs, hash, last_part } => {
                    if let Some(partial) = self.intake.partial.get_mut(&id) {
                        partial.bytes.truncate(bytes);
                        partial.ends.truncate(jobs);
                        (partial.hash, partial.last_part) = (*hash, last_part);
                    }
                }
            }
        }
    }

    /// Keeps what has come, and gives out what is complete.
    pub(super) fn keep(self) -> Vec<Complete> {
        let Self { intake, undo, complete, .. } = self;
        for (id, before) in undo {
            let had = match &before {
                Before::Absent => Room::default(),
                Before::Shorter { bytes, jobs, .. } => cost(&id, *jobs as u64, *bytes as u64),
                Before::Other(partial) => partial.cost(&id),
            };
            let Some(partial) = intake.partial.get(&id) else { continue };
            intake.held.add(partial.cost(&id));
            intake.held.take(had);
        }
        let complete = complete.into_iter().filter_map(|completion| {
            let Completion { id, sha256, first_receipt, settled } = completion;
            let partial = intake.partial.remove(&id)?;
            intake.held.take(partial.cost(&id));
            intake.by_age.remove(&partial.age);
            // Without the room that was left for growing.
            let bytes = partial.bytes.into_boxed_slice().into();
            let content = Content::new(bytes, partial.ends.into_boxed_slice().into_vec());
            Some(Complete { id, content, sha256, first_receipt, settled })
        });
        complete.collect()
    }
}

impl Partial {
    fn append(&mut self, jobs: &[Bytes], now: u64) {
        self.last_part = now;
        for job in jobs {
            self.hash.update((job.len() as u64).to_be_bytes());
            self.hash.update(job);
            self.bytes.extend_from_slice(job);
            self.ends.push(u32::try_from(self.bytes.len()).unwrap_or(u32::MAX));
        }
    }

    fn cost(&self, id: &str) -> Room {
        cost(id, self.ends.len() as u64, self.bytes.len() as u64)
    }

    /// Whether these jobs stand at that place already.
    fn has(&self, first: usize, jobs: &[Bytes]) -> bool {
        let start = first.checked_sub(1).and_then(|last| self.ends.get(last)).copied();
        let mut start = start.unwrap_or(0) as usize;
        jobs.iter().enumerate().all(|(place, job)| {
            let Some(end) = self.ends.get(first + place) else { return false };
            let there = self.bytes.get(start..*end as usize);
            start = *end as usize;
            there == Some(job)
        })
    }
}

/// The digest of a group that is whole in one part.
pub(super) fn digest(jobs: &[Bytes]) -> Digest {
    let mut hash = Sha256::new();
    for job in jobs {
        hash.update((job.len() as u64).to_be_bytes());
        hash.update(job);
    }
    hash.finalize().into()
}

pub(super) fn wrong_hash(sent: &[u8]) -> Rejection {
    let shown = sent.iter().take(33).map(|byte| format!("{byte:02x}")).collect::<String>();
    let allowed = "must be the SHA-256 over each job's length, as 8 bytes, big-endian, and its \
                   bytes: 32 bytes";
    Rejection::new(Reason::Malformed, "commit.sha256", shown, allowed)
}

/// Refuses IDs that are none.
pub(super) fn check_id(id: &str) -> Result<(), Rejection> {
    if GROUP_ID.allows(id.len() as i128) {
        return Ok(());
    }
    Err(Rejection::new(Reason::OutOfRange, "group_id", id, format!("must be {GROUP_ID}")))
}

fn check_jobs(part: &GroupPart) -> Result<(), Rejection> {
    let large = part.jobs.iter().enumerate().find(|(_, job)| job.len() > JOB_BYTES.max_size());
    if let Some((place, job)) = large {
        let (field, value) = (format!("jobs[{place}]"), format!("{} bytes", job.len()));
        let allowed = format!("must be {JOB_BYTES}");
        return Err(Rejection::new(Reason::OutOfRange, field, value, allowed));
    }
    let only_with_commit = |field: &str| {
        Err(Rejection::new(Reason::Contradictory, field, "what was sent", "needs the commit"))
    };
    match (&part.commit, part.first_receipt) {
        (None, Some(_)) => only_with_commit("first_receipt"),
        (None, _) if !part.settled_ranges.is_empty() => only_with_commit("settled_ranges"),
        _ => Ok(()),
    }
}

fn ranges(numbers: &[i64], job_count: usize) -> Result<VecDeque<Range>, Rejection> {
    let refused = || {
        let allowed = format!("must be pairs of numbers, ascending, up to {job_count}");
        Rejection::new(Reason::Malformed, "settled_ranges", format!("{numbers:?}"), allowed)
    };
    let (pairs, []) = numbers.as_chunks::<2>() else { return Err(refused()) };
    let mut ranges = VecDeque::new();
    let mut least = 0;
    for [start, end] in pairs {
        let range = u32::try_from(*start).ok().zip(u32::try_from(*end).ok());
        let valid =
            |range: &Range| least <= range.0 && range.0 < range.1 && range.1 as usize <= job_count;
        let range = range.filter(valid).ok_or_else(refused)?;
        least = range.1 + 1; // touching ones would be one
        ranges.push_back(range);
    }
    Ok(ranges)
}
