//! Laws of calendar cycles, active windows and exclusions, against a search ID by ID and instant
//! by instant.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss
)]

use std::collections::BTreeMap;

use offbeat_core::migration::Migration;
use offbeat_core::runs::KeyRanges;
use offbeat_core::runs::{Due, DueRuns, DueSpec, MissedRunPolicy};
use offbeat_core::runs::{FirstRunPolicy, NewId, NewIdSpec};
use offbeat_core::{
    CalendarSpec, CalendarUnit, CycleSpec, CycleWindow, ExclusionPolicy, ExclusionSpec,
    ExclusionTimes, Id, Moment, Place, PlacementKind, Reason, Rejection, Schedule, ScheduleSpec,
    Span,
};
use proptest::prelude::*;

const ZONES: [&str; 9] = [
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
const HOUR: i64 = 3_600;
const DAY: i64 = 24 * HOUR;

fn seconds(seconds: i64) -> Moment {
    Moment::try_new(seconds, 0).unwrap()
}

fn zone() -> impl Strategy<Value = String> {
    prop::sample::select(ZONES.to_vec()).prop_map(str::to_owned)
}

fn calendar(units: Vec<CalendarUnit>) -> impl Strategy<Value = CalendarSpec> {
    (prop::sample::select(units), zone())
        .prop_map(|(unit, time_zone)| CalendarSpec { unit, time_zone })
}

fn window_in(length: i64) -> impl Strategy<Value = CycleWindow> {
    (0..length, 1..length).prop_map(move |(start, ticks)| CycleWindow {
        start: Span::from_seconds(start),
        end: Span::from_seconds((start + ticks).min(length)),
    })
}

/// Around changes of the clocks in these zones, and elsewhere.
fn instants() -> impl Strategy<Value = i64> {
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

fn exclusion(at: i64) -> impl Strategy<Value = ExclusionSpec> {
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

fn cycles() -> impl Strategy<Value = (CycleSpec, i64)> {
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
fn schedules() -> impl Strategy<Value = (Schedule, i64)> {
    let placement = prop::sample::select(vec![PlacementKind::Hash, PlacementKind::Fraction]);
    (cycles(), instants(), placement)
        .prop_flat_map(|(cycle, at, placement)| {
            // Not only the last days of a month, which short ones do not have.
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

/// A place for a key: a hash, or the fraction with its first bits.
fn place(schedule: &Schedule, key: u64) -> Place {
    match schedule.placement().kind() {
        PlacementKind::Fraction => schedule.place(&Id::fraction(fraction(key)).unwrap()).unwrap(),
        _ => schedule.place_of_hash(key),
    }
}

fn fraction(key: u64) -> f64 {
    (key >> 11) as f64 / (1u64 << 53) as f64
}

fn selects(ranges: &KeyRanges, key: u64) -> bool {
    match ranges {
        KeyRanges::Hashes(ranges) => ranges.iter().any(|range| range.contains(&u128::from(key))),
        KeyRanges::Fractions(ranges) => ranges.iter().any(|range| range.contains(&fraction(key))),
    }
}

/// All runs of a key from an instant on, up to another: cycle, regular time and time.
fn runs(schedule: &Schedule, key: u64, from: i64, to: i64) -> Vec<(i64, i64, i64)> {
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

/// Whether an exclusion holds an instant: asked of the library, instant by instant.
fn is_excluded(exclusions: &[ExclusionSpec], at: i64) -> bool {
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

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn windows_side_by_side_select_exactly_the_runs_of_each_key(
        (schedule, at) in schedules(), key: u64, cuts in prop::collection::vec(1..8 * HOUR, 1..6),
    ) {
        let mut from = at;
        for length in cuts {
            let to = from + length;
            let Ok(ranges) = schedule.keys_running_in(seconds(from), seconds(to)) else {
                from = to;
                continue;
            };
            // Any key, and those at the edges of the ranges.
            let edges: Vec<u64> = match &ranges {
                KeyRanges::Hashes(ranges) => ranges
                    .iter()
                    .flat_map(|range| [range.start, range.start.wrapping_sub(1), range.end])
                    .filter_map(|edge| u64::try_from(edge).ok())
                    .collect(),
                KeyRanges::Fractions(ranges) => ranges
                    .iter()
                    .flat_map(|range| [range.start, range.end])
                    .filter(|edge| *edge < 1.0)
                    .map(|edge| ((edge * (1u64 << 53) as f64) as u64) << 11)
                    .collect(),
            };
            for key in edges.into_iter().take(24).chain([key]) {
                let runs = runs(&schedule, key, from, to);
                prop_assert_eq!(selects(&ranges, key), !runs.is_empty(), "{:x} {:?}", key, runs);
            }
            from = to;
        }
    }

    #[test]
    fn each_cycle_runs_once_in_order_and_never_in_an_exclusion((schedule, at) in schedules(), key: u64) {
        let exclusions = schedule.exclusions();
        let found = runs(&schedule, key, at, at + 100 * DAY);
        for pair in found.windows(2) {
            let ((cycle, _, time), (next, next_regular, next_time)) = (&pair[0], &pair[1]);
            let skips = is_skipped(&schedule, cycle + 1) && next == &(cycle + 2);
            let in_order =
                next == &(cycle + 1) || skips || (next > cycle && !exclusions.is_empty());
            prop_assert!(in_order, "{} {}", cycle, next);
            prop_assert!(time <= next_time);
            // A deferred run comes before the ID's next regular one.
            prop_assert!(time <= next_regular, "{} {}", time, next_regular);
        }
        for (cycle, regular, time) in found.into_iter().take(20) {
            prop_assert!(regular <= time);
            prop_assert!(!is_excluded(&exclusions, time), "cycle {}: {}", cycle, time);
            prop_assert_eq!(regular != time, is_excluded(&exclusions, regular));
        }
    }

    #[test]
    fn the_run_before_and_the_runs_after_an_instant_meet((schedule, at) in schedules(), key: u64) {
        let place = place(&schedule, key);
        let around = schedule.runs_from(seconds(at), 1).unwrap();
        let earlier = runs(&schedule, key, at - 40 * DAY, at);
        let last = around.last_run(&place).unwrap().map(|run| run.unix_millis / 1_000);
        if let Some((.., time)) = earlier.last() {
            prop_assert_eq!(last, Some(*time));
        }
        let next = around.next_run(&place).unwrap();
        prop_assert_eq!(around.next_run_of_each(&[place, place]), Ok(vec![next, next]));
    }

    #[test]
    fn no_id_outside_of_exclusions_moves((schedule, at) in schedules(), key: u64) {
        let cycle = match schedule.calendar() {
            Some((unit, zone)) => {
                CycleSpec::Calendar(CalendarSpec { unit, time_zone: zone.to_owned() })
            }
            None => CycleSpec::Period(schedule.period()),
        };
        let free = Schedule::try_new(&ScheduleSpec {
            cycle,
            slot_count: Some(1),
            placement: schedule.placement().kind(),
            active_windows: schedule.active_windows(),
            ..ScheduleSpec::every(Span::from_seconds(1))
        })
        .unwrap();
        let until = at + 40 * DAY;
        let exclusions = schedule.exclusions();
        let kept = runs(&schedule, key, at, until);
        for run in runs(&free, key, at, until).into_iter().take(40) {
            prop_assert_eq!(kept.contains(&run), !is_excluded(&exclusions, run.2), "{:?}", run);
        }
    }
}

/// Whether a cycle is a day that its zone left out.
fn is_skipped(schedule: &Schedule, cycle: i64) -> bool {
    // 2011-12-30, when Samoa went to the other side of the date line.
    matches!(schedule.calendar(), Some((CalendarUnit::Day, "Pacific/Apia")) if cycle == 15_338)
}

/// An ID of the key, which the schedule places as it does the key.
fn id(schedule: &Schedule, key: u64) -> Id<'static> {
    match schedule.placement().kind() {
        PlacementKind::Fraction => Id::fraction(fraction(key)).unwrap(),
        _ => Id::Integer((key as i64).into()),
    }
}

/// All runs of a place in a span, walked: cycle, regular time and time in milliseconds.
fn walked(schedule: &Schedule, place: &Place, from: i64, to: i64) -> Vec<(i64, i64, i64)> {
    let runs = schedule.runs_from(seconds(from), 1).unwrap();
    runs.next_runs(place)
        .map(Result::unwrap)
        .map(|run| (run.cycle_index, run.regular_unix_millis, run.unix_millis))
        .take_while(|(.., at)| *at < to * 1_000)
        .collect()
}

fn is_active(schedule: &Schedule, millis: i64) -> bool {
    schedule.active_windows().is_empty()
        || schedule.slot_at(Moment::from_unix_millis(millis).unwrap()).unwrap().is_some()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn runs_are_found_and_counted_as_they_are_walked(
        (schedule, at) in schedules(), key: u64, piece in 0u32..5, span in 0..20 * DAY,
    ) {
        let place = schedule.piece(&place(&schedule, key), piece);
        let cycles = schedule.cycle_cache(seconds(at));
        let times = cycles.runs_of(&place);
        let expected = walked(&schedule, &place, at, at + span);
        let range = at * 1_000..(at + span) * 1_000;
        let found: Vec<_> = times
            .between(range.clone())
            .map(Result::unwrap)
            .map(|run| (run.cycle_index, run.regular_unix_millis, run.unix_millis))
            .collect();
        prop_assert_eq!(&found, &expected);
        prop_assert_eq!(times.count(range), Ok(expected.len() as u64));
        let runs = schedule.runs_from(seconds(at), 1).unwrap();
        prop_assert_eq!(times.next(at * 1_000), runs.next_run(&place));
        prop_assert_eq!(times.last(at * 1_000), runs.last_run(&place));
        prop_assert!(expected.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].2 <= pair[1].2));
    }

    /// Pieces stand apart in active time, by the reversed bits of their numbers.
    #[test]
    fn pieces_spread_over_the_active_time((schedule, _at) in schedules(), key: u64, bits in 0u32..5) {
        let own = place(&schedule, key);
        let active = schedule.active_ticks();
        let count = 1u64 << bits;
        let mut offsets: Vec<u64> =
            (0..count as u32).map(|piece| schedule.piece(&own, piece).slot_offset).collect(); // of one slot
        prop_assert_eq!(schedule.piece(&own, 0), own);
        offsets.sort_unstable();
        for (index, offset) in offsets.iter().enumerate() {
            let next = offsets.get(index + 1).copied().unwrap_or(offsets[0] + active);
            let share = active as f64 / count as f64;
            prop_assert!(((next - offset) as f64 - share).abs() <= 1.0 + 1e-6);
        }
    }

    /// At any rhythm of polls each run is due once, and what is late starts when it may.
    #[test]
    fn every_run_is_given_exactly_once(
        (schedule, at) in schedules(), key: u64, piece in 0u32..3,
        pauses in prop::collection::vec(prop_oneof![3 => 0..2 * HOUR, 1 => 0..3 * DAY], 1..12),
        tolerance in 0..HOUR, smear in prop_oneof![Just(0), 0..HOUR],
    ) {
        let id = id(&schedule, key);
        let place = schedule.piece(&schedule.place(&id).unwrap(), piece);
        let mut watermark = at * 1_000;
        let mut given = BTreeMap::new();
        let (mut now, mut dropped) = (at, 0);
        for pause in pauses {
            now += pause;
            let due = Due::try_new(&schedule, &DueSpec {
                missed_run_policy: MissedRunPolicy::RunAll,
                on_time_tolerance: Some(Span::from_seconds(tolerance)),
                horizon: Some(Span::from_seconds(2 * DAY)),
                smear_span: Some(Span::from_seconds(smear)),
                ..DueSpec::until(seconds(now))
            })
            .unwrap();
            let mut rows = DueRuns::default();
            due.add(&mut rows, (0, piece), &id, &place, watermark);
            let rows = match rows.complete() {
                // As with a window of a second a day, 64 of which hold no smear of an hour.
                Err(refused) if refused.reason == Reason::NoRun => {
                    let seconds = now..now + 64 * DAY; // no more than 64 cycles
                    let active = seconds.filter(|second| is_active(&schedule, second * 1_000));
                    let held = !schedule.exclusions().is_empty();
                    prop_assert!(held || active.count() < smear as usize, "{}", refused);
                    return Ok(());
                }
                rows => rows.unwrap(),
            };
            dropped += rows.dropped;
            for (row, cycle) in rows.cycle_indexes.iter().enumerate() {
                let (scheduled, start) = (rows.scheduled_unix_millis[row], rows.start_unix_millis[row]);
                prop_assert!(given.insert(*cycle, scheduled).is_none(), "twice: {}", cycle);
                prop_assert!((watermark..now * 1_000).contains(&scheduled));
                if scheduled < (now - tolerance) * 1_000 {
                    prop_assert!(start >= now * 1_000);
                    prop_assert!(!is_excluded(&schedule.exclusions(), start.div_euclid(1_000)));
                    prop_assert!(is_active(&schedule, start), "{}", start);
                    if schedule.active_windows().is_empty() && schedule.exclusions().is_empty() {
                        prop_assert!(start < (now + smear.max(1)) * 1_000);
                    }
                } else {
                    prop_assert_eq!(start, scheduled);
                }
            }
            watermark = due.next_watermark(watermark);
        }
        let all = walked(&schedule, &place, at, now);
        prop_assert_eq!(given.len() as u128 + dropped, all.len() as u128);
        for (cycle, scheduled) in given {
            prop_assert!(all.iter().any(|run| (run.0, run.2) == (cycle, scheduled)));
        }
    }

    #[test]
    fn a_new_id_has_one_first_run_and_never_two(
        (schedule, at) in schedules(), key: u64, piece in 0u32..3, smear in 1..HOUR,
    ) {
        let id = id(&schedule, key);
        let place = schedule.piece(&schedule.place(&id).unwrap(), piece);
        let come = |policy, smear_span| {
            let spec = NewIdSpec { create_time: seconds(at), policy, smear_span, max_clock_skew: None };
            NewId::try_new(&schedule, &spec, seconds(at)).unwrap()
        };
        let regular = schedule.next_run(&place, seconds(at)).unwrap();
        let first = come(FirstRunPolicy::NextCycle, None).first_run(&id, &place, piece).unwrap();
        prop_assert_eq!(first.map(|first| first.run), regular);
        let smeared = come(FirstRunPolicy::NowSmeared, Some(Span::from_seconds(smear)));
        let Some(first) = smeared.first_run(&id, &place, piece).unwrap() else {
            prop_assert_eq!(regular, None);
            return Ok(());
        };
        let regular = regular.unwrap();
        let cycle = schedule.cycle_at(seconds(at));
        if regular.cycle_index <= cycle {
            prop_assert_eq!(first.run, regular);
        } else if first.run != regular {
            prop_assert_eq!(first.run.cycle_index, cycle);
            let start = first.run.unix_millis;
            prop_assert!(start >= at * 1_000 && start < regular.unix_millis);
            prop_assert!(!is_excluded(&schedule.exclusions(), start / 1_000));
            prop_assert!(is_active(&schedule, start));
        }
    }

    /// None is lost, none runs twice within the gap, and none waits longer than what is said.
    #[test]
    fn ids_go_over_from_any_schedule_to_any(
        (old, at) in schedules(), (new, _) in schedules(), key: u64, min_gap in 0..HOUR,
    ) {
        let cutover = at;
        let gap = Some(Span::from_seconds(min_gap));
        let migration = Migration::try_new(&old, &new, seconds(cutover), gap).unwrap();
        let (from, to) = (place(&old, key), place(&new, key));
        let last = old.runs_from(seconds(cutover), 1).unwrap().last_run(&from).unwrap();
        let Ok(crossing) = migration.crossing(&from, &to) else {
            let next = new.next_run(&to, seconds(cutover + min_gap)).unwrap();
            prop_assert!(last.is_none() || next.is_none());
            return Ok(());
        };
        prop_assert_eq!(Some(crossing.last_old), last);
        let runs = new.runs_from(seconds(cutover), 1).unwrap();
        let earliest = crossing.last_old.unix_millis + min_gap * 1_000;
        let kept = runs.next_runs(&to).map(Result::unwrap).find(|run| run.unix_millis >= earliest);
        prop_assert_eq!(Some(crossing.first_new), kept);
        let left_out = runs.next_runs(&to).map(Result::unwrap).take_while(|run| run.unix_millis < earliest).count();
        prop_assert_eq!(crossing.left_out, left_out as u64);
        if let Some(longest) = migration.longest_gap() {
            prop_assert!(crossing.gap() <= longest, "{} of {}", crossing.gap(), longest);
        } else {
            prop_assert!(!(old.exclusions().is_empty() && new.exclusions().is_empty()));
        }
        prop_assert!(migration.advice().len() < 1_000);
    }
}

#[test]
fn a_daily_job_keeps_its_wall_clock_time_over_ten_years_and_skips_no_day() {
    for name in ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Santiago"] {
        let schedule = Schedule::try_new(&ScheduleSpec {
            cycle: CycleSpec::Calendar(CalendarSpec {
                unit: CalendarUnit::Day,
                time_zone: name.to_owned(),
            }),
            ..ScheduleSpec::every(Span::from_seconds(1))
        })
        .unwrap();
        let zone = jiff::tz::TimeZoneDatabase::bundled().get(name).unwrap();
        for key in (0..32u64).map(|part| part << 59) {
            let place = place(&schedule, key);
            let wanted = schedule.span(place.cycle_offset);
            let (mut from, mut days, mut shifted) = (1_577_836_800, 0, 0);
            let mut last_cycle = None;
            while from < 1_577_836_800 + 3_653 * DAY {
                let chunk = schedule.runs_from(seconds(from), 1).unwrap();
                for run in chunk.next_runs(&place).map(Result::unwrap).take(200) {
                    let at = run.unix_millis / 1_000;
                    let shown = zone.to_datetime(jiff::Timestamp::from_second(at).unwrap());
                    let time = shown
                        .duration_since(shown.date().to_datetime(jiff::civil::Time::midnight()));
                    shifted += i32::from(Span::from_seconds(time.as_secs()) != wanted);
                    assert!(last_cycle.is_none_or(|last| run.cycle_index == last + 1), "{name}");
                    last_cycle = Some(run.cycle_index);
                    days += 1;
                    from = at + 1;
                }
            }
            assert!(days >= 3_653);
            assert!(shifted <= 11, "{name}: {shifted} times on another time, once a year at most");
        }
    }
}

#[test]
fn what_a_recurring_exclusion_defers_lies_evenly_over_the_rest_of_the_day() {
    let calendar = CalendarSpec { unit: CalendarUnit::Day, time_zone: "UTC".to_owned() };
    let hours = |hours: i64| Span::from_seconds(hours * HOUR);
    let schedule = Schedule::try_new(&ScheduleSpec {
        cycle: CycleSpec::Calendar(calendar.clone()),
        exclusions: vec![ExclusionSpec {
            times: ExclusionTimes::Recurring {
                calendar,
                window: CycleWindow { start: hours(16), end: hours(24) },
            },
            policy: ExclusionPolicy::Defer,
        }],
        ..ScheduleSpec::every(Span::from_seconds(1))
    })
    .unwrap();
    // One key for each tick: in 16 hours run those of 24, so at each two seconds three.
    let mut counts = vec![0u32; 16 * 3_600];
    for tick in 0..86_400u128 {
        let key = (tick << 64).div_ceil(86_400) as u64;
        let run = schedule.next_run(&place(&schedule, key), seconds(10 * DAY)).unwrap().unwrap();
        counts[usize::try_from(run.unix_millis / 1_000 - 10 * DAY).unwrap()] += 1;
    }
    assert!(counts.chunks(2).all(|pair| pair.iter().sum::<u32>() == 3));
}

/// An hourly schedule at which nothing may start from an instant on, for so many days.
fn hourly_until(at: i64, days: i64) -> Schedule {
    let times = ExclusionTimes::Dated { start: seconds(at), end: seconds(at + days * DAY) };
    Schedule::try_new(&ScheduleSpec {
        exclusions: vec![ExclusionSpec { times, policy: ExclusionPolicy::Skip }],
        ..ScheduleSpec::every(Span::from_seconds(HOUR))
    })
    .unwrap()
}

fn due(schedule: &Schedule, watermark: i64, now: i64) -> Result<DueRuns, Rejection> {
    let spec =
        DueSpec { missed_run_policy: MissedRunPolicy::RunAll, ..DueSpec::until(seconds(now)) };
    let due = Due::try_new(schedule, &spec)?;
    let id = Id::text("acme")?;
    let mut rows = DueRuns::default();
    due.add(&mut rows, (0, 0), &id, &schedule.place(&id)?, watermark * 1_000);
    rows.complete()
}

#[test]
fn late_runs_wait_for_the_end_of_an_exclusion_but_not_for_ever() {
    let at = 20_000 * DAY;
    let rows = due(&hourly_until(at, 1), at - HOUR, at).unwrap();
    assert_eq!(rows.start_unix_millis, [(at + DAY) * 1_000]);
    let rows = due(&hourly_until(at, 3), at - HOUR, at).unwrap();
    assert_eq!((rows.start_unix_millis, rows.dropped), (vec![], 1));
}

#[test]
fn what_would_have_to_be_looked_through_for_long_is_refused() {
    let at = 20_000 * DAY;
    let schedule = hourly_until(at, 1);
    let hours = 24 * 365 * 50;
    let rows = due(&schedule, at - hours * HOUR, at - HOUR).unwrap();
    assert_eq!((rows.late, rows.dropped, rows.skipped), (1, hours as u128 - 2, 0));
    let refused = due(&schedule, at - 2_000 * 365 * DAY, at).unwrap_err();
    assert_eq!((refused.field.as_str(), refused.reason), ("ids", Reason::OutOfRange));
}

/// From two to three in the morning, on the day on which that hour does not come.
#[test]
fn a_slot_runs_where_the_runs_of_a_skipped_time_come() {
    let calendar = CalendarSpec { unit: CalendarUnit::Day, time_zone: "Europe/Berlin".to_owned() };
    let window =
        CycleWindow { start: Span::from_seconds(2 * HOUR), end: Span::from_seconds(3 * HOUR) };
    let schedule = Schedule::try_new(&ScheduleSpec {
        cycle: CycleSpec::Calendar(calendar),
        active_windows: vec![window],
        slot_count: Some(2),
        ..ScheduleSpec::every(Span::from_seconds(1))
    })
    .unwrap();
    let one_utc = 1_774_746_000; // 29 March 2026, 01:00 UTC, when clocks go from 02:00 to 03:00
    for (at, expected) in
        [(-1, None), (0, Some(0)), (1_799, Some(0)), (1_800, Some(1)), (3_600, None)]
    {
        let slot = schedule.slot_at(seconds(one_utc + at)).unwrap();
        assert_eq!(slot.map(|slot| slot.index), expected, "{at}");
    }
}
