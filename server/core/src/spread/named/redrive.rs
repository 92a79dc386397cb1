//! Dead letters that are put back.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use bytes::Bytes;

use super::NamedSpread;
use super::answers::SpreadState;
use super::dead_letters::DeadLetter;
use super::group::{Content, Digest, Group, Marks};
use super::queue::QueuedGroup;
use super::room::{BytesLeft, GROUP_MEMORY, Room, cost, full};
use crate::limits::{SPREAD_BYTES, SPREAD_GROUPS, SPREAD_JOBS};
use crate::rejection::{Reason, Rejection};

impl NamedSpread {
    /// Puts dead letters back, each as the only job of a group of its own, and returns how many
    /// there were. Numbers without a dead letter are skipped. `elsewhere` is the room that other
    /// spreads leave to this one.
    ///
    /// # Errors
    /// When the spread takes no groups, or there is no room. Nothing is put back then.
    pub fn redrive(
        &mut self,
        now: u64,
        numbers: &[u64],
        elsewhere: BytesLeft,
    ) -> Result<u64, Rejection> {
        self.advance(now);
        if self.state != SpreadState::Open {
            let allowed = "must be open: it takes no groups any more";
            return Err(Rejection::new(Reason::SpreadClosing, "spread_name", "closing", allowed));
        }
        let numbers: BTreeSet<u64> =
            numbers.iter().copied().filter(|n| self.dead_letters.get(*n).is_some()).collect();
        self.check_room(&numbers, elsewhere)?;
        let count = numbers.len() as u64;
        for number in numbers {
            self.put_back(number, now);
        }
        Ok(count)
    }

    /// Bytes of memory that putting dead letters back takes.
    #[must_use]
    pub fn redriven_memory(&self, numbers: &[u64]) -> u64 {
        let letters = numbers.iter().filter_map(|number| self.dead_letters.get(*number));
        let bytes = |letter: &DeadLetter| {
            cost(&letter.group_id, 1, letter.payload.len() as u64).bytes + GROUP_MEMORY
        };
        letters.map(bytes).sum()
    }

    /// Refuses more than fits, without counting the room that the dead letters leave.
    fn check_room(&self, numbers: &BTreeSet<u64>, elsewhere: BytesLeft) -> Result<(), Rejection> {
        let mut more = Room::default();
        for letter in numbers.iter().filter_map(|number| self.dead_letters.get(*number)) {
            more.add(cost(&letter.group_id, 1, letter.payload.len() as u64));
        }
        let (taken, partial) = (self.held, self.intake.held());
        let over = |held: u64, more: u64, most: u64| held.saturating_add(more) > most;
        for (held, more, most, limit) in [
            (taken.groups + partial.groups, more.groups, self.room.groups, SPREAD_GROUPS),
            (taken.jobs + partial.jobs, more.jobs, self.room.jobs, SPREAD_JOBS),
            (taken.bytes + partial.bytes, more.bytes, self.room.bytes, SPREAD_BYTES),
            (0, more.bytes, elsewhere.now, SPREAD_BYTES),
        ] {
            if over(held, more, most) {
                return Err(full("numbers", more, limit));
            }
        }
        Ok(())
    }

    fn put_back(&mut self, dead_letter: u64, now: u64) {
        let Some((letter, jobs, bytes)) = self.dead_letters.remove(dead_letter) else { return };
        self.held.take(Room { groups: 0, jobs, bytes });
        self.held.add(cost(&letter.group_id, 1, letter.payload.len() as u64));
        let number = self.next_number;
        self.next_number += 1;
        // A copy, so that the group that it came from can be freed. A job is far below 4 GiB.
        let end = u32::try_from(letter.payload.len()).unwrap_or(u32::MAX);
        let content = Content::new(Bytes::copy_from_slice(&letter.payload), vec![end]);
        self.groups.insert(
            number,
            Group {
                id: Arc::clone(&letter.group_id),
                first_job_index: letter.job_index,
                content,
                sha256: Digest::default(),
                since: now,
                longest_lease: self.spec.lease_millis.unsigned_abs(),
                redelivered: true,
                settled: Marks::new(1),
                dead_letters: Vec::new(),
                dead_letter_count: 0,
                redriven: true,
            },
        );
        self.queue.add(
            QueuedGroup { number, job_count: 1, settled: VecDeque::new(), next: 0 },
            now,
            now,
        );
    }
}
