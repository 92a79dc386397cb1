//! How many workers each stage gets.

use std::collections::BinaryHeap;

use core::cmp::Reverse;

use super::quotient::{NARROW_WORKERS, Number, Quotient, Rule};

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
/// The cost grows with the stages, as S log S, and not with the workers: an estimate in floating
/// point comes first, which is at most some workers for each stage off, and is then corrected
/// worker by worker, by exact comparison alone.
///
/// The minima must not be more than the workers.
#[must_use]
pub fn allocate(rule: Rule, shares: &[Share], workers: u64) -> Vec<u64> {
    let most: u128 = shares.iter().map(|share| u128::from(share.maximum)).sum();
    let workers = u64::try_from(most).map_or(workers, |most| workers.min(most));
    let mut counts = estimate(rule, shares, workers);
    let sum: u128 = counts.iter().copied().map(u128::from).sum();
    let is_narrow = workers < NARROW_WORKERS
        && shares.iter().all(|share| u64::try_from(share.workload).is_ok());
    if is_narrow {
        correct::<u64>(rule, shares, &mut counts, workers, sum);
    } else {
        correct::<u128>(rule, shares, &mut counts, workers, sum);
    }
    counts
}

/// Makes the best of all of an estimate.
fn correct<N: Number>(rule: Rule, shares: &[Share], counts: &mut [u64], workers: u64, sum: u128) {
    let gap = |larger: u128, smaller: u128| u64::try_from(larger - smaller).unwrap_or(u64::MAX);
    let (best, least) = if sum < u128::from(workers) {
        let best = add::<N>(rule, shares, counts, gap(workers.into(), sum));
        (best, least_loss(rule, shares, counts))
    } else {
        let least = remove::<N>(rule, shares, counts, gap(sum, workers.into()));
        (best_gain(rule, shares, counts), least)
    };
    // After a good estimate there is nothing to move.
    if least.is_some_and(|least| best > Some(least)) {
        settle::<N>(rule, shares, counts);
    }
}

/// Moves workers, each from where it is worth least to where it is worth most, until no move makes
/// the allocation better: then it is the best of all.
///
/// A stage that gets a worker gives none, and the reverse: each move makes the next gain smaller
/// and the next loss larger. So what a stage that gets workers would lose need not be kept up to
/// date, nor what one that gives workers would gain.
fn settle<N: Number>(rule: Rule, shares: &[Share], counts: &mut [u64]) {
    let mut gains: BinaryHeap<Quotient<N>> = gains(rule, shares, counts).collect();
    let mut losses: BinaryHeap<_> = losses(rule, shares, counts).map(Reverse).collect();
    while let (Some(best), Some(Reverse(least))) = (gains.pop(), losses.pop())
        && best > least
    {
        if let Some((share, count)) = shares.get(best.stage).zip(counts.get_mut(best.stage)) {
            *count += 1;
            gains.extend(gain(rule, best.stage, share, *count));
        }
        if let Some((share, count)) = shares.get(least.stage).zip(counts.get_mut(least.stage)) {
            *count -= 1;
            losses.extend(loss(rule, least.stage, share, *count).map(Reverse));
        }
    }
}

/// What one worker more would be worth to each stage that may have one.
fn gains<'a, N: Number + 'a>(
    rule: Rule,
    shares: &'a [Share],
    counts: &'a [u64],
) -> impl Iterator<Item = Quotient<N>> + 'a {
    let stages = shares.iter().zip(counts).enumerate();
    stages.filter_map(move |(stage, (share, count))| gain(rule, stage, share, *count))
}

/// What the last worker is worth to each stage that need not have it.
fn losses<'a, N: Number + 'a>(
    rule: Rule,
    shares: &'a [Share],
    counts: &'a [u64],
) -> impl Iterator<Item = Quotient<N>> + 'a {
    let stages = shares.iter().zip(counts).enumerate();
    stages.filter_map(move |(stage, (share, count))| loss(rule, stage, share, *count))
}

/// What one worker more would be worth to a stage that may have one.
pub(super) fn gain<N: Number>(
    rule: Rule,
    stage: usize,
    share: &Share,
    workers: u64,
) -> Option<Quotient<N>> {
    let may = workers < share.maximum;
    may.then(|| Quotient::new(rule, share.workload, workers, stage))
}

/// What the last worker is worth to a stage that need not have it.
pub(super) fn loss<N: Number>(
    rule: Rule,
    stage: usize,
    share: &Share,
    workers: u64,
) -> Option<Quotient<N>> {
    let fewer = workers.checked_sub(1).filter(|fewer| *fewer >= share.minimum)?;
    Some(Quotient::new(rule, share.workload, fewer, stage))
}

/// Adds workers, each where it is worth most; says what one more would be worth.
fn add<N: Number>(
    rule: Rule,
    shares: &[Share],
    allocation: &mut [u64],
    count: u64,
) -> Option<Quotient<N>> {
    if count == 0 {
        return best_gain(rule, shares, allocation);
    }
    let gain_of = |stage: usize, workers: u64| {
        shares.get(stage).and_then(|share| gain(rule, stage, share, workers))
    };
    let mut gains = largest(gains(rule, shares, allocation), count);
    let mut left = count;
    while left > 0 {
        let best = gains.pop()?;
        let workers = allocation.get_mut(best.stage)?;
        // To a stage without work, one is worth as much as all.
        let all = best.workload == N::default();
        let maximum = shares.get(best.stage).map_or(0, |share| share.maximum);
        let taken = if all { left.min(maximum - *workers) } else { 1 };
        *workers += taken;
        left -= taken;
        gains.extend(gain_of(best.stage, *workers));
    }
    gains.peek().copied()
}

/// Removes workers, each where it is worth least; says what the next would be worth.
fn remove<N: Number>(
    rule: Rule,
    shares: &[Share],
    allocation: &mut [u64],
    count: u64,
) -> Option<Quotient<N>> {
    if count == 0 {
        return least_loss(rule, shares, allocation);
    }
    let loss_of = |stage: usize, workers: u64| {
        shares.get(stage).and_then(|share| loss(rule, stage, share, workers)).map(Reverse)
    };
    let mut losses = largest(losses(rule, shares, allocation).map(Reverse), count);
    let mut left = count;
    while left > 0 {
        let Reverse(least) = losses.pop()?;
        let workers = allocation.get_mut(least.stage)?;
        let minimum = shares.get(least.stage).map_or(0, |share| share.minimum);
        let taken = if least.workload == N::default() { left.min(*workers - minimum) } else { 1 };
        *workers -= taken;
        left -= taken;
        losses.extend(loss_of(least.stage, *workers));
    }
    losses.peek().map(|Reverse(least)| *least)
}

/// The `count` largest and one more: as many as can be chosen, and what is left then. Passing
/// most of the others by costs one comparison each, and one that is foreseen.
fn largest<T: Ord>(mut all: impl Iterator<Item = T>, count: u64) -> BinaryHeap<T> {
    let count = usize::try_from(count).unwrap_or(usize::MAX).saturating_add(1);
    let mut kept: BinaryHeap<Reverse<T>> = all.by_ref().take(count).map(Reverse).collect();
    for item in all {
        if let Some(mut smallest) = kept.peek_mut()
            && item > smallest.0
        {
            *smallest = Reverse(item);
        }
    }
    kept.into_vec().into_iter().map(|Reverse(item)| item).collect()
}

/// What one worker more would be worth, at most.
fn best_gain<N: Number>(rule: Rule, shares: &[Share], allocation: &[u64]) -> Option<Quotient<N>> {
    gains(rule, shares, allocation).max()
}

/// What one worker less would cost, at least.
fn least_loss<N: Number>(rule: Rule, shares: &[Share], allocation: &[u64]) -> Option<Quotient<N>> {
    losses(rule, shares, allocation).min()
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
    let scale = (float(workers) + rest) / sum;
    let mut are_free = true;
    let within = shares.iter().zip(&roots).map(|(share, root)| {
        let due = whole(due(rule, root * scale));
        let count = due.clamp(share.minimum, share.maximum);
        are_free &= due == count;
        count
    });
    let counts: Vec<u64> = within.collect();
    if are_free { counts } else { bounded(rule, shares, &roots, workers, scale) }
}

/// What some may not have, or must have, the others get, or lack: searches for the threshold.
fn bounded(rule: Rule, shares: &[Share], roots: &[f64], workers: u64, scale: f64) -> Vec<u64> {
    let counts = |scale: f64| {
        let due = move |root: &f64| whole(due(rule, root * scale));
        shares.iter().zip(roots).map(move |(s, root)| due(root).clamp(s.minimum, s.maximum))
    };
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
    let wide = || share.workload as f64; // which takes long
    let workload = u64::try_from(share.workload).map_or_else(|_| wide(), float);
    match rule {
        Rule::MinimumScore => workload.sqrt(),
        Rule::DHondt => workload,
    }
}

/// How many workers are worth at least the threshold: ⌊v·m⌋, or the largest w with
/// w(w+1) ≤ v·m, for `scaled` = v·m or √(v·m).
fn due(rule: Rule, scaled: f64) -> f64 {
    match rule {
        Rule::MinimumScore => (scaled * scaled + 0.25).sqrt() - 0.5,
        Rule::DHondt => scaled,
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an estimate")]
const fn whole(due: f64) -> u64 {
    due as u64
}

#[expect(clippy::cast_precision_loss, reason = "an estimate")]
const fn float(count: u64) -> f64 {
    count as f64
}

#[expect(clippy::cast_precision_loss, reason = "an estimate")]
const fn len(shares: &[Share]) -> f64 {
    shares.len() as f64
}
