//! Lanes: the timeline of the source, and a second implementation of the rule of choice.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use offbeat_core::lanes::{
    DispatchOutcome, Job, LanePolicy, LaneSet, LaneSetSpec, LaneSpec, LaneState, OnTimeout,
    Outcome, Prediction, RouteWhy, SplitSpec, dispatch,
};
use offbeat_core::{Reason, Span};
use proptest::prelude::*;
use serde_json::Value;

fn lane(worker_count: i64, seconds: i64) -> LaneSpec {
    LaneSpec { worker_count, attempt_timeout: Some(Span::from_seconds(seconds)) }
}

fn lanes(lanes: &[LaneSpec]) -> LaneSetSpec {
    LaneSetSpec { lanes: lanes.to_vec(), ..LaneSetSpec::default() }
}

fn untried() -> Job {
    Job { timed_out: vec![], prediction: None }
}

/// Dispatches again whenever a job ends, as its source describes it.
#[test]
fn the_timeline_of_the_source() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = path.join("../../tests/vectors/express_lane_timeline.json");
    let golden: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let set = lanes(&[lane(1, 60), lane(1, 900)]).check().unwrap();
    let run_time = |job: &str| if job.starts_with("fast") { 10 } else { 600 };
    let mut pending: Vec<(&str, Job)> =
        ["fast1", "slow1", "slow2", "fast2"].map(|name| (name, untried())).to_vec();
    // For each lane, the running job, its end, and whether it ends by its timeout.
    let mut running: BTreeMap<usize, (&str, Job, i64, bool)> = BTreeMap::new();
    let (mut now, mut wasted) = (0, 0);
    let (mut timeline, mut finished) = (Vec::new(), serde_json::Map::new());
    loop {
        let free: Vec<i64> = (0..2).map(|lane| i64::from(!running.contains_key(&lane))).collect();
        let jobs: Vec<Job> = pending.iter().map(|(_, job)| job.clone()).collect();
        let DispatchOutcome { placements, failures } = dispatch(&set, &free, &jobs).unwrap();
        assert!(failures.is_empty());
        for placement in &placements {
            let (name, job) = pending[placement.job].clone();
            let timeout = placement.route.timeout.unwrap().parts().0;
            let is_late = run_time(name) > timeout;
            let end = now + run_time(name).min(timeout);
            running.insert(placement.route.lane, (name, job, end, is_late));
        }
        let taken: Vec<usize> = placements.iter().map(|placement| placement.job).collect();
        let mut place = 0..;
        pending.retain(|_| !taken.contains(&place.next().unwrap()));
        let in_lane = |lane| running.get(&lane).map(|(name, ..)| *name);
        timeline.push(serde_json::json!({ "at": now, "express": in_lane(0), "slow": in_lane(1) }));
        let Some(next) = running.values().map(|(_, _, end, _)| *end).min() else { break };
        now = next;
        let ended: Vec<usize> =
            running.iter().filter(|(_, (_, _, end, _))| *end == now).map(|(l, _)| *l).collect();
        for lane in ended {
            let (name, mut job, _, is_late) = running.remove(&lane).unwrap();
            if is_late {
                wasted += set.timeout(lane).unwrap().parts().0;
                job.timed_out.push(lane);
                pending.push((name, job));
            } else {
                finished.insert(name.to_owned(), now.into());
            }
        }
    }
    assert_eq!(Value::Array(timeline), golden["timeline"]);
    assert_eq!(Value::Object(finished), golden["finished"]);
    assert_eq!(wasted, golden["wasted_seconds"].as_i64().unwrap());
}

#[test]
fn jobs_are_routed_by_the_timeouts_that_they_reached() {
    // The third lane has no workers, so no job goes there.
    let spec = lanes(&[lane(2, 1), lane(1, 10), lane(0, 100), lane(1, 1_000)]);
    let set = spec.check().unwrap();
    let route =
        |timed_out: &[usize], prediction| match set.route(timed_out, prediction, None).unwrap() {
            Outcome::Route(route) => (route.lane, route.attempt, route.on_timeout, route.why),
            Outcome::Failed { lane } => panic!("failed after {lane}"),
        };
    assert_eq!(route(&[], None), (0, 1, Some(1), RouteWhy::Untried));
    assert_eq!(route(&[0], None), (1, 2, Some(3), RouteWhy::Demoted));
    assert_eq!(route(&[1, 0], None), (3, 3, None, RouteWhy::Demoted));
    // An idle worker of the slow lane took it and it reached the timeout there: no lane is slower.
    assert_eq!(set.route(&[3], None, None).unwrap(), Outcome::Failed { lane: 3 });
    let run_time = |seconds| Some(Prediction::RunTime(Span::from_seconds(seconds)));
    assert_eq!(route(&[], run_time(1)), (0, 1, Some(1), RouteWhy::Untried));
    assert_eq!(route(&[], run_time(10)), (1, 1, Some(3), RouteWhy::PredictedSlow));
    assert_eq!(route(&[], run_time(11)), (3, 1, None, RouteWhy::PredictedSlow));
    assert_eq!(route(&[], run_time(5_000)), (3, 1, None, RouteWhy::PredictedSlow));
    // Timeouts that a job has reached take precedence over a prediction.
    assert_eq!(route(&[0], run_time(5_000)), (1, 2, Some(3), RouteWhy::Demoted));
    // The lane of the worker that took the job counts, unless that lane is too fast for the job.
    let by = |timed_out: &[usize], worker| match set.route(timed_out, None, Some(worker)).unwrap() {
        Outcome::Route(route) => (route.lane, route.timeout, route.why),
        Outcome::Failed { lane } => panic!("failed after {lane}"),
    };
    let timeout = |seconds| Some(Span::from_seconds(seconds));
    assert_eq!(by(&[], 0), (0, timeout(1), RouteWhy::Untried));
    assert_eq!(by(&[], 3), (3, timeout(1_000), RouteWhy::IdleWorker));
    assert_eq!(by(&[0], 0), (1, timeout(10), RouteWhy::Demoted));
    assert_eq!(by(&[0], 1), (1, timeout(10), RouteWhy::Demoted));
    for lane in [2, 4] {
        assert_eq!(set.route(&[], None, Some(lane)).unwrap_err().field, "worker_lane_name");
    }
    let strict = LaneSetSpec { max_express_slow_probability: Some(0.5), ..spec.clone() };
    let strict = strict.check().unwrap();
    for (probability, lane) in [(0.5, 0), (0.500_001, 1), (1.0, 1)] {
        let outcome = strict.route(&[], Some(Prediction::SlowProbability(probability)), None);
        let Outcome::Route(route) = outcome.unwrap() else { panic!("failed") };
        assert_eq!(route.lane, lane, "{probability}");
    }
    let suspended = LaneSetSpec { on_timeout: OnTimeout::Suspend, ..spec }.check().unwrap();
    for (timed_out, resumes) in [(vec![], false), (vec![0], true)] {
        let outcome = suspended.route(&timed_out, None, None).unwrap();
        assert!(matches!(outcome, Outcome::Route(route) if route.resumes == resumes));
    }
}

#[test]
fn lanes_that_cannot_work_are_refused_by_name() {
    let refused = |spec: &LaneSetSpec| {
        let refused = spec.check().unwrap_err();
        (refused.field, refused.reason)
    };
    let expect = |field: &str, reason| (field.to_owned(), reason);
    let (one, range) = (lane(1, 60), Reason::OutOfRange);
    assert_eq!(refused(&lanes(&[one])), expect("lanes", range));
    assert_eq!(refused(&lanes(&[one; 17])), expect("lanes", range));
    assert_eq!(refused(&lanes(&[lane(0, 1), one])), expect("lanes[0].worker_count", range));
    assert_eq!(refused(&lanes(&[one, lane(0, 90)])), expect("lanes[1].worker_count", range));
    assert_eq!(refused(&lanes(&[one, lane(-1, 90)])), expect("lanes[1].worker_count", range));
    assert_eq!(refused(&lanes(&[lane(1, 0), one])), expect("lanes[0].attempt_timeout", range));
    let same = expect("lanes[1].attempt_timeout", Reason::Contradictory);
    assert_eq!(refused(&lanes(&[one, one])), same);
    let open = LaneSpec { worker_count: 1, attempt_timeout: None };
    let missing = expect("lanes[0].attempt_timeout", Reason::FieldMissing);
    assert_eq!(refused(&lanes(&[open, one])), missing);
    assert!(lanes(&[one, open]).check().is_ok());
    for probability in [-0.1, 1.1, f64::NAN] {
        let spec =
            LaneSetSpec { max_express_slow_probability: Some(probability), ..lanes(&[one, open]) };
        assert_eq!(refused(&spec), expect("max_express_slow_probability", range));
    }
    let set = lanes(&[one, open]).check().unwrap();
    let job = Job { prediction: Some(Prediction::SlowProbability(2.0)), ..untried() };
    let error = dispatch(&set, &[0, 0], &[untried(), job]).unwrap_err();
    assert_eq!(error.field, "jobs[1].prediction.slow_probability");
    assert_eq!(dispatch(&set, &[0, 2], &[]).unwrap_err().field, "free_workers[1].worker_count");
    assert_eq!(dispatch(&set, &[0], &[]).unwrap_err().field, "free_workers");
}

fn lane_sets() -> impl Strategy<Value = LaneSet> {
    let policy = prop_oneof![Just(LanePolicy::ExpressFirst), Just(LanePolicy::SlowFirst)];
    (prop::collection::vec(0..4_i64, 2..6), policy, 0..11_u8).prop_map(
        |(counts, policy, tenths)| {
            let last = counts.len() - 1;
            let lane = |(place, count): (usize, i64)| LaneSpec {
                worker_count: if place == 0 || place == last { count.max(1) } else { count },
                attempt_timeout: Some(Span::from_seconds(
                    10_i64.pow(u32::try_from(place).unwrap()),
                )),
            };
            LaneSetSpec {
                lanes: counts.into_iter().enumerate().map(lane).collect(),
                policy,
                on_timeout: OnTimeout::Abort,
                max_express_slow_probability: Some(f64::from(tenths) / 10.0),
            }
            .check()
            .unwrap()
        },
    )
}

fn jobs() -> impl Strategy<Value = Vec<Job>> {
    let prediction = prop_oneof![
        2 => Just(None),
        1 => (0..11_u8).prop_map(|p| Some(Prediction::SlowProbability(f64::from(p) / 10.0))),
        1 => (0..20_000_i64).prop_map(|s| Some(Prediction::RunTime(Span::from_seconds(s)))),
    ];
    let job = (prop::collection::vec(0..2_usize, 0..3), prediction)
        .prop_map(|(timed_out, prediction)| Job { timed_out, prediction });
    prop::collection::vec(job, 0..30)
}

/// The most jobs that free workers can take at once, by the fastest lane of each job. Maximum
/// matching by augmenting paths.
fn served(entries: &[usize], free: &[i64]) -> usize {
    let workers: Vec<usize> = (0..free.len())
        .flat_map(|lane| std::iter::repeat_n(lane, usize::try_from(free[lane]).unwrap()))
        .collect();
    fn serve(
        job: usize,
        entries: &[usize],
        workers: &[usize],
        has: &mut [Option<usize>],
        seen: &mut [bool],
    ) -> bool {
        for worker in 0..workers.len() {
            if workers[worker] < entries[job] || std::mem::replace(&mut seen[worker], true) {
                continue;
            }
            if has[worker].is_none_or(|other| serve(other, entries, workers, has, seen)) {
                has[worker] = Some(job);
                return true;
            }
        }
        false
    }
    let mut has = vec![None; workers.len()];
    (0..entries.len())
        .filter(|job| serve(*job, entries, &workers, &mut has, &mut vec![false; workers.len()]))
        .count()
}

/// The rule of choice, one worker at a time, by a scan of all jobs each time.
fn chosen(set: &LaneSet, free: &[i64], jobs: &[Job]) -> Vec<(usize, usize)> {
    let slow = |job: &Job| match job.prediction {
        _ if !job.timed_out.is_empty() => 0.0,
        None => 0.0,
        Some(Prediction::SlowProbability(probability)) => probability,
        Some(Prediction::RunTime(time)) if time > set.timeout(0).unwrap() => 1.0,
        Some(Prediction::RunTime(_)) => 0.0,
    };
    let entry = |job: &Job| match set.route(&job.timed_out, job.prediction, None).unwrap() {
        Outcome::Route(route) => Some(route.lane),
        Outcome::Failed { .. } => None,
    };
    let demoted_to = |job: &Job| if job.timed_out.is_empty() { 0 } else { entry(job).unwrap() };
    let refused_express = |job: &Job| job.timed_out.is_empty() && entry(job).unwrap() > 0;
    let mut left: Vec<usize> = (0..jobs.len()).filter(|at| entry(&jobs[*at]).is_some()).collect();
    left.sort_by(|a, b| slow(&jobs[*a]).total_cmp(&slow(&jobs[*b])));
    let mut placements = Vec::new();
    for lane in (0..free.len()).rev() {
        for _ in 0..free[lane] {
            let may: Vec<usize> =
                left.iter().copied().filter(|at| entry(&jobs[*at]).unwrap() <= lane).collect();
            let by_rule = |at: &usize| {
                let job = &jobs[*at];
                let preference = match set.policy {
                    LanePolicy::ExpressFirst => usize::MAX - demoted_to(job),
                    LanePolicy::SlowFirst => 0,
                };
                let order = left.iter().position(|other| other == at).unwrap();
                (refused_express(job), preference, order)
            };
            // A worker leaves a job to faster lanes that would otherwise run one job less.
            let entries = |without: Option<usize>| -> Vec<usize> {
                let others = left.iter().filter(|at| Some(**at) != without);
                others.map(|at| entry(&jobs[*at]).unwrap()).filter(|entry| *entry < lane).collect()
            };
            let all = served(&entries(None), &free[..lane]);
            let spare: Vec<usize> = may
                .iter()
                .copied()
                .filter(|at| served(&entries(Some(*at)), &free[..lane]) == all)
                .collect();
            let may = if spare.is_empty() { may } else { spare };
            let Some(best) = may.into_iter().min_by_key(by_rule) else { break };
            left.retain(|at| *at != best);
            placements.push((best, lane));
        }
    }
    placements
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3_000))]

    #[test]
    fn dispatching_is_choosing_one_by_one(
        set in lane_sets(), jobs in jobs(), busy in prop::collection::vec(0..3_i64, 5),
    ) {
        let workers = set.lanes().iter().map(|lane| i64::try_from(lane.workers).unwrap());
        let free: Vec<i64> = workers.zip(busy).map(|(count, busy)| (count - busy).max(0)).collect();
        let DispatchOutcome { placements, failures } = dispatch(&set, &free, &jobs).unwrap();
        let placed: Vec<(usize, usize)> =
            placements.iter().map(|placed| (placed.job, placed.route.lane)).collect();
        prop_assert_eq!(&placed, &chosen(&set, &free, &jobs));
        let entries = jobs.iter().filter_map(|job| {
            match set.route(&job.timed_out, job.prediction, None).unwrap() {
                Outcome::Route(route) => Some(route.lane),
                Outcome::Failed { .. } => None,
            }
        });
        // No worker idles while it could run a waiting job, or one that another worker could have
        // left.
        prop_assert_eq!(placed.len(), served(&entries.collect::<Vec<_>>(), &free));
        for placement in &placements {
            prop_assert!(set.lanes()[placement.route.lane].workers > 0);
            let is_express = placement.route.lane == 0;
            prop_assert!(!is_express || jobs[placement.job].timed_out.is_empty());
        }
        let after_last = |job: &Job| job.timed_out.iter().any(|lane| *lane == set.last());
        let failed: Vec<usize> = (0..jobs.len()).filter(|at| after_last(&jobs[*at])).collect();
        prop_assert_eq!(failures.iter().map(|failed| failed.job).collect::<Vec<_>>(), failed);
    }
}

#[test]
fn a_slow_worker_leaves_the_express_lane_its_job() {
    let set = lanes(&[lane(1, 60), lane(1, 900)]).check().unwrap();
    let report = Prediction::RunTime(Span::from_seconds(600));
    let report = Job { timed_out: vec![], prediction: Some(report) };
    let mail = Job { timed_out: vec![], prediction: None };
    let placed = |free: &[i64], jobs: &[Job]| -> Vec<(usize, usize)> {
        let dispatched = dispatch(&set, free, jobs).unwrap();
        dispatched.placements.iter().map(|placed| (placed.job, placed.route.lane)).collect()
    };
    let (two, three) = ([report.clone(), mail.clone()], [report, mail.clone(), mail]);
    assert_eq!(placed(&[1, 1], &two), [(0, 1), (1, 0)]);
    // There is a mail for each worker, so neither takes a job that is predicted to be slow.
    assert_eq!(placed(&[1, 1], &three), [(1, 1), (2, 0)]);
    assert_eq!(placed(&[0, 1], &two), [(1, 1)]);
}

fn split_spec(worker_count: Option<i64>, states: &[LaneState]) -> SplitSpec {
    let states = states.to_vec();
    SplitSpec { worker_count, states, max_move_count: None, min_improvement_percent: 0 }
}

/// Hysteresis: 10 s against 1,000 s of work. Without it, all workers that can move go to the slow
/// lane.
#[test]
fn workers_stay_where_a_move_is_worth_little() {
    let set = lanes(&[lane(3, 1), lane(1, 100)]).check().unwrap();
    let state = |backlog_count, mean| LaneState {
        backlog_count,
        mean_run_time: Some(Span::from_seconds(mean)),
        ..LaneState::default()
    };
    let waits = [state(10, 1), state(10, 100)];
    let split = |max_move_count, min_improvement_percent| {
        let spec =
            SplitSpec { max_move_count, min_improvement_percent, ..split_spec(None, &waits) };
        let split = spec.split(&set).map_err(|refused| refused.field)?;
        Ok::<_, String>(split.iter().map(|lane| lane.worker_count).collect::<Vec<_>>())
    };
    assert_eq!(split(None, 0).unwrap(), [1, 3]);
    assert_eq!(split(Some(1), 0).unwrap(), [2, 2]);
    assert_eq!(split(Some(0), 0).unwrap(), [3, 1]);
    // The score falls from 10/4 + 1000/2 to 10/2 + 1000/4, by 49.2 %.
    assert_eq!(split(None, 49).unwrap(), [1, 3]);
    assert_eq!(split(None, 50).unwrap(), [3, 1]);
    assert_eq!(split(None, 101), Err("min_improvement_percent".to_owned()));
    assert_eq!(split(Some(-1), 0), Err("max_move_count".to_owned()));
}

#[test]
fn a_split_of_no_work_is_that_of_today() {
    let set = lanes(&[lane(4, 1), lane(4, 100)]).check().unwrap();
    let split = |worker_count, states: [LaneState; 2]| -> Vec<u64> {
        split_spec(worker_count, &states)
            .split(&set)
            .unwrap()
            .iter()
            .map(|lane| lane.worker_count)
            .collect()
    };
    let idle = LaneState::default();
    assert_eq!(split(None, [idle, idle]), [4, 4]);
    assert_eq!(split(Some(9), [idle, idle]), [5, 4]);
    assert_eq!(split(Some(7), [idle, idle]), [4, 3]);
    let waits = LaneState { backlog_count: 1, ..idle };
    assert_eq!(split(None, [idle, waits]), [1, 7]);
}

#[test]
fn workers_are_split_by_waiting_work() {
    let set = lanes(&[lane(3, 1), lane(1, 100)]).check().unwrap();
    let state = |backlog_count, mean: Option<i64>, wait: Option<i64>, busy| LaneState {
        backlog_count,
        mean_run_time: mean.map(Span::from_seconds),
        longest_wait: wait.map(Span::from_seconds),
        busy,
    };
    let split = |states: &[LaneState], worker_count| {
        split_spec(worker_count, states).split(&set).map_err(|refused| refused.field)
    };
    let counts = |states: &[LaneState], workers| {
        split(states, workers)
            .map(|split| split.iter().map(|lane| lane.worker_count).collect::<Vec<_>>())
    };
    let express = state(10, Some(1), None, 0);
    // 10 s against 1,000 s of work: 10/2 + 1000/4 is the lowest score with four workers.
    assert_eq!(counts(&[express, state(10, Some(100), None, 0)], None).unwrap(), [1, 3]);
    assert_eq!(counts(&[express, state(0, Some(100), None, 0)], None).unwrap(), [3, 1]);
    assert_eq!(counts(&[express, state(0, None, None, 0)], Some(10)).unwrap(), [9, 1]);
    // Without measurements, a wait of 60 s with one worker is a minute of work, and a job about
    // which nothing is known may run up to the timeout.
    let waited = split(&[express, state(3, None, Some(60), 0)], None).unwrap();
    assert_eq!(waited[1].workload_micros, 60_000_000);
    let unknown = split(&[express, state(3, None, None, 0)], None).unwrap();
    assert_eq!(unknown[1].workload_micros, 300_000_000);
    // Busy workers stay.
    let busy = state(0, Some(1), None, 3);
    assert_eq!(counts(&[busy, state(10, Some(100), None, 0)], None).unwrap(), [3, 1]);
    assert_eq!(counts(&[busy, state(0, None, None, 0)], Some(3)), Err("worker_count".to_owned()));
    assert_eq!(counts(&[express], None), Err("states".to_owned()));
    let bad = state(0, None, None, 2);
    assert_eq!(counts(&[express, bad], None), Err("states[1].busy_worker_count".to_owned()));
}

/// The most workers that may be split: fewer, more and unchanged.
#[test]
#[allow(clippy::disallowed_methods, reason = "it measures")]
fn splitting_millions_of_workers_costs_no_more_than_ten() {
    let begun = Instant::now();
    let million = 1_000_000;
    let set: Vec<LaneSpec> = (1..=16).map(|place| lane(million, place)).collect();
    let set = lanes(&set).check().unwrap();
    for backlog_count in [0, 1, million] {
        let state = LaneState { backlog_count, ..LaneState::default() };
        for worker_count in [None, Some(2), Some(999_983), Some(16 * million)] {
            let split = split_spec(worker_count, &[state; 16]).split(&set).unwrap();
            let sum: u64 = split.iter().map(|lane| lane.worker_count).sum();
            assert_eq!(i64::try_from(sum).unwrap(), worker_count.unwrap_or(16 * million));
        }
    }
    assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
}
