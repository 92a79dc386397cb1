//! Dead letters: jobs that are not tried again.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use super::room::JOB_OVERHEAD;
use crate::limits::PULLED_BYTES;
use crate::spread::lease::Cause;

/// A job that is not tried again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeadLetter {
    /// Its number within the epoch, from 0 in the order of dead-lettering.
    pub number: u64,
    /// The group, as its producer calls it.
    pub group_id: Arc<str>,
    /// Its index within the group, from 0.
    pub job_index: u32,
    /// The job, as its producer submitted it.
    pub payload: Bytes,
    /// How many times it was leased.
    pub attempts: u32,
    /// Why it was dead-lettered.
    pub cause: Cause,
}

/// The dead letters that were not deleted.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct DeadLetters {
    letters: BTreeMap<u64, LetterEntry>,
    next_number: u64,
}

#[derive(Debug, Serialize, Deserialize)]
struct LetterEntry {
    letter: DeadLetter,
    /// Whether its group is settled, so that its own room counts.
    alone: bool,
}

impl DeadLetters {
    /// Adds a dead letter of a group that is still held, and returns its number.
    pub(super) fn add(&mut self, letter: impl FnOnce(u64) -> DeadLetter) -> u64 {
        let number = self.next_number;
        self.next_number += 1;
        self.letters.insert(number, LetterEntry { letter: letter(number), alone: false });
        number
    }

    /// Copies the dead letters of a group whose content is dropped. Returns how many they are, and
    /// how many bytes they take.
    pub(super) fn keep(&mut self, numbers: &[u64]) -> (u64, u64) {
        let (mut count, mut bytes) = (0, 0);
        for number in numbers {
            if let Some(entry) = self.letters.get_mut(number) {
                entry.letter.payload = Bytes::copy_from_slice(&entry.letter.payload);
                entry.alone = true;
                count += 1;
                bytes += entry.letter.payload.len() as u64 + JOB_OVERHEAD;
            }
        }
        (count, bytes)
    }

    /// Removes a dead letter. Returns it with the jobs and bytes of room that only it took.
    pub(super) fn remove(&mut self, number: u64) -> Option<(DeadLetter, u64, u64)> {
        let LetterEntry { letter, alone } = self.letters.remove(&number)?;
        let bytes = letter.payload.len() as u64 + JOB_OVERHEAD;
        let (jobs, bytes) = if alone { (1, bytes) } else { (0, 0) };
        Some((letter, jobs, bytes))
    }

    /// The dead letter with a number.
    pub(super) fn get(&self, number: u64) -> Option<&DeadLetter> {
        self.letters.get(&number).map(|entry| &entry.letter)
    }

    pub(super) fn len(&self) -> usize {
        self.letters.len()
    }

    /// Up to `count` dead letters after a number, and no more bytes than an answer takes; and
    /// whether there are more.
    pub(super) fn page(&self, after: Option<u64>, count: usize) -> (Vec<DeadLetter>, bool) {
        let from = after.map_or(0, |number| number.saturating_add(1));
        let mut rest = self.letters.range(from..).map(|(_, entry)| &entry.letter).peekable();
        let (mut page, mut bytes) = (Vec::new(), 0);
        while page.len() < count && bytes < PULLED_BYTES.max_size() {
            let Some(letter) = rest.next() else { break };
            bytes += letter.payload.len();
            page.push(letter.clone());
        }
        (page, rest.peek().is_some())
    }
}
