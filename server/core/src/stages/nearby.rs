//! The best allocation within reach of the current one.

use super::allocate::{Share, allocate};
use super::quotient::Rule;

/// The current allocation with as few changes as bounds and new or missing workers force.
///
/// New workers go where each is worth most, and surplus workers leave where each is worth least.
/// Both results are the best allocation within tighter bounds: either no stage loses a worker, or
/// no stage gains one.
pub(super) fn forced(rule: Rule, shares: &[Share], current: &[u64], workers: u64) -> Vec<u64> {
    let within = shares.iter().zip(current);
    let counts: Vec<u64> =
        within.map(|(share, count)| (*count).clamp(share.minimum, share.maximum)).collect();
    let sum: u128 = counts.iter().copied().map(u128::from).sum();
    if sum < u128::from(workers) {
        grown(rule, shares, &counts, workers)
    } else {
        shrunk(rule, shares, &counts, workers)
    }
}

/// The best allocation that is at most so many moves away from `base`.
///
/// The score is separable and convex, so the best single move, repeated, leads there. Each of
/// those moves takes the worker that is worth least and gives it to the stage where it is worth
/// most, and no stage both gives and gets: after `moves` of them the gains are those of `moves`
/// new workers, and the losses those of `moves` workers who leave.
pub(super) fn improve(rule: Rule, shares: &[Share], base: &[u64], moves: u64) -> Vec<u64> {
    let workers: u64 = base.iter().sum();
    let best = allocate(rule, shares, workers);
    let distance: u64 = best.iter().zip(base).map(|(best, has)| best.saturating_sub(*has)).sum();
    if distance <= moves {
        return best;
    }
    let grown = grown(rule, shares, base, workers + moves);
    let shrunk = shrunk(rule, shares, base, workers - moves);
    let ends = grown.into_iter().zip(shrunk).zip(base);
    ends.map(|((more, fewer), has)| more + fewer - has).collect()
}

/// The best allocation in which every stage keeps its workers.
fn grown(rule: Rule, shares: &[Share], counts: &[u64], workers: u64) -> Vec<u64> {
    let bounds = shares.iter().zip(counts);
    let bounds = bounds.map(|(share, count)| Share { minimum: *count, ..*share });
    allocate(rule, &bounds.collect::<Vec<_>>(), workers)
}

/// The best allocation in which no stage gets a worker.
fn shrunk(rule: Rule, shares: &[Share], counts: &[u64], workers: u64) -> Vec<u64> {
    let bounds = shares.iter().zip(counts);
    let bounds = bounds.map(|(share, count)| Share { maximum: *count, ..*share });
    allocate(rule, &bounds.collect::<Vec<_>>(), workers)
}
