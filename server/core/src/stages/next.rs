//! Chooses the next stage of a worker that has finished a job.

use super::allocate::{Share, gain};
use super::quotient::ratio;
use super::quotient::{Quotient, Rule};
use super::spec::{Checked, StageSpec, Weighting, check};
use super::starvation::floors;
use crate::limits::NEXT_IMPROVEMENT_PERCENT;
use crate::rejection::{Reason, Rejection, in_range};

/// Unchecked parameters for the next stage of one worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NextSpec {
    /// In the order of the pipeline. The worker counts among the current ones of its stage.
    pub stages: Vec<StageSpec>,
    /// Its stage; none for a new worker.
    pub from: Option<usize>,
    /// The divisor rule.
    pub rule: Rule,
    /// How the place of a stage in the pipeline is weighted.
    pub weighting: Weighting,
    /// It stays, unless it is worth more elsewhere by so many percent.
    pub min_gain_percent: i64,
    /// A stage with waiting jobs has a minimum of one worker.
    pub prevent_starvation: bool,
}

/// Why a worker goes where it goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// It is worth most there.
    WorthMost,
    /// The stage has fewer than its minimum, or would have without it.
    BelowMinimum,
    /// It would be worth more elsewhere, but not enough.
    GainTooSmall,
    /// Every stage that is not done has its maximum.
    AllFull,
}

/// The next stage of a worker.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Next {
    /// Index of the stage; `None` if no stage can take the worker.
    pub stage: Option<usize>,
    /// Why the worker goes there, or stays.
    pub why: Why,
    /// Its quotient there, in microseconds, for display.
    pub quotient: f64,
    /// Its quotient at its current stage; 0 where it may not stay.
    pub current_quotient: f64,
}

impl NextSpec {
    /// Says where the worker goes; none, if every stage is done. The cost grows with the stages
    /// alone.
    ///
    /// # Errors
    /// When a field is out of its range, or the worker's stage has no idle worker.
    pub fn next(&self) -> Result<Option<Next>, Rejection> {
        let checked = check(&self.stages, self.weighting)?;
        let is_waiting = checked.is_waiting();
        let Checked { mut shares, done, mut current, .. } = checked;
        if self.prevent_starvation {
            shares = floors(&shares, &is_waiting);
        }
        let (field, percent) = ("min_gain_percent", self.min_gain_percent);
        let percent = u128::from(in_range(field, percent, NEXT_IMPROVEMENT_PERCENT)?);
        if let Some(from) = self.from {
            self.leave(from, &mut current)?;
        }
        if done.iter().all(|done| *done) {
            return Ok(None);
        }
        let worth = |stage: usize| self.worth(&shares, &done, &current, stage);
        let stays = self.from.and_then(worth);
        let lacks = |stage: usize| {
            worth(stage).is_some()
                && current.get(stage) < shares.get(stage).map(|share| &share.minimum)
        };
        let best = (0..shares.len()).filter_map(worth).max();
        let lacking = self.from.filter(|from| lacks(*from));
        let lacking = lacking.or_else(|| (0..shares.len()).find(|stage| lacks(*stage)));
        let (chosen, why) = match (lacking, stays, best) {
            (Some(stage), ..) => (worth(stage), Why::BelowMinimum),
            (None, _, None) => (None, Why::AllFull),
            (None, Some(stays), Some(best)) if stays.is_worth_as_much(&best, 0) => {
                (Some(stays), Why::WorthMost)
            }
            (None, Some(stays), Some(best)) if stays.is_worth_as_much(&best, percent) => {
                (Some(stays), Why::GainTooSmall)
            }
            (None, _, best) => (best, Why::WorthMost),
        };
        let micros = |quotient: Option<Quotient>| {
            quotient.map_or(0.0, |quotient| ratio(quotient.workload, quotient.divisor))
        };
        Ok(Some(Next {
            stage: chosen.map(|quotient| quotient.stage),
            why,
            quotient: micros(chosen),
            current_quotient: micros(stays),
        }))
    }

    /// The worker is counted where it goes, not where it was.
    fn leave(&self, from: usize, current: &mut [u64]) -> Result<(), Rejection> {
        let busy = self.stages.get(from).map_or(0, |stage| stage.busy);
        let left = current.get_mut(from).filter(|count| **count > busy.unsigned_abs());
        let Some(count) = left else {
            let has = self.stages.get(from).map_or(0, |stage| stage.current);
            let allowed = "must be more than busy_worker_count, by the worker that has finished";
            let field = format!("stages[{from}].current_worker_count");
            return Err(Rejection::new(Reason::OutOfRange, field, has, allowed));
        };
        *count -= 1;
        Ok(())
    }

    /// What the worker is worth in a stage that may have it.
    fn worth(
        &self,
        shares: &[Share],
        done: &[bool],
        counts: &[u64],
        at: usize,
    ) -> Option<Quotient> {
        let (share, count) = shares.get(at).zip(counts.get(at))?;
        if done.get(at).copied().unwrap_or(true) {
            return None;
        }
        gain(self.rule, at, share, *count)
    }
}
