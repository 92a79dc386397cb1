//! Runs of places: searches and counts agree with a walk; and the first run of a new ID.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::cast_possible_wrap)]

mod support;

use offbeat_core::Span;
use offbeat_core::runs::{FirstRunPolicy, NewId, NewIdSpec};
use proptest::prelude::*;
use support::millis;
use support::placed::{id_for, runs_by_walking, schedules};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn runs_are_found_and_counted_as_they_are_walked(
        schedule in schedules(), number: u64, from in -9_000_000_000i64..9_000_000_000, span in 0i64..3_000_000,
    ) {
        let place = schedule.place(&id_for(&schedule, number)).unwrap();
        let cycles = schedule.cycle_cache(millis(from));
        let times = cycles.runs_of(&place);
        let walked = runs_by_walking(&schedule, &place, from, from + span);
        prop_assert_eq!(times.count(from..from + span), Ok(walked.len() as u64));
        let between: Vec<_> =
            times.between(from..from + span).map(Result::unwrap).map(|run| (run.cycle_index, run.unix_millis)).collect();
        prop_assert_eq!(&between, &walked);
        let last = times.last(from).unwrap().unwrap();
        prop_assert!(last.unix_millis < from);
        let first = times.next(from).unwrap().unwrap();
        prop_assert_eq!(first.cycle_index, last.cycle_index + 1);
        prop_assert!(first.unix_millis >= from);
        let start = schedule.cycle_start(schedule.cycle_at(millis(from))).unwrap();
        let end = schedule.cycle_start_after(millis(from)).unwrap();
        prop_assert!(start <= millis(from) && millis(from) < end);
        prop_assert_eq!(schedule.cycle_start_after(start).unwrap(), end);
    }

    #[test]
    fn a_new_id_has_one_first_run_and_never_two(
        schedule in schedules(), number: u64, created in -9_000_000_000i64..9_000_000_000, span: u64, pieces in 1u32..9,
    ) {
        let id = id_for(&schedule, number);
        let own = schedule.place(&id).unwrap();
        let period = schedule.period().whole_millis().unwrap();
        let tick = schedule.resolution().whole_millis().unwrap();
        let span = tick + span % (period - tick + 1);
        let come = |policy, smear_span| {
            let spec = NewIdSpec { create_time: millis(created), policy, smear_span, max_clock_skew: None };
            NewId::try_new(&schedule, &spec, millis(created)).unwrap()
        };
        let next_cycle = come(FirstRunPolicy::NextCycle, None);
        let smeared = come(FirstRunPolicy::NowSmeared, Some(Span::from_millis(span)));
        for piece in 0..pieces {
            let place = schedule.piece(&own, piece);
            let regular = runs_by_walking(&schedule, &place, created, created + 2 * period as i64)[0];
            let first = next_cycle.first_run(&id, &place, piece).unwrap().unwrap();
            prop_assert_eq!((first.run.cycle_index, first.run.unix_millis), regular);
            prop_assert_eq!(first.regular_unix_millis, None);

            let first = smeared.first_run(&id, &place, piece).unwrap().unwrap();
            if regular.0 == schedule.cycle_at(millis(created)) {
                prop_assert_eq!((first.run.cycle_index, first.run.unix_millis), regular);
            } else if let Some(passed) = first.regular_unix_millis {
                prop_assert_eq!(first.run.cycle_index, regular.0 - 1, "the current cycle's run");
                prop_assert!(passed < created && first.run.unix_millis >= created);
                prop_assert!(first.run.unix_millis < created + span as i64);
                prop_assert!(first.run.unix_millis < regular.1);
            } else {
                prop_assert_eq!((first.run.cycle_index, first.run.unix_millis), regular);
                prop_assert!(regular.1 < created + span as i64, "the next time came first");
            }
        }
    }
}
