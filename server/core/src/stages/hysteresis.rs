//! When a better allocation is not worth its moves.

use super::allocate::Share;
use super::nearby::{improve, nearest_best};
use super::quotient::{Rule, ratio};
use crate::limits::{IMPROVEMENT_PERCENT, STAGE_MOVES};
use crate::rejection::{Reason, Rejection, in_range};

/// Hysteresis: keeps workers at their stages.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Hysteresis {
    rule: Rule,
    max_move_count: Option<u64>,
    min_improvement_percent: u128,
}

/// The allocation that was chosen.
#[derive(Debug, Clone)]
pub(crate) struct Choice {
    pub(crate) counts: Vec<u64>,
    pub(crate) score: Score,
    /// The score of the base.
    pub(crate) base_score: Score,
    /// Whether a better one was turned down for `min_improvement_percent`.
    pub(crate) improvement_too_small: bool,
}

impl Hysteresis {
    /// # Errors
    /// When a number is out of its range, or a percentage comes with a rule without a score.
    pub(crate) fn try_new(
        rule: Rule,
        max_move_count: Option<i64>,
        min_improvement_percent: i64,
    ) -> Result<Self, Rejection> {
        let moves = max_move_count.map(|moves| in_range("max_move_count", moves, STAGE_MOVES));
        let max_move_count = moves.transpose()?;
        let (field, percent) = ("min_improvement_percent", min_improvement_percent);
        let checked = in_range(field, percent, IMPROVEMENT_PERCENT)?;
        if checked > 0 && rule != Rule::MinimumScore {
            let allowed = "must be 0 with a rule other than MINIMUM_SCORE, which has no score";
            return Err(Rejection::new(Reason::Contradictory, field, percent, allowed));
        }
        Ok(Self { rule, max_move_count, min_improvement_percent: checked.into() })
    }

    /// The best allocation within reach of `base`, or `base`, if that is hardly worse.
    pub(crate) fn choose(&self, shares: &[Share], base: Vec<u64>, workers: u64) -> Choice {
        let mut counts = match self.max_move_count {
            None => nearest_best(self.rule, shares, &base, workers),
            Some(moves) => improve(self.rule, shares, &base, moves),
        };
        let (before, mut after) = (Score::of(shares, &base), Score::of(shares, &counts));
        let percent = self.min_improvement_percent;
        let is_enough = percent == 0 || after.is_below(before, percent);
        let improvement_too_small = !is_enough && counts != base;
        if improvement_too_small {
            (counts, after) = (base, before);
        }
        Choice { counts, score: after, base_score: before, improvement_too_small }
    }
}

/// Σ v/(w+1), each rounded down to 2^-16 µs: an integer, so that everyone decides alike. Of
/// 100,000 stages whose workloads are below 2^63 µs, weighted by up to 100,000, it stays below
/// 2^113.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Score(u128);

impl Score {
    fn of(shares: &[Share], counts: &[u64]) -> Self {
        let terms = shares.iter().zip(counts);
        Self(terms.map(|(share, count)| Self::of_stage(share, *count).0).sum())
    }

    /// The part of one stage.
    pub(super) fn of_stage(share: &Share, count: u64) -> Self {
        Self((share.workload << 16) / (u128::from(count) + 1))
    }

    /// Whether it is smaller than another by so many percent at least.
    const fn is_below(self, other: Self, percent: u128) -> bool {
        self.0 * 100 <= other.0 * (100 - percent)
    }

    pub(super) fn micros(self) -> f64 {
        ratio(self.0, 1 << 16)
    }

    /// How much larger it is than another, in microseconds; below 0 where it is smaller.
    pub(super) fn micros_above(self, other: Self) -> f64 {
        let micros = Self(self.0.abs_diff(other.0)).micros();
        if self.0 < other.0 { -micros } else { micros }
    }

    pub(super) const fn plus(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}
