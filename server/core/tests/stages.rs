//! Workers over stages: exhaustive search, election results, and a plain greedy implementation.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

use std::path::Path;
use std::time::{Duration, Instant};

use offbeat_core::Span;
use offbeat_core::stages::{AllocationSpec, Rule, Share, StageSpec, allocate};
use proptest::prelude::*;
use serde_json::Value;

fn vectors(name: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/vectors").join(name);
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn numbers(value: &Value) -> Vec<u64> {
    value.as_array().unwrap().iter().map(|number| number.as_u64().unwrap()).collect()
}

#[test]
fn the_house_of_representatives_of_2020() {
    let house = vectors("house_2020.json");
    let square = |population: u64| Share::of(u128::from(population) * u128::from(population));
    let shares: Vec<Share> = numbers(&house["populations"]).into_iter().map(square).collect();
    let seats = allocate(Rule::MinimumScore, &shares, 435 - 50);
    let seats: Vec<u64> = seats.into_iter().map(|seats| seats + 1).collect();
    assert_eq!(seats, numbers(&house["house_seats"]));
}

/// Allocates one worker at a time, and compares exact fractions.
fn greedy(rule: Rule, shares: &[Share], workers: u64) -> Vec<u64> {
    let mut allocation: Vec<u64> = shares.iter().map(|share| share.minimum).collect();
    let divisor = |count: u64| match rule {
        Rule::MinimumScore => (u128::from(count) + 1) * (u128::from(count) + 2),
        Rule::DHondt => u128::from(count) + 1,
    };
    for _ in allocation.iter().sum::<u64>()..workers {
        let mut best: Option<usize> = None;
        for stage in 0..shares.len() {
            if allocation[stage] >= shares[stage].maximum {
                continue;
            }
            let beats = best.is_none_or(|other| {
                shares[stage].workload * divisor(allocation[other])
                    > shares[other].workload * divisor(allocation[stage])
            });
            if beats {
                best = Some(stage);
            }
        }
        let Some(best) = best else { break };
        allocation[best] += 1;
    }
    allocation
}

#[test]
fn exhaustive_search_finds_nothing_better() {
    let vectors = vectors("stage_allocation.json");
    for case in vectors["cases"].as_array().unwrap() {
        let done = numbers(&case["done"]);
        let stages: Vec<StageSpec> = (0..)
            .zip(numbers(&case["workloads"]))
            .map(|(place, workload)| StageSpec {
                backlog_count: workload.try_into().unwrap(),
                run_times: vec![Span::from_seconds(1)],
                done: done.contains(&place),
                ..StageSpec::default()
            })
            .collect();
        let worker_count = case["workers"].as_i64().unwrap();
        for (rule, golden) in
            [(Rule::MinimumScore, "minimum_score"), (Rule::DHondt, "highest_averages")]
        {
            let spec = AllocationSpec { rule, ..AllocationSpec::new(stages.clone(), worker_count) };
            let plan = spec.plan().unwrap();
            let counts = plan.map(|plan| plan.stages.iter().map(|s| s.worker_count).collect());
            let expected = (!case[golden].is_null()).then(|| numbers(&case[golden]));
            assert_eq!(counts, expected, "{rule:?} {case}");
        }
    }
}

fn rules() -> impl Strategy<Value = Rule> {
    prop_oneof![Just(Rule::MinimumScore), Just(Rule::DHondt)]
}

/// A share, some with bounds of up to `most` workers.
fn share(unit: u128, most: u64) -> impl Strategy<Value = Share> {
    let workload = prop_oneof![Just(0), 1..10_u128, 1..1_000_u128, 1..1_000_000_000_000_u128];
    let bounds = prop_oneof![
        3 => Just((0, u64::MAX)),
        1 => (0..most / 2, 0..most).prop_map(|(least, more)| (least, least + more)),
    ];
    (workload, bounds).prop_map(move |(workload, (minimum, maximum))| Share {
        workload: workload * unit,
        minimum,
        maximum,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3_000))]

    #[test]
    fn it_is_the_greedy_rule(
        rule in rules(),
        shares in prop::collection::vec(share(1, 9), 1..40),
        workers in 0..400_u64,
    ) {
        let minima: u64 = shares.iter().map(|share| share.minimum).sum();
        let workers = workers.max(minima);
        prop_assert_eq!(allocate(rule, &shares, workers), greedy(rule, &shares, workers));
    }

    /// Scaling all workloads by the same factor changes nothing, even beyond 128 bits.
    #[test]
    fn the_unit_of_the_work_does_not_matter(
        rule in rules(),
        shares in prop::collection::vec(share(1, 1_000_000_000), 1..20),
        workers in 0..1_000_000_000_u64,
    ) {
        let minima: u64 = shares.iter().map(|share| share.minimum).sum();
        let workers = workers.max(minima);
        let large: Vec<Share> = shares
            .iter()
            .map(|share| Share { workload: share.workload << 60, ..*share })
            .collect();
        prop_assert_eq!(allocate(rule, &shares, workers), allocate(rule, &large, workers));
    }
}

#[test]
fn a_billion_workers_and_the_largest_workloads_are_shared_out_exactly() {
    for rule in [Rule::MinimumScore, Rule::DHondt] {
        let shares: Vec<Share> = (0..1_000_u128)
            .map(|stage| Share::of((1 << 63) - 1 - stage * 7_919_191_919_191))
            .collect();
        let allocation = allocate(rule, &shares, 1_000_000_000);
        assert_eq!(allocation.iter().sum::<u64>(), 1_000_000_000);
        // The least valuable worker of any stage is worth more than the best that any stage lacks.
        let worth = |stage: usize, workers: u64| {
            let divisor = match rule {
                Rule::MinimumScore => (u128::from(workers) + 1) * (u128::from(workers) + 2),
                Rule::DHondt => u128::from(workers) + 1,
            };
            (shares[stage].workload, divisor)
        };
        let has = (0..1_000).map(|stage| worth(stage, allocation[stage] - 1));
        let (worst, of) = has.min_by(|a, b| (a.0 * b.1).cmp(&(b.0 * a.1))).unwrap();
        for (stage, workers) in allocation.iter().enumerate() {
            let (next, divisor) = worth(stage, *workers);
            assert!(next * of <= worst * divisor, "{rule:?} {stage}");
        }
    }
}

/// All quotients tie, at a threshold that is off by rounding. By the estimate, a scattered half of
/// the stages has its last worker, though the first half must have it.
#[test]
#[allow(clippy::disallowed_methods, reason = "it measures")]
fn ties_of_many_stages_cost_no_more_than_other_stages() {
    let begun = Instant::now();
    let stages = 100_000;
    for (numerator, denominator) in [(43, 42), (12, 11)] {
        let units = |stage: u64| 1 + stage * 7_919 % 1_009;
        let work = |stage| Share::of(u128::from(units(stage) * denominator));
        let shares: Vec<Share> = (0..stages).map(work).collect();
        let due = |stage| units(stage) * numerator - u64::from(stage >= stages / 2);
        let expected: Vec<u64> = (0..stages).map(due).collect();
        assert_eq!(allocate(Rule::DHondt, &shares, expected.iter().sum()), expected);
    }
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
}
