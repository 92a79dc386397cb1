//! One named spread in memory: its machine, its clock, and what wakes those who wait for it.

use std::sync::Arc;

use offbeat_core::spread::named::{NamedSpread, NamedSpreadSpec, SpreadState};
use offbeat_core::{Reason, Rejection};
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::spreads::{Description, SpreadFigures};

#[derive(Debug)]
pub(super) struct Entry {
    pub(super) machine: NamedSpread,
    pub(super) epoch: u64,
    /// What its times count from.
    pub(super) start: Instant,
    /// There may be jobs to lease, or none ever again.
    pub(super) changed: Arc<Notify>,
    /// Groups have been settled.
    pub(super) ended: Arc<Notify>,
}

impl Entry {
    pub(super) fn now(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    pub(super) fn describe(&self, name: &str) -> Description {
        Description {
            name: name.to_owned(),
            epoch: self.epoch,
            spec: *self.machine.spec(),
            state: self.machine.state(),
            counts: self.machine.counts(),
            certificate: self.machine.certificate(),
        }
    }

    pub(super) fn figures(&self, name: &str) -> SpreadFigures {
        let counts = self.machine.counts();
        let age = self.machine.oldest().map(|since| self.now().saturating_sub(since));
        SpreadFigures {
            name: name.to_owned(),
            epoch: self.epoch,
            is_spent: self.machine.is_spent(),
            groups: counts.groups,
            ready_jobs: counts.ready_jobs + counts.returned_jobs,
            leased_jobs: counts.leased_jobs,
            settled_jobs: counts.settled_jobs,
            dead_letters: counts.dead_letters,
            consumers: counts.consumers,
            bytes: self.machine.memory(),
            oldest_millis: age.unwrap_or(0),
        }
    }

    pub(super) fn wake_all(&self) {
        self.changed.notify_waiters();
        self.ended.notify_waiters();
    }

    pub(super) fn lease_millis(&self) -> u64 {
        self.machine.spec().lease_millis.unsigned_abs()
    }
}

fn closing(name: &str, allowed: &str) -> Rejection {
    Rejection::new(Reason::SpreadClosing, "spread_name", name, allowed)
}

/// Refuses to open a spread that is not as it is asked for.
pub(super) fn check_same(
    name: &str,
    entry: &Entry,
    spec: &NamedSpreadSpec,
) -> Result<(), Rejection> {
    match entry.machine.state() {
        SpreadState::Open => match entry.machine.difference(spec) {
            None => Ok(()),
            Some((field, asked, open)) => {
                let allowed = format!("must be {open}: the spread is open with it");
                let field = format!("spec.{field}");
                Err(Rejection::new(Reason::SpreadDiffers, field, asked, allowed))
            }
        },
        SpreadState::Draining => Err(closing(name, "is closing: wait until all is settled")),
        SpreadState::Closed => {
            Err(closing(name, "is closed, and has dead letters: delete them, or discard it"))
        }
    }
}
