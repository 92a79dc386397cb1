//! Quotients (the worth of one more worker to a stage), compared exactly.

use core::cmp::Ordering;

/// The rule by which workers are shared out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Rule {
    /// Minimises Σ v/(w+1) over the stages, v being the workload and w the workers: a worker
    /// more is worth v/((w+1)(w+2)). With votes √v this is Huntington and Hill's method.
    #[default]
    MinimumScore,
    /// Highest averages, D'Hondt's (Jefferson's) method: a worker more is worth v/(w+1).
    DHondt,
}

impl Rule {
    /// The divisor of the workload for one worker more than `workers`.
    #[inline]
    pub(super) const fn divisor(self, workers: u64) -> u128 {
        let next = workers as u128 + 1;
        match self {
            Self::MinimumScore => next * (next + 1),
            Self::DHondt => next,
        }
    }
}

/// Workloads and divisors: of 64 bits where they fit, which is several times as fast.
pub(super) trait Number: Copy + Ord + Default {
    /// The workload, or the part of it that fits.
    fn workload(workload: u128) -> Self;

    /// [`Rule::divisor`], or the part of it that fits.
    fn divisor(rule: Rule, workers: u64) -> Self;

    /// Compares a × b with c × d.
    fn compare_products(a: Self, b: Self, c: Self, d: Self) -> Ordering;
}

/// Below so many workers every divisor has 64 bits.
pub(super) const NARROW_WORKERS: u64 = 1 << 31;

impl Number for u64 {
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "its caller has looked")]
    fn workload(workload: u128) -> Self {
        workload as Self
    }

    #[inline]
    fn divisor(rule: Rule, workers: u64) -> Self {
        let next = workers.wrapping_add(1);
        match rule {
            Rule::MinimumScore => next.wrapping_mul(next.wrapping_add(1)),
            Rule::DHondt => next,
        }
    }

    #[inline]
    fn compare_products(a: Self, b: Self, c: Self, d: Self) -> Ordering {
        (u128::from(a) * u128::from(b)).cmp(&(u128::from(c) * u128::from(d)))
    }
}

impl Number for u128 {
    #[inline]
    fn workload(workload: u128) -> Self {
        workload
    }

    #[inline]
    fn divisor(rule: Rule, workers: u64) -> Self {
        rule.divisor(workers)
    }

    #[inline]
    fn compare_products(a: Self, b: Self, c: Self, d: Self) -> Ordering {
        wide(a, b).cmp(&wide(c, d))
    }
}

/// What a worker is worth to a stage: `workload / divisor`. Of equal ones the earlier stage's
/// is larger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Quotient<N = u128> {
    pub(super) workload: N,
    pub(super) divisor: N,
    pub(super) stage: usize,
}

impl<N: Number> Quotient<N> {
    #[inline]
    pub(super) fn new(rule: Rule, workload: u128, workers: u64, stage: usize) -> Self {
        Self { workload: N::workload(workload), divisor: N::divisor(rule, workers), stage }
    }

    /// Which is larger, wherever it is.
    #[inline]
    pub(super) fn compare_worth(&self, other: &Self) -> Ordering {
        N::compare_products(self.workload, other.divisor, other.workload, self.divisor)
    }
}

impl Quotient {
    /// Whether another is larger, but by less than so many percent, or not larger at all.
    pub(super) fn is_worth_as_much(&self, other: &Self, percent: u128) -> bool {
        let (here, there) = (self.workload * (100 + percent), other.workload * 100);
        match u128::compare_products(there, self.divisor, here, other.divisor) {
            Ordering::Less => true,
            Ordering::Equal => percent == 0,
            Ordering::Greater => false,
        }
    }
}

impl<N: Number> Ord for Quotient<N> {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        self.compare_worth(other).then_with(|| other.stage.cmp(&self.stage))
    }
}

impl<N: Number> PartialOrd for Quotient<N> {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// a × b in 256 bits, the upper half first.
fn wide(a: u128, b: u128) -> (u128, u128) {
    const LOW: u128 = u64::MAX as u128;
    let (a1, a0, b1, b0) = (a >> 64, a & LOW, b >> 64, b & LOW);
    let (low, cross, other, high) = (a0 * b0, a1 * b0, a0 * b1, a1 * b1);
    let middle = (low >> 64) + (cross & LOW) + (other & LOW);
    let upper = high + (cross >> 64) + (other >> 64) + (middle >> 64);
    (upper, (middle << 64) | (low & LOW))
}

#[expect(clippy::cast_precision_loss, reason = "to be read by people; nothing is decided by it")]
pub(super) fn ratio(dividend: u128, divisor: u128) -> f64 {
    dividend as f64 / divisor as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_exact_beyond_128_bits() {
        let max = u128::MAX;
        assert_eq!(wide(max, max), (max - 1, 1));
        assert_eq!(wide(1 << 100, 1 << 100), (1 << 72, 0));
        assert_eq!(wide(0, max), (0, 0));
        assert_eq!(u128::compare_products(max, max, max, max - 1), Ordering::Greater);
        assert_eq!(u128::compare_products(1 << 127, 6, 3 << 126, 4), Ordering::Equal);
        for (a, b, c, d) in [(3, 5, 4, 4), (u128::from(u64::MAX), 2, 1 << 64, 2), (7, 7, 7, 7)] {
            assert_eq!(u128::compare_products(a, b, c, d), (a * b).cmp(&(c * d)));
        }
    }
}
