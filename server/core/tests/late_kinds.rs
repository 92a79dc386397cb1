//! Late runs of several kinds: kinds never meet, in random worlds and in nights with known clock
//! changes; and which late runs are superseded.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss
)]

mod support;

use offbeat_core::runs::{Due, DueRuns, DueSpec, MissedRunPolicy};
use offbeat_core::runs::{FirstRunPolicy, NewId, NewIdSpec};
use offbeat_core::{
    CalendarSpec, CalendarUnit, CycleSpec, CycleWindow, ExclusionPolicy, ExclusionSpec,
    ExclusionTimes, Id, Moment, Schedule, ScheduleSpec, Span,
};
use proptest::prelude::*;
use support::kinds::{day_in, named, of_kind, seconds};
use support::{id, millis};

/// A random world: each kind is polled in its own rhythm, with outages.
#[derive(Debug, Clone)]
struct World {
    spec: ScheduleSpec,
    policy: MissedRunPolicy,
    /// The first poll, in milliseconds since the Unix epoch.
    from: i64,
    /// For each kind, the times between its polls, in thousandths of the tolerance. A time above
    /// 1,000 is an outage.
    rhythms: Vec<Vec<u64>>,
    /// The keys of the IDs.
    bits: Vec<u64>,
}

fn cycles() -> impl Strategy<Value = (CycleSpec, Option<i64>, Vec<CycleWindow>, i64)> {
    let period = |slots: i64, ticks: i64| {
        (CycleSpec::Period(seconds(slots * ticks)), Some(slots), Vec::new(), 1_700_000_000_000)
    };
    let slots = prop::sample::select(vec![7i64, 8, 12, 30, 32, 96, 128]);
    let ticks = prop::sample::select(vec![37i64, 60, 225, 900]);
    let windows = prop::sample::select(vec![
        vec![],
        vec![(0, 86_400)],
        vec![(3_600, 18_000)],
        vec![(0, 14_400), (43_200, 64_800)],
    ]);
    let zones = prop::sample::select(vec![
        "UTC",
        "Europe/Berlin",
        "Australia/Lord_Howe",
        "America/New_York",
    ]);
    // Days around clock changes in these zones, in 2023 and 2024.
    let around = prop::sample::select(vec![
        1_679_788_800_000i64,
        1_698_537_600_000,
        1_696_089_600_000,
        1_678_579_200_000,
        1_700_000_000_000,
    ]);
    let to_windows = |windows: Vec<(i64, i64)>| -> Vec<CycleWindow> {
        windows
            .into_iter()
            .map(|(start, end)| CycleWindow { start: seconds(start), end: seconds(end) })
            .collect()
    };
    prop_oneof![
        3 => (slots, ticks).prop_map(move |(slots, ticks)| period(slots, ticks)),
        3 => (zones, windows.clone(), around).prop_map(move |(zone, windows, around)| {
            (day_in(zone), None, to_windows(windows), around - 2 * 86_400_000)
        }),
        1 => windows.prop_map(move |windows| {
            (CycleSpec::Period(seconds(86_400)), None, to_windows(windows), 1_700_000_000_000)
        }),
    ]
}

fn worlds() -> impl Strategy<Value = World> {
    let policy = prop::sample::select(vec![
        MissedRunPolicy::RunOnce,
        MissedRunPolicy::RunOnce,
        MissedRunPolicy::RunAll,
        MissedRunPolicy::Drop,
    ]);
    let pause = prop_oneof![9 => 200u64..1_000, 1 => 1_000u64..200_000];
    let rhythms = prop::collection::vec(prop::collection::vec(pause, 250), 4);
    let shift = 0i64..86_400_000;
    let bits = prop::collection::vec(any::<u64>(), 4);
    (cycles(), policy, 2usize..=4, rhythms, shift, bits, any::<bool>()).prop_map(
        |(
            (cycle, slot_count, active_windows, from),
            policy,
            kinds,
            rhythms,
            shift,
            bits,
            excludes,
        )| {
            let calendar = CalendarSpec { unit: CalendarUnit::Day, time_zone: "UTC".to_owned() };
            let window = CycleWindow { start: seconds(7_200), end: seconds(9_000) };
            let exclusion = ExclusionSpec {
                times: ExclusionTimes::Recurring { calendar, window },
                policy: ExclusionPolicy::Skip,
            };
            let spec = ScheduleSpec {
                cycle,
                slot_count,
                active_windows,
                exclusions: if excludes { vec![exclusion] } else { Vec::new() },
                kinds: named(kinds),
                ..ScheduleSpec::every(seconds(1))
            };
            World { spec, policy, from: from + shift, rhythms, bits }
        },
    )
}

#[derive(Debug, Clone, Copy)]
struct Start {
    /// At the poll if the run is on time, at the turn of its kind if it is late.
    at: i64,
    late: bool,
}

/// The starts of one kind. Its listed, dropped and superseded runs must add up to the scheduled
/// ones.
fn live(
    world: &World,
    schedule: &Schedule,
    rhythm: &[u64],
    tolerance: i64,
    bits: u64,
) -> Vec<Start> {
    let id = id(schedule, bits);
    let place = schedule.place(&id).unwrap();
    let mut starts = Vec::new();
    let (mut watermark, mut now) = (world.from, world.from);
    let (mut listed, mut dropped, mut superseded) = (0u128, 0, 0);
    for pause in rhythm {
        now += (*pause as i64 * tolerance / 1_000).max(1);
        let spec = DueSpec {
            missed_run_policy: world.policy,
            on_time_tolerance: Some(Span::from_millis(tolerance as u64)),
            horizon: Some(seconds(10 * 86_400)),
            ..DueSpec::until(millis(now))
        };
        let due = Due::try_new(schedule, &spec).unwrap();
        let mut rows = DueRuns::default();
        due.add(&mut rows, (0, 0), &id, &place, watermark);
        let rows = rows.complete().unwrap();
        for (scheduled, start) in rows.scheduled_unix_millis.iter().zip(&rows.start_unix_millis) {
            let late = *scheduled < now - tolerance;
            assert!(late || start == scheduled);
            starts.push(Start { at: (*start).max(now), late });
        }
        listed += rows.cycle_indexes.len() as u128;
        dropped += rows.dropped;
        superseded += rows.superseded;
        watermark = due.next_watermark(watermark);
        assert_eq!(watermark, now);
    }
    let cache = schedule.cycle_cache(millis(world.from));
    let scheduled = cache.runs_of(&place).count(world.from..now).unwrap();
    assert_eq!(u128::from(scheduled), listed + dropped + superseded);
    starts.sort_unstable_by_key(|start| start.at);
    starts
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// However late each kind is, starts of two kinds of an ID are never closer than promised.
    #[test]
    fn kinds_never_meet(world in worlds()) {
        let Ok(schedule) = Schedule::try_new(&world.spec) else {
            return Ok(()); // the kinds would meet, or turns are too short
        };
        let kinds = schedule.kinds().unwrap();
        let gap = kinds.as_slice().iter().map(|kind| kind.gap_time.nanos() / 1_000_000).min().unwrap() as i64;
        let slots = i64::from(schedule.slot_count());
        let gap_slots = i64::from(kinds.as_slice().iter().map(|kind| kind.gap).min().unwrap());
        let turn = (kinds.catch_up_span().nanos() / 1_000_000) as i64;
        let share = turn * gap_slots / slots;
        let kept_free = share / 2;
        let tolerance = (gap / 4).min(kept_free / 4);
        // Two late runs are closer than their share only where a clock change shortens a turn.
        let may_be_cut = matches!(world.spec.cycle, CycleSpec::Calendar(_));
        let late_gap = if may_be_cut { kept_free } else { share - 1 };
        for bits in &world.bits {
            let lives: Vec<Vec<Start>> = (0..kinds.as_slice().len())
                .map(|kind| {
                    let (of_kind, rhythm) = (of_kind(&schedule, kind), &world.rhythms[kind]);
                    live(&world, &of_kind, rhythm, tolerance, *bits)
                })
                .collect();
            for (index, starts) in lives.iter().enumerate() {
                for others in lives.iter().skip(index + 1) {
                    for start in starts {
                        // The starts are sorted, so only neighbours can be close.
                        let next = others.partition_point(|other| other.at < start.at);
                        for other in &others[next.saturating_sub(4)..(next + 4).min(others.len())] {
                            let apart = (start.at - other.at).abs();
                            let promised = match (start.late, other.late) {
                                (false, false) => gap - tolerance,
                                (true, true) => late_gap,
                                _ => kept_free - tolerance,
                            };
                            prop_assert!(
                                apart >= promised,
                                "{start:?} {other:?}: {apart} < {promised}"
                            );
                        }
                    }
                }
            }
        }
    }
}

/// The least time between late runs of two kinds of an ID, and the number of pairs. Each of many
/// IDs is polled within `hours` after an instant, with all runs of the last 23 hours missed.
fn nearest_late_runs(schedule: &Schedule, kinds: usize, instant: i64, hours: i64) -> (i64, u32) {
    let hour = 3_600_000;
    let (mut nearest, mut pairs) = (i64::MAX, 0);
    for number in 0..3_000i64 {
        let id = Id::Integer(number.into());
        let now = instant + number % hours * hour;
        let start = |kind| {
            let of_kind = of_kind(schedule, kind);
            let spec = DueSpec {
                missed_run_policy: MissedRunPolicy::RunAll,
                ..DueSpec::until(millis(now))
            };
            let due = Due::try_new(&of_kind, &spec).unwrap();
            let mut rows = DueRuns::default();
            due.add(&mut rows, (0, 0), &id, &of_kind.place(&id).unwrap(), now - 23 * hour);
            rows.complete().unwrap().start_unix_millis.first().copied()
        };
        let starts: Vec<i64> = (0..kinds).filter_map(start).filter(|start| *start > now).collect();
        for (index, one) in starts.iter().enumerate() {
            for other in &starts[index + 1..] {
                pairs += 1;
                nearest = nearest.min((one - other).abs());
            }
        }
    }
    (nearest, pairs)
}

/// The night of 26 March 2023 lacks an hour, and so a third of a turn.
#[test]
fn late_kinds_keep_apart_in_the_night_of_a_change() {
    for kinds in 2..=4 {
        let schedule = Schedule::try_new(&ScheduleSpec {
            kinds: named(kinds),
            cycle: day_in("Europe/Berlin"),
            ..ScheduleSpec::every(seconds(1))
        })
        .unwrap();
        let left = 2 * 3_600_000 / kinds as i64 - 1;
        let eve = 1_679_781_600_000; // 25 March, 23:00
        let (nearest, pairs) = nearest_late_runs(&schedule, kinds, eve, 4);
        assert!(
            pairs > 1_000 && nearest >= left,
            "{kinds} kinds: {nearest} ms of {pairs} pairs, {left} promised"
        );
    }
}

/// The change falls into an active window, and the kinds are closest elsewhere: it cuts half an
/// hour off a turn of 75 minutes.
#[test]
fn late_kinds_keep_apart_where_a_change_shortens_no_gap() {
    let window = |start, end| CycleWindow { start: seconds(start), end: seconds(end) };
    let schedule = Schedule::try_new(&ScheduleSpec {
        kinds: named(2),
        cycle: day_in("Australia/Lord_Howe"),
        active_windows: vec![window(0, 14_400), window(43_200, 64_800)],
        ..ScheduleSpec::every(seconds(1))
    })
    .unwrap();
    let eve = 1_696_082_400_000; // 30 September 2023, 14:00 UTC; clocks change at 15:30
    let (nearest, pairs) = nearest_late_runs(&schedule, 2, eve, 3);
    let left = (75 - 30) * 60_000 / 2 - 1;
    assert!(pairs > 1_000 && nearest >= left, "{nearest} ms of {pairs} pairs, {left} promised");
}

#[test]
fn a_late_run_is_superseded_by_the_next_one_and_a_new_id_takes_its_turn() {
    let schedule = Schedule::try_new(&ScheduleSpec {
        kinds: named(2),
        ..ScheduleSpec::every(seconds(8 * 3_600))
    })
    .unwrap();
    let import = of_kind(&schedule, 0);
    let (mut late, mut superseded) = (0, 0);
    for number in 0..2_000 {
        let id = Id::Integer(i64::from(number).into());
        let place = import.place(&id).unwrap();
        let now = 1_700_000_000_000;
        let due = Due::try_new(&import, &DueSpec::until(millis(now))).unwrap();
        let mut rows = DueRuns::default();
        due.add(&mut rows, (0, 0), &id, &place, now - 28_740_000);
        let rows = rows.complete().unwrap();
        let next = import.next_run(&place, millis(now)).unwrap().unwrap().unix_millis;
        for start in &rows.start_unix_millis {
            assert!(*start < next, "{start} and then {next}");
        }
        late += rows.late;
        superseded += rows.superseded;
        assert_eq!(rows.next_due, Some(next));

        let spec = NewIdSpec {
            create_time: millis(now),
            policy: FirstRunPolicy::NowSmeared,
            smear_span: None,
            max_clock_skew: None,
        };
        let new_id = NewId::try_new(&import, &spec, millis(now)).unwrap();
        let first = new_id.first_run(&id, &place, 0).unwrap().unwrap().run.unix_millis;
        assert!((now..=next).contains(&first));
    }
    assert!(late > 1_000 && superseded > 10, "{late} late, {superseded} superseded");
    let asked = DueSpec { smear_span: Some(seconds(60)), ..DueSpec::until(Moment::UNIX_EPOCH) };
    assert_eq!(Due::try_new(&import, &asked).unwrap_err().field, "smear_span");
    let late = DueSpec {
        on_time_tolerance: Some(seconds(4 * 3_600 + 1)),
        ..DueSpec::until(Moment::UNIX_EPOCH)
    };
    assert_eq!(Due::try_new(&import, &late).unwrap_err().field, "on_time_tolerance");
}
