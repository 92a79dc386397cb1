//! Plans for jobs of known types: lanes by type, compared with timeouts and a single queue.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation
)]

use offbeat_core::Span;
use offbeat_core::lanes::OnTimeout;
use offbeat_sim::distribution::Distribution;
use offbeat_sim::lanes::{Plan, PlanSpec, Verdict};

/// Run times in microseconds, at `count` evenly spaced quantiles.
fn micros(count: u32, quantile: impl Fn(f64) -> f64) -> Vec<i64> {
    let share = |place: u32| (f64::from(place) + 0.5) / f64::from(count);
    (0..count).map(|place| (quantile(share(place)) * 1e6) as i64 + 1).collect()
}

fn plan_of(types: &[Vec<i64>], load: f64, worker_count: i64, seed: i64) -> Plan {
    let types: Vec<&[i64]> = types.iter().map(Vec::as_slice).collect();
    let run_times = Distribution::of_samples_by_type(&types).unwrap();
    let spec = PlanSpec {
        arrival_rate: load * worker_count as f64 / run_times.all().first,
        run_times,
        worker_count,
        tolerated_wait: None,
        slowdown_floor: None,
        on_timeout: OnTimeout::Abort,
        max_lane_count: None,
        seed,
    };
    spec.plan().unwrap()
}

/// Exponential run times with this mean, in seconds.
fn exponential(count: u32, mean: f64) -> Vec<i64> {
    micros(count, |share| -mean * (1.0 - share).ln())
}

/// One in ten runs for 40 s, all others for a second.
fn two_lengths(count: u32) -> Vec<i64> {
    micros(count, |share| if share < 0.9 { 1.0 } else { 40.0 })
}

#[test]
fn where_types_tell_short_from_long_nothing_needs_to_run_twice() {
    let types = [exponential(1_800, 0.5), exponential(200, 40.0), exponential(2_000, 0.3)];
    for seed in 0..4 {
        let plan = plan_of(&types, 0.7, 6, seed);
        assert_eq!(plan.verdict, Verdict::LanesByType, "{seed}: {:?}", plan.by_type);
        let found = plan.by_type.unwrap();
        assert_eq!(found.slow_types, [1], "{seed}");
        assert_eq!(found.express_workers + found.slow_workers, 6, "{seed}");
        assert!(found.has_room && found.slowdown_ratio.high < 0.5, "{seed}: {found:?}");
        let by_type = plan.rates[0].by_type.as_ref().unwrap();
        assert!(by_type.median.wasted_ratio == 0.0 && by_type.median.failed == 0);
        let queue = &plan.rates[0].without_lanes.median;
        for short in [0, 2] {
            let (with, without) = (&by_type.median.types[short], &queue.types[short]);
            assert!(with.mean_sojourn < without.mean_sojourn, "{seed}");
        }
    }
}

#[test]
fn where_types_say_nothing_only_timeouts_help() {
    for seed in 0..4 {
        let plan = plan_of(&[two_lengths(1_000), two_lengths(1_000)], 0.7, 4, seed);
        assert_eq!(plan.verdict, Verdict::Lanes, "{seed}: {:?}", plan.by_type);
        let by_type = plan.by_type.unwrap();
        assert!(by_type.slowdown_to_timeouts.unwrap().low > 1.5, "{seed}: {by_type:?}");
        // The same share of both types reaches the timeout.
        assert_eq!(plan.demoted, [0.1, 0.1]);
    }
}

#[test]
fn where_all_jobs_are_alike_types_are_no_reason_for_lanes() {
    let plan = plan_of(&[exponential(1_000, 1.0), exponential(1_000, 1.2)], 0.8, 4, 1);
    assert_eq!(plan.verdict, Verdict::NoLanes, "{:?}", plan.by_type);
    let plan = plan_of(&[exponential(1_000, 1.0)], 0.8, 4, 1);
    assert_eq!((plan.verdict, plan.by_type), (Verdict::NoLanes, None));
    let plan = plan_of(&[exponential(1_000, 1.0), exponential(100, 50.0)], 0.5, 1, 1);
    assert_eq!((plan.verdict, plan.by_type), (Verdict::NoLanes, None));
}

/// A type that fills the slow lane on its own: enough workers must be left for it.
#[test]
fn the_slow_lane_keeps_up_with_a_fifth_more() {
    let plan = plan_of(&[exponential(2_000, 0.2), exponential(400, 10.0)], 0.74, 8, 3);
    let found = plan.by_type.as_ref().unwrap();
    let slow_work = plan.types[0].work_share * plan.utilization * 8.0;
    assert!(found.has_room && f64::from(found.slow_workers) > 1.2 * slow_work, "{found:?}");
    assert!(plan.rates[2].by_type.as_ref().unwrap().keeps_up);
}

#[test]
fn types_are_described_as_they_are() {
    let types = [vec![1_000_000; 90], vec![5_000_000, 3_000_000, 4_000_000, 100_000_000]];
    let plan = plan_of(&types, 0.5, 4, 0);
    let [long, short] = &plan.types[..] else { panic!("two types") };
    assert_eq!((long.place, long.samples, short.place, short.samples), (1, 4, 0, 90));
    let seconds = Span::from_seconds;
    assert_eq!((long.p50, long.p99, long.longest), (seconds(4), seconds(100), seconds(100)));
    assert!((long.mean_seconds - 28.0).abs() < 1e-12);
    assert!((long.work_share - 112.0 / 202.0).abs() < 1e-12);
    assert!((short.share - 90.0 / 94.0).abs() < 1e-12);
}

/// Types do not affect timeouts, because the streams of jobs are the same.
#[test]
fn a_plan_with_timeouts_does_not_depend_on_types() {
    let types = [exponential(1_800, 0.5), two_lengths(2_000)];
    let typed = plan_of(&types, 0.7, 4, 5);
    let untyped = plan_of(&[types.concat()], 0.7, 4, 5);
    assert_eq!((&typed.lanes, &typed.cutoffs), (&untyped.lanes, &untyped.cutoffs));
}

/// By the formula, five of eight workers are best for reports, but they leave no room for a fifth
/// more. The best split with room is not a neighbour of the best split with other types.
#[test]
fn the_split_with_room_is_found() {
    let mail = micros(14_000, |share| 0.1 + 0.2 * share);
    let webhook = exponential(5_000, 1.0);
    let report = micros(1_000, |share| 22.0 + 16.0 * share);
    let plan = plan_of(&[mail, webhook, report], 0.7, 8, 0);
    let found = plan.by_type.as_ref().unwrap();
    assert_eq!((&found.slow_types[..], found.slow_workers), (&[2][..], 6), "{found:?}");
    assert_eq!(plan.verdict, Verdict::LanesByType, "{found:?}");
}
