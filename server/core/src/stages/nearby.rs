//! The best allocation within reach of the current one.

use core::cmp::Reverse;

use std::collections::BinaryHeap;

use super::allocate::{Share, add, gain, loss, remove, shift};
use super::quotient::{Quotient, Rule};

/// The current allocation with as few changes as bounds and new or missing workers force.
pub(super) fn forced(rule: Rule, shares: &[Share], current: &[u64], workers: u64) -> Vec<u64> {
    let within = shares.iter().zip(current);
    let mut counts: Vec<u64> =
        within.map(|(share, count)| (*count).clamp(share.minimum, share.maximum)).collect();
    let sum: u128 = counts.iter().copied().map(u128::from).sum();
    let gap = |larger: u128, smaller: u128| u64::try_from(larger - smaller).unwrap_or(u64::MAX);
    if sum < u128::from(workers) {
        add::<u128>(rule, shares, &mut counts, gap(workers.into(), sum));
    } else {
        remove::<u128>(rule, shares, &mut counts, gap(sum, workers.into()));
    }
    counts
}

/// The best allocation that is at most so many moves away. The score is separable and convex, so
/// the best single move, repeated, leads there.
pub(super) fn improve(rule: Rule, shares: &[Share], counts: &mut [u64], moves: u64) {
    let mut gains: BinaryHeap<Quotient> = quotients(rule, shares, counts, gain).collect();
    let mut losses: BinaryHeap<Reverse<Quotient>> =
        quotients(rule, shares, counts, loss).map(Reverse).collect();
    for _ in 0..moves {
        // Each move leaves two quotients behind that are no longer true: they are passed over.
        let current = |quotient: &Quotient, of: Of| {
            of_stage(rule, shares, counts, quotient.stage, of) == Some(*quotient)
        };
        while gains.peek().is_some_and(|best| !current(best, gain)) {
            gains.pop();
        }
        while losses.peek().is_some_and(|Reverse(least)| !current(least, loss)) {
            losses.pop();
        }
        let (Some(best), Some(Reverse(least))) = (gains.peek(), losses.peek()) else { return };
        if best <= least {
            return;
        }
        let (from, to) = (least.stage, best.stage);
        shift(counts, from, to);
        for stage in [from, to] {
            gains.extend(of_stage(rule, shares, counts, stage, gain));
            losses.extend(of_stage(rule, shares, counts, stage, loss).map(Reverse));
        }
    }
}

/// [`gain`] or [`loss`].
type Of = fn(Rule, usize, &Share, u64) -> Option<Quotient>;

fn of_stage(rule: Rule, shares: &[Share], counts: &[u64], at: usize, of: Of) -> Option<Quotient> {
    shares.get(at).zip(counts.get(at)).and_then(|(share, count)| of(rule, at, share, *count))
}

fn quotients(
    rule: Rule,
    shares: &[Share],
    counts: &[u64],
    of: Of,
) -> impl Iterator<Item = Quotient> {
    let stages = shares.iter().zip(counts).enumerate();
    stages.filter_map(move |(stage, (share, count))| of(rule, stage, share, *count))
}
