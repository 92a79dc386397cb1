//! A call that submits groups: its checks, and the addition of complete groups.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::NamedSpread;
use super::answers::{GroupStatus, SpreadState};
use super::group::{Digest, Group, Marks};
use super::group_part::{GroupPart, Receipt, check_id, content_digest, differs, wrong_hash};
use super::intake::{Call, CompleteGroup};
use super::queue::QueuedGroup;
use super::room::{BytesLeft, Room, cost};
use crate::rejection::{Reason, Rejection};

impl NamedSpread {
    /// Takes groups, whole or in parts: all of them, or none if one is refused. `elsewhere` is the
    /// room that other spreads leave to this one.
    ///
    /// # Errors
    /// When the spread takes no groups, or a group does not match its digest or its earlier parts,
    /// or does not fit.
    pub fn submit(
        &mut self,
        now: u64,
        parts: &[GroupPart],
        elsewhere: BytesLeft,
    ) -> Result<Vec<GroupStatus>, Rejection> {
        for complete in self.take_all(now, parts, elsewhere)?.keep() {
            self.add(complete, now);
        }
        Ok(self.groups(parts.iter().map(|part| &*part.group_id)))
    }

    /// Checks whether [`submit`](Self::submit) would take these groups. The groups are not taken.
    ///
    /// # Errors
    /// Those of [`submit`](Self::submit).
    pub fn check_submission(
        &mut self,
        now: u64,
        parts: &[GroupPart],
        elsewhere: BytesLeft,
    ) -> Result<(), Rejection> {
        self.take_all(now, parts, elsewhere).map(Call::undo)
    }

    /// Takes all parts. The caller keeps or undoes the call.
    fn take_all(
        &mut self,
        now: u64,
        parts: &[GroupPart],
        elsewhere: BytesLeft,
    ) -> Result<Call<'_>, Rejection> {
        self.advance(now);
        if self.state != SpreadState::Open {
            let allowed = "must be open: it takes no groups any more";
            return Err(Rejection::new(Reason::SpreadClosing, "spread_name", "closing", allowed));
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
        Ok(call)
    }

    fn add(&mut self, complete: CompleteGroup, now: u64) {
        let CompleteGroup { id, content, sha256, first_receipt, settled } = complete;
        let earlier = first_receipt.filter(|receipt| receipt.epoch != self.epoch);
        // Leases under that receipt were granted before time 0, when this life of the spread began.
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
                first_job_index: 0,
                content,
                sha256,
                since: now,
                longest_lease: time.max(self.spec.lease_millis.unsigned_abs()),
                redelivered: earlier.is_some(),
                settled: marks,
                dead_letters: Vec::new(),
                dead_letter_count: 0,
                redriven: false,
            },
        );
        if is_settled {
            self.end_group(number);
        } else {
            self.queue.add(QueuedGroup { number, job_count, settled, next: 0 }, time, now);
        }
    }
}

/// Refuses a part that does not belong to the group that was committed under its ID.
fn check_same(part: &GroupPart, sha256: Digest, job_count: u32) -> Result<(), Rejection> {
    let Some(commit) = &part.commit else {
        return Ok(()); // checked when the commit arrives
    };
    if commit.job_count != i64::from(job_count) || *commit.sha256 != sha256 {
        return Err(differs(&part.group_id));
    }
    let is_whole = part.first_job_index == 0 && part.payloads.len() == job_count as usize;
    if is_whole && content_digest(&part.payloads) != sha256 {
        return Err(wrong_hash(&commit.sha256));
    }
    Ok(())
}
