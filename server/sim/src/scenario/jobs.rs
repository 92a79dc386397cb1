//! Jobs, their lock and their queue, as scenarios write them.

use offbeat_core::{Reason, Rejection};
use serde::Deserialize;

use super::fields::{micros, positive, span, within};
use super::hours::timing;
use super::run_time::{Load, RunTime};
use super::{Children, Dequeue, Kind, KindPlacement, Lock, Timing};
use crate::limits::{SCENARIO_CALLS, SCENARIO_USERS};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct KindEntry {
    pub(super) name: String,
    pub(super) run_time: RunTime,
    /// The default for strategies that do not set `other_kinds`.
    pub(super) placement: Option<KindPlacement>,
    cycle: Option<String>,
    active_windows: Option<Vec<String>>,
    calls: Option<i64>,
}

impl KindEntry {
    pub(super) fn is_opposite(&self) -> bool {
        self.placement.unwrap_or_default() == KindPlacement::Reciprocal
    }

    pub(super) const fn has_own_timing(&self) -> bool {
        self.cycle.is_some() || self.active_windows.is_some()
    }

    /// Checks the kind at this place; `shared` is the timing of kinds without their own.
    pub(super) fn check(
        &self,
        place: usize,
        shared: &Timing,
        duration: (u64, &str),
        load: Load<'_>,
    ) -> Result<Kind, Rejection> {
        let field = |name: &str| format!("kinds[{place}].{name}");
        let run_time = self.run_time.read(&field("run_time"), load)?;
        let own = || -> Result<Timing, Rejection> {
            let cycle = match &self.cycle {
                Some(text) => cycle(&field("cycle"), text, duration)?,
                None => shared.cycle,
            };
            let windows = self.active_windows.as_deref().unwrap_or_default();
            timing(&field("active_windows"), cycle, windows)
        };
        let calls =
            self.calls.map_or(Ok(1), |calls| within(&field("calls"), calls, SCENARIO_CALLS));
        Ok(Kind {
            name: self.name.clone(),
            run_time,
            placement: self.placement.unwrap_or_default(),
            timing: self.has_own_timing().then(own).transpose()?,
            calls: calls?,
        })
    }

    /// Refuses settings that would be ignored.
    pub(super) fn heeds(&self, place: usize, has_partners: bool) -> Result<(), Rejection> {
        let (name, allowed) = match self {
            _ if place == 0 && self.has_own_timing() => {
                let own = if self.cycle.is_some() { "cycle" } else { "active_windows" };
                (own, "must not be set for the first kind, which has those of [users]")
            }
            _ if self.has_own_timing() && self.placement.is_some() => {
                let allowed = "must not be set beside a cycle or active_windows of its own: such a \
                               kind is placed separately";
                ("placement", allowed)
            }
            _ if self.calls.is_some() && !has_partners => {
                ("calls", "must be set only beside [[partners]], which jobs call")
            }
            _ => return Ok(()),
        };
        let field = format!("kinds[{place}].{name}");
        Err(Rejection::new(Reason::Contradictory, field, "a value", allowed))
    }
}

/// A cycle in microseconds: whole milliseconds, and not longer than the duration, which is also
/// given as it is written.
pub(super) fn cycle(
    field: &str,
    text: &str,
    (duration, written): (u64, &str),
) -> Result<u64, Rejection> {
    let cycle = positive(field, text)?;
    if cycle % 1_000 != 0 {
        let allowed = "must be a whole number of milliseconds";
        return Err(Rejection::new(Reason::OutOfRange, field, text, allowed));
    }
    if cycle > duration {
        let allowed = format!("must be {written} or shorter, the duration");
        return Err(Rejection::new(Reason::Contradictory, field, text, allowed));
    }
    Ok(cycle)
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StageEntry {
    pub(super) name: String,
    pub(super) run_time: RunTime,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LockEntry {
    #[serde(default = "one_user")]
    group_size: i64,
    retry_after: String,
}

const fn one_user() -> i64 {
    1
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DequeueEntry {
    #[serde(default = "nothing")]
    base: String,
    #[serde(default = "nothing")]
    per_waiting: String,
    #[serde(default)]
    contention: bool,
    #[serde(default)]
    exclusive: bool,
    per_rival: Option<String>,
}

fn nothing() -> String {
    "0s".to_owned()
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ChildrenEntry {
    mean_count: f64,
    run_time: RunTime,
}

pub(super) fn children(entry: &ChildrenEntry, load: Load<'_>) -> Result<Children, Rejection> {
    if !(0.0..=100.0).contains(&entry.mean_count) {
        let (field, allowed) = ("children.mean_count", "must be 0 to 100 jobs");
        return Err(Rejection::new(Reason::OutOfRange, field, entry.mean_count, allowed));
    }
    let run_time = entry.run_time.read("children.run_time", load)?;
    Ok(Children { mean_count: entry.mean_count, run_time })
}

pub(super) fn dequeue(entry: &DequeueEntry) -> Result<Dequeue, Rejection> {
    if entry.per_rival.is_some() && !entry.exclusive {
        let (field, allowed) = ("dequeue.per_rival", "must be set only with exclusive = true");
        let value = entry.per_rival.as_deref().unwrap_or_default();
        return Err(Rejection::new(Reason::Contradictory, field, value, allowed));
    }
    Ok(Dequeue {
        base: micros("dequeue.base", &entry.base)?,
        nanos_per_waiting: nanos("dequeue.per_waiting", &entry.per_waiting)?,
        contention: entry.contention,
        exclusive: entry.exclusive,
        nanos_per_rival: nanos("dequeue.per_rival", entry.per_rival.as_deref().unwrap_or("0s"))?,
    })
}

/// A span in nanoseconds, at most a second.
fn nanos(field: &str, text: &str) -> Result<u64, Rejection> {
    let nanos = u64::try_from(span(field, text)?.nanos()).ok();
    nanos
        .filter(|nanos| *nanos <= 1_000_000_000)
        .ok_or_else(|| Rejection::new(Reason::OutOfRange, field, text, "must be 0 s to 1 s"))
}

pub(super) fn lock(entry: &LockEntry) -> Result<Lock, Rejection> {
    Ok(Lock {
        group_size: within("lock.group_size", entry.group_size, SCENARIO_USERS)?,
        retry_after: positive("lock.retry_after", &entry.retry_after)?,
    })
}
