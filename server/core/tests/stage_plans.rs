//! Hysteresis, and the best stage for one worker, checked against exhaustive searches.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod pipelines;

use std::time::{Duration, Instant};

use offbeat_core::stages::{AllocationSpec, Move, NextSpec, Rule, StageSpec, Weighting, Why};
use offbeat_core::{Reason, Span};
use pipelines::{Fraction, all, counts, plan, rules, score, spec, stage, stages, weightings};
use proptest::prelude::*;

/// Stages of every sort, including stages that are done.
fn any_stages() -> impl Strategy<Value = Vec<StageSpec>> {
    let one = (0..12_i64, 0..9_i64, 0..3_i64, prop::option::weighted(0.3, 0..4_i64), 0..5_i64);
    let one = (one, prop::bool::weighted(0.2)).prop_map(
        |((work, current, minimum, more, busy), done)| StageSpec {
            minimum,
            maximum: more.map(|more| minimum + more),
            busy: busy.min(current),
            done,
            ..stage(work, current)
        },
    );
    prop::collection::vec(one, 1..6)
}

fn bounds(stage: &StageSpec) -> (i64, i64) {
    if stage.done {
        return (stage.busy, stage.busy);
    }
    (stage.minimum.max(stage.busy), stage.maximum.unwrap_or(1_000).max(stage.busy))
}

/// A literal implementation of the definition: workers come, leave and move one at a time.
struct OneByOne<'a> {
    spec: &'a AllocationSpec,
    counts: Vec<i64>,
}

impl OneByOne<'_> {
    /// What one more worker is worth to a stage.
    fn worth(&self, at: usize, workers: i64) -> Fraction {
        let weight = match self.spec.weighting {
            Weighting::Even => 1,
            Weighting::Latency => at as i128 + 1,
        };
        let (work, next) = (self.spec.stages[at].backlog_count, i128::from(workers) + 1);
        let divisor = match self.spec.rule {
            Rule::MinimumScore => next * (next + 1),
            Rule::DHondt => next,
        };
        Fraction::new(i128::from(work) * weight, divisor)
    }

    /// The stage to which one more worker is worth most; of equal stages, the first.
    fn best(&self) -> Option<(Fraction, usize)> {
        let room = |at: &usize| self.counts[*at] < bounds(&self.spec.stages[*at]).1;
        let gains = (0..self.counts.len()).filter(room);
        let gains = gains.map(|at| (self.worth(at, self.counts[at]), at));
        gains.max_by(|a, b| a.0.cmp(&b.0).then(b.1.cmp(&a.1)))
    }

    /// The stage to which its last worker is worth least; of equal stages, the last.
    fn least(&self) -> Option<(Fraction, usize)> {
        let spare = |at: &usize| self.counts[*at] > bounds(&self.spec.stages[*at]).0;
        let losses = (0..self.counts.len()).filter(spare);
        let losses = losses.map(|at| (self.worth(at, self.counts[at] - 1), at));
        losses.min_by(|a, b| a.0.cmp(&b.0).then(b.1.cmp(&a.1)))
    }

    fn fill(&mut self) {
        while self.counts.iter().sum::<i64>() < self.spec.worker_count {
            let Some((_, at)) = self.best() else { break };
            self.counts[at] += 1;
        }
    }

    fn decide(spec: &AllocationSpec) -> Vec<i64> {
        let within = |stage: &StageSpec| {
            let (least, most) = bounds(stage);
            stage.current.clamp(least, most)
        };
        let counts = spec.stages.iter().map(within).collect();
        let mut forced = OneByOne { spec, counts };
        forced.fill();
        while forced.counts.iter().sum::<i64>() > spec.worker_count {
            let (_, at) = forced.least().unwrap();
            forced.counts[at] -= 1;
        }
        let mut best = OneByOne { spec, counts: forced.counts.clone() };
        for _ in 0..spec.max_move_count.unwrap_or(i64::MAX) {
            let (Some((gain, to)), Some((loss, from))) = (best.best(), best.least()) else { break };
            if gain <= loss {
                break; // no worker moves for equal worth
            }
            best.counts[from] -= 1;
            best.counts[to] += 1;
        }
        best.counts
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_500))]

    /// No allocation within this number of moves is better.
    #[test]
    fn max_move_count_finds_the_best_within_reach(rule in rules(), stages in stages(), moves in 0..6_i64) {
        let workers: i64 = stages.iter().map(|stage| stage.current).sum();
        let everything = all(&stages, workers);
        // If anything is forced, moves do not start from the current allocation.
        let current: Vec<i64> = stages.iter().map(|stage| stage.current).collect();
        prop_assume!(everything.contains(&current));
        let asked = AllocationSpec { rule, max_move_count: Some(moves), ..spec(&stages, workers) };
        let found = counts(&plan(&asked));
        let away = |counts: &[i64]| -> i64 {
            counts.iter().zip(&current).map(|(gets, has)| (gets - has).max(0)).sum()
        };
        prop_assert!(away(&found) <= moves);
        let within = everything.iter().filter(|counts| away(counts) <= moves);
        let best = within.map(|counts| score(rule, &stages, counts)).min().unwrap();
        prop_assert_eq!(score(rule, &stages, &found), best);
    }

    /// The plan is computed for all workers at once, and equals that of one worker at a time.
    #[test]
    fn plans_equal_moving_one_worker_at_a_time(
        rule in rules(),
        weighting in weightings(),
        stages in any_stages(),
        more in 0..12_i64,
        max_move_count in prop::option::of(prop_oneof![0..12_i64, Just(100_000)]),
    ) {
        let least: i64 = stages.iter().map(|stage| bounds(stage).0).sum();
        let asked = AllocationSpec { rule, weighting, max_move_count, ..spec(&stages, least + more) };
        let Some(plan) = asked.plan().unwrap() else {
            prop_assert!(stages.iter().all(|stage| stage.done));
            return Ok(());
        };
        prop_assert_eq!(counts(&plan), OneByOne::decide(&asked));
    }

    /// Of equally good allocations, the plan is the closest to the current one.
    #[test]
    fn nobody_moves_for_equal_worth(rule in rules(), stages in stages(), moves in prop::option::of(0..9_i64)) {
        let workers: i64 = stages.iter().map(|stage| stage.current).sum();
        let current: Vec<i64> = stages.iter().map(|stage| stage.current).collect();
        let everything = all(&stages, workers);
        prop_assume!(everything.contains(&current));
        let found = counts(&plan(&AllocationSpec { rule, max_move_count: moves, ..spec(&stages, workers) }));
        let away = |counts: &[i64]| -> i64 {
            counts.iter().zip(&current).map(|(gets, has)| (gets - has).max(0)).sum()
        };
        let own = score(rule, &stages, &found);
        let nearest = everything.iter().filter(|counts| score(rule, &stages, counts) == own);
        prop_assert_eq!(away(&found), nearest.map(|counts| away(counts)).min().unwrap());
    }

    /// Without a limit on moves, the plan is the best of all allocations.
    #[test]
    fn the_best_of_all_is_the_best_of_all(rule in rules(), stages in stages(), more in 0..6_i64) {
        let least: i64 = stages.iter().map(|stage| stage.minimum.max(stage.busy)).sum();
        let everything = all(&stages, least + more);
        prop_assume!(!everything.is_empty());
        let asked = AllocationSpec { rule, ..spec(&stages, least + more) };
        let plan = plan(&asked);
        let best = everything.iter().map(|counts| score(rule, &stages, counts)).min().unwrap();
        prop_assert_eq!(score(rule, &stages, &counts(&plan)), best);
        prop_assert_eq!(plan.unassigned, 0);
        // The moves lead from the current allocation to the planned one, and none of them is
        // redundant.
        let mut reached: Vec<i64> = stages.iter().map(|stage| stage.current).collect();
        for Move { from, to, count } in &plan.moves {
            prop_assert!(from != to && *count > 0);
            from.iter().for_each(|from| reached[*from] -= i64::try_from(*count).unwrap());
            to.iter().for_each(|to| reached[*to] += i64::try_from(*count).unwrap());
        }
        prop_assert_eq!(&reached, &counts(&plan));
        let moved: u64 = plan.moves.iter().filter(|m| m.from.is_some() && m.to.is_some()).map(|m| m.count).sum();
        let (come, gone) = stages.iter().zip(&reached).fold((0, 0), |(come, gone), (stage, gets)| {
            (come + (gets - stage.current).max(0), gone + (stage.current - gets).max(0))
        });
        prop_assert_eq!(i64::try_from(moved).unwrap(), come.min(gone));
    }

    /// The improvement is the share by which the score falls, computed in exact fractions.
    #[test]
    fn small_improvements_move_nobody(stages in stages(), percent in 0..101_i64) {
        let workers: i64 = stages.iter().map(|stage| stage.current).sum();
        let current: Vec<i64> = stages.iter().map(|stage| stage.current).collect();
        prop_assume!(all(&stages, workers).contains(&current));
        let best = counts(&plan(&spec(&stages, workers)));
        let asked =
            AllocationSpec { min_improvement_percent: percent, ..spec(&stages, workers) };
        let plan = plan(&asked);
        let rule = Rule::MinimumScore;
        let (before, after) = (score(rule, &stages, &current), score(rule, &stages, &best));
        let is_enough = after * 100 <= before * i128::from(100 - percent);
        // Cases that the rounding of a score could decide are skipped.
        prop_assume!((after * 100 - before * i128::from(100 - percent)) != Fraction::from(0) || percent == 0);
        prop_assert_eq!(counts(&plan), if is_enough { best.clone() } else { current.clone() });
        prop_assert_eq!(plan.improvement_too_small, !is_enough && best != current);
    }

    /// A worker goes where it lowers the score most, and stays if it is worth as much where it is.
    #[test]
    fn the_next_stage_is_the_best_for_one_worker(
        rule in rules(), stages in stages(), from in 0..5_usize, percent in 0..200_i64,
    ) {
        let from = Some(from).filter(|from| {
            stages.get(*from).is_some_and(|stage| stage.current > stage.busy)
        });
        let mut rest: Vec<i64> = stages.iter().map(|stage| stage.current).collect();
        from.into_iter().for_each(|from| rest[from] -= 1);
        let spec = NextSpec {
            stages: stages.clone(),
            from,
            rule,
            weighting: Weighting::Even,
            min_gain_percent: percent,
            prevent_starvation: false,
        };
        let next = spec.next().unwrap().unwrap();
        let room = |at: &usize| {
            stages[*at].maximum.is_none_or(|maximum| rest[*at] < maximum.max(stages[*at].busy))
        };
        let worth = |at: usize| {
            let mut with = rest.clone();
            with[at] += 1;
            score(rule, &stages, &rest) - score(rule, &stages, &with)
        };
        let places: Vec<usize> = (0..stages.len()).filter(room).collect();
        let lacking = |at: &usize| places.contains(at) && rest[*at] < stages[*at].minimum;
        let expected = if let Some(at) = from.filter(lacking).or((0..stages.len()).find(lacking)) {
            (Some(at), Why::BelowMinimum)
        } else if let Some(most) = places.iter().map(|at| worth(*at)).max() {
            let first = places.iter().copied().find(|at| worth(*at) == most);
            match from.filter(|from| places.contains(from)) {
                Some(here) if worth(here) == most => (Some(here), Why::WorthMost),
                Some(here) if most * 100 < worth(here) * (100 + i128::from(percent)) => {
                    (Some(here), Why::GainTooSmall)
                }
                _ => (first, Why::WorthMost),
            }
        } else {
            (None, Why::AllFull)
        };
        prop_assert_eq!((next.stage, next.why), expected);
    }
}

#[test]
fn latency_counts_the_last_stages_more() {
    let stages = [stage(10, 0), stage(10, 0), stage(10, 0)];
    assert_eq!(counts(&plan(&spec(&stages, 6))), [2, 2, 2]);
    let asked = AllocationSpec { weighting: Weighting::Latency, ..spec(&stages, 6) };
    let weighted: Vec<StageSpec> = [10, 20, 30].map(|work| stage(work, 0)).to_vec();
    assert_eq!(counts(&plan(&asked)), counts(&plan(&spec(&weighted, 6))));
    assert_eq!(plan(&asked).stages[2].weight, 3);
}

#[test]
fn stages_without_measurements_take_the_mean_of_the_others() {
    let measured = |seconds: &[i64]| StageSpec {
        backlog_count: 6,
        run_times: seconds.iter().map(|s| Span::from_seconds(*s)).collect(),
        ..StageSpec::default()
    };
    // Means of 2 s and 5 s give 3.5 s for the third stage.
    let plan = plan(&spec(&[measured(&[1, 3]), measured(&[5]), measured(&[])], 3));
    let micros: Vec<u64> = plan.stages.iter().map(|stage| stage.workload.micros).collect();
    assert_eq!(micros, [12_000_000, 30_000_000, 21_000_000]);
    let estimated: Vec<bool> = plan.stages.iter().map(|s| s.workload.is_estimated).collect();
    assert_eq!(estimated, [false, false, true]);
    assert_eq!(plan.stages[1].score(), 30_000_000.0 / 2.0);
}

#[test]
fn many_moves_of_many_stages_are_found() {
    let stages: Vec<StageSpec> =
        (0..2_000).map(|place| stage(1 + place * 7_919 % 1_009, 1_000 / (place + 1))).collect();
    let workers: i64 = stages.iter().map(|stage| stage.current).sum();
    let near = AllocationSpec { max_move_count: Some(100_000), ..spec(&stages, workers) };
    assert_eq!(counts(&plan(&near)), counts(&plan(&spec(&stages, workers))));
}

/// Calls that once took one step per worker or per move, and some of them a minute.
#[test]
#[allow(clippy::disallowed_methods, reason = "it measures")]
fn a_billion_workers_cost_no_more_than_ten() {
    const BILLION: i64 = 1_000_000_000;
    let begun = Instant::now();
    let pipelines = [
        vec![stage(1, 0)],
        vec![stage(1, BILLION)],
        vec![stage(7, BILLION), stage(5, 0), stage(0, 3), StageSpec { done: true, ..stage(9, 9) }],
        vec![StageSpec { busy: 5, ..stage(3, BILLION) }, StageSpec { minimum: 9, ..stage(3, 0) }],
        vec![StageSpec { maximum: Some(BILLION - 1), ..stage(3, 0) }, stage(0, BILLION)],
        (1..=256).map(|work| stage(work, BILLION / work)).collect(),
    ];
    let moves = [None, Some(0), Some(1), Some(99_999), Some(100_000)];
    for (stages, worker_count) in pipelines.iter().flat_map(|one| [(one, 14), (one, BILLION)]) {
        for (rule, weighting, percent) in [
            (Rule::MinimumScore, Weighting::Even, 0),
            (Rule::MinimumScore, Weighting::Latency, 50),
            (Rule::DHondt, Weighting::Latency, 0),
        ] {
            for max_move_count in moves {
                let asked = AllocationSpec {
                    rule,
                    weighting,
                    max_move_count,
                    min_improvement_percent: percent,
                    ..spec(stages, worker_count)
                };
                let plan = plan(&asked);
                let sum = counts(&plan).iter().sum::<i64>();
                let unassigned = i64::try_from(plan.unassigned).unwrap();
                assert_eq!(sum + unassigned, worker_count, "{asked:?}");
            }
            let next = NextSpec {
                stages: stages.clone(),
                from: None,
                rule,
                weighting,
                min_gain_percent: percent,
                prevent_starvation: false,
            };
            assert!(next.next().unwrap().is_some());
        }
    }
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
}

#[test]
fn invalid_allocations_are_refused_by_field() {
    let stages = [StageSpec { minimum: 3, ..stage(1, 0) }, stage(1, 0)];
    let refused = |spec: AllocationSpec| {
        let refused = spec.plan().unwrap_err();
        (refused.field, refused.reason)
    };
    let name = |field: &str, reason| (field.to_owned(), reason);
    assert_eq!(refused(spec(&stages, 2)), name("worker_count", Reason::Contradictory));
    assert_eq!(refused(spec(&stages, -1)), name("worker_count", Reason::OutOfRange));
    assert_eq!(refused(spec(&[], 1)), name("stages", Reason::OutOfRange));
    let moves = AllocationSpec { max_move_count: Some(100_001), ..spec(&stages, 3) };
    assert_eq!(refused(moves), name("max_move_count", Reason::OutOfRange));
    let percent =
        AllocationSpec { rule: Rule::DHondt, min_improvement_percent: 1, ..spec(&stages, 3) };
    let field = "min_improvement_percent";
    assert_eq!(refused(percent), name(field, Reason::Contradictory));
    let large = [stage(i64::MAX, 0)];
    assert_eq!(refused(spec(&large, 1)), name("stages[0].backlog_count", Reason::OutOfRange));
    let busy = [StageSpec { busy: 2, ..stage(1, 1) }];
    let field = "stages[0].busy_worker_count";
    assert_eq!(refused(spec(&busy, 2)), name(field, Reason::OutOfRange));
    let next = NextSpec {
        stages: vec![StageSpec { busy: 1, ..stage(1, 1) }],
        from: Some(0),
        rule: Rule::default(),
        weighting: Weighting::default(),
        min_gain_percent: 0,
        prevent_starvation: false,
    };
    assert_eq!(next.next().unwrap_err().field, "stages[0].current_worker_count");
}
