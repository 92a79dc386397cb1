//! Kinds: which declarations are refused, what the defaults resolve to, and which slots kinds get.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    clippy::indexing_slicing
)]

mod support;

use offbeat_core::reciprocal::Spacing;
use offbeat_core::runs::{Due, DueSpec, KeyRanges};
use offbeat_core::{
    CalendarSpec, CalendarUnit, CycleWindow, ExclusionPolicy, ExclusionSpec, ExclusionTimes,
    KindSpec, Moment, PlacementKind, Profile, Reason, Schedule, ScheduleSpec, Span,
};
use proptest::prelude::*;
use support::kinds::{day_in, named, of_kind, seconds};
use support::{id, millis};

fn refusal(spec: &ScheduleSpec) -> (Reason, String) {
    let refused = Schedule::try_new(spec).unwrap_err();
    (refused.reason, refused.field)
}

#[test]
fn contradictory_settings_are_refused_by_field() {
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
        // Each could run on time, but neither an eighth nor a fourth of a day is enough for late
        // runs.
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

/// A default may also be given explicitly.
#[test]
fn the_default_catch_up_span_is_at_most_an_eighth_unless_run_times_need_more() {
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
    assert_eq!(span(named(6)), seconds(7_200)); // a twelfth of a day
    let timed = |time| KindSpec { run_time: Some(seconds(time)), ..KindSpec::named("x") };
    let second = |time| KindSpec { name: "y".to_owned(), ..timed(time) };
    assert_eq!(span(vec![timed(5_000), second(5_000)]), seconds(10_800));
    // Half a turn must hold a run and a millisecond, and a seventh of a day is not whole seconds.
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
    // 29 March is the first of the changes since 2020, all of which are equally bad.
    assert_eq!(kind.shortest_cycle_start.unwrap().to_string(), "2020-03-28T23:00:00Z");
    let utc = Schedule::try_new(&ScheduleSpec { cycle: day_in("UTC"), ..spec.clone() }).unwrap();
    assert_eq!(utc.kinds().unwrap().as_slice()[0].gap_time, seconds(12 * 3_600));
    assert_eq!(utc.kinds().unwrap().as_slice()[0].shortest_cycle_start, None);
    // 24 kinds are an hour apart, so two would meet. During office hours no clock changes.
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

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    /// The schedule of a kind is that of kind 0, shifted around the cycle by the slots of the
    /// kind: places, runs and keys of windows, whichever call returns them.
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
        let id = id(&schedule, bits);
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
