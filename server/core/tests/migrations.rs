//! Migrations: every ID is checked against its runs, counted one by one; bounds are checked
//! against many IDs.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss
)]

use offbeat_core::migration::{Migration, Path};
use offbeat_core::{CycleSpec, Id, Moment, Place, PlacementKind, Schedule, ScheduleSpec, Span};
use proptest::prelude::*;

fn millis(moment: i64) -> Moment {
    Moment::from_unix_millis(moment).unwrap()
}

fn specs() -> impl Strategy<Value = ScheduleSpec> {
    let placement = prop::sample::select(vec![
        (PlacementKind::Hash, ""),
        (PlacementKind::Hash, ""),
        (PlacementKind::Hash, "other"),
        (PlacementKind::Fraction, ""),
        (PlacementKind::Twister, ""),
    ]);
    let tick = prop::sample::select(vec![1u64, 500, 1_000]);
    (1u64..=60, 1u64..2_000, tick, -100_000i64..100_000, placement).prop_map(
        |(slots, slot_ticks, tick, anchor, (placement, salt))| ScheduleSpec {
            resolution: Some(Span::from_millis(tick)),
            anchor_time: Some(Moment::try_new(anchor, 0).unwrap()),
            slot_count: Some(slots as i64),
            placement,
            salt: salt.to_owned(),
            ..ScheduleSpec::every(Span::from_millis(slots * slot_ticks * tick))
        },
    )
}

/// Two schedules: unrelated, of one placement, or alike except for one part.
fn pairs() -> impl Strategy<Value = (Schedule, Schedule)> {
    (specs(), specs(), 0..5u8).prop_map(|(old, mut new, alike)| {
        if alike > 0 {
            (new.placement, new.salt) = (old.placement, old.salt.clone());
        }
        match alike {
            2 => new = ScheduleSpec { anchor_time: new.anchor_time, ..old.clone() },
            3 => new = ScheduleSpec { slot_count: Some(1), ..old.clone() },
            4 => {
                new.resolution = old.resolution;
                new.anchor_time = old.anchor_time;
                let times = 1 + old.slot_count.unwrap() as u64 % 3;
                new.slot_count = old.slot_count;
                let CycleSpec::Period(period) = &old.cycle else { unreachable!() };
                new.cycle = CycleSpec::Period(period.times(times));
            }
            _ => {}
        }
        (Schedule::try_new(&old).unwrap(), Schedule::try_new(&new).unwrap())
    })
}

fn id_for(schedule: &Schedule, number: u64) -> Id<'static> {
    let mixed = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    match schedule.placement().kind() {
        PlacementKind::Fraction => {
            Id::fraction((mixed >> 11) as f64 / (1u64 << 53) as f64).unwrap()
        }
        PlacementKind::Hash | PlacementKind::Twister => Id::Integer((mixed as i64).into()),
    }
}

/// The last run of a place before `from` and the next three, one by one.
fn runs_around(schedule: &Schedule, place: &Place, from: i64) -> Vec<i64> {
    let runs = schedule.runs_from(millis(from), 3).unwrap();
    let last = runs.last_run(place).unwrap().unwrap().unix_millis;
    std::iter::once(last)
        .chain(runs.next_runs(place).take(3).map(|run| run.unwrap().unix_millis))
        .collect()
}

/// The first hash of each tick of both schedules. Hashes in between share their runs before and
/// after the cutover, so no hash waits longer than the longest of these.
fn hashes_of_all_ticks<'a>(old: &'a Schedule, new: &'a Schedule) -> impl Iterator<Item = u64> + 'a {
    [old, new].into_iter().flat_map(|schedule| {
        let (period, tick) = (schedule.period(), schedule.resolution());
        let ticks = period.whole_millis().unwrap() / tick.whole_millis().unwrap();
        (0..u128::from(ticks)).map(move |tick| (tick << 64).div_ceil(ticks.into()) as u64)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { max_global_rejects: 100_000, ..ProptestConfig::with_cases(1_000) })]

    #[test]
    fn ids_go_over_as_their_runs_say(
        (old, new) in pairs(), cutover in -100_000_000i64..100_000_000, gap: u64, first: u32,
    ) {
        let period = new.period().whole_millis().unwrap();
        let gap = (gap % (period + 1)) as i64;
        let min_gap = Span::from_millis(gap as u64);
        let migration = Migration::try_new(&old, &new, millis(cutover), Some(min_gap)).unwrap();
        let longest = migration.longest_gap().unwrap().whole_millis().unwrap() as i64;
        let takes_one_id = old.placement().kind() == new.placement().kind()
            || ![&old, &new].iter().any(|side| side.placement().kind() == PlacementKind::Fraction);
        for number in 0..if takes_one_id { 200 } else { 0 } {
            let id = id_for(&old, u64::from(first) + number);
            let (from, to) = (old.place(&id).unwrap(), new.place(&id).unwrap());
            let crossing = migration.crossing(&from, &to).unwrap();
            let [last_old, next_old, ..] = runs_around(&old, &from, cutover)[..] else { panic!() };
            let new_runs = runs_around(&new, &to, cutover)[1..].to_vec();
            let first_new =
                new_runs.iter().copied().find(|run| *run - last_old >= gap).unwrap();
            prop_assert_eq!(crossing.last_old.unix_millis, last_old);
            prop_assert_eq!(crossing.first_new.unix_millis, first_new);
            let left_out = new_runs.iter().filter(|run| **run < first_new).count();
            prop_assert_eq!(crossing.left_out, left_out as u64);
            prop_assert_eq!(crossing.moved, first_new != next_old);
            let waits = first_new - last_old;
            prop_assert!(waits >= gap, "none runs twice within the gap");
            prop_assert!(waits <= longest, "{} waits longer than {}", waits, longest);
            match migration.path() {
                Path::Unchanged | Path::SameTimes => {
                    prop_assert!(!crossing.moved && waits == period as i64);
                }
                Path::SameOrder | Path::NewPlaces => {}
            }
        }
    }
}

proptest! {
    // Each case checks every tick of two schedules.
    #![proptest_config(ProptestConfig { max_global_rejects: 100_000, ..ProptestConfig::with_cases(200) })]

    /// Where one key decides both places, some ID waits nearly as long as the bound allows.
    #[test]
    fn the_longest_gap_is_nearly_reached(
        (old, new) in pairs(), cutover in -100_000_000i64..100_000_000, gap: u64,
    ) {
        prop_assume!(
            old.placement() == new.placement() && old.placement().kind() == PlacementKind::Hash
        );
        let period = new.period().whole_millis().unwrap();
        let gap = Span::from_millis(gap % (period + 1));
        let migration = Migration::try_new(&old, &new, millis(cutover), Some(gap)).unwrap();
        let longest = migration.longest_gap().unwrap().whole_millis().unwrap();
        let waited = hashes_of_all_ticks(&old, &new)
            .map(|hash| {
                let places = (old.place_of_hash(hash), new.place_of_hash(hash));
                migration.crossing(&places.0, &places.1).unwrap().gap().whole_millis().unwrap()
            })
            .max()
            .unwrap();
        let ticks = old.resolution().whole_millis().unwrap() + new.resolution().whole_millis().unwrap();
        prop_assert!(waited <= longest);
        prop_assert!(longest <= waited + 3 * ticks, "{} for {}", longest, waited);
    }
}

fn schedule(hours: i64, slots: i64, salt: &str) -> Schedule {
    let spec = ScheduleSpec {
        slot_count: Some(slots),
        salt: salt.to_owned(),
        ..ScheduleSpec::every(Span::from_seconds(hours * 3_600))
    };
    Schedule::try_new(&spec).unwrap()
}

const DAY: i64 = 86_400_000;

/// From 12 hours to 8: if cycles start together, no ID waits longer than 12 hours.
#[test]
fn cycles_that_start_together_hand_over_best() {
    let (old, new) = (schedule(12, 240, ""), schedule(8, 240, ""));
    let at = |cutover: i64| Migration::try_new(&old, &new, millis(cutover), None).unwrap();
    let together = at(20_000 * DAY);
    assert_eq!(together.path(), Path::SameOrder);
    assert_eq!(together.advice(), "");
    let longest = together.longest_gap().unwrap().whole_millis().unwrap();
    assert!((12 * 3_600_000..=12 * 3_600_000 + 4_000).contains(&longest), "{longest}");
    let apart = at(20_000 * DAY + 4 * 3_600_000);
    assert!(apart.longest_gap() > together.longest_gap());
    assert!(apart.advice().contains("2024-10-05T00:00:00Z"), "{}", apart.advice());
    let shifted = Schedule::try_new(&ScheduleSpec {
        anchor_time: Some(millis(1_000)),
        ..ScheduleSpec::every(Span::from_seconds(8 * 3_600))
    })
    .unwrap();
    let never = Migration::try_new(&old, &shifted, millis(20_000 * DAY + 5_000), None).unwrap();
    assert!(never.advice().contains("anchor_time 2024-10-04T12:00:00Z"), "{}", never.advice());
}

#[test]
fn paths_and_advice() {
    let old = schedule(8, 128, "");
    let to = |new: &Schedule| {
        let migration = Migration::try_new(&old, new, millis(0), None).unwrap();
        (migration.path(), migration.advice(), migration.longest_gap().unwrap())
    };
    let hours = |hours: i64| Span::from_seconds(hours * 3_600);
    assert_eq!(to(&old.clone()), (Path::Unchanged, String::new(), hours(8)));
    assert_eq!(to(&schedule(8, 384, "")), (Path::SameTimes, String::new(), hours(8)));
    let (path, advice, longest) = to(&schedule(8, 240, ""));
    assert_eq!((path, longest), (Path::SameTimes, hours(8)));
    assert!(advice.contains("such as 384"), "{advice}");
    let (path, advice, longest) = to(&schedule(8, 128, "new"));
    assert_eq!(path, Path::NewPlaces);
    assert!(advice.starts_with("keep the salt, \"\""), "{advice}");
    assert!(longest < hours(16) && longest > Span::from_seconds(16 * 3_600 - 2));
    let fraction = Schedule::try_new(&ScheduleSpec {
        placement: PlacementKind::Fraction,
        ..ScheduleSpec::every(hours(8))
    })
    .unwrap();
    assert!(to(&fraction).1.contains("keep the placement, HASH"), "{}", to(&fraction).1);
    let shifted = Schedule::try_new(&ScheduleSpec {
        anchor_time: Some(millis(7_000)),
        slot_count: Some(128),
        ..ScheduleSpec::every(hours(8))
    })
    .unwrap();
    assert_eq!(to(&shifted).0, Path::SameOrder);
    assert!(to(&shifted).1.contains("1970-01-01T00:00:00Z"), "{}", to(&shifted).1);
    let whole_periods = Schedule::try_new(&ScheduleSpec {
        anchor_time: Some(millis(3 * 8 * 3_600_000)),
        slot_count: Some(128),
        ..ScheduleSpec::every(hours(8))
    })
    .unwrap();
    assert_eq!(to(&whole_periods).0, Path::SameTimes);
}
