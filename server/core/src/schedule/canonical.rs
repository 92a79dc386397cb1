//! The canonical text of a schedule: what its fingerprint is taken of.

use core::fmt::Write as _;

use super::Schedule;
use crate::calendar::{CalendarSpec, CycleWindow, Exclusion, ExclusionSpec, ExclusionTimes};
use crate::placement::Placement;

pub(super) fn text(schedule: &Schedule) -> String {
    let mut text = "offbeat.v1.Schedule".to_owned();
    let mut line = |name: &str, value: &dyn core::fmt::Display| {
        let _ = write!(text, "\n{name}={value}"); // writing to a String cannot fail
    };
    let plan = schedule.plan();
    match schedule.calendar() {
        Some((unit, zone)) => {
            line("cycle", &unit.name());
            line("time_zone", &zone);
        }
        None => line("period", &schedule.period()),
    }
    line("resolution", &schedule.resolution());
    if let Some(anchor) = schedule.anchor_time() {
        line("anchor_time", &anchor);
    }
    line("slot_count", &schedule.slot_count());
    for window in plan.iter().flat_map(|plan| &plan.windows) {
        let (start, end) = (schedule.span(window.start), schedule.span(window.end));
        line("active_window", &format_args!("{start}..{end}"));
    }
    for one in plan.iter().flat_map(|plan| &plan.exclusions) {
        line("exclusion", &exclusion(one, schedule.tick_millis()));
    }
    line("placement", &schedule.placement().kind().name());
    if let Placement::Twister { bucket_count, profile } = schedule.placement() {
        line("bucket_count", bucket_count);
        line("profile", &profile.name());
    }
    if let Some(quantum) = schedule.weight_quantum() {
        line("weight_quantum", &quantum);
    }
    if let Placement::Hash { salt } = schedule.placement() {
        line("salt", salt);
    }
    text
}

/// `DEFER 2026-12-24T00:00:00Z..2026-12-27T00:00:00Z` or
/// `SKIP DAY Europe/Berlin 79200s..82800s`.
pub(super) fn exclusion(exclusion: &Exclusion, tick_millis: u64) -> String {
    let ExclusionSpec { times, policy } = exclusion.spec(tick_millis);
    match times {
        ExclusionTimes::Dated { start, end } => format!("{} {start}..{end}", policy.name()),
        ExclusionTimes::Recurring { calendar, window } => {
            let CalendarSpec { unit, time_zone } = calendar;
            let CycleWindow { start, end } = window;
            format!("{} {} {time_zone} {start}..{end}", policy.name(), unit.name())
        }
    }
}
