//! The complete plan: allocations, their reasons, and the moves.

use super::allocate::Share;
use super::hysteresis::{Choice, Hysteresis};
use super::load::Load;
use super::nearby::forced;
use super::quotient::{Rule, ratio};
use super::spec::{Checked, StageSpec, Weighting, Workload, check};
use super::starvation::{StarvedStage, prevented, starved};
use crate::limits::STAGE_WORKERS;
use crate::rejection::{Rejection, in_range};

/// Unchecked parameters of an allocation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AllocationSpec {
    /// The stages, in the order of the pipeline.
    pub stages: Vec<StageSpec>,
    /// Workers in total.
    pub worker_count: i64,
    /// The divisor rule.
    pub rule: Rule,
    /// How the place of a stage in the pipeline is weighted.
    pub weighting: Weighting,
    /// Of all allocations that are so many moves away from the current one, the best. Default:
    /// the best of all.
    pub max_move_count: Option<i64>,
    /// Nobody moves, except where it is forced, unless the score falls by so many percent: with
    /// [`Rule::MinimumScore`] only. Default: 0.
    pub min_improvement_percent: i64,
    /// Every stage with waiting jobs gets at least one worker, where there are enough. Default:
    /// no, as the rule alone decides.
    pub prevent_starvation: bool,
}

/// The allocation of one stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StageAllocation {
    /// Number of workers.
    pub worker_count: u64,
    /// Backlog times mean service time.
    pub workload: Workload,
    /// Backlog and arrivals.
    pub load: Load,
    /// Factor of the workload.
    pub weight: u64,
}

impl StageAllocation {
    /// v/(w+1), in microseconds: how long the work lasts according to the rule.
    #[must_use]
    pub fn score(&self) -> f64 {
        ratio(self.weighted_micros(), u128::from(self.worker_count) + 1)
    }

    /// The quotient of one more worker under the rule, in microseconds.
    #[must_use]
    pub fn next_quotient(&self, rule: Rule) -> f64 {
        ratio(self.weighted_micros(), rule.divisor(self.worker_count))
    }

    /// The weighted workload, by which the rule decides.
    #[must_use]
    pub fn weighted_micros(&self) -> u128 {
        u128::from(self.workload.micros) * u128::from(self.weight)
    }
}

/// Workers that change their stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Move {
    /// The stage they leave; `None` for new workers.
    pub from: Option<usize>,
    /// The stage they go to; `None` for workers that are no longer needed.
    pub to: Option<usize>,
    /// Number of workers.
    pub count: u64,
}

/// An allocation of workers to stages.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// The allocations, in the order of the stages.
    pub stages: Vec<StageAllocation>,
    /// Moves from the current allocation to this one.
    pub moves: Vec<Move>,
    /// Workers that no stage may take.
    pub unassigned: u64,
    /// Σ v/(w+1) of this allocation, in microseconds, for display.
    pub score: f64,
    /// The score without any moves except forced ones.
    pub current_score: f64,
    /// Whether `min_improvement_percent` ruled out a better allocation.
    pub improvement_too_small: bool,
    /// Stages with waiting jobs and no worker.
    pub starved: Vec<StarvedStage>,
    /// By how many microseconds the score would rise with `prevent_starvation`; 0 if that was
    /// asked for, or if no stage starves.
    pub starvation_prevention_cost: f64,
}

impl AllocationSpec {
    /// The best of all allocations, by the default rule, of stages that are all worth the same.
    #[must_use]
    pub fn new(stages: Vec<StageSpec>, worker_count: i64) -> Self {
        let (rule, weighting) = (Rule::default(), Weighting::default());
        let min_improvement_percent = 0;
        Self {
            stages,
            worker_count,
            rule,
            weighting,
            max_move_count: None,
            min_improvement_percent,
            prevent_starvation: false,
        }
    }

    /// Shares the workers out; none, if every stage is done.
    ///
    /// The cost grows with the stages, as S log S, and neither with the workers nor with
    /// `max_move_count`.
    ///
    /// # Errors
    /// When a field is out of its range, or the stages must have more workers than there are.
    pub fn plan(&self) -> Result<Option<Plan>, Rejection> {
        let workers = in_range("worker_count", self.worker_count, STAGE_WORKERS)?;
        let checked = check(&self.stages, self.weighting)?;
        checked.fit(workers)?;
        let percent = self.min_improvement_percent;
        let hysteresis = Hysteresis::try_new(self.rule, self.max_move_count, percent)?;
        if checked.all_done() {
            return Ok(None);
        }
        let is_waiting = checked.is_waiting();
        let Checked { workloads, loads, shares, weights, current, .. } = checked;
        let choose = |bounds: &[Share]| {
            let base = forced(self.rule, bounds, &current, workers);
            hysteresis.choose(bounds, base, workers)
        };
        let fair = || prevented(&shares, &is_waiting, workers);
        let chosen = if self.prevent_starvation { choose(&fair()) } else { choose(&shares) };
        let Choice { counts, score, base_score, improvement_too_small } = chosen;
        let backlogs = loads.iter().map(Load::backlog);
        let starved = starved(self.rule, &shares, &is_waiting, backlogs, &counts);
        let can_be_prevented = !starved.is_empty() && !self.prevent_starvation;
        let fair_score = if can_be_prevented { choose(&fair()).score } else { score };
        let moves = moves_between(&current, &counts);
        let unassigned = workers.saturating_sub(counts.iter().sum());
        let stages = counts.into_iter().zip(workloads).zip(weights).zip(loads);
        let stages = stages.map(|(((worker_count, workload), weight), load)| StageAllocation {
            worker_count,
            workload,
            load,
            weight,
        });
        Ok(Some(Plan {
            stages: stages.collect(),
            moves,
            unassigned,
            score: score.micros(),
            current_score: base_score.micros(),
            improvement_too_small,
            starved,
            starvation_prevention_cost: fair_score.micros_above(score),
        }))
    }
}

/// From one allocation to another, with as few workers moved as can be.
fn moves_between(current: &[u64], wanted: &[u64]) -> Vec<Move> {
    let pairs = || current.iter().zip(wanted).enumerate();
    let mut spare =
        pairs().filter(|(_, (has, gets))| has > gets).map(|(s, (has, gets))| (s, has - gets));
    let mut moves = Vec::new();
    let mut from = spare.next();
    for (to, (has, gets)) in pairs().filter(|(_, (has, gets))| gets > has) {
        let mut missing = gets - has;
        while missing > 0 {
            let Some((stage, left)) = from else {
                moves.push(Move { from: None, to: Some(to), count: missing });
                break;
            };
            let count = missing.min(left);
            moves.push(Move { from: Some(stage), to: Some(to), count });
            missing -= count;
            from = if left > count { Some((stage, left - count)) } else { spare.next() };
        }
    }
    let rest = from.into_iter().chain(spare);
    moves.extend(rest.map(|(stage, count)| Move { from: Some(stage), to: None, count }));
    moves
}
