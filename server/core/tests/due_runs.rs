//! Due runs: each is given once, late runs are smeared, missed runs are counted.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss
)]

mod support;

use std::collections::BTreeMap;

use offbeat_core::placement::piece_hash;
use offbeat_core::runs::{Due, DueRuns, DueSpec, MissedRunPolicy};
use offbeat_core::{Id, Moment, Place, Reason, Schedule, ScheduleSpec, Span};
use proptest::prelude::*;
use support::millis;
use support::placed::{id_for, runs_by_walking, schedules};

/// One response, and the watermark that its caller keeps.
fn ask(
    schedule: &Schedule,
    spec: &DueSpec,
    ids: &[(Id<'_>, Place, u32)],
    watermark: i64,
) -> (DueRuns, i64) {
    let due = Due::try_new(schedule, spec).unwrap();
    let watermark = due.check_watermark(watermark).unwrap();
    let mut rows = DueRuns::default();
    for (index, (id, place, pieces)) in (0..).zip(ids) {
        for piece in 0..*pieces {
            due.add(&mut rows, (index, piece), id, &schedule.piece(place, piece), watermark);
        }
    }
    (rows.complete().unwrap(), due.next_watermark(watermark))
}

/// When a program polls: mostly soon again, sometimes after an outage, with a clock that varies
/// within the skew.
fn rhythms() -> impl Strategy<Value = Vec<(i64, i64)>> {
    let pause = prop_oneof![
        6 => 0i64..2_000,
        2 => 0i64..100_000,
        1 => 0i64..5_000_000,
    ];
    prop::collection::vec((pause, -30_000i64..=30_000), 1..40)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    /// With any polling interval, outages and clock, every run of the covered time is listed
    /// exactly once or dropped as the policy says.
    #[test]
    fn every_run_is_given_exactly_once(
        schedule in schedules(),
        numbers in prop::collection::vec(any::<u64>(), 1..6),
        pieces in 1u32..4,
        start in -9_000_000_000i64..9_000_000_000,
        rhythm in rhythms(),
        policy in prop::sample::select(vec![
            MissedRunPolicy::Drop, MissedRunPolicy::RunOnce, MissedRunPolicy::RunAll,
        ]),
        tolerance: u64, horizon in prop_oneof![Just(None), (0u64..10_000_000).prop_map(Some)], smear: u64,
    ) {
        let period = schedule.period().whole_millis().unwrap();
        let skew = 60_000.min(period) as i64;
        let tolerance = tolerance % (period + 1);
        let horizon_millis = horizon.map_or(3_660 * 86_400_000, |more| tolerance + more);
        let smear = if smear % 3 == 0 { 0 } else { smear % (period + 1) };
        let min_gap = if tolerance % 2 == 0 { 0 } else { period / 10 };
        let ids: Vec<_> = numbers
            .iter()
            .map(|number| {
                let id = id_for(&schedule, *number);
                (id, schedule.place(&id).unwrap(), pieces.min(schedule.slot_count()))
            })
            .collect();
        let spec = |now: i64| DueSpec {
            now_time: millis(now),
            missed_run_policy: policy,
            on_time_tolerance: Some(Span::from_millis(tolerance)),
            horizon: Some(Span::from_millis(horizon_millis)),
            smear_span: Some(Span::from_millis(smear)),
            max_clock_skew: None,
            look_ahead: None,
            min_gap: Some(Span::from_millis(min_gap)),
        };
        let mut superseded = 0;
        let mut watermark = start;
        let mut now = start;
        let mut given: BTreeMap<(u32, u32, i64), u32> = BTreeMap::new();
        let (mut late, mut dropped) = (0, 0);
        for (pause, jitter) in rhythm {
            now += pause.min(2_000 * period as i64 / ids.len() as i64);
            // Two clocks differ by at most the skew.
            let seen = now + jitter.clamp(-skew / 2, skew / 2);
            let due = Due::try_new(&schedule, &spec(seen)).unwrap();
            let before = watermark;
            let (rows, next) = ask(&schedule, &spec(seen), &ids, watermark);
            prop_assert!(next >= watermark, "a watermark never goes back");
            prop_assert_eq!(next, watermark.max(seen));
            prop_assert_eq!(due.next_watermark(watermark), next);
            watermark = next;
            late += rows.late;
            dropped += rows.dropped;

            // The expected rows, run by run.
            let mut expected = Vec::new();
            let mut expected_drops = 0;
            let mut expected_superseded = 0;
            for (index, (id, place, pieces)) in (0u32..).zip(&ids) {
                for piece in 0..*pieces {
                    let place = schedule.piece(place, piece);
                    let runs = runs_by_walking(&schedule, &place, before, seen.max(before));
                    let is_on_time = |run: &&(i64, i64)| seen - run.1 <= tolerance as i64;
                    let is_caught_up = |run: &&(i64, i64)| seen - run.1 <= horizon_millis as i64;
                    let on_time: Vec<_> = runs.iter().filter(is_on_time).collect();
                    let missed: Vec<_> = runs.iter().filter(|run| !is_on_time(run)).collect();
                    let eligible: Vec<_> = missed.iter().copied().filter(is_caught_up).collect();
                    let chosen: Vec<_> = match policy {
                        MissedRunPolicy::Drop => vec![],
                        MissedRunPolicy::RunAll => eligible,
                        MissedRunPolicy::RunOnce if on_time.is_empty() => {
                            eligible.last().copied().into_iter().collect()
                        }
                        MissedRunPolicy::RunOnce => vec![],
                    };
                    expected_drops += missed.len() - chosen.len();
                    // A late run is superseded if it would start with, or too soon before, the
                    // next run of the piece.
                    let hash = u128::from(piece_hash(schedule.smear_hash(id), piece));
                    let starts = seen + ((hash * u128::from(smear)) >> 64) as i64;
                    let runs = schedule.runs_from(millis(seen), 1).unwrap();
                    let next = runs.next_run(&place).unwrap().unwrap().unix_millis;
                    let is_superseded = policy == MissedRunPolicy::RunOnce
                        && starts > next - (min_gap as i64).max(1);
                    let kept = if is_superseded { 0 } else { chosen.len() };
                    expected_superseded += (chosen.len() - kept) as u128;
                    let chosen: Vec<_> = chosen.into_iter().take(kept).collect();
                    let late = chosen.iter().map(|run| (index, piece, run.0, run.1, true));
                    expected.extend(late);
                    expected.extend(on_time.iter().map(|run| (index, piece, run.0, run.1, false)));
                }
            }
            prop_assert_eq!(rows.id_indexes.len(), expected.len());
            prop_assert_eq!(rows.dropped, expected_drops as u128);
            prop_assert_eq!(rows.superseded, expected_superseded);
            superseded += rows.superseded;
            let mut previous = (0, 0, i64::MIN);
            for (row, (index, piece, cycle, scheduled, is_late)) in expected.into_iter().enumerate() {
                prop_assert_eq!(rows.id_indexes[row], index);
                prop_assert_eq!(rows.piece_indexes[row], piece);
                prop_assert_eq!(rows.cycle_indexes[row], cycle);
                prop_assert_eq!(rows.scheduled_unix_millis[row], scheduled);
                let begins = rows.start_unix_millis[row];
                if is_late {
                    prop_assert!(begins >= seen && begins < seen + (smear as i64).max(1));
                    prop_assert!(previous <= (index, piece, begins), "late runs keep their order");
                    previous = (index, piece, begins);
                } else {
                    prop_assert_eq!(begins, scheduled);
                }
                *given.entry((index, piece, cycle)).or_default() += 1;
            }
        }
        prop_assert!(given.values().all(|times| *times == 1), "none is given twice");
        let all: usize = ids
            .iter()
            .map(|(_, place, pieces)| -> usize {
                let of = |piece| schedule.piece(place, piece);
                (0..*pieces).map(|piece| runs_by_walking(&schedule, &of(piece), start, watermark).len()).sum()
            })
            .sum();
        let ended = given.len() as u128 + dropped + superseded;
        prop_assert_eq!(ended, all as u128, "none is lost");
        if policy == MissedRunPolicy::RunAll && horizon.is_none() {
            prop_assert_eq!(dropped, 0);
            prop_assert_eq!(given.len(), all);
        }
        prop_assert!(late <= given.len() as u128);
    }
}

fn eight_hours() -> Schedule {
    Schedule::try_new(&ScheduleSpec::every(Span::from_seconds(28_800))).unwrap()
}

/// After an outage of 3 hours, 7,500 of 20,000 IDs are late. Smeared over an hour, no minute gets
/// many more than its share, and the IDs of one slot do not cluster.
#[test]
fn late_runs_are_smeared_evenly_and_not_by_slot() {
    let schedule = eight_hours();
    let names: Vec<String> = (0..20_000).map(|number| format!("user-{number}")).collect();
    let ids: Vec<_> = names
        .iter()
        .map(|name| {
            let id = Id::text(name).unwrap();
            (id, schedule.place(&id).unwrap(), 1)
        })
        .collect();
    let (now, hour) = (1_767_225_600_000, 3_600_000);
    let spec =
        DueSpec { smear_span: Some(Span::from_millis(hour as u64)), ..DueSpec::until(millis(now)) };
    let (rows, _) = ask(&schedule, &spec, &ids, now - 3 * hour);
    let late: Vec<usize> =
        (0..rows.id_indexes.len()).filter(|row| rows.start_unix_millis[*row] >= now).collect();
    assert!((7_200..7_800).contains(&late.len()), "{}", late.len());
    let mut minutes = [0u32; 60];
    let mut of_a_slot = [0u32; 60];
    for row in late {
        let minute = ((rows.start_unix_millis[row] - now) / 60_000) as usize;
        minutes[minute] += 1;
        let slot = ids[rows.id_indexes[row] as usize].1.slot;
        of_a_slot[minute] += u32::from((84..87).contains(&slot)); // three of 48 slots
    }
    // 125 a minute on average, with a standard deviation of 11.
    assert!(minutes.iter().all(|count| (75..180).contains(count)), "{minutes:?}");
    assert!(of_a_slot.iter().filter(|count| **count > 0).count() > 55, "{of_a_slot:?}");
}

/// A run every millisecond for ten years: missed runs are counted without a walk over them, and
/// too many rows are refused.
#[test]
fn missed_runs_are_counted_however_many() {
    let schedule = Schedule::try_new(&ScheduleSpec {
        resolution: Some(Span::from_millis(1)),
        slot_count: Some(1),
        ..ScheduleSpec::every(Span::from_millis(1))
    })
    .unwrap();
    let id = Id::text("busy").unwrap();
    let ids = [(id, schedule.place(&id).unwrap(), 1)];
    let now = 1_767_225_600_000;
    let ten_years = 3_660 * 86_400_000;
    let spec = |policy| DueSpec {
        missed_run_policy: policy,
        on_time_tolerance: Some(Span::from_seconds(0)),
        horizon: Some(Span::from_millis(ten_years as u64)),
        ..DueSpec::until(millis(now))
    };
    let (rows, _) = ask(&schedule, &spec(MissedRunPolicy::RunOnce), &ids, now - 2 * ten_years);
    // The missed run would start with the next one, which is due now.
    assert_eq!((rows.scheduled_unix_millis, rows.superseded), (vec![], 1));
    assert_eq!(rows.dropped, 2 * ten_years as u128 - 1);

    let all = spec(MissedRunPolicy::RunAll);
    let due = Due::try_new(&schedule, &all).unwrap();
    // The last run is on a page of its own; more runs than fit on all pages are refused.
    for (first_row, count, next) in [(0, 65_536, Some(65_536)), (65_536, 1, None)] {
        let mut rows = DueRuns::page(first_row, 65_536).unwrap();
        due.add(&mut rows, (0, 0), &id, &ids[0].1, now - 65_537);
        let rows = rows.complete().unwrap();
        assert_eq!((rows.id_indexes.len(), rows.next_row()), (count, next));
    }
    let mut rows = DueRuns::default();
    due.add(&mut rows, (0, 0), &id, &ids[0].1, now - 16_777_217);
    let refused = rows.complete().map(|_| ()).unwrap_err();
    assert_eq!((refused.field.as_str(), refused.reason), ("ids", Reason::OutOfRange));
    assert!(refused.value.contains("16777217"), "{refused}");
    let (rows, _) = ask(&schedule, &all, &ids, now - 65_536);
    assert_eq!(rows.id_indexes.len(), 65_536);
    let mut rows = DueRuns::default();
    due.add(&mut rows, (0, 0), &id, &ids[0].1, now - ten_years);
    assert!(rows.id_indexes.capacity() == 0 && rows.complete().is_err());
}

#[test]
fn watermarks_may_lie_ahead_by_the_skew_and_no_more() {
    let schedule = eight_hours();
    let now = 1_767_225_600_000;
    let due = Due::try_new(&schedule, &DueSpec::until(millis(now))).unwrap();
    assert_eq!(due.check_watermark(now + 60_000), Ok(now + 60_000));
    assert_eq!(due.next_watermark(now + 60_000), now + 60_000);
    let refused = due.check_watermark(now + 60_001).unwrap_err();
    assert!(refused.allowed.contains("2026-01-01T00:01:00Z"), "{refused}");
    assert!(due.check_watermark(i64::MAX).is_err() && due.check_watermark(i64::MIN).is_err());
}

/// If now is not a whole millisecond, the runs around it are still due once: now or at the next
/// poll.
#[test]
fn parts_of_a_millisecond_lose_nothing() {
    let schedule = Schedule::try_new(&ScheduleSpec {
        resolution: Some(Span::from_millis(1)),
        slot_count: Some(1),
        ..ScheduleSpec::every(Span::from_millis(1))
    })
    .unwrap();
    let id = Id::text("a").unwrap();
    let ids = [(id, schedule.place(&id).unwrap(), 1)];
    let spec = |nanos| DueSpec {
        missed_run_policy: MissedRunPolicy::RunAll,
        horizon: Some(Span::from_seconds(1)),
        max_clock_skew: Some(Span::from_seconds(0)),
        ..DueSpec::until(Moment::try_new(0, nanos).unwrap())
    };
    let (rows, watermark) = ask(&schedule, &spec(4_500_000), &ids, 3);
    assert_eq!((rows.scheduled_unix_millis, watermark), (vec![3, 4], 5));
    let (rows, watermark) = ask(&schedule, &spec(4_600_000), &ids, watermark);
    assert_eq!((rows.scheduled_unix_millis, watermark), (vec![], 5));
    let (rows, _) = ask(&schedule, &spec(5_000_001), &ids, watermark);
    assert_eq!(rows.scheduled_unix_millis, [5]);
}
