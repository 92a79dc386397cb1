//! Schedules of calendar cycles, active windows and exclusions, and a search for their runs,
//! instant by instant.

use offbeat_core::runs::KeyRanges;
use offbeat_core::{
    CalendarSpec, CalendarUnit, CycleSpec, CycleWindow, ExclusionPolicy, ExclusionSpec,
    ExclusionTimes, Id, Moment, Place, PlacementKind, Schedule, ScheduleSpec, Span,
};
use proptest::prelude::*;

use super::fraction;

pub const ZONES: [&str; 9] = [
    "Europe/Berlin",
    "America/New_York",
    "Australia/Lord_Howe",
    "America/Santiago",
    "America/Sao_Paulo",
    "Pacific/Apia",
    "Africa/Casablanca",
    "America/Havana",
    "UTC",
];
pub const HOUR: i64 = 3_600;
pub const DAY: i64 = 24 * HOUR;

pub fn seconds(seconds: i64) -> Moment {
    Moment::try_new(seconds, 0).unwrap()
}

pub fn zone() -> impl Strategy<Value = String> {
    prop::sample::select(ZONES.to_vec()).prop_map(str::to_owned)
}

pub fn calendar(units: Vec<CalendarUnit>) -> impl Strategy<Value = CalendarSpec> {
    (prop::sample::select(units), zone())
        .prop_map(|(unit, time_zone)| CalendarSpec { unit, time_zone })
}

pub fn window_in(length: i64) -> impl Strategy<Value = CycleWindow> {
    (0..length, 1..length).prop_map(move |(start, ticks)| CycleWindow {
        start: Span::from_seconds(start),
        end: Span::from_seconds((start + ticks).min(length)),
    })
}

/// Instants around clock changes in these zones, and elsewhere.
pub fn instants() -> impl Strategy<Value = i64> {
    let near = |at: i64| at - 3 * DAY..at + 3 * DAY;
    prop_oneof![
        near(1_774_746_000), // Berlin, 29 March 2026
        near(1_792_890_000), // Berlin, 25 October 2026
        near(1_728_142_200), // Lord Howe, 6 October 2024
        near(1_541_300_400), // São Paulo, 4 November 2018
        near(1_325_239_200), // Samoa, 30 December 2011
        near(1_730_610_000), // Havana, 3 November 2024
        near(-86_400 * 365),
        0..2_000_000_000i64,
    ]
}

pub fn exclusion(at: i64) -> impl Strategy<Value = ExclusionSpec> {
    let policy = prop::sample::select(vec![ExclusionPolicy::Skip, ExclusionPolicy::Defer]);
    let dated = (-2 * DAY..2 * DAY, prop_oneof![1..6 * HOUR, 1..2 * DAY]).prop_map(
        move |(start, length)| ExclusionTimes::Dated {
            start: seconds(at + start),
            end: seconds(at + start + length),
        },
    );
    let daily = (calendar(vec![CalendarUnit::Day]), window_in(6 * HOUR))
        .prop_map(|(calendar, window)| ExclusionTimes::Recurring { calendar, window });
    let weekly = (calendar(vec![CalendarUnit::Week]), window_in(2 * DAY))
        .prop_map(|(calendar, window)| ExclusionTimes::Recurring { calendar, window });
    (prop_oneof![dated, daily, weekly], policy)
        .prop_map(|(times, policy)| ExclusionSpec { times, policy })
}

pub fn cycles() -> impl Strategy<Value = (CycleSpec, i64)> {
    use CalendarUnit::{Day, Month, Week};
    let by_calendar = calendar(vec![Day, Day, Week, Month]).prop_map(|calendar| {
        let length = calendar.unit.longest() as i64 * DAY;
        (CycleSpec::Calendar(calendar), length)
    });
    let period =
        (HOUR..2 * DAY).prop_map(|period| (CycleSpec::Period(Span::from_seconds(period)), period));
    prop_oneof![3 => by_calendar, 1 => period]
}

/// A schedule and an instant to look at it from.
pub fn schedules() -> impl Strategy<Value = (Schedule, i64)> {
    let placement = prop::sample::select(vec![PlacementKind::Hash, PlacementKind::Fraction]);
    (cycles(), instants(), placement)
        .prop_flat_map(|(cycle, at, placement)| {
            // Not only the last days of a month, which short months do not have.
            let windows = prop_oneof![
                Just(Vec::new()),
                window_in(cycle.1.min(28 * DAY)).prop_map(|window| vec![window]),
            ];
            let exclusions = prop::collection::vec(exclusion(at), 0..4);
            (Just(cycle.0), Just(at), Just(placement), windows, exclusions)
        })
        .prop_map(|(cycle, at, placement, active_windows, exclusions)| {
            let spec = ScheduleSpec {
                cycle,
                slot_count: Some(1),
                placement,
                active_windows,
                exclusions,
                ..ScheduleSpec::every(Span::from_seconds(1))
            };
            (Schedule::try_new(&spec).unwrap(), at)
        })
}

/// A place for a key: a hash, or the fraction with the same leading bits.
pub fn place(schedule: &Schedule, key: u64) -> Place {
    match schedule.placement().kind() {
        PlacementKind::Fraction => schedule.place(&Id::fraction(fraction(key)).unwrap()).unwrap(),
        _ => schedule.place_of_hash(key),
    }
}

pub fn selects(ranges: &KeyRanges, key: u64) -> bool {
    match ranges {
        KeyRanges::Hashes(ranges) => ranges.iter().any(|range| range.contains(&u128::from(key))),
        KeyRanges::Fractions(ranges) => ranges.iter().any(|range| range.contains(&fraction(key))),
    }
}

/// All runs of a key between two instants: cycle, regular time and time.
pub fn runs(schedule: &Schedule, key: u64, from: i64, to: i64) -> Vec<(i64, i64, i64)> {
    let place = place(schedule, key);
    schedule
        .runs_from(seconds(from), 1)
        .unwrap()
        .next_runs(&place)
        .map(Result::unwrap)
        .map(|run| (run.cycle_index, run.regular_unix_millis / 1_000, run.unix_millis / 1_000))
        .take_while(|(.., at)| *at < to)
        .collect()
}

/// Whether an exclusion covers an instant, according to jiff.
pub fn is_excluded(exclusions: &[ExclusionSpec], at: i64) -> bool {
    exclusions.iter().any(|exclusion| match &exclusion.times {
        ExclusionTimes::Dated { start, end } => *start <= seconds(at) && seconds(at) < *end,
        ExclusionTimes::Recurring { calendar, window } => {
            let zone = jiff::tz::TimeZoneDatabase::bundled().get(&calendar.time_zone).unwrap();
            let shown = zone.to_datetime(jiff::Timestamp::from_second(at).unwrap());
            let day = match calendar.unit {
                CalendarUnit::Day => 0,
                CalendarUnit::Week => i64::from(shown.weekday().to_monday_zero_offset()),
                CalendarUnit::Month => i64::from(shown.day()) - 1,
            };
            let time = i64::from(shown.hour()) * HOUR
                + i64::from(shown.minute()) * 60
                + i64::from(shown.second());
            let offset = Span::from_seconds(day * DAY + time);
            window.start <= offset && offset < window.end
        }
    })
}

/// All runs of a place between two instants, by a walk: cycle, regular time and time in
/// milliseconds.
pub fn walked(schedule: &Schedule, place: &Place, from: i64, to: i64) -> Vec<(i64, i64, i64)> {
    let runs = schedule.runs_from(seconds(from), 1).unwrap();
    runs.next_runs(place)
        .map(Result::unwrap)
        .map(|run| (run.cycle_index, run.regular_unix_millis, run.unix_millis))
        .take_while(|(.., at)| *at < to * 1_000)
        .collect()
}

pub fn is_active(schedule: &Schedule, millis: i64) -> bool {
    schedule.active_windows().is_empty()
        || schedule.slot_at(Moment::from_unix_millis(millis).unwrap()).unwrap().is_some()
}
