//! The best allocation within reach of the current one.

use core::cmp::Ordering;

use super::allocate::{Share, allocate, gain, loss};
use super::quotient::{Quotient, Rule};

/// The current allocation with as few changes as bounds and new or missing workers force.
///
/// New workers go where each is worth most, and surplus workers leave where each is worth least.
/// Both results are the best allocation within tighter bounds: either no stage loses a worker, or
/// no stage gains one.
pub(crate) fn forced(rule: Rule, shares: &[Share], current: &[u64], workers: u64) -> Vec<u64> {
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

/// The best of all allocations; of several, the nearest to `base`, which has as many workers.
///
/// The best ones differ in workers alone that are worth the same, to whichever stage they go, and
/// as much as the last worker of all: a stage may have one of them, or any number if it has no work.
/// So each stage keeps what it has of them, as far as there are enough.
pub(crate) fn nearest_best(rule: Rule, shares: &[Share], base: &[u64], workers: u64) -> Vec<u64> {
    let mut counts = allocate(rule, shares, workers);
    let places = || shares.iter().zip(counts.iter().copied()).enumerate();
    let losses = places().filter_map(|(stage, (share, count))| loss(rule, stage, share, count));
    let Some(last) = losses.min() else { return counts };
    let is_last = |quotient: Option<Quotient>| {
        quotient.is_some_and(|quotient| quotient.compare_worth(&last) == Ordering::Equal)
    };
    let within = |(stage, (share, count)): (usize, (&Share, u64))| match share.workload {
        0 if last.workload == 0 => (share.minimum, share.maximum),
        _ => (
            count - u64::from(is_last(loss(rule, stage, share, count))),
            count + u64::from(is_last(gain(rule, stage, share, count))),
        ),
    };
    let within: Vec<(u64, u64)> = places().map(within).collect();
    let sum: u64 = counts.iter().sum();
    let near = |((fewest, most), has): (&(u64, u64), &u64)| (*has).clamp(*fewest, *most);
    counts = within.iter().zip(base).map(near).collect();
    let near: u128 = counts.iter().copied().map(u128::from).sum();
    let mut missing = u64::try_from(u128::from(sum).saturating_sub(near)).unwrap_or(0);
    let mut spare = u64::try_from(near.saturating_sub(sum.into())).unwrap_or(u64::MAX);
    // The first stages get what is missing, and the last ones give what is too much.
    for (count, (_, most)) in counts.iter_mut().zip(&within) {
        let more = missing.min(most - *count);
        (*count, missing) = (*count + more, missing - more);
    }
    for (count, (fewest, _)) in counts.iter_mut().zip(&within).rev() {
        let fewer = spare.min(*count - fewest);
        (*count, spare) = (*count - fewer, spare - fewer);
    }
    counts
}

/// The best allocation that is at most so many moves away from `base`.
///
/// The score is separable and convex, so the best single move, repeated, leads there. Each of
/// those moves takes the worker that is worth least and gives it to the stage where it is worth
/// most, and no stage both gives and gets: after `moves` of them the gains are those of `moves`
/// new workers, and the losses those of `moves` workers who leave.
pub(super) fn improve(rule: Rule, shares: &[Share], base: &[u64], moves: u64) -> Vec<u64> {
    let workers: u64 = base.iter().sum();
    let best = nearest_best(rule, shares, base, workers);
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
