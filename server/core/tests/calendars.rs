//! Properties of runs with calendar cycles, active windows and exclusions, checked against a
//! search ID by ID and instant by instant.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss
)]

mod support;

use offbeat_core::runs::KeyRanges;
use offbeat_core::{CalendarSpec, CalendarUnit, CycleSpec, Schedule, ScheduleSpec, Span};
use proptest::prelude::*;
use support::calendars::{
    DAY, HOUR, is_excluded, place, runs, schedules, seconds, selects, walked,
};

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
            // An arbitrary key, and keys at the edges of the ranges.
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
            // A deferred run is never later than the ID's next regular run.
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

/// Whether the cycle is a day that its time zone skips.
fn is_skipped(schedule: &Schedule, cycle: i64) -> bool {
    // 30 December 2011, when Samoa crossed the date line.
    matches!(schedule.calendar(), Some((CalendarUnit::Day, "Pacific/Apia")) if cycle == 15_338)
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

    /// Pieces are spread over the active time in bit-reversed order of their numbers.
    #[test]
    fn pieces_spread_over_the_active_time((schedule, _at) in schedules(), key: u64, bits in 0u32..5) {
        let own = place(&schedule, key);
        let active = schedule.active_ticks();
        let count = 1u64 << bits;
        // All pieces are in the only slot, so this is the offset in the cycle.
        let mut offsets: Vec<u64> =
            (0..count as u32).map(|piece| schedule.piece(&own, piece).slot_offset).collect();
        prop_assert_eq!(schedule.piece(&own, 0), own);
        offsets.sort_unstable();
        for (index, offset) in offsets.iter().enumerate() {
            let next = offsets.get(index + 1).copied().unwrap_or(offsets[0] + active);
            let share = active as f64 / count as f64;
            prop_assert!(((next - offset) as f64 - share).abs() <= 1.0 + 1e-6);
        }
    }
}
