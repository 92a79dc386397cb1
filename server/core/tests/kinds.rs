//! Kinds: where they stand, and the law that they never meet.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss
)]

use offbeat_core::reciprocal::Spacing;
use offbeat_core::runs::{Due, DueRuns, DueSpec, KeyRanges, MissedRunPolicy};
use offbeat_core::runs::{FirstRunPolicy, NewId, NewIdSpec};
use offbeat_core::{
    CalendarSpec, CalendarUnit, CycleSpec, CycleWindow, ExclusionPolicy, ExclusionSpec,
    ExclusionTimes, Id, KindSpec, Moment, PlacementKind, Profile, Reason, Schedule, ScheduleSpec,
    Span,
};
use proptest::prelude::*;

fn seconds(seconds: i64) -> Span {
    Span::from_seconds(seconds)
}

fn millis(moment: i64) -> Moment {
    Moment::from_unix_millis(moment).unwrap()
}

fn named(count: usize) -> Vec<KindSpec> {
    (0..count).map(|kind| KindSpec::named(&format!("k{kind}"))).collect()
}

fn of_kind(schedule: &Schedule, kind: usize) -> Schedule {
    schedule.of_kind(Some(&format!("k{kind}"))).unwrap()
}

fn refusal(spec: &ScheduleSpec) -> (Reason, String) {
    let refused = Schedule::try_new(spec).unwrap_err();
    (refused.reason, refused.field)
}

fn day_in(zone: &str) -> CycleSpec {
    let time_zone = zone.to_owned();
    CycleSpec::Calendar(CalendarSpec { unit: CalendarUnit::Day, time_zone })
}

#[test]
fn what_does_not_go_together_is_refused_with_its_field() {
    let daily = ScheduleSpec { kinds: named(2), ..ScheduleSpec::every(seconds(86_400)) };
    let none = ScheduleSpec { kinds: Vec::new(), ..daily.clone() };
    let timed = |run_times: &[i64]| ScheduleSpec {
        kinds: run_times
            .iter()
            .enumerate()
            .map(|(index, time)| KindSpec {
                run_time: Some(seconds(*time)),
                ..KindSpec::named(&format!("k{index}"))
            })
            .collect(),
        ..daily.clone()
    };
    let pair = |one: &str, other: &str| vec![(one.to_owned(), other.to_owned())];
    let night = CycleWindow { start: seconds(0), end: seconds(3_600) };
    let calendar = CalendarSpec { unit: CalendarUnit::Day, time_zone: "UTC".to_owned() };
    let deferring = ExclusionSpec {
        times: ExclusionTimes::Recurring { calendar, window: night },
        policy: ExclusionPolicy::Defer,
    };
    let (contradictory, out_of_range, unfit) =
        (Reason::Contradictory, Reason::OutOfRange, Reason::KindsDoNotFit);
    let cases = [
        (
            ScheduleSpec { kind_spacing: Spacing::Stable, ..none.clone() },
            contradictory,
            "kind_spacing",
        ),
        (
            ScheduleSpec { kind_conflicts: pair("k0", "k1"), ..none.clone() },
            contradictory,
            "kind_conflicts",
        ),
        (ScheduleSpec { catch_up_span: Some(seconds(60)), ..none }, contradictory, "catch_up_span"),
        (ScheduleSpec { kinds: named(1_001), ..daily.clone() }, out_of_range, "kinds"),
        (ScheduleSpec { kinds: named(257), ..daily.clone() }, unfit, "kinds"),
        (
            ScheduleSpec { kinds: vec![KindSpec::named("a/b")], ..daily.clone() },
            out_of_range,
            "kinds[0].name",
        ),
        (
            ScheduleSpec { kinds: vec![KindSpec::named("a"); 2], ..daily.clone() },
            contradictory,
            "kinds[1].name",
        ),
        (
            ScheduleSpec { weight_quantum: Some(5), ..daily.clone() },
            contradictory,
            "weight_quantum",
        ),
        (
            ScheduleSpec { exclusions: vec![deferring], ..daily.clone() },
            contradictory,
            "exclusions[0].policy",
        ),
        (
            ScheduleSpec { kind_conflicts: pair("k0", "x"), ..daily.clone() },
            out_of_range,
            "kind_conflicts[0].second_kind",
        ),
        (
            ScheduleSpec { kind_conflicts: pair("k0", "k0"), ..daily.clone() },
            contradictory,
            "kind_conflicts",
        ),
        (
            ScheduleSpec { kind_spacing: Spacing::Stable, ..timed(&[60, 60]) },
            contradictory,
            "kind_spacing",
        ),
        (
            ScheduleSpec { kind_conflicts: pair("k0", "k1"), ..timed(&[60, 60]) },
            contradictory,
            "kind_conflicts",
        ),
        (timed(&[-1, 60]), out_of_range, "kinds[0].run_time"),
        (timed(&[43_200, 43_201]), unfit, "kinds"),
        // Each could run, but an eighth of a day, and even a fourth, is too short for late runs.
        (timed(&[40_000, 40_000]), unfit, "kinds"),
        (
            ScheduleSpec { catch_up_span: Some(seconds(21_601)), ..daily.clone() },
            out_of_range,
            "catch_up_span",
        ),
        (
            ScheduleSpec { catch_up_span: Some(seconds(0)), ..daily.clone() },
            out_of_range,
            "catch_up_span",
        ),
    ];
    for (spec, reason, field) in cases {
        assert_eq!(refusal(&spec), (reason, field.to_owned()), "{spec:?}");
    }
    let mixed =
        vec![KindSpec::named("a"), KindSpec { run_time: Some(seconds(1)), ..KindSpec::named("b") }];
    let refused = Schedule::try_new(&ScheduleSpec { kinds: mixed, ..daily.clone() }).unwrap_err();
    assert_eq!(refused.field, "kinds[1].run_time");
    let schedule = Schedule::try_new(&daily).unwrap();
    let unknown = schedule.of_kind(Some("k2")).unwrap_err();
    assert_eq!((unknown.reason, unknown.field.as_str()), (Reason::OutOfRange, "kind"));
    assert!(unknown.allowed.ends_with("k0, k1"), "{unknown}");
    assert_eq!(schedule.of_kind(None).unwrap_err().reason, Reason::FieldMissing);
    let due = Due::try_new(&schedule, &DueSpec::until(Moment::UNIX_EPOCH)).unwrap_err();
    assert_eq!((due.reason, due.field.as_str()), (Reason::FieldMissing, "kind"));
}

#[test]
fn the_canonical_text_names_kinds_only_where_they_are_declared() {
    let daily = ScheduleSpec::every(seconds(86_400));
    let text = |spec: &ScheduleSpec| Schedule::try_new(spec).unwrap().canonical_text();
    let lines = "kind_spacing=EVEN\nkind=k0\nkind=k1\ncatch_up_span=10800s\nplacement=";
    let plain = text(&daily);
    let with_kinds = text(&ScheduleSpec { kinds: named(2), ..daily.clone() });
    assert_eq!(with_kinds, plain.replace("placement=", lines));
    let conflicts = vec![("k1".to_owned(), "k0".to_owned())];
    let spec = ScheduleSpec { kinds: named(3), kind_conflicts: conflicts, ..daily.clone() };
    assert!(text(&spec).contains("kind=k2\nkind_conflict=k0 k1\ncatch_up_span=10800s\n"));
    let kind = KindSpec { run_time: Some(seconds(90)), ..KindSpec::named("import") };
    assert!(text(&ScheduleSpec { kinds: vec![kind], ..daily }).contains("\nkind=import 90s\n"));
}

/// What a default resolves to may be given.
#[test]
fn the_default_catch_up_span_is_an_eighth_or_less_or_what_run_times_need() {
    let span = |kinds: Vec<KindSpec>| {
        let spec = ScheduleSpec { kinds, ..ScheduleSpec::every(seconds(86_400)) };
        let schedule = Schedule::try_new(&spec).unwrap();
        let span = schedule.kinds().unwrap().catch_up_span();
        let said = Schedule::try_new(&ScheduleSpec { catch_up_span: Some(span), ..spec }).unwrap();
        assert_eq!(said.fingerprint(), schedule.fingerprint());
        span
    };
    assert_eq!(span(named(1)), seconds(10_800));
    assert_eq!(span(named(4)), seconds(10_800));
    assert_eq!(span(named(6)), seconds(7_200)); // a twelfth
    let timed = |time| KindSpec { run_time: Some(seconds(time)), ..KindSpec::named("x") };
    let second = |time| KindSpec { name: "y".to_owned(), ..timed(time) };
    assert_eq!(span(vec![timed(5_000), second(5_000)]), seconds(10_800));
    // Half a turn must hold a run, and a millisecond: the seventh part of a day is no whole second.
    assert_eq!(span(vec![timed(5_400), second(5_400)]), seconds(14_400));
}

#[test]
fn a_change_of_the_clocks_is_taken_off_the_gap() {
    let spec = ScheduleSpec {
        kinds: named(2),
        cycle: day_in("Europe/Berlin"),
        ..ScheduleSpec::every(seconds(1))
    };
    let berlin = Schedule::try_new(&spec).unwrap();
    let kind = berlin.kinds().unwrap().as_slice()[0].clone();
    assert_eq!(kind.gap_time, seconds(11 * 3_600));
    // The first of the changes in March from 2020 on, which is as bad as any: 29 March.
    assert_eq!(kind.shortest_cycle_start.unwrap().to_string(), "2020-03-28T23:00:00Z");
    let utc = Schedule::try_new(&ScheduleSpec { cycle: day_in("UTC"), ..spec.clone() }).unwrap();
    assert_eq!(utc.kinds().unwrap().as_slice()[0].gap_time, seconds(12 * 3_600));
    assert_eq!(utc.kinds().unwrap().as_slice()[0].shortest_cycle_start, None);
    // 24 kinds stand an hour apart: two would meet. In an office's hours no clock changes.
    let many = ScheduleSpec { kinds: named(24), slot_count: Some(24), ..spec };
    let refused = Schedule::try_new(&many).unwrap_err();
    assert_eq!((refused.reason, refused.field.as_str()), (Reason::KindsDoNotFit, "kinds[0]"));
    assert!(refused.allowed.contains("2020-03-28T23:00:00Z"), "{refused}");
    let office = vec![CycleWindow { start: seconds(8 * 3_600), end: seconds(16 * 3_600) }];
    let office = Schedule::try_new(&ScheduleSpec { active_windows: office, ..many }).unwrap();
    assert_eq!(office.kinds().unwrap().as_slice()[0].gap_time, seconds(1_200));
}

fn placements() -> impl Strategy<Value = (PlacementKind, Option<Profile>)> {
    prop_oneof![
        Just((PlacementKind::Hash, None)),
        Just((PlacementKind::Fraction, None)),
        Just((PlacementKind::Twister, Some(Profile::Python))),
    ]
}

fn id_for(schedule: &Schedule, bits: u64) -> Id<'static> {
    match schedule.placement().kind() {
        PlacementKind::Fraction =>
        {
            #[allow(clippy::cast_precision_loss)]
            Id::fraction((bits >> 11) as f64 / (1u64 << 53) as f64).unwrap()
        }
        _ => Id::Integer((bits as i64).into()),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    /// A kind's schedule is that of kind 0, later by its slots around the cycle: places, runs, keys
    /// of windows, in every way that they are asked for.
    #[test]
    fn a_kind_stands_its_slots_later(
        (placement, profile) in placements(),
        slots in 4i64..=64, slot_ticks in 1u64..300, count in 1usize..=4, bits: u64,
        from in -4_000_000_000i64..4_000_000_000, length in 1i64..100_000,
    ) {
        let period = Span::from_millis(slots as u64 * slot_ticks * 1_000);
        let spec = ScheduleSpec {
            slot_count: Some(slots), placement, profile, ..ScheduleSpec::every(period)
        };
        let labelled = Schedule::try_new(&spec).unwrap();
        let Ok(schedule) = Schedule::try_new(&ScheduleSpec { kinds: named(count), ..spec }) else {
            return Ok(()); // turns would be too short
        };
        let id = id_for(&schedule, bits);
        let own = labelled.place(&id).unwrap();
        let whole = slots as u64 * slot_ticks;
        for kind in 0..count {
            let of_kind = of_kind(&schedule, kind);
            let place = of_kind.place(&id).unwrap();
            let later = kind as u64 * slots as u64 / count as u64;
            prop_assert_eq!(u64::from(place.slot), (u64::from(own.slot) + later) % slots as u64);
            prop_assert_eq!(place.slot_offset, own.slot_offset);
            prop_assert_eq!(place.cycle_offset, (own.cycle_offset + later * slot_ticks) % whole);
            let mut all = Vec::new();
            of_kind.place_all([Ok(id)], |place| all.extend(place));
            prop_assert_eq!(&all, &[place]);
            let run = of_kind.next_run(&place, millis(from * 1_000)).unwrap().unwrap();
            prop_assert_eq!(
                (run.unix_millis / 1_000).rem_euclid(whole as i64) as u64, place.cycle_offset
            );
            if placement == PlacementKind::Twister {
                continue;
            }
            let end = from + length.min(whole as i64);
            let window = of_kind.keys_running_in(millis(from * 1_000), millis(end * 1_000)).unwrap();
            let runs_in = run.unix_millis < end * 1_000;
            let holds = match (window, own.why) {
                (KeyRanges::Hashes(ranges), offbeat_core::Why::Hash(hash)) => {
                    ranges.iter().any(|range| range.contains(&u128::from(hash)))
                }
                (KeyRanges::Fractions(ranges), offbeat_core::Why::Fraction(fraction)) => {
                    ranges.iter().any(|range| range.contains(&fraction))
                }
                other => panic!("{other:?}"),
            };
            prop_assert_eq!(holds, runs_in);
        }
    }
}

/// A world as the law meets it: kinds that are polled each in its own rhythm, through outages.
#[derive(Debug, Clone)]
struct World {
    spec: ScheduleSpec,
    policy: MissedRunPolicy,
    /// The first poll, in milliseconds since the Unix epoch.
    from: i64,
    /// For each kind the times between its polls, in thousandths of the tolerance; above 1,000 it is
    /// an outage.
    rhythms: Vec<Vec<u64>>,
    /// The IDs.
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
    // Days around changes of these clocks, in 2023 and 2024.
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
        MissedRunPolicy::Skip,
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
    /// When it starts: on time at its poll, late at its turn.
    at: i64,
    late: bool,
}

/// The starts of one kind; what became of its runs is counted against what was scheduled.
fn live(
    world: &World,
    schedule: &Schedule,
    rhythm: &[u64],
    tolerance: i64,
    bits: u64,
) -> Vec<Start> {
    let id = id_for(schedule, bits);
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

    /// The law: however late each kind is, starts of two kinds of an ID are never nearer than what
    /// is promised of them.
    #[test]
    fn kinds_never_meet(world in worlds()) {
        let Ok(schedule) = Schedule::try_new(&world.spec) else {
            return Ok(()); // kinds that would meet, or turns that are too short, are refused
        };
        let kinds = schedule.kinds().unwrap();
        let gap = kinds.as_slice().iter().map(|kind| kind.gap_time.nanos() / 1_000_000).min().unwrap() as i64;
        let slots = i64::from(schedule.slot_count());
        let gap_slots = i64::from(kinds.as_slice().iter().map(|kind| kind.gap).min().unwrap());
        let turn = (kinds.catch_up_span().nanos() / 1_000_000) as i64;
        let share = turn * gap_slots / slots;
        let kept_free = share / 2;
        let tolerance = (gap / 4).min(kept_free / 4);
        // Only where a change of the clocks cuts a turn are two late runs nearer than their share.
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
                        // They are in order: only the neighbours can be near.
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

/// The least time between late runs of two kinds of an ID, of many IDs that are asked for at
/// `hours` after an instant with all of their runs of the last 23 hours missed; and how many pairs
/// there were.
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

/// In the night of 26 March 2023 an hour is missing, and with it a third of a turn.
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

/// The change falls into an active window, and the kinds are nearest somewhere else: it cuts half
/// an hour of a turn of 75 minutes.
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

/// Samoa had no 30 December 2011.
#[test]
fn a_day_that_a_zone_skips_has_no_run() {
    let spec = ScheduleSpec { cycle: day_in("Pacific/Apia"), ..ScheduleSpec::every(seconds(1)) };
    let apia = Schedule::try_new(&spec).unwrap();
    let id = Id::text("x").unwrap();
    let place = apia.place(&id).unwrap();
    let from = Moment::try_new(1_325_156_400, 0).unwrap(); // 29 December, 11:00 UTC
    let runs = apia.runs_from(from, 3).unwrap();
    let found: Vec<_> = runs
        .next_runs(&place)
        .take(2)
        .map(|run| run.unwrap())
        .map(|run| (run.cycle_index, millis(run.unix_millis).to_string()))
        .collect();
    // The cycle of the 30th, 15338, is left out.
    assert_eq!(found[0], (15_337, "2011-12-30T00:47:48Z".to_owned()));
    assert_eq!(found[1], (15_339, "2011-12-31T00:47:48Z".to_owned()));
    let cache = apia.cycle_cache(from);
    let runs = cache.runs_of(&place);
    let (start, end) = (1_325_000_000_000, 1_325_000_000_000 + 10 * 86_400_000);
    // Eleven cycles in ten days, one of which is left out.
    assert_eq!(runs.count(start..end), Ok(10));
    assert_eq!(runs.tally([start, end]), Ok(([10, 0], 1)));
    assert_eq!(runs.between(start..end).count(), 10);
    let mut skipped = 0;
    for day in 0..10 {
        let from = start + day * 86_400_000;
        skipped += runs.tally([from, from + 86_400_000]).unwrap().1;
    }
    assert_eq!(skipped, 1);
}
