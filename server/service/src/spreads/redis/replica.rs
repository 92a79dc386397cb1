//! A spread as this process knows it: the result of the journal entries read so far.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use offbeat_core::Rejection;
use offbeat_core::spread::named::{NamedSpread, NextJob, SpreadState};
use serde::{Deserialize, Serialize};
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::calls::{Answer, CallId, Entry, Event};
use crate::spreads::views::{describe, figures};
use crate::spreads::{Description, SpreadFigures};

/// A spread, its epoch, and the start of its clock.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct LocalSpread {
    pub(super) machine: NamedSpread,
    pub(super) epoch: u64,
    /// When its clock began, in milliseconds by the clock of Redis.
    pub(super) zero: u64,
}

/// Identifies the spread of this name, and the run of Redis, that entries belong to. After a
/// restart of Redis, other entries may have replaced some that were lost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Life {
    /// The epoch in which it was opened.
    pub(super) life: String,
    /// The epoch now.
    pub(super) epoch: String,
    /// The run of the Redis that reported it.
    pub(super) run: String,
}

/// The result of a call, and the state of the spread at that time.
#[derive(Debug)]
pub(super) struct CallResult {
    pub(super) answer: Answer,
    /// When the call was made, by the clock of Redis.
    pub(super) millis: u64,
    pub(super) epoch: u64,
    pub(super) lease_millis: u64,
    /// The run of the Redis that has it; empty until that is known.
    pub(super) run: String,
}

/// The part of a journal that this process has read.
#[derive(Debug, Default)]
pub(super) struct Replica {
    /// `None` before the first entry, or if it must be read again.
    pub(super) spread: Option<LocalSpread>,
    pub(super) life: Option<Life>,
    /// The index of the first entry that it has not seen.
    pub(super) next: u64,
    /// The last time that Redis reported, in milliseconds, and when that arrived here. `None` while
    /// entries are missing: a spread must not advance beyond entries that it has yet to read.
    pub(super) seen: Option<(u64, Instant)>,
    /// Calls of this process that have no answer yet.
    pub(super) asked: BTreeMap<CallId, oneshot::Sender<CallResult>>,
}

impl Replica {
    /// Forgets the spread, so that it is read again. Calls continue to wait for their entries.
    pub(super) fn forget(&mut self) {
        (self.spread, self.life, self.next, self.seen) = (None, None, 0, None);
    }

    /// Applies the next entry. Fails if this release cannot read the journal.
    pub(super) fn take(&mut self, bytes: &[u8]) -> Result<(), String> {
        let entry = Entry::read(bytes).ok_or("an entry that this release cannot read")?;
        let Entry { millis, event } = entry;
        let refused = |rejection: offbeat_core::Rejection| rejection.to_string();
        match event {
            Event::Opened { epoch, spec } => {
                let machine = NamedSpread::try_new(epoch, &spec).map_err(refused)?;
                self.spread = Some(LocalSpread { machine, epoch, zero: millis });
            }
            Event::Restarted { epoch } => {
                let spread = self.spread.take().ok_or("a restart of no spread")?;
                let machine = spread.machine.restart(epoch).map_err(refused)?;
                self.spread = Some(LocalSpread { machine, epoch, zero: millis });
            }
            Event::Called(id, call) => {
                let spread = self.spread.as_mut().ok_or("a call of no spread")?;
                let now = millis.saturating_sub(spread.zero);
                let epoch = spread.epoch;
                let answer = call.apply(&mut spread.machine, epoch, now);
                let lease_millis = spread.lease_millis();
                if let Some(asked) = self.asked.remove(&id) {
                    // Fails if the caller has left.
                    let _ = asked.send(CallResult {
                        answer,
                        millis,
                        epoch,
                        lease_millis,
                        run: String::new(),
                    });
                }
            }
        }
        self.next += 1;
        Ok(())
    }

    /// Sets the time, in milliseconds by the clock of Redis. No entry before it may be missing.
    pub(super) fn hear(&mut self, millis: u64) {
        if self.seen.is_none_or(|(seen, _)| seen <= millis) {
            self.seen = Some((millis, Instant::now()));
        }
    }

    /// The time of the spread at the last reply of Redis, in milliseconds.
    pub(super) fn now(&self) -> Option<u64> {
        let (spread, (millis, _)) = (self.spread.as_ref()?, self.seen?);
        Some(millis.saturating_sub(spread.zero))
    }

    /// Advances the time.
    pub(super) fn advance(&mut self) {
        if let (Some(now), Some(spread)) = (self.now(), &mut self.spread) {
            spread.machine.advance(now);
        }
    }

    /// The time of the next change without a call.
    pub(super) fn next_event(&self) -> Option<Instant> {
        let (now, spread, (_, at)) = (self.now()?, self.spread.as_ref()?, self.seen?);
        let event = spread.machine.next_event(now)?;
        Some(at + Duration::from_millis(event.saturating_sub(now)))
    }
}

impl LocalSpread {
    /// How long a lease lasts, in milliseconds.
    pub(super) fn lease_millis(&self) -> u64 {
        self.machine.spec().lease_millis.unsigned_abs()
    }

    /// Whether a pull of up to `count` jobs would lease one, or report that none will come.
    pub(super) fn may_lease(
        &self,
        now: u64,
        consumer: &Arc<str>,
        count: usize,
    ) -> Result<bool, Rejection> {
        self.machine.check_consumer(consumer)?;
        let is_closed = self.machine.state() == SpreadState::Closed;
        Ok(is_closed || count > 0 && self.machine.may_lease(now, consumer))
    }

    pub(super) fn describe(&self, name: &str) -> Description {
        describe(name, self.epoch, &self.machine)
    }

    pub(super) fn next_jobs(&self, count: usize) -> Vec<NextJob> {
        self.machine.next_jobs(count)
    }

    pub(super) fn figures(&self, name: &str, now: u64) -> SpreadFigures {
        figures(name, self.epoch, &self.machine, now)
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use offbeat_core::spread::SpreadSpec;
    use offbeat_core::spread::lease::SettleAction;
    use offbeat_core::spread::named::{
        BytesLeft, Commit, GroupPart, NamedSpreadSpec, content_digest,
    };
    use sha2::{Digest as _, Sha256};

    use super::super::calls::{Call, LAYOUT, encoded};
    use super::*;

    /// Journal entries that cover every part of a spread.
    fn journal() -> Vec<Vec<u8>> {
        let group = |id: &str, commits: bool| {
            let payloads = vec![Bytes::from_static(b"one"), Bytes::from_static(b"two")];
            let sha256 = content_digest(&payloads).to_vec().into();
            let commit = Commit { job_count: 2, sha256, ..Commit::default() };
            let (group_id, commit) = (id.to_owned(), commits.then_some(commit));
            GroupPart { group_id, payloads, commit, ..GroupPart::default() }
        };
        let parts = vec![group("a", true), group("b", true), group("c", false)];
        let lease =
            |sequence| offbeat_core::spread::lease::LeaseId { epoch: 7, sequence, attempt: 1 };
        let settlements = vec![
            (lease(0), SettleAction::Ack),
            (lease(1), SettleAction::DeadLetter),
            (lease(2), SettleAction::Nack { delay: 500 }),
        ];
        let spec = NamedSpreadSpec::new(SpreadSpec::cooldown(2));
        let mut entries = vec![[b"000000000000100O00000000000000000007", &*bytes(&spec)].concat()];
        for (number, call) in [
            Call::Submit { parts, elsewhere: BytesLeft::ALL },
            Call::Pull { consumer: "consumer".into(), count: 4 },
            Call::Settle(settlements),
        ]
        .iter()
        .enumerate()
        {
            let id = CallId { process: 1, number: number as u64 };
            entries.push([b"000000000000200C", &*encoded(id, call).unwrap()].concat());
        }
        entries
    }

    fn bytes(value: &impl Serialize) -> Vec<u8> {
        postcard::to_stdvec(value).unwrap()
    }

    /// A Redis may hold data from another release. If this test fails, the format of entries or
    /// snapshots has changed: raise `LAYOUT` and update the digest.
    #[test]
    fn another_form_of_journals_and_snapshots_is_another_layout() {
        let mut replica = Replica::default();
        let mut digest = Sha256::new();
        for entry in journal() {
            replica.take(&entry).unwrap();
            digest.update(&entry);
        }
        digest.update(bytes(replica.spread.as_ref().unwrap()));
        let digest: String = digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!((LAYOUT, &digest[..16]), (1, "6eedd7a99a680ddc"));
    }

    #[test]
    fn bytes_that_are_no_entry_are_refused() {
        for entry in journal() {
            for length in 0..entry.len() {
                let mut replica = Replica::default();
                assert!(replica.take(&entry[..length]).is_err(), "{length}");
            }
        }
    }
}
