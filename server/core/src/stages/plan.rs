//! The whole answer: who gets how many, why, and who has to move.

use super::allocate::{Share, add, allocate, best_move, remove};
use super::quotient::Rule;
use super::spec::{Checked, StageSpec, Weighting, Workload, check};
use crate::limits::STAGE_WORKERS;
use crate::rejection::{Rejection, in_range};

/// What is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AllocationSpec {
    /// In the order of the pipeline.
    pub stages: Vec<StageSpec>,
    /// How many workers there are.
    pub worker_count: i64,
    /// By which rule.
    pub rule: Rule,
    /// What a stage's place is worth.
    pub weighting: Weighting,
    /// Of all allocations that are so many moves away from the current one, the best. Default:
    /// the best of all.
    pub max_moves: Option<i64>,
}

/// What a stage gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StageAllocation {
    /// Its workers.
    pub worker_count: u64,
    /// Its work.
    pub workload: Workload,
    /// What counts: the workload, weighted.
    pub weighted_micros: u128,
}

impl StageAllocation {
    /// v/(w+1), in microseconds: how long its work lasts, in the rule's eyes.
    #[must_use]
    pub fn score(&self) -> f64 {
        ratio(self.weighted_micros, u128::from(self.worker_count) + 1)
    }

    /// What one worker more would be worth, by the rule.
    #[must_use]
    pub fn next_quotient(&self, rule: Rule) -> f64 {
        ratio(self.weighted_micros, rule.divisor(self.worker_count))
    }
}

/// Workers who change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Move {
    /// The stage they leave; none for new ones.
    pub from: Option<usize>,
    /// The stage they go to; none for those who are not needed any more.
    pub to: Option<usize>,
    /// How many.
    pub count: u64,
}

/// Who gets how many.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// For each stage.
    pub stages: Vec<StageAllocation>,
    /// From the current allocation to this one.
    pub moves: Vec<Move>,
}

impl AllocationSpec {
    /// The best of all allocations, by the default rule, of stages that are all worth the same.
    #[must_use]
    pub fn new(stages: Vec<StageSpec>, worker_count: i64) -> Self {
        let (rule, weighting) = (Rule::default(), Weighting::default());
        Self { stages, worker_count, rule, weighting, max_moves: None }
    }

    /// Shares the workers out; none, if every stage is done.
    ///
    /// # Errors
    /// When a field is out of its range, or the stages must have more workers than there are.
    pub fn plan(&self) -> Result<Option<Plan>, Rejection> {
        let workers = in_range("worker_count", self.worker_count, STAGE_WORKERS)?;
        let Checked { workloads, shares, done, current } =
            check(&self.stages, self.weighting, workers)?;
        let max_moves = self.max_moves.map(|moves| in_range("max_moves", moves, STAGE_WORKERS));
        let max_moves = max_moves.transpose()?;
        if done.iter().all(|done| *done) {
            return Ok(None);
        }
        let counts = match max_moves {
            None => allocate(self.rule, &shares, workers),
            Some(moves) => nearby(self.rule, &shares, &current, workers, moves),
        };
        let moves = moves(&current, &counts);
        let stages = counts.into_iter().zip(workloads).zip(&shares);
        let stages = stages.map(|((worker_count, workload), share)| StageAllocation {
            worker_count,
            workload,
            weighted_micros: share.workload,
        });
        Ok(Some(Plan { stages: stages.collect(), moves }))
    }
}

/// The best allocation that is at most so many moves away. The score is separable and convex, so
/// the best single move, repeated, leads there. What bounds and new or missing workers force is
/// no move of ours.
fn nearby(rule: Rule, shares: &[Share], current: &[u64], workers: u64, moves: u64) -> Vec<u64> {
    let within = shares.iter().zip(current);
    let mut counts: Vec<u64> =
        within.map(|(share, count)| (*count).clamp(share.minimum, share.maximum)).collect();
    let sum: u128 = counts.iter().copied().map(u128::from).sum();
    let gap = |larger: u128, smaller: u128| u64::try_from(larger - smaller).unwrap_or(u64::MAX);
    if sum < u128::from(workers) {
        add(rule, shares, &mut counts, gap(workers.into(), sum));
    } else {
        remove(rule, shares, &mut counts, gap(sum, workers.into()));
    }
    for _ in 0..moves {
        let Some((from, to)) = best_move(rule, shares, &counts) else { break };
        counts.iter_mut().enumerate().for_each(|(stage, count)| {
            *count = *count + u64::from(stage == to) - u64::from(stage == from);
        });
    }
    counts
}

/// From one allocation to another, with as few workers moved as can be.
fn moves(current: &[u64], wanted: &[u64]) -> Vec<Move> {
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

#[expect(clippy::cast_precision_loss, reason = "to be read by people; nothing is decided by it")]
fn ratio(workload: u128, divisor: u128) -> f64 {
    workload as f64 / divisor as f64
}
