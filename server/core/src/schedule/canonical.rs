//! The canonical text of a schedule, from which its fingerprint is computed.

use core::fmt::Write as _;

use super::Schedule;
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
        line("exclusion", &one.canonical_text(schedule.tick_millis()));
    }
    if let Some(kinds) = schedule.kinds() {
        line("kind_spacing", &kinds.spacing().name());
        for kind in kinds.as_slice() {
            match kind.run_time {
                Some(run_time) => line("kind", &format_args!("{} {run_time}", kind.name)),
                None => line("kind", &kind.name),
            }
        }
        for (first, second) in kinds.conflicts() {
            line("kind_conflict", &format_args!("{first} {second}"));
        }
        line("catch_up_span", &kinds.catch_up_span());
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
