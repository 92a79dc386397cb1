//! Stages that starve, and what a worker for them costs, checked against all allocations.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_precision_loss,
    reason = "numbers of tests are small"
)]

mod pipelines;

use offbeat_core::stages::{AllocationSpec, NextSpec, Rule, StageSpec, Weighting};
use pipelines::{Fraction, all, counts, plan, rules, score, spec, stage, stages, weightings};
use proptest::prelude::*;

fn is_waiting(stage: &StageSpec) -> bool {
    stage.backlog_count > 0 && !stage.done && stage.maximum.is_none_or(|most| most > 0)
}

fn least(stages: &[StageSpec]) -> i64 {
    stages.iter().map(|stage| stage.minimum.max(stage.busy)).sum()
}

/// The same stages, with minima that keep them from starving.
fn with_floors(stages: &[StageSpec]) -> Vec<StageSpec> {
    let floor = |stage: &StageSpec| StageSpec {
        minimum: stage.minimum.max(i64::from(is_waiting(stage))),
        ..stage.clone()
    };
    stages.iter().map(floor).collect()
}

fn best(stages: &[StageSpec], workers: i64) -> Fraction {
    let everything = all(stages, workers);
    everything.iter().map(|counts| score(Rule::MinimumScore, stages, counts)).min().unwrap()
}

/// Jobs take a second, so a score is in seconds. Each of its terms is rounded to 2^-16 µs.
fn is_as_announced(announced_micros: f64, seconds: Fraction) -> bool {
    let micros = seconds * 1_000_000;
    let micros = *micros.numer() as f64 / *micros.denom() as f64;
    (announced_micros - micros).abs() < 1e-3
}

fn starved(stages: &[StageSpec], counts: &[i64]) -> Vec<usize> {
    let places = 0..stages.len();
    places.filter(|at| counts[*at] == 0 && is_waiting(&stages[*at])).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// The announced cost is the difference between the best scores with the floor and without.
    #[test]
    fn a_floor_costs_as_much_as_announced(stages in stages(), more in 0..5_i64) {
        let workers = least(&stages) + more;
        prop_assume!(!all(&stages, workers).is_empty());
        let found = plan(&spec(&stages, workers));
        let places: Vec<usize> = found.starved.iter().map(|starved| starved.stage).collect();
        prop_assert_eq!(places, starved(&stages, &counts(&found)));
        let free = best(&stages, workers);
        for one in &found.starved {
            prop_assert_eq!(i64::try_from(one.backlog).unwrap(), stages[one.stage].backlog_count);
            let mut served = stages.clone();
            served[one.stage].minimum = 1;
            let fits = least(&served) <= workers;
            prop_assert_eq!(one.cost.is_some(), fits);
            if let Some(cost) = one.cost {
                let served = best(&served, workers) - free;
                prop_assert!(is_as_announced(cost, served), "{} for {}", cost, served);
            }
        }
        let floors = with_floors(&stages);
        if least(&floors) <= workers {
            let (cost, floors) = (found.starvation_prevention_cost, best(&floors, workers) - free);
            prop_assert!(is_as_announced(cost, floors), "{} for {}", cost, floors);
        }
    }

    /// Where there are enough workers, prevention is the same as minima of one.
    #[test]
    fn prevention_is_a_minimum_of_one_where_workers_suffice(
        rule in rules(), weighting in weightings(), stages in stages(), more in 0..9_i64,
        moves in prop::option::of(0..4_i64),
    ) {
        let floors = with_floors(&stages);
        let asked = AllocationSpec {
            rule,
            weighting,
            max_move_count: moves,
            prevent_starvation: true,
            ..spec(&stages, least(&floors) + more)
        };
        let found = plan(&asked);
        let by_hand = plan(&AllocationSpec {
            stages: floors,
            prevent_starvation: false,
            ..asked.clone()
        });
        prop_assert_eq!(counts(&found), counts(&by_hand));
        prop_assert_eq!(&found.moves, &by_hand.moves);
        prop_assert_eq!(&found.starved, &[]);
        prop_assert_eq!(found.starvation_prevention_cost, 0.0);
    }

    /// Where there are too few, as many stages as possible get a worker, and the best such plan
    /// counts.
    #[test]
    fn too_few_workers_serve_as_many_stages_as_can_be(stages in stages(), more in 0..5_i64) {
        let workers = least(&stages) + more;
        let everything = all(&stages, workers);
        prop_assume!(!everything.is_empty());
        let asked = AllocationSpec { prevent_starvation: true, ..spec(&stages, workers) };
        let found = counts(&plan(&asked));
        let order = |counts: &[i64]| {
            (starved(&stages, counts).len(), score(Rule::MinimumScore, &stages, counts))
        };
        let wanted = everything.iter().map(|counts| order(counts)).min().unwrap();
        prop_assert_eq!(order(&found), wanted);
    }

    /// The announced cost is what asking again with prevention costs, even where hysteresis
    /// applies.
    #[test]
    fn preventing_starvation_costs_as_much_as_announced(
        rule in rules(), weighting in weightings(), stages in stages(), more in 0..5_i64,
        moves in prop::option::of(0..3_i64), percent in 0..50_i64,
    ) {
        let asked = AllocationSpec {
            rule,
            weighting,
            max_move_count: moves,
            min_improvement_percent: if rule == Rule::MinimumScore { percent } else { 0 },
            ..spec(&stages, least(&stages) + more)
        };
        let (found, again) =
            (plan(&asked), plan(&AllocationSpec { prevent_starvation: true, ..asked }));
        let rise = if found.starved.is_empty() { 0.0 } else { again.score - found.score };
        prop_assert!((found.starvation_prevention_cost - rise).abs() < 1e-6);
    }

    /// The next worker goes where it would go with explicit minima.
    #[test]
    fn the_next_worker_keeps_stages_from_starving(
        rule in rules(), stages in stages(), from in 0..5_usize,
    ) {
        let from = Some(from).filter(|from| {
            stages.get(*from).is_some_and(|stage| stage.current > stage.busy)
        });
        let next = |stages: &[StageSpec], prevent_starvation| {
            let weighting = Weighting::Even;
            let stages = stages.to_vec();
            let spec =
                NextSpec { stages, from, rule, weighting, min_gain_percent: 0, prevent_starvation };
            spec.next().unwrap()
        };
        prop_assert_eq!(next(&stages, true), next(&with_floors(&stages), false));
    }
}

/// A nightly pipeline whose last stage has 870 short jobs and no worker.
#[test]
fn a_small_workload_starves_and_is_named() {
    let work = |backlog_count, millis, current| StageSpec {
        backlog_count,
        run_times: vec![offbeat_core::Span::from_millis(millis)],
        current,
        ..StageSpec::default()
    };
    let stages = [
        work(1_800, 400, 3),
        work(3_080, 1_500, 8),
        work(2_810, 6_000, 17),
        work(640, 2_000, 4),
        work(870, 100, 0),
    ];
    let found = plan(&spec(&stages, 32));
    assert_eq!(counts(&found), [3, 8, 17, 4, 0]);
    let [notify] = found.starved[..] else { panic!("{:?}", found.starved) };
    assert_eq!((notify.stage, notify.backlog), (4, 870));
    assert_eq!(notify.cost, Some(found.starvation_prevention_cost));
    // The worker comes from the third stage: it costs 16860/(17·18) s there and saves 87/2 s.
    assert!((found.starvation_prevention_cost - 11_598_039.2).abs() < 0.1);
    let asked = AllocationSpec { prevent_starvation: true, ..spec(&stages, 32) };
    assert_eq!(counts(&plan(&asked)), [3, 8, 16, 4, 1]);
}

#[test]
fn stages_that_may_have_no_worker_do_not_starve() {
    let stages = [
        stage(100, 0),
        StageSpec { maximum: Some(0), ..stage(1, 0) },
        StageSpec { done: true, ..stage(1, 0) },
        stage(0, 0),
    ];
    for prevent_starvation in [false, true] {
        let found = plan(&AllocationSpec { prevent_starvation, ..spec(&stages, 2) });
        assert_eq!((counts(&found), found.starved), (vec![2, 0, 0, 0], vec![]));
    }
}

#[test]
fn without_a_worker_that_may_move_there_is_no_price() {
    let stages = [StageSpec { minimum: 2, ..stage(1, 0) }, stage(5, 0)];
    let found = plan(&spec(&stages, 2));
    assert_eq!(found.starved.iter().map(|one| one.cost).collect::<Vec<_>>(), [None]);
    assert_eq!(found.starvation_prevention_cost, 0.0);
}
