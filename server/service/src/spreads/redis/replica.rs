//! A spread as this process knows it: what the entries of its journal have led to so far.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use offbeat_core::Rejection;
use offbeat_core::spread::named::{NamedSpread, SpreadState};
use serde::{Deserialize, Serialize};
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::calls::{Answer, CallId, Entry, Event};
use crate::spreads::views::{describe, figures};
use crate::spreads::{Description, SpreadFigures};

/// A spread, and how far it has come.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Kept {
    pub(super) machine: NamedSpread,
    pub(super) epoch: u64,
    /// When its time began, in milliseconds by the clock of Redis.
    pub(super) zero: u64,
}

/// Of which Redis, and of which spread of the name, the entries are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Life {
    pub(super) run: String,
    pub(super) life: String,
}

/// The answer of a call, and when the call was made, by the clock of Redis.
pub(super) type Answered = (Answer, u64);

/// What this process has read of a journal.
#[derive(Debug, Default)]
pub(super) struct Replica {
    /// Nothing before the first entry, or where it is to be read again.
    pub(super) kept: Option<Kept>,
    pub(super) life: Option<Life>,
    /// The index of the first entry that it has not seen.
    pub(super) next: u64,
    /// The time as Redis told it last, and when that was here.
    pub(super) seen: Option<(u64, Instant)>,
    /// Calls of this process that have no answer yet.
    pub(super) asked: BTreeMap<CallId, oneshot::Sender<Answered>>,
}

impl Replica {
    /// Forgets the spread, so that it is read again. Calls keep waiting: their entries come again.
    pub(super) fn forget(&mut self) {
        (self.kept, self.life, self.next) = (None, None, 0);
    }

    /// Takes the next entry. An error is that of a journal that this release cannot read.
    pub(super) fn take(&mut self, bytes: &[u8]) -> Result<(), String> {
        let entry = Entry::read(bytes).ok_or("an entry that this release cannot read")?;
        let Entry { millis, event } = entry;
        let refused = |rejection: offbeat_core::Rejection| rejection.to_string();
        match event {
            Event::Opened { epoch, spec } => {
                let machine = NamedSpread::try_new(epoch, &spec).map_err(refused)?;
                self.kept = Some(Kept { machine, epoch, zero: millis });
            }
            Event::Restarted { epoch } => {
                let kept = self.kept.take().ok_or("a restart of no spread")?;
                let machine = kept.machine.restart(epoch).map_err(refused)?;
                self.kept = Some(Kept { machine, epoch, zero: millis });
            }
            Event::Called(id, call) => {
                let kept = self.kept.as_mut().ok_or("a call of no spread")?;
                let now = millis.saturating_sub(kept.zero);
                let answer = call.apply(&mut kept.machine, now);
                if let Some(asked) = self.asked.remove(&id) {
                    let _ = asked.send((answer, millis)); // fails if nobody waits any more
                }
            }
        }
        self.next += 1;
        Ok(())
    }

    /// Hears the time.
    pub(super) fn hear(&mut self, millis: u64) {
        if self.seen.is_none_or(|(seen, _)| seen <= millis) {
            self.seen = Some((millis, Instant::now()));
        }
    }

    /// The time of the spread when Redis was heard last.
    pub(super) fn now(&self) -> Option<u64> {
        let (kept, (millis, _)) = (self.kept.as_ref()?, self.seen?);
        Some(millis.saturating_sub(kept.zero))
    }

    /// Lets time pass up to then.
    pub(super) fn advance(&mut self) {
        if let (Some(now), Some(kept)) = (self.now(), &mut self.kept) {
            kept.machine.advance(now);
        }
    }

    /// When something happens by the passing of time alone.
    pub(super) fn next_event(&self) -> Option<Instant> {
        let (now, kept, (_, at)) = (self.now()?, self.kept.as_ref()?, self.seen?);
        let event = kept.machine.next_event(now)?;
        Some(at + Duration::from_millis(event - now))
    }
}

impl Kept {
    /// How long a lease lasts, in milliseconds.
    pub(super) fn lease_millis(&self) -> u64 {
        self.machine.spec().lease_millis.unsigned_abs()
    }

    /// Whether a pull of a consumer would lease a job, or tell that there will be none.
    pub(super) fn may_lease(&self, now: u64, consumer: &Arc<str>) -> Result<bool, Rejection> {
        self.machine.check_consumer(consumer)?;
        let is_closed = self.machine.state() == SpreadState::Closed;
        Ok(is_closed || self.machine.may_lease(now, consumer))
    }

    pub(super) fn describe(&self, name: &str) -> Description {
        describe(name, self.epoch, &self.machine)
    }

    pub(super) fn figures(&self, name: &str, now: u64) -> SpreadFigures {
        figures(name, self.epoch, &self.machine, now)
    }
}
