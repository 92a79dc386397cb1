//! Descriptions and refusals that all stores share.

use offbeat_core::limits::SPREAD_NAME;
use offbeat_core::spread::named::{NamedSpread, NamedSpreadSpec, SpreadState};
use offbeat_core::{Reason, Rejection};

use super::{Description, SpreadFigures};
use crate::limits::NAMED_SPREADS;

pub(super) fn describe(name: &str, epoch: u64, machine: &NamedSpread) -> Description {
    Description {
        name: name.to_owned(),
        epoch,
        spec: *machine.spec(),
        state: machine.state(),
        counts: machine.counts(),
        certificate: machine.certificate(),
    }
}

/// The figures of a spread at `now`, in milliseconds of its own clock.
pub(super) fn figures(name: &str, epoch: u64, machine: &NamedSpread, now: u64) -> SpreadFigures {
    let counts = machine.counts();
    let age = machine.oldest().map(|since| now.saturating_sub(since));
    SpreadFigures {
        name: name.to_owned(),
        epoch,
        is_spent: machine.is_spent(),
        groups: counts.groups,
        ready_jobs: counts.ready_jobs + counts.returned_jobs,
        leased_jobs: counts.leased_jobs,
        settled_jobs: counts.settled_jobs,
        dead_letters: counts.dead_letters,
        consumers: counts.consumers,
        bytes: machine.memory(),
        oldest_millis: age.unwrap_or(0),
    }
}

/// Refuses names that are too short or too long.
pub(super) fn check_name(name: &str) -> Result<(), Rejection> {
    if SPREAD_NAME.allows(name.len() as i128) {
        return Ok(());
    }
    let allowed = format!("must be {SPREAD_NAME}");
    Err(Rejection::new(Reason::OutOfRange, "spread_name", name, allowed))
}

/// The refusal to open more spreads than the limit.
pub(super) fn too_many(name: &str) -> Rejection {
    let allowed = format!("must be {NAMED_SPREADS}: discard one");
    Rejection::new(Reason::LimitReached, "spread_name", name, allowed)
}

pub(super) fn unknown(name: &str) -> Rejection {
    Rejection::new(Reason::UnknownSpread, "spread_name", name, "must be an open spread")
}

fn closing(name: &str, allowed: &str) -> Rejection {
    Rejection::new(Reason::SpreadClosing, "spread_name", name, allowed)
}

/// Refuses to open a spread that is open with another spec, or is closing.
pub(super) fn check_same(
    name: &str,
    machine: &NamedSpread,
    spec: &NamedSpreadSpec,
) -> Result<(), Rejection> {
    match machine.state() {
        SpreadState::Open => match machine.difference(spec) {
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
