//! Schedules with kinds.

use offbeat_core::{CalendarSpec, CalendarUnit, CycleSpec, KindSpec, Schedule, Span};

pub fn seconds(seconds: i64) -> Span {
    Span::from_seconds(seconds)
}

pub fn named(count: usize) -> Vec<KindSpec> {
    (0..count).map(|kind| KindSpec::named(&format!("k{kind}"))).collect()
}

pub fn of_kind(schedule: &Schedule, kind: usize) -> Schedule {
    schedule.of_kind(Some(&format!("k{kind}"))).unwrap()
}

pub fn day_in(zone: &str) -> CycleSpec {
    let time_zone = zone.to_owned();
    CycleSpec::Calendar(CalendarSpec { unit: CalendarUnit::Day, time_zone })
}
