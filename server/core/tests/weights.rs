//! Weights: more weight means more pieces, which are spread evenly over the cycle.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss
)]

mod support;

use offbeat_core::{Id, Schedule, ScheduleSpec, Span};
use proptest::prelude::*;
use support::placed::{id_for, schedules};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn more_weight_adds_pieces_and_moves_none(
        schedule in schedules(), number: u64, weight in 0i64..5_000, more in 0i64..5_000,
    ) {
        let place = schedule.place(&id_for(&schedule, number)).unwrap();
        let (few, many) =
            (schedule.piece_count(weight).unwrap(), schedule.piece_count(weight + more).unwrap());
        let wanted = ((weight + 9) / 10).max(1).min(i64::from(schedule.slot_count()));
        prop_assert_eq!(i64::from(few), wanted);
        prop_assert!(few <= many && many <= schedule.slot_count());
        prop_assert_eq!(schedule.piece(&place, 0), place);
        for piece in 0..many {
            let stands = schedule.piece(&place, piece);
            prop_assert!(stands.slot < schedule.slot_count());
            prop_assert_eq!(
                stands.cycle_offset,
                u64::from(stands.slot) * schedule.slot_ticks() + stands.slot_offset
            );
        }
    }

    /// With a power of two of pieces, no two are closer than their share of the cycle.
    #[test]
    fn pieces_spread_evenly(schedule in schedules(), number: u64, bits in 0u32..6) {
        let place = schedule.place(&id_for(&schedule, number)).unwrap();
        let count = 1u64 << bits;
        let period = schedule.active_ticks();
        let mut offsets: Vec<u64> =
            (0..count as u32).map(|piece| schedule.piece(&place, piece).cycle_offset).collect();
        offsets.sort_unstable();
        for (index, offset) in offsets.iter().enumerate() {
            let next = offsets.get(index + 1).copied().unwrap_or(offsets[0] + period);
            let share = period as f64 / count as f64;
            prop_assert!(((next - offset) as f64 - share).abs() <= 1.0 + 1e-6);
        }
    }
}

/// 5,000 users, Pareto(1.1) sizes, 128 slots. In one piece each, the largest user alone fills a
/// slot to 18 times the mean; in pieces, no slot has much more than twice the mean.
#[test]
fn heavy_users_in_pieces_leave_the_slots_even() {
    let schedule = |quantum| {
        let spec = ScheduleSpec {
            weight_quantum: quantum,
            ..ScheduleSpec::every(Span::from_seconds(28_800))
        };
        Schedule::try_new(&spec).unwrap()
    };
    let (whole, cut) = (schedule(Some(1 << 53)), schedule(Some(1_000)));
    let fullest_to_mean_ratio = |schedule: &Schedule, sample: u32| {
        let mut loads = [0.0; 128];
        for user in 0..5_000u32 {
            let u = (f64::from(user) + 0.5) / 5_000.0; // the quantiles of Pareto(1.1)
            let weight = (100.0 * (1.0 - u).powf(-1.0 / 1.1)) as i64;
            let name = format!("user-{sample}-{user}");
            let place = schedule.place(&Id::text(&name).unwrap()).unwrap();
            let pieces = schedule.piece_count(weight).unwrap();
            for piece in 0..pieces {
                let slot = schedule.piece(&place, piece).slot as usize;
                loads[slot] += weight as f64 / f64::from(pieces);
            }
        }
        let mean: f64 = loads.iter().sum::<f64>() / 128.0;
        loads.iter().copied().fold(0.0, f64::max) / mean
    };
    for sample in 0..10 {
        let before = fullest_to_mean_ratio(&whole, sample);
        let after = fullest_to_mean_ratio(&cut, sample);
        assert!((12.0..30.0).contains(&before), "{before}");
        assert!(after < 2.3, "{after}");
    }
}
