//! Stages in which jobs wait for a worker that never comes.

use super::allocate::{Share, loss};
use super::hysteresis::Score;
use super::quotient::{Quotient, Rule};

/// A stage with waiting jobs that may have workers and has none.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StarvedStage {
    /// Its place in the pipeline.
    pub stage: usize,
    /// The jobs that wait.
    pub backlog: u64,
    /// By how many microseconds the score rises if one worker moves there from where it is worth
    /// least; without hysteresis, what a minimum of one costs. None: no worker may move.
    pub cost: Option<f64>,
}

/// The bounds with a minimum of one worker for stages with waiting jobs, where they may have one.
pub(super) fn floors(shares: &[Share], is_waiting: &[bool]) -> Vec<Share> {
    let floor = |(share, is_waiting): (&Share, &bool)| {
        let floor = u64::from(*is_waiting).min(share.maximum);
        Share { minimum: share.minimum.max(floor), ..*share }
    };
    shares.iter().zip(is_waiting).map(floor).collect()
}

/// The bounds within which as few stages as can be are without a worker for their waiting jobs.
///
/// Where there are too few workers for all of them, each gets one at most until there are none
/// left: those first in which one is worth most.
pub(super) fn prevented(shares: &[Share], is_waiting: &[bool], workers: u64) -> Vec<Share> {
    let mut bounds = floors(shares, is_waiting);
    let needed: u128 = bounds.iter().map(|share| u128::from(share.minimum)).sum();
    if needed > u128::from(workers) {
        for (bound, share) in bounds.iter_mut().zip(shares) {
            *bound = Share { minimum: share.minimum, maximum: bound.minimum, ..*share };
        }
    }
    bounds
}

/// The stages that an allocation starves, in the order of the pipeline.
pub(super) fn starved(
    rule: Rule,
    shares: &[Share],
    is_waiting: &[bool],
    backlogs: impl Iterator<Item = u64>,
    counts: &[u64],
) -> Vec<StarvedStage> {
    let stages = || shares.iter().zip(counts).enumerate();
    let losses = stages().filter_map(|(at, (share, count))| loss(rule, at, share, *count));
    let giver = losses.min().and_then(|least: Quotient| stages().nth(least.stage));
    let cost_of = |share: &Share| {
        let (_, (from, has)) = giver?;
        let before = Score::of_stage(share, 0).plus(Score::of_stage(from, *has));
        let after = Score::of_stage(share, 1).plus(Score::of_stage(from, has.saturating_sub(1)));
        Some(after.micros_above(before))
    };
    let waiting =
        stages().zip(is_waiting).zip(backlogs).filter(|((_, is_waiting), _)| **is_waiting);
    let without = waiting.filter_map(|(((stage, (share, count)), _), backlog)| {
        let is_starved = *count == 0 && share.maximum > 0;
        is_starved.then(|| StarvedStage { stage, backlog, cost: cost_of(share) })
    });
    without.collect()
}
