//! Properties of every schedule and every ID.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss
)]

use offbeat_core::reciprocal::{Reciprocals, Spacing};
use offbeat_core::{Id, Moment, PlacementKind, Profile, Schedule, ScheduleSpec, Span};
use proptest::prelude::*;

/// Schedules of any placement whose slot count divides the period.
fn schedules() -> impl Strategy<Value = Schedule> {
    let placement = prop_oneof![
        Just((PlacementKind::Hash, None, None)),
        Just((PlacementKind::Fraction, None, None)),
        Just((PlacementKind::Twister, Some(256), Some(Profile::Ruby))),
        Just((PlacementKind::Twister, Some(256), Some(Profile::Ruby30To31))),
        Just((PlacementKind::Twister, Some(65_536), Some(Profile::Python))),
        Just((PlacementKind::Twister, Some(65_536), Some(Profile::Php))),
    ];
    let tick = prop::sample::select(vec![1u64, 10, 250, 1_000]);
    let anchor = -4_000_000_000i64..4_000_000_000;
    (1i64..=256, 1u64..100_000, tick, anchor, placement, "[a-z]{0,3}").prop_map(
        |(slots, slot_ticks, tick, anchor, (placement, bucket_count, profile), salt)| {
            let period = Span::from_millis(slots.unsigned_abs() * slot_ticks * tick);
            Schedule::try_new(&ScheduleSpec {
                resolution: Some(Span::from_millis(tick)),
                anchor_time: Some(Moment::try_new(anchor, 0).unwrap()),
                slot_count: Some(slots),
                placement,
                bucket_count,
                profile,
                salt: if placement == PlacementKind::Hash { salt } else { String::new() },
                ..ScheduleSpec::every(period)
            })
            .unwrap()
        },
    )
}

/// An ID that the placement of `schedule` accepts, made from raw bits.
fn id_for(schedule: &Schedule, bits: u128, signed: i64) -> Id<'static> {
    match (schedule.placement().kind(), bits % 3) {
        (PlacementKind::Fraction, _) =>
        {
            #[allow(clippy::cast_precision_loss)]
            Id::fraction((bits as u64 >> 11) as f64 / (1u64 << 53) as f64).unwrap()
        }
        (PlacementKind::Hash, 0) => Id::text("some tenant").unwrap(),
        (_, 1) => Id::Integer(signed.into()),
        _ => Id::Uuid(bits),
    }
}

fn moments() -> impl Strategy<Value = Moment> {
    (-10_000_000_000i64..10_000_000_000, 0i32..1_000_000_000)
        .prop_map(|(seconds, nanos)| Moment::try_new(seconds, nanos).unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn an_id_has_one_place_inside_its_slot(schedule in schedules(), bits: u128, signed: i64) {
        let place = schedule.place(&id_for(&schedule, bits, signed)).unwrap();
        prop_assert!(place.slot < schedule.slot_count());
        prop_assert!(place.slot_offset < schedule.slot_ticks());
        prop_assert_eq!(
            place.cycle_offset,
            u64::from(place.slot) * schedule.slot_ticks() + place.slot_offset
        );
        prop_assert_eq!(place, schedule.place(&id_for(&schedule, bits, signed)).unwrap());
    }

    #[test]
    fn the_slot_of_a_hash_is_the_formula(schedule in schedules(), hash: u64) {
        let place = schedule.place_of_hash(hash);
        let wide = u128::from(hash);
        prop_assert_eq!(u128::from(place.slot), (wide * u128::from(schedule.slot_count())) >> 64);
        prop_assert_eq!(u128::from(place.cycle_offset), (wide * u128::from(schedule.active_ticks())) >> 64);
    }

    #[test]
    fn refining_hash_slots_moves_no_id_out_of_its_slot(
        slots in 1i64..500, finer in 1i64..50, slot_ticks in 1i64..5_000, bits: u128,
    ) {
        let period = Span::from_seconds(slots * finer * slot_ticks);
        let place = |count| {
            let spec = ScheduleSpec { slot_count: Some(count), ..ScheduleSpec::every(period) };
            Schedule::try_new(&spec).unwrap().place(&Id::Uuid(bits)).unwrap()
        };
        let (coarse, fine) = (place(slots), place(slots * finer));
        prop_assert_eq!(i64::from(fine.slot) / finer, i64::from(coarse.slot));
        prop_assert_eq!(fine.cycle_offset, coarse.cycle_offset);
    }

    #[test]
    fn a_window_holds_exactly_the_hashes_whose_offset_lies_in_it(
        schedule in schedules(), hash: u64, a: u64, b: u64, step in -1i8..=1,
    ) {
        let (a, b) = (a % (schedule.active_ticks() + 1), b % (schedule.active_ticks() + 1));
        let window = a.min(b)..a.max(b);
        let range = schedule.hash_window(window.clone());
        // An arbitrary hash, and hashes at the edges of the window.
        let edge = range.start.saturating_add_signed(step.into()).min(u128::from(u64::MAX));
        for hash in [u128::from(hash), edge] {
            let offset = schedule.place_of_hash(hash as u64).cycle_offset;
            prop_assert_eq!(range.contains(&hash), window.contains(&offset), "{:x}", hash);
        }
    }

    #[test]
    fn a_window_holds_exactly_the_fractions_whose_offset_lies_in_it(
        slots in 1i64..200, slot_ticks in 1i64..100_000, a: u64, b: u64, u in 0.0f64..1.0, step in -1i64..=1,
    ) {
        let schedule = Schedule::try_new(&ScheduleSpec {
            slot_count: Some(slots),
            placement: PlacementKind::Fraction,
            ..ScheduleSpec::every(Span::from_seconds(slots * slot_ticks))
        }).unwrap();
        let (a, b) = (a % (schedule.active_ticks() + 1), b % (schedule.active_ticks() + 1));
        let window = a.min(b)..a.max(b);
        let range = schedule.fraction_window(window.clone());
        let edge = f64::from_bits(range.start.to_bits().saturating_add_signed(step));
        for fraction in [u, edge] {
            let Ok(id) = Id::fraction(fraction) else { continue };
            let offset = schedule.place(&id).unwrap().cycle_offset;
            prop_assert_eq!(range.contains(&fraction), window.contains(&offset), "{:?}", fraction);
        }
    }

    #[test]
    fn runs_of_an_id_are_one_cycle_apart_around_the_instant(
        schedule in schedules(), bits: u128, signed: i64, from in moments(),
    ) {
        let place = schedule.place(&id_for(&schedule, bits, signed)).unwrap();
        let runs = schedule.runs_from(from, 3).unwrap();
        let mut all = vec![runs.last_run(&place).unwrap().unwrap()];
        all.extend(runs.next_runs(&place).take(3).map(Result::unwrap));
        prop_assert!(all[0].unix_millis < from.unix_millis_ceil());
        prop_assert!(all[1].unix_millis >= from.unix_millis_ceil());
        let period = i64::try_from(schedule.period().whole_millis().unwrap()).unwrap();
        for pair in all.windows(2) {
            prop_assert_eq!(pair[1].unix_millis - pair[0].unix_millis, period);
            prop_assert_eq!(pair[1].cycle_index - pair[0].cycle_index, 1);
        }
        for run in all {
            let start = schedule.cycle_start(run.cycle_index).unwrap().unix_millis_floor();
            let offset = schedule.span(place.cycle_offset).whole_millis().unwrap();
            prop_assert_eq!(run.unix_millis, start + i64::try_from(offset).unwrap());
            let slot = schedule.slot_at(Moment::from_unix_millis(run.unix_millis).unwrap()).unwrap().unwrap();
            prop_assert_eq!((slot.index, slot.cycle_index), (place.slot, run.cycle_index));
        }
        prop_assert_eq!(schedule.next_run(&place, from).unwrap(), runs.next_run(&place).unwrap());
    }

    #[test]
    fn a_run_at_the_instant_is_the_next_one(schedule in schedules(), bits: u128, from in moments()) {
        let place = schedule.place(&id_for(&schedule, bits, 0)).unwrap();
        let run = schedule.next_run(&place, from).unwrap().unwrap();
        let at = Moment::from_unix_millis(run.unix_millis).unwrap();
        prop_assert_eq!(schedule.next_run(&place, at).unwrap(), Some(run));
    }

    #[test]
    fn listed_slots_tile_the_time(schedule in schedules(), from in moments(), length in 0i64..100_000) {
        let end = Moment::try_new(from.parts().0 + length, from.parts().1).unwrap();
        let Ok(slots) = schedule.slots_starting_in(from, end) else { return Ok(()) };
        for slot in &slots {
            prop_assert!(from <= slot.start && slot.start < end);
            prop_assert_eq!(schedule.slot_at(slot.start).unwrap(), Some(*slot));
        }
        for pair in slots.windows(2) {
            prop_assert_eq!(pair[0].end, pair[1].start);
        }
        let halves = Moment::try_new(from.parts().0 + length / 2, from.parts().1).unwrap();
        let mut joined = schedule.slots_starting_in(from, halves).unwrap();
        joined.extend(schedule.slots_starting_in(halves, end).unwrap());
        prop_assert_eq!(joined, slots, "two windows side by side list each slot once");
    }

    #[test]
    fn windows_hold_their_start_to_the_nanosecond(schedule in schedules(), from in moments()) {
        let slot = schedule.slot_at(from).unwrap().unwrap();
        prop_assert!(slot.start <= from && from < slot.end);
        let (seconds, nanos) = slot.start.parts();
        let just_after = Moment::try_new(seconds, nanos + 1).unwrap();
        let (start, end) = (slot.start, slot.end);
        prop_assert_eq!(schedule.slots_starting_in(start, just_after).unwrap(), [slot]);
        prop_assert_eq!(schedule.slots_starting_in(start, end).unwrap(), [slot]);
        prop_assert_eq!(schedule.slots_starting_in(just_after, end).unwrap(), []);
        prop_assert_eq!(schedule.slots_starting_in(start, start).unwrap(), []);
    }

    #[test]
    fn the_opposite_of_the_opposite_is_the_slot_itself(half in 1u32..500, slot in 0u32..1_000) {
        let slot = slot % (2 * half);
        let pair = Reciprocals::try_new(i64::from(2 * half), 2, Spacing::Even).unwrap();
        let opposite = |slot: u32| pair.seen_from(i64::from(slot)).unwrap()[1].user_slot;
        prop_assert_eq!(opposite(slot), (slot + half) % (2 * half));
        prop_assert_eq!(opposite(opposite(slot)), slot);
    }

    #[test]
    fn both_views_say_the_same(slots in 2i64..300, kinds in 1i64..20, slot: u32) {
        let Ok(placed) = Reciprocals::try_new(slots, kinds, Spacing::Even) else { return Ok(()) };
        let slot = i64::from(slot) % slots;
        for kind in placed.seen_from(slot).unwrap() {
            // While the user's slot for this kind runs, this kind handles the user's slot.
            let there = placed.seen_from(i64::from(kind.user_slot)).unwrap();
            prop_assert_eq!(i64::from(there[kind.kind_index as usize].time_slot), slot);
        }
    }

    #[test]
    fn adding_a_kind_moves_no_stable_one(kinds in 2i64..200) {
        let place = |count| {
            let placed = Reciprocals::try_new(1 << 12, count, Spacing::Stable).unwrap();
            placed.seen_from(0).unwrap().iter().map(|kind| kind.offset).collect::<Vec<_>>()
        };
        let (fewer, more) = (place(kinds), place(kinds + 1));
        prop_assert_eq!(&more[..fewer.len()], &fewer[..]);
    }
}

/// Every bucket belongs to one slot, and every slot has a share of them: no ID is lost, for any n.
#[test]
fn twister_slots_partition_the_buckets() {
    for slots in [1, 7, 15, 24, 100, 144, 255, 256] {
        let schedule = Schedule::try_new(&ScheduleSpec {
            slot_count: Some(slots),
            placement: PlacementKind::Twister,
            ..ScheduleSpec::every(Span::from_seconds(slots * 60))
        })
        .unwrap();
        let mut buckets = vec![0u32; usize::try_from(slots).unwrap()];
        for byte in 0..256i64 {
            let place = schedule.place(&Id::Integer(byte.into())).unwrap();
            buckets[place.slot as usize] += 1;
        }
        let (smallest, largest) = schedule.buckets_per_slot().unwrap();
        assert_eq!(buckets.iter().min(), Some(&smallest), "{slots} slots");
        assert_eq!(buckets.iter().max(), Some(&largest), "{slots} slots");
        assert_eq!(buckets.iter().sum::<u32>(), 256);
    }
}
