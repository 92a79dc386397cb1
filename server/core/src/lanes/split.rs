//! How many workers each lane should have, by what waits.

use super::spec::LaneSet;
use crate::limits::{SPLIT_WORKERS, WORKLOAD_MICROS};
use crate::rejection::{Reason, Rejection, in_range};
use crate::stages::{Hysteresis, Rule, Share, forced};
use crate::time::Span;

/// How a lane does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LaneState {
    /// Jobs that wait for it.
    pub backlog_count: i64,
    /// How long an attempt takes in it.
    pub mean_run_time: Option<Span>,
    /// How long the job that has waited longest has done so.
    pub longest_wait: Option<Span>,
    /// Workers that run a job.
    pub busy: i64,
}

/// Unchecked parameters of a split.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SplitSpec {
    /// Workers in total. Default: as many as the lanes have.
    pub worker_count: Option<i64>,
    /// One for each lane.
    pub states: Vec<LaneState>,
    /// Of all splits that are so many moves away from the current one, the best. Default: the
    /// best of all.
    pub max_move_count: Option<i64>,
    /// Nobody moves, except where it is forced, unless the score falls by so many percent.
    pub min_improvement_percent: i64,
}

/// The allocation of one lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LaneAllocation {
    /// Number of workers.
    pub worker_count: u64,
    /// The work that waits for it, in microseconds, by which it got them.
    pub workload_micros: u64,
}

/// Without any timeout, an attempt is taken to last so many times the timeout before.
const BEYOND_LAST_TIMEOUT: u64 = 10;

impl SplitSpec {
    /// The workers of each lane, so that Σ work / (workers + 1) is the smallest there is. The
    /// express and the slow lane keep at least one. Of several splits it is the nearest to that of
    /// today: where nothing waits, nobody moves. The cost grows with the lanes alone.
    ///
    /// # Errors
    /// When a number is out of its range, or more workers are busy than there will be.
    pub fn split(&self, lanes: &LaneSet) -> Result<Vec<LaneAllocation>, Rejection> {
        let now: u64 = lanes.lanes().iter().map(|lane| lane.workers).sum();
        let workers = self.worker_count.unwrap_or(i64::try_from(now).unwrap_or(i64::MAX));
        let workers = in_range("worker_count", workers, SPLIT_WORKERS)?;
        if self.states.len() != lanes.lanes().len() {
            let allowed = format!("must have {}, one for each lane", lanes.lanes().len());
            let value = format!("{} states", self.states.len());
            return Err(Rejection::new(Reason::Contradictory, "states", value, allowed));
        }
        let mut shares = Vec::new();
        for (place, state) in self.states.iter().enumerate() {
            let share = share(lanes, place, state);
            shares.push(share.map_err(|refused| refused.under(&format!("states[{place}]")))?);
        }
        let least: u64 = shares.iter().map(|share| share.minimum).sum();
        if least > workers {
            let allowed = format!("must be {least} or more: so many are busy, or must be there");
            return Err(Rejection::new(Reason::Contradictory, "worker_count", workers, allowed));
        }
        let has: Vec<u64> = lanes.lanes().iter().map(|lane| lane.workers).collect();
        let base = forced(Rule::MinimumScore, &shares, &has, workers);
        let percent = self.min_improvement_percent;
        let hysteresis = Hysteresis::try_new(Rule::MinimumScore, self.max_move_count, percent)?;
        let counts = hysteresis.choose(&shares, base, workers).counts;
        let allocation = |(worker_count, share): (u64, &Share)| LaneAllocation {
            worker_count,
            workload_micros: u64::try_from(share.workload).unwrap_or(u64::MAX),
        };
        Ok(counts.into_iter().zip(&shares).map(allocation).collect())
    }
}

fn share(lanes: &LaneSet, place: usize, state: &LaneState) -> Result<Share, Rejection> {
    let LaneState { backlog_count, mean_run_time, longest_wait, busy } = *state;
    let workers = lanes.lanes().get(place).map_or(0, |lane| lane.workers);
    let checked = u64::try_from(busy).ok().filter(|busy| *busy <= workers);
    let busy = checked.ok_or_else(|| {
        let allowed = format!("must be 0 to {workers} workers, those of the lane");
        Rejection::new(Reason::OutOfRange, "busy_worker_count", busy, allowed)
    })?;
    let pending = u64::try_from(backlog_count).map_err(|_| {
        let allowed = "must be 0 jobs or more";
        Rejection::new(Reason::OutOfRange, "backlog_count", backlog_count, allowed)
    })?;
    let micros = |field: &str, span: Span| {
        u64::try_from(span.nanos() / 1_000).ok().filter(|_| span.nanos() >= 0).ok_or_else(|| {
            let allowed = "must be 0 s or more, and less than 584,000 years";
            Rejection::new(Reason::OutOfRange, field, span, allowed)
        })
    };
    let mean = mean_run_time.map(|time| micros("mean_run_time", time)).transpose()?;
    let wait = longest_wait.map(|time| micros("longest_wait", time)).transpose()?;
    let work = match (mean, wait) {
        _ if pending == 0 => 0,
        (None, Some(wait)) if workers > 0 => u128::from(wait) * u128::from(workers),
        (mean, _) => {
            let guess = mean.map_or_else(|| guess(lanes, place), u128::from);
            u128::from(pending) * guess
        }
    };
    if !WORKLOAD_MICROS.allows(i128::try_from(work).unwrap_or(i128::MAX)) {
        let allowed = format!("must make waiting work of {WORKLOAD_MICROS}");
        return Err(Rejection::new(Reason::OutOfRange, "backlog_count", pending, allowed));
    }
    let is_end = place == 0 || place == lanes.last();
    Ok(Share { workload: work, minimum: busy.max(u64::from(is_end)), maximum: u64::MAX })
}

/// Assumed length of an attempt without measurements, in microseconds.
fn guess(lanes: &LaneSet, place: usize) -> u128 {
    let before = || place.checked_sub(1).and_then(|before| lanes.timeout(before));
    let timeout =
        lanes.timeout(place).or_else(|| before().map(|timeout| timeout.times(BEYOND_LAST_TIMEOUT)));
    timeout.map_or(0, |timeout| timeout.nanos().unsigned_abs() / 1_000)
}
