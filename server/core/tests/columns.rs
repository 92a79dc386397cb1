//! Packed batches, compared with one ID at a time.
#![allow(clippy::unwrap_used, reason = "tests")]

use offbeat_core::Kernel;
use offbeat_core::runs::{AssignmentColumns, ColumnSelection, PackedIds};
use offbeat_core::{
    CalendarSpec, CalendarUnit, CycleSpec, Id, Moment, PlacementKind, Profile, Schedule,
    ScheduleSpec, Span,
};

const COUNT: usize = 3_100; // two full blocks and a remainder

fn random(n: usize) -> u128 {
    (n as u128 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835)
}

/// The assignment of each ID on its own.
fn one_by_one<'a>(
    schedule: &Schedule,
    from: Moment,
    ids: impl Iterator<Item = Id<'a>>,
) -> AssignmentColumns {
    let mut columns = AssignmentColumns::default();
    for id in ids {
        let place = schedule.place(&id).unwrap();
        let run = schedule.next_run(&place, from).unwrap().unwrap();
        columns.slots.push(place.slot.cast_signed());
        columns.slot_offsets.push(place.slot_offset.cast_signed());
        columns.cycle_offsets.push(place.cycle_offset.cast_signed());
        columns.cycle_indexes.push(run.cycle_index);
        columns.next_run_unix_millis.push(run.unix_millis);
    }
    columns
}

fn schedules() -> Vec<ScheduleSpec> {
    let hash = ScheduleSpec::every(Span::from_seconds(86_400));
    let twister = ScheduleSpec { placement: PlacementKind::Twister, ..hash.clone() };
    let salted = ScheduleSpec { salt: "a salt".into(), slot_count: Some(144), ..hash.clone() };
    let fine = ScheduleSpec {
        cycle: CycleSpec::Period(Span::from_millis(1_500)),
        resolution: Some(Span::from_millis(1)),
        anchor_time: Moment::from_unix_millis(-7_777),
        slot_count: Some(3),
        ..twister.clone()
    };
    let of = |profile| ScheduleSpec { profile: Some(profile), ..twister.clone() };
    let wide =
        ScheduleSpec { bucket_count: Some(65_536), slot_count: Some(1_440), ..twister.clone() };
    let profiles = [Profile::Ruby, Profile::Ruby30To31, Profile::Python, Profile::Php];
    [hash, salted, fine, wide].into_iter().chain(profiles.map(of)).collect()
}

#[test]
fn packed_ids_are_assigned_as_one_by_one() {
    let uuids: Vec<_> = (0..COUNT).map(|n| (random(n) >> (n % 5 * 20)).to_be_bytes()).collect();
    let edges = [0, 1, -1, i64::MIN, i64::MAX, 1 << 32, (1 << 32) - 1, -(1 << 32)];
    let low = |n: usize| i64::from_le_bytes(random(n).to_le_bytes()[..8].try_into().unwrap());
    let integers: Vec<_> = edges.into_iter().chain((0..COUNT).map(low)).collect();
    let froms = [0, 1, -1, 86_400_000, 1_767_225_600_123, -1_500];
    for (index, spec) in schedules().iter().enumerate() {
        let schedule = Schedule::try_new(spec).unwrap();
        let from = Moment::from_unix_millis(froms[index % froms.len()]).unwrap();
        let runs = schedule.runs_from(from, 1).unwrap();
        for kernel in Kernel::available() {
            let found = runs
                .assign_packed_with(kernel, PackedIds::Uuids(&uuids), ColumnSelection::ALL)
                .unwrap();
            let ids = uuids.iter().map(|uuid| Id::Uuid(u128::from_be_bytes(*uuid)));
            assert_eq!(found, one_by_one(&schedule, from, ids), "{spec:?} {kernel:?}");
            let found = runs
                .assign_packed_with(kernel, PackedIds::Integers(&integers), ColumnSelection::ALL)
                .unwrap();
            let ids = integers.iter().map(|integer| Id::Integer((*integer).into()));
            assert_eq!(found, one_by_one(&schedule, from, ids), "{spec:?} {kernel:?}");
        }
    }
}

#[test]
fn a_batch_cut_anywhere_is_assigned_as_it_is_whole() {
    let uuids: Vec<_> = (0..COUNT).map(|n| random(n).to_be_bytes()).collect();
    let integers: Vec<_> = (0..700).collect();
    for spec in schedules() {
        let schedule = Schedule::try_new(&spec).unwrap();
        let runs = schedule.runs_from(Moment::from_unix_millis(12_345).unwrap(), 1).unwrap();
        let decider = runs.decider(ColumnSelection::ALL).unwrap();
        for ids in [PackedIds::Uuids(&uuids), PackedIds::Integers(&integers)] {
            for cut in [0, 1, 350, ids.len()] {
                let cuts = [0..cut, cut..cut, cut..ids.len()];
                let pieces = cuts.map(|rows| decider.assign(ids.slice(rows)));
                let found = AssignmentColumns::concat(pieces.to_vec());
                assert_eq!(found, decider.assign(ids), "{spec:?} {cut}");
            }
            assert!(ids.slice(1..ids.len() + 1).is_empty(), "there are not so many");
        }
    }
}

/// Whether one column, all but one or none is requested, its content is that of a request for all.
#[test]
fn columns_that_are_not_wanted_are_empty_and_the_others_as_they_were() {
    let uuids: Vec<_> = (0..COUNT).map(|n| random(n).to_be_bytes()).collect();
    for spec in schedules() {
        let schedule = Schedule::try_new(&spec).unwrap();
        let runs = schedule.runs_from(Moment::from_unix_millis(12_345).unwrap(), 1).unwrap();
        let all = runs.assign_packed(PackedIds::Uuids(&uuids), ColumnSelection::ALL).unwrap();
        for bits in 0..32 {
            let bit = |place: u32| bits >> place & 1 == 1;
            let wanted = ColumnSelection {
                slots: bit(0),
                slot_offsets: bit(1),
                cycle_offsets: bit(2),
                cycle_indexes: bit(3),
                next_runs: bit(4),
                last_runs: false,
            };
            let found = runs.assign_packed(PackedIds::Uuids(&uuids), wanted).unwrap();
            let kept = |is_wanted, column: &[i64]| match is_wanted {
                true => column.to_vec(),
                false => Vec::new(),
            };
            let expected = AssignmentColumns {
                slots: if wanted.slots { all.slots.clone() } else { Vec::new() },
                slot_offsets: kept(wanted.slot_offsets, &all.slot_offsets),
                cycle_offsets: kept(wanted.cycle_offsets, &all.cycle_offsets),
                cycle_indexes: kept(wanted.cycle_indexes, &all.cycle_indexes),
                next_run_unix_millis: kept(wanted.next_runs, &all.next_run_unix_millis),
            };
            assert_eq!(found, expected, "{wanted:?}");
        }
    }
}

/// The next run by the definition: the first cycle whose run is not before the instant.
#[test]
fn the_next_run_is_the_first_that_is_not_before() {
    for spec in schedules() {
        let schedule = Schedule::try_new(&spec).unwrap();
        let period = i64::try_from(schedule.period().nanos() / 1_000_000).unwrap();
        let anchor = spec.anchor_time.map_or(0, Moment::unix_millis_floor);
        for n in 0..40 {
            let place = schedule.place(&Id::Uuid(random(n))).unwrap();
            let tick = spec.resolution.map_or(1_000, |_| 1);
            let first = anchor + place.cycle_offset.cast_signed() * tick;
            // At the run, a millisecond before and after it, some cycles away, and before the
            // epoch.
            for (cycle, aside) in [(0, 0), (0, 1), (0, -1), (-5, 0), (-5, 1), (9, -1)] {
                let from = Moment::from_unix_millis(first + cycle * period + aside).unwrap();
                let run = schedule.next_run(&place, from).unwrap().unwrap();
                let cycle_index = cycle + i64::from(aside > 0);
                assert_eq!(run.cycle_index, cycle_index, "{spec:?} {n} {cycle} {aside}");
                assert_eq!(run.unix_millis, first + cycle_index * period);
            }
        }
    }
}

#[test]
fn unsupported_schedules_fall_back_to_assignment_one_by_one() {
    let fraction = ScheduleSpec {
        placement: PlacementKind::Fraction,
        ..ScheduleSpec::every(Span::from_seconds(3_600))
    };
    let calendar = CalendarSpec { unit: CalendarUnit::Day, time_zone: "Europe/Berlin".into() };
    let calendar = ScheduleSpec {
        cycle: CycleSpec::Calendar(calendar),
        ..ScheduleSpec::every(Span::from_seconds(3_600))
    };
    for spec in [fraction, calendar] {
        let schedule = Schedule::try_new(&spec).unwrap();
        let from = Moment::from_unix_millis(0).unwrap();
        let runs = schedule.runs_from(from, 1).unwrap();
        assert_eq!(runs.assign_packed(PackedIds::Integers(&[1, 2, 3]), ColumnSelection::ALL), None);
    }
}
