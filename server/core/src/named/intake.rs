//! Groups that come in, in parts, until their commit.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
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
    held: Room,
}

#[derive(Debug, Clone, Default)]
struct Partial {
    bytes: Vec<u8>,
    ends: Vec<u32>,
    hash: Sha256,
    last_part: u64,
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
    ids: BTreeSet<Arc<str>>,
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

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Drops groups whose next part has not come in time.
    pub(super) fn advance(&mut self, now: u64) {
        let Self { partial, held } = self;
        partial.retain(|_, group| {
            let kept = now < group.last_part + PARTIAL_GROUP_MILLIS.max_size() as u64;
            if !kept {
                held.groups -= 1;
                held.jobs -= group.ends.len() as u64;
                held.bytes -= group.bytes.len() as u64;
            }
            kept
        });
    }

    /// Begins a call; `free` is what may come to what is held, `room` all that may be.
    pub(super) fn call(&mut self, free: Room, room: Room) -> Call<'_> {
        let (undo, complete) = (Vec::new(), Vec::new());
        Call { intake: self, free, room, undo, complete, ids: BTreeSet::new() }
    }
}

/// The refusal of a group that has another content than before.
pub(super) fn differs(id: &str) -> Rejection {
    let allowed = "must have the content with which it was submitted before, or another ID";
    Rejection::new(Reason::GroupDiffers, "group_id", id, allowed)
}

/// What a limit says that is reached for now.
pub(super) fn full(field: &str, value: impl core::fmt::Display, held: Limit) -> Rejection {
    let allowed = format!("there are as many {} as may be; try again later", held.name);
    Rejection::new(Reason::LimitReached, field, value, allowed)
}

impl Call<'_> {
    /// Takes a part of a group that is not committed.
    pub(super) fn take(&mut self, part: &GroupPart, now: u64) -> Result<Arc<str>, Rejection> {
        let id: Arc<str> = part.group_id.as_str().into();
        if !self.ids.insert(Arc::clone(&id)) {
            let allowed = "must be in a call once";
            return Err(Rejection::new(Reason::Contradictory, "group_id", &id, allowed));
        }
        check_jobs(part)?;
        self.append(&id, part, now)?;
        if let Some(commit) = &part.commit {
            self.commit(&id, part, commit)?;
        }
        Ok(id)
    }

    fn append(&mut self, id: &Arc<str>, part: &GroupPart, now: u64) -> Result<(), Rejection> {
        let known = self.intake.partial.get(id);
        let have = known.map_or(0, |partial| partial.ends.len());
        let misplaced = || {
            let allowed = format!("must be 0 to {have}, the number of jobs that have come");
            Rejection::new(Reason::OutOfRange, "first_index", part.first_index, allowed)
        };
        let first = usize::try_from(part.first_index).map_err(|_| misplaced())?;
        if first > have {
            return Err(misplaced());
        }
        if first < have || (have == 0 && known.is_some()) {
            let partial = self.intake.partial.get_mut(id);
            if partial.is_some_and(|partial| partial.has(first, &part.jobs, now)) {
                return Ok(()); // it has come already
            }
            if first > 0 {
                return Err(differs(id));
            }
        }
        let before = match self.intake.partial.get_mut(id) {
            None => Before::Absent,
            Some(partial) if first == 0 => {
                let other = core::mem::take(partial);
                self.free.jobs += other.ends.len() as u64;
                self.free.bytes += other.bytes.len() as u64;
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
        let more = Room { groups: is_new.into(), jobs: part.jobs.len() as u64, bytes };
        self.make_room(id, more)?;
        let partial = self.intake.partial.entry(Arc::clone(id)).or_default();
        partial.append(&part.jobs, now);
        Ok(())
    }

    /// Refuses what will never fit, and what does not fit now.
    fn make_room(&mut self, id: &str, more: Room) -> Result<(), Rejection> {
        use crate::limits::{SPREAD_BYTES, SPREAD_GROUPS, SPREAD_JOBS};
        let partial = self.intake.partial.get(id);
        let jobs = partial.map_or(0, |partial| partial.ends.len() as u64) + more.jobs;
        let bytes = partial.map_or(0, |partial| partial.bytes.len() as u64) + more.bytes;
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
            return Err(never(bytes, most_bytes, "bytes"));
        }
        let free = &mut self.free;
        for (free, more, limit) in [
            (&mut free.groups, more.groups, SPREAD_GROUPS),
            (&mut free.jobs, more.jobs, SPREAD_JOBS),
            (&mut free.bytes, more.bytes, SPREAD_BYTES),
        ] {
            *free = free.checked_sub(more).ok_or_else(|| full("jobs", more, limit))?;
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
                Before::Absent => drop(self.intake.partial.remove(&id)),
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
            let (jobs, bytes) = match &before {
                Before::Absent => (0, 0),
                Before::Shorter { bytes, jobs, .. } => (*jobs, *bytes),
                Before::Other(partial) => (partial.ends.len(), partial.bytes.len()),
            };
            let Some(partial) = intake.partial.get(&id) else { continue };
            let held = &mut intake.held;
            held.groups += u64::from(matches!(before, Before::Absent));
            held.jobs = held.jobs + partial.ends.len() as u64 - jobs as u64;
            held.bytes = held.bytes + partial.bytes.len() as u64 - bytes as u64;
        }
        let complete = complete.into_iter().filter_map(|completion| {
            let Completion { id, sha256, first_receipt, settled } = completion;
            let Partial { bytes, ends, .. } = intake.partial.remove(&id)?;
            intake.held.groups -= 1;
            intake.held.jobs -= ends.len() as u64;
            intake.held.bytes -= bytes.len() as u64;
            let content = Content::new(bytes.into(), ends);
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

    /// Whether these jobs stand at that place already.
    fn has(&mut self, first: usize, jobs: &[Bytes], now: u64) -> bool {
        let start = first.checked_sub(1).and_then(|last| self.ends.get(last)).copied();
        let mut start = start.unwrap_or(0) as usize;
        let same = jobs.iter().enumerate().all(|(place, job)| {
            let Some(end) = self.ends.get(first + place) else { return false };
            let there = self.bytes.get(start..*end as usize);
            start = *end as usize;
            there == Some(job)
        });
        if same {
            self.last_part = now;
        }
        same
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
    let shown = sent.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
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
