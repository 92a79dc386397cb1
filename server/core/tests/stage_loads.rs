//! How long backlogs last, how many workers keep up with arrivals, and how jobs flow from stage to
//! stage, checked against the definitions in exact fractions.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_sign_loss,
    reason = "numbers of tests are small and above zero"
)]

mod pipelines;

use num_rational::Ratio;
use offbeat_core::stages::{Arrivals, Flow, FlowStage, Plan, StageSpec};
use offbeat_core::{Reason, Span};
use pipelines::{plan, spec, stage};
use proptest::prelude::*;

type Fraction = Ratio<i128>;

const SECOND: Span = Span::from_seconds(1);

fn with_arrivals(stage: StageSpec, count: i64, period: Span) -> StageSpec {
    StageSpec { arrivals: Some(Arrivals { count, period }), ..stage }
}

fn drain(plan: &Plan, at: usize) -> Option<u64> {
    let stage = &plan.stages[at];
    stage.load.drain_micros(stage.worker_count)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3_000))]

    /// At the reported time, and no sooner, the work done equals the backlog and all arrivals.
    #[test]
    fn a_backlog_is_done_when_the_workers_have_caught_up(
        backlog in prop_oneof![0..4_i64, 0..1_000_000_000_i64],
        mean_nanos in prop_oneof![0..5_u64, 1..1_000_000_000_u64, Just(86_400_000_000_000)],
        count in prop_oneof![Just(0), 1..20_i64, 1..1_000_000_i64],
        period in prop_oneof![1_000_000..5_000_000_u64, Just(1_000_000_000), Just(366 * 86_400 * 1_000_000_000)],
        workers in 0..1_000_i64,
    ) {
        let stages = [with_arrivals(
            StageSpec { backlog_count: backlog, run_times: vec![Span::from_nanos(mean_nanos)], ..stage(0, 0) },
            count,
            Span::from_nanos(period),
        )];
        let found = spec(&stages, workers).plan();
        prop_assume!(found.is_ok());
        let found = found.unwrap().unwrap();
        let stable = found.stages[0].load.min_stable_workers();

        let arriving = Fraction::new(count.into(), period.into()); // jobs per nanosecond
        let busy = arriving * i128::from(mean_nanos);
        if count == 0 {
            prop_assert_eq!(stable, 0);
        } else {
            prop_assert!(busy < i128::from(stable).into());
            prop_assert!(stable == 1 || busy >= (i128::from(stable) - 1).into());
        }

        // In jobs times nanoseconds, because a run time may be zero.
        let left = |micros: u64| {
            let nanos = i128::from(micros) * 1_000;
            (arriving * nanos + i128::from(backlog)) * i128::from(mean_nanos)
                - i128::from(workers) * nanos
        };
        match drain(&found, 0) {
            Some(0) => prop_assert!(backlog == 0 || mean_nanos == 0),
            Some(micros) => {
                prop_assert!(left(micros) <= 0.into());
                prop_assert!(left(micros - 1) > 0.into());
            }
            None => {
                let never = stable > u64::try_from(workers).unwrap() || workers == 0;
                prop_assert!(never || left(i64::MAX.unsigned_abs()) > 0.into());
                prop_assert!(backlog > 0 || count > 0);
            }
        }
    }

    /// While workers are busy, one long step equals several short ones: no part of a job is lost.
    #[test]
    fn parts_of_jobs_are_kept(
        means in prop::collection::vec(1..9_000_000_000_u64, 1..4),
        workers in 0..50_u64,
        count in 0..1_000_i64,
        steps in prop::collection::vec(0..100_000_000_000_u64, 1..6),
    ) {
        let stages: Vec<FlowStage> = means
            .iter()
            .map(|mean| {
                let arrivals = Some(Arrivals { count, period: Span::from_seconds(7) });
                FlowStage { worker_count: workers, mean_nanos: *mean, arrivals }
            })
            .collect();
        // A backlog so large that no worker idles.
        let full = Flow::new(means.iter().map(|_| 1 << 50));
        let (mut at_once, mut stepwise) = (full.clone(), full);
        let left = at_once.advance(&stages, Span::from_nanos(steps.iter().sum())).unwrap();
        let steps = steps.iter().map(|step| stepwise.advance(&stages, Span::from_nanos(*step)).unwrap());
        prop_assert_eq!(steps.sum::<u64>(), left);
        prop_assert_eq!(at_once, stepwise);
    }

    /// Every job is accounted for.
    #[test]
    fn no_job_is_lost_between_stages(
        backlogs in prop::collection::vec(0..1_000_u64, 3),
        workers in prop::collection::vec(0..9_u64, 3),
        count in 0..500_i64,
        seconds in prop::collection::vec(0..60_i64, 1..8),
    ) {
        let stage = |(at, workers): (usize, &u64)| FlowStage {
            worker_count: *workers,
            mean_nanos: 700_000_000 * (at as u64 + 1),
            arrivals: (at == 0).then_some(Arrivals { count, period: SECOND }),
        };
        let stages: Vec<FlowStage> = workers.iter().enumerate().map(stage).collect();
        let mut flow = Flow::new(backlogs.iter().copied());
        let mut all = backlogs.iter().sum::<u64>();
        for seconds in seconds {
            let before: Vec<u64> = flow.backlogs().collect();
            let finished = flow.advance(&stages, Span::from_seconds(seconds)).unwrap();
            all += (count * seconds) as u64;
            all -= finished;
            prop_assert_eq!(flow.backlogs().sum::<u64>(), all);
            // No stage finishes more than its workers can.
            let done = before[2] + before[1] + before[0] + (count * seconds) as u64;
            prop_assert!(finished <= done && finished * 2_100 <= workers[2] * seconds as u64 * 1_000 + 2_100);
        }
    }

    /// The flow empties a queue at the predicted time, and no sooner.
    #[test]
    fn the_flow_agrees_with_the_time_to_drain(
        backlog in 1..10_000_i64, millis in 1..10_000_u64, workers in 1..40_i64, count in 0..30_i64,
    ) {
        let period = Span::from_seconds(3);
        let stages = [with_arrivals(
            StageSpec { backlog_count: backlog, run_times: vec![Span::from_millis(millis)], ..stage(0, 0) },
            count,
            period,
        )];
        let found = plan(&spec(&stages, workers));
        let working = [FlowStage {
            worker_count: u64::try_from(workers).unwrap(),
            mean_nanos: millis * 1_000_000,
            arrivals: stages[0].arrivals,
        }];
        let after = |micros: u64| {
            let mut flow = Flow::new([backlog as u64]);
            flow.advance(&working, Span::from_nanos(micros * 1_000)).unwrap();
            flow.backlogs().next().unwrap()
        };
        match drain(&found, 0) {
            Some(micros) => {
                prop_assert_eq!(after(micros), 0);
                prop_assert!(count > 0 || after(micros - 1) > 0);
            }
            None => prop_assert!(after(1_000_000_000_000) > 0),
        }
    }
}

#[test]
fn arrivals_pass_on_to_the_stages_behind() {
    let plain = |millis| StageSpec { run_times: vec![Span::from_millis(millis)], ..stage(0, 0) };
    // 600 a minute of 0.4, 1.5, 6, 2 and 0.1 s keep 4, 15, 60, 20 and 1 workers busy.
    let mut stages = [400, 1_500, 6_000, 2_000, 100].map(plain).to_vec();
    stages[0] = with_arrivals(plain(400), 600, Span::from_seconds(60));
    let stable = |stages: &[StageSpec]| -> Vec<u64> {
        let found = plan(&spec(stages, 32));
        found.stages.iter().map(|stage| stage.load.min_stable_workers()).collect()
    };
    assert_eq!(stable(&stages), [5, 16, 61, 21, 2]);
    // Half of the jobs end after the second stage, and a stage that is done gets no arrivals.
    stages[2] = with_arrivals(plain(6_000), 5, SECOND);
    stages[4].done = true;
    assert_eq!(stable(&stages), [5, 16, 31, 11, 0]);
    stages[0].arrivals = None;
    assert_eq!(stable(&stages), [0, 0, 31, 11, 0]);
}

#[test]
fn arrivals_do_not_change_the_allocation() {
    let stages = [stage(30, 0), stage(10, 0)];
    let arriving =
        [with_arrivals(stage(30, 0), 1, SECOND), with_arrivals(stage(10, 0), 99, SECOND)];
    let found = [&stages[..], &arriving[..]].map(|stages| {
        plan(&spec(stages, 7)).stages.iter().map(|stage| stage.worker_count).collect::<Vec<_>>()
    });
    assert_eq!(found[0], found[1]);
}

#[test]
fn as_many_as_arrive_exactly_are_not_enough() {
    // 4 jobs a second of 0.5 s each keep two workers busy all the time.
    let found = |workers| {
        plan(&spec(
            &[with_arrivals(
                StageSpec { run_times: vec![Span::from_millis(500)], ..stage(3, 0) },
                4,
                SECOND,
            )],
            workers,
        ))
    };
    assert_eq!(found(2).stages[0].load.min_stable_workers(), 3);
    assert_eq!(drain(&found(2), 0), None);
    // 3 jobs of 0.5 s, and one worker to spare.
    assert_eq!(drain(&found(3), 0), Some(1_500_000));
}

/// The largest allowed values fit into the integers.
#[test]
fn the_longest_times_are_exact_or_never() {
    let year = Span::from_seconds(366 * 86_400);
    let large =
        StageSpec { backlog_count: i64::MAX / 1_000_000, run_times: vec![SECOND], ..stage(0, 0) };
    let found = plan(&spec(&[with_arrivals(large.clone(), 1, year)], 1));
    assert_eq!(found.stages[0].load.min_stable_workers(), 1);
    assert_eq!(drain(&found, 0), None, "longer than 2^63 µs by a little");
    let found = plan(&spec(&[with_arrivals(large.clone(), 1, year)], 1_000_000_000));
    assert_eq!(drain(&found, 0), Some(9_223_372_037));
    assert_eq!(drain(&plan(&spec(&[large], 1)), 0), Some(9_223_372_036_854_000_000));
    let tiny =
        StageSpec { backlog_count: i64::MAX, run_times: vec![Span::from_nanos(0)], ..stage(0, 0) };
    assert_eq!(drain(&plan(&spec(std::slice::from_ref(&tiny), 1)), 0), Some(0));
    assert_eq!(drain(&plan(&spec(&[tiny], 0)), 0), None);
}

#[test]
fn arrivals_out_of_range_are_refused_by_name() {
    let refused = |stages: &[StageSpec]| {
        let refused = spec(stages, 3).plan().unwrap_err();
        (refused.field, refused.reason)
    };
    let at = |count, period| with_arrivals(stage(1, 0), count, period);
    let name = |field: &str, reason| (format!("stages[1].{field}"), reason);
    let first = stage(1, 0);
    for (second, field, reason) in [
        (at(-1, SECOND), "arrival_count", Reason::OutOfRange),
        (at(1, Span::from_nanos(999_999)), "arrival_period", Reason::OutOfRange),
        (at(0, Span::from_seconds(-1)), "arrival_period", Reason::OutOfRange),
        (at(1, Span::from_seconds(366 * 86_400 + 1)), "arrival_period", Reason::OutOfRange),
        (at(1_000_000_000, SECOND), "arrival_count", Reason::OutOfRange),
        (StageSpec { done: true, ..at(1, SECOND) }, "arrival_count", Reason::Contradictory),
    ] {
        assert_eq!(refused(&[first.clone(), second]), name(field, reason));
    }
    let done = StageSpec { done: true, ..at(0, SECOND) };
    assert!(spec(&[first.clone(), done], 3).plan().is_ok());
    assert!(spec(&[first, at(999_999_999, SECOND)], 3).plan().is_ok());
}
