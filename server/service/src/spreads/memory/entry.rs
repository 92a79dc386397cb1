//! One named spread in memory: its machine, its clock, and notifications for waiting calls.

use std::sync::Arc;

use offbeat_core::spread::named::NamedSpread;
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::spreads::views::{describe, figures};
use crate::spreads::{Description, SpreadFigures};

#[derive(Debug)]
pub(super) struct Entry {
    pub(super) machine: NamedSpread,
    pub(super) epoch: u64,
    /// Start of its clock.
    pub(super) start: Instant,
    /// Notified when jobs may be leased, or when the spread has ended.
    pub(super) changed: Arc<Notify>,
    /// Notified when groups are settled.
    pub(super) ended: Arc<Notify>,
}

impl Entry {
    pub(super) fn now(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    pub(super) fn describe(&self, name: &str) -> Description {
        describe(name, self.epoch, &self.machine)
    }

    pub(super) fn figures(&self, name: &str) -> SpreadFigures {
        figures(name, self.epoch, &self.machine, self.now())
    }

    pub(super) fn wake_all(&self) {
        self.changed.notify_waiters();
        self.ended.notify_waiters();
    }

    pub(super) fn lease_millis(&self) -> u64 {
        self.machine.spec().lease_millis.unsigned_abs()
    }
}
