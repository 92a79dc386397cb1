//! Pipelines for exhaustive search, and the scores that the rules minimize.
#![allow(dead_code, unreachable_pub, missing_docs)]

use num_rational::Ratio;
use offbeat_core::Span;
use offbeat_core::stages::{AllocationSpec, Plan, Rule, StageSpec, Weighting};
use proptest::prelude::*;

pub type Fraction = Ratio<i128>;

pub fn stage(workload: i64, current: i64) -> StageSpec {
    StageSpec {
        backlog_count: workload,
        run_times: vec![Span::from_seconds(1)],
        current,
        ..StageSpec::default()
    }
}

pub fn spec(stages: &[StageSpec], worker_count: i64) -> AllocationSpec {
    AllocationSpec::new(stages.to_vec(), worker_count)
}

pub fn plan(spec: &AllocationSpec) -> Plan {
    spec.plan().unwrap().unwrap()
}

pub fn counts(plan: &Plan) -> Vec<i64> {
    plan.stages.iter().map(|stage| i64::try_from(stage.worker_count).unwrap()).collect()
}

/// The score that the rule minimizes, straight from its definition.
pub fn score(rule: Rule, stages: &[StageSpec], counts: &[i64]) -> Fraction {
    let term = |(stage, count): (&StageSpec, &i64)| {
        let (work, count) = (i128::from(stage.backlog_count), i128::from(*count));
        match rule {
            Rule::MinimumScore => Fraction::new(work, count + 1),
            Rule::DHondt => (1..=count).map(|k| -Fraction::new(work, k)).sum(),
        }
    };
    stages.iter().zip(counts).map(term).sum()
}

/// Every allocation of this many workers within the bounds of the stages.
pub fn all(stages: &[StageSpec], workers: i64) -> Vec<Vec<i64>> {
    let Some((first, rest)) = stages.split_first() else {
        return if workers == 0 { vec![vec![]] } else { vec![] };
    };
    let maximum = first.maximum.unwrap_or(workers).max(first.busy).min(workers);
    let with = |count: i64| {
        all(rest, workers - count).into_iter().map(move |mut tail| {
            tail.insert(0, count);
            tail
        })
    };
    (first.minimum.max(first.busy)..=maximum).flat_map(with).collect()
}

pub fn stages() -> impl Strategy<Value = Vec<StageSpec>> {
    let one = (0..40_i64, 0..5_i64, 0..2_i64, prop::option::weighted(0.3, 0..4_i64), 0..5_i64);
    let one = one.prop_map(|(work, current, minimum, more, busy)| StageSpec {
        minimum,
        maximum: more.map(|more| minimum + more),
        busy: busy.min(current),
        ..stage(work, current)
    });
    prop::collection::vec(one, 1..5)
}

pub fn weightings() -> impl Strategy<Value = Weighting> {
    prop_oneof![Just(Weighting::Even), Just(Weighting::Latency)]
}

pub fn rules() -> impl Strategy<Value = Rule> {
    prop_oneof![Just(Rule::MinimumScore), Just(Rule::DHondt)]
}
