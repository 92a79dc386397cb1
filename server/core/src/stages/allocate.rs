//! How many workers each stage gets.

use std::collections::BinaryHeap;

use core::cmp::Reverse;

use super::quotient::{Quotient, Rule};

/// A stage, as far as sharing out is concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    /// The work that waits, in any unit that all stages have in common.
    pub workload: u128,
    /// It gets no fewer.
    pub minimum: u64,
    /// It gets no more; at least the minimum.
    pub maximum: u64,
}

impl Share {
    /// A stage with that workload and any number of workers.
    #[must_use]
    pub const fn of(workload: u128) -> Self {
        Self { workload, minimum: 0, maximum: u64::MAX }
    }
}

/// Shares `workers` out: first the minima, then each further worker to the stage to which it is
/// worth most, of several the first. As the worth of a worker falls with their number, that is
/// the best of all allocations. Workers whom no stage may have are left over.
///
/// The cost grows with the stages and not with the workers: an estimate in floating point comes
/// first, and is then corrected worker by worker, by exact comparison alone.
///
/// The minima must not be more than the workers.
#[must_use]
pub fn allocate(rule: Rule, shares: &[Share], workers: u64) -> Vec<u64> {
    let most: u128 = shares.iter().map(|share| u128::from(share.maximum)).sum();
    let workers = u64::try_from(most).map_or(workers, |most| workers.min(most));
    let mut allocation = estimate(rule, shares, workers);
    let sum: u128 = allocation.iter().map(|count| u128::from(*count)).sum();
    if sum < u128::from(workers) {
        let missing = u64::try_from(u128::from(workers) - sum).unwrap_or(u64::MAX);
        add(rule, shares, &mut allocation, missing);
    } else {
        let spare = u64::try_from(sum - u128::from(workers)).unwrap_or(u64::MAX);
        remove(rule, shares, &mut allocation, spare);
    }
    settle(rule, shares, &mut allocation);
    allocation
}

/// What one worker more would be worth to a stage that may have one.
fn gain(rule: Rule, stage: usize, share: &Share, workers: u64) -> Option<Quotient> {
    let may = workers < share.maximum;
    may.then(|| Quotient::new(rule, share.workload, workers, stage))
}

/// What the last worker is worth to a stage that need not have it.
fn loss(rule: Rule, stage: usize, share: &Share, workers: u64) -> Option<Quotient> {
    let fewer = workers.checked_sub(1).filter(|fewer| *fewer >= share.minimum)?;
    Some(Quotient::new(rule, share.workload, fewer, stage))
}

/// Adds workers, each where it is worth most.
pub(super) fn add(rule: Rule, shares: &[Share], allocation: &mut [u64], count: u64) {
    let gain_of = |stage: usize, workers: u64| {
        shares.get(stage).and_then(|share| gain(rule, stage, share, workers))
    };
    let gains = allocation.iter().enumerate();
    let mut gains: BinaryHeap<Quotient> =
        gains.filter_map(|(stage, workers)| gain_of(stage, *workers)).collect();
    let mut left = count;
    while left > 0 {
        let Some(best) = gains.pop() else { return };
        let Some(workers) = allocation.get_mut(best.stage) else { return };
        // To a stage without work, one is worth as much as all.
        let all = best.workload == 0;
        let maximum = shares.get(best.stage).map_or(0, |share| share.maximum);
        let taken = if all { left.min(maximum - *workers) } else { 1 };
        *workers += taken;
        left -= taken;
        gains.extend(gain_of(best.stage, *workers));
    }
}

/// Removes workers, each where it is worth least.
pub(super) fn remove(rule: Rule, shares: &[Share], allocation: &mut [u64], count: u64) {
    let loss_of = |stage: usize, workers: u64| {
        shares.get(stage).and_then(|share| loss(rule, stage, share, workers)).map(Reverse)
    };
    let losses = allocation.iter().enumerate();
    let mut losses: BinaryHeap<Reverse<Quotient>> =
        losses.filter_map(|(stage, workers)| loss_of(stage, *workers)).collect();
    let mut left = count;
    while left > 0 {
        let Some(Reverse(least)) = losses.pop() else { return };
        let Some(workers) = allocation.get_mut(least.stage) else { return };
        let minimum = shares.get(least.stage).map_or(0, |share| share.minimum);
        let taken = if least.workload == 0 { left.min(*workers - minimum) } else { 1 };
        *workers -= taken;
        left -= taken;
        losses.extend(loss_of(least.stage, *workers));
    }
}

/// The best move of a worker from one stage to another, if one makes it better.
pub(super) fn best_move(
    rule: Rule,
    shares: &[Share],
    allocation: &[u64],
) -> Option<(usize, usize)> {
    let stages = || shares.iter().zip(allocation).enumerate();
    let gains = stages().filter_map(|(stage, (share, workers))| gain(rule, stage, share, *workers));
    let losses =
        stages().filter_map(|(stage, (share, workers))| loss(rule, stage, share, *workers));
    let (best, least) = (gains.max()?, losses.min()?);
    (best > least).then_some((least.stage, best.stage))
}

/// Moves workers until no move makes it better: then it is the best of all. After a good
/// estimate there is nothing to move.
fn settle(rule: Rule, shares: &[Share], allocation: &mut [u64]) {
    while let Some((from, to)) = best_move(rule, shares, allocation) {
        if let Some(workers) = allocation.get_mut(from) {
            *workers -= 1;
        }
        if let Some(workers) = allocation.get_mut(to) {
            *workers += 1;
        }
    }
}

/// About how many workers each stage gets: those that are worth at least as much as some
/// threshold, so that only the sum may be a little off.
fn estimate(rule: Rule, shares: &[Share], workers: u64) -> Vec<u64> {
    let roots: Vec<f64> = shares.iter().map(|share| root(rule, share)).collect();
    let sum: f64 = roots.iter().sum();
    if sum <= 0.0 {
        return shares.iter().map(|share| share.minimum).collect();
    }
    // A stage has half a worker less than its due on average, or a whole one.
    let rest = match rule {
        Rule::MinimumScore => len(shares),
        Rule::DHondt => len(shares) / 2.0,
    };
    let counts =
        |scale: f64| shares.iter().zip(&roots).map(move |(s, r)| clamp(s, due(rule, r * scale)));
    let scale = (float(workers) + rest) / sum;
    let is_free = |(share, root): (&Share, &f64)| {
        let due = due(rule, root * scale);
        due >= float(share.minimum) && due < float(share.maximum)
    };
    if shares.iter().zip(&roots).all(is_free) {
        return counts(scale).collect();
    }
    // What some may not have, or must have, the others get, or lack: search for the threshold.
    let total = |scale: f64| counts(scale).fold(0_u64, u64::saturating_add);
    let (mut low, mut high) = (0.0, scale);
    for _ in 0..DOUBLINGS {
        if total(high) >= workers {
            break;
        }
        (low, high) = (high, high * 2.0);
    }
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        if total(middle) >= workers { high = middle } else { low = middle }
    }
    counts(low).collect()
}

/// Beyond so many the workload of every stage is in the hands of its maximum.
const DOUBLINGS: u32 = 140;
/// As many as a double has bits, and a few.
const HALVINGS: u32 = 60;

/// What a stage's due is in proportion to.
fn root(rule: Rule, share: &Share) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    let workload = share.workload as f64;
    match rule {
        Rule::MinimumScore => workload.sqrt(),
        Rule::DHondt => workload,
    }
}

/// How many workers are worth at least the threshold: ⌊v·m⌋, or the largest w with
/// w(w+1) ≤ v·m, for `scaled` = v·m or √(v·m).
fn due(rule: Rule, scaled: f64) -> f64 {
    match rule {
        Rule::MinimumScore => (scaled.mul_add(scaled, 0.25)).sqrt() - 0.5,
        Rule::DHondt => scaled,
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an estimate")]
fn clamp(share: &Share, due: f64) -> u64 {
    (due as u64).clamp(share.minimum, share.maximum)
}

#[expect(clippy::cast_precision_loss, reason = "an estimate")]
const fn float(count: u64) -> f64 {
    count as f64
}

#[expect(clippy::cast_precision_loss, reason = "an estimate")]
const fn len(shares: &[Share]) -> f64 {
    shares.len() as f64
}
