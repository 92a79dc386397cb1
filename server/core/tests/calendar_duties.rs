//! Due runs, new IDs and migrations with calendar cycles, active windows and exclusions: no run is
//! lost, and none is given twice.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss
)]

mod support;

use std::collections::BTreeMap;

use offbeat_core::migration::Migration;
use offbeat_core::runs::{Due, DueRuns, DueSpec, MissedRunPolicy};
use offbeat_core::runs::{FirstRunPolicy, NewId, NewIdSpec};
use offbeat_core::{
    ExclusionPolicy, ExclusionSpec, ExclusionTimes, Id, Reason, Rejection, Schedule, ScheduleSpec,
    Span,
};
use proptest::prelude::*;
use support::calendars::{DAY, HOUR, is_active, is_excluded, place, schedules, seconds, walked};
use support::id;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// At any polling interval, each run is due once, and a late run starts only when it
    /// may.
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
                // For example, with a window of a second a day, 64 windows cannot hold a smear of
                // an hour.
                Err(refused) if refused.reason == Reason::NoRun => {
                    let seconds = now..now + 64 * DAY; // at most 64 cycles
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

    /// No run is lost, no ID runs twice within the gap, and none waits longer than announced.
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

/// An hourly schedule on which nothing may start for `days` days from `at`.
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
fn queries_that_scan_too_many_cycles_are_refused() {
    let at = 20_000 * DAY;
    let schedule = hourly_until(at, 1);
    let hours = 24 * 365 * 50;
    let rows = due(&schedule, at - hours * HOUR, at - HOUR).unwrap();
    assert_eq!((rows.late, rows.dropped, rows.skipped), (1, hours as u128 - 2, 0));
    let refused = due(&schedule, at - 2_000 * 365 * DAY, at).unwrap_err();
    assert_eq!((refused.field.as_str(), refused.reason), ("ids", Reason::OutOfRange));
}
