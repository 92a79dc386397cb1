//! Groups that arrive in parts, until their commit.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::group::{Content, Digest, Range};
use super::group_part::{Commit, GroupPart, Receipt, check_jobs, differs, ranges, wrong_hash};
use super::partial_group::PartialGroup;
use super::room::{Room, cost, full};
use crate::limits::{LEASE_MILLIS, PARTIAL_GROUP_MILLIS};
use crate::rejection::{Reason, Rejection};

/// A complete group.
#[derive(Debug)]
pub(super) struct CompleteGroup {
    pub(super) id: Arc<str>,
    pub(super) content: Content,
    pub(super) sha256: Digest,
    pub(super) first_receipt: Option<Receipt>,
    pub(super) settled: VecDeque<Range>,
}

/// Groups without their commit.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Intake {
    partial: BTreeMap<Arc<str>, PartialGroup>,
    /// In the order in which they began.
    by_age: BTreeMap<u64, Arc<str>>,
    next_age: u64,
    /// The earliest time at which a group may be dropped.
    next_drop: u64,
    held: Room,
    /// Groups that were dropped without a commit.
    dropped: u64,
}

/// The state of a partial group before a call, so that a refused call leaves no trace.
#[derive(Debug)]
enum PriorState {
    Absent,
    /// The call only added jobs to it.
    Shorter {
        bytes: usize,
        jobs: usize,
        hash: Box<Sha256>,
        last_part: u64,
    },
    /// The call replaced it.
    Other(Box<PartialGroup>),
}

/// The parts of one call: all are taken, or none.
#[derive(Debug)]
pub(super) struct Call<'a> {
    intake: &'a mut Intake,
    /// Room for new data.
    free: Room,
    /// Room in total.
    room: Room,
    undo: Vec<(Arc<str>, PriorState)>,
    complete: Vec<Completion>,
    /// Bytes that are free for all spreads together; a hard limit.
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

    /// Number of jobs of a partial group.
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

    /// Drops groups whose next part did not arrive in time.
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

    /// Makes time begin at 0 again.
    pub(super) fn restart(&mut self) {
        self.partial.values_mut().for_each(|partial| partial.last_part = 0);
        self.next_drop = 0;
    }

    /// Whether the group is the one that began first. It may exceed the limits, so that one group
    /// can always be completed and then make room for the others.
    fn is_oldest(&self, id: &str) -> bool {
        self.by_age.first_key_value().is_some_and(|(_, oldest)| **oldest == *id)
    }

    /// Begins a call; `free` is the room for new data, `room` the room in total.
    pub(super) fn call(&mut self, free: Room, room: Room, elsewhere: u64, now: u64) -> Call<'_> {
        let (undo, complete) = (Vec::new(), Vec::new());
        Call { intake: self, free, room, undo, complete, elsewhere, now }
    }
}

impl Call<'_> {
    /// Takes a part of a group that is not committed.
    pub(super) fn take(&mut self, part: &GroupPart) -> Result<(), Rejection> {
        let id: Arc<str> = part.group_id.as_str().into();
        check_jobs(part)?;
        self.append(&id, part)?;
        if let Some(commit) = &part.commit {
            self.commit(&id, commit)?;
        }
        Ok(())
    }

    fn append(&mut self, id: &Arc<str>, part: &GroupPart) -> Result<(), Rejection> {
        let known = self.intake.partial.get(id);
        let have = known.map_or(0, |partial| partial.ends.len());
        let misplaced = || {
            let allowed = format!("must be 0 to {have}, the number of jobs that have come");
            Rejection::new(Reason::OutOfRange, "first_job_index", part.first_job_index, allowed)
        };
        let first = usize::try_from(part.first_job_index).map_err(|_| misplaced())?;
        if first > have || (0 < first && first < have && first + part.payloads.len() > have) {
            return Err(misplaced());
        }
        // A whole group that is shorter than the parts is another group.
        let is_shorter =
            first == 0 && part.commit.is_some() && (1..have).contains(&part.payloads.len());
        let has_come = known.is_some_and(|partial| partial.has(first, &part.payloads));
        if has_come && !is_shorter {
            return Ok(());
        }
        if 0 < first && first < have {
            return Err(differs(id));
        }
        let before = match self.intake.partial.get_mut(id) {
            None => PriorState::Absent,
            Some(partial) if first == 0 => {
                let fresh = PartialGroup { age: partial.age, ..PartialGroup::default() };
                let other = core::mem::replace(partial, fresh);
                let less =
                    Room { bytes: other.cost(id).bytes - cost(id, 0, 0).bytes, ..other.cost(id) };
                self.free.add(Room { groups: 0, ..less });
                self.elsewhere = self.elsewhere.saturating_add(less.bytes);
                PriorState::Other(Box::new(other))
            }
            Some(partial) => PriorState::Shorter {
                bytes: partial.bytes.len(),
                jobs: partial.ends.len(),
                hash: Box::new(partial.hash.clone()),
                last_part: partial.last_part,
            },
        };
        let is_new = matches!(before, PriorState::Absent);
        self.undo.push((Arc::clone(id), before));
        let bytes = part.payloads.iter().map(|job| job.len() as u64).sum();
        let whole = cost(id, part.payloads.len() as u64, bytes);
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
        partial.append(&part.payloads, self.now);
        intake.next_drop = intake.next_drop.min(self.now + PARTIAL_GROUP_MILLIS.max_size() as u64);
        Ok(())
    }

    /// Refuses groups that will never fit, and groups that do not fit now; reserves room for the
    /// others.
    fn make_room(&mut self, id: &str, more: Room) -> Result<(), Rejection> {
        use crate::limits::{SPREAD_BYTES, SPREAD_GROUPS, SPREAD_JOBS};
        let held = self.intake.partial.get(id).map_or_else(Room::default, |p| p.cost(id));
        let (jobs, bytes) = (held.jobs + more.jobs, held.bytes + more.bytes);
        let never = |value: u64, most: u64, unit: &str| {
            let allowed = format!("must be 0 to {most} {unit} in one group of this spread");
            Rejection::new(Reason::OutOfRange, "jobs", format!("{value} {unit}"), allowed)
        };
        // Job ends are 32 bits.
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

    fn commit(&mut self, id: &Arc<str>, commit: &Commit) -> Result<(), Rejection> {
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
        let settled = ranges(&commit.settled_ranges, have)?;
        let first_receipt = commit.first_receipt;
        if let Some(receipt) = first_receipt
            && !LEASE_MILLIS.allows(receipt.lease_millis.into())
        {
            let (field, allowed) =
                ("commit.first_receipt.lease_duration", format!("must be {LEASE_MILLIS}"));
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
                PriorState::Absent => {
                    if let Some(partial) = self.intake.partial.remove(&id) {
                        self.intake.by_age.remove(&partial.age);
                    }
                }
                PriorState::Other(partial) => drop(self.intake.partial.insert(id, *partial)),
                PriorState::Shorter { bytes, jobs, hash, last_part } => {
                    if let Some(partial) = self.intake.partial.get_mut(&id) {
                        partial.bytes.truncate(bytes);
                        partial.ends.truncate(jobs);
                        (partial.hash, partial.last_part) = (*hash, last_part);
                    }
                }
            }
        }
    }

    /// Keeps the parts, and returns the complete groups.
    pub(super) fn keep(self) -> Vec<CompleteGroup> {
        let Self { intake, undo, complete, .. } = self;
        for (id, before) in undo {
            let had = match &before {
                PriorState::Absent => Room::default(),
                PriorState::Shorter { bytes, jobs, .. } => cost(&id, *jobs as u64, *bytes as u64),
                PriorState::Other(partial) => partial.cost(&id),
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
            // Without the spare capacity.
            let bytes = partial.bytes.into_boxed_slice().into();
            let content = Content::new(bytes, partial.ends.into_boxed_slice().into_vec());
            Some(CompleteGroup { id, content, sha256, first_receipt, settled })
        });
        complete.collect()
    }
}
