//! Stages as their owner describes them, and what that comes to.

use super::allocate::Share;
use super::load::{Arrivals, Load, Rate};
use crate::limits::{STAGE_COUNT, STAGE_WORKERS, WORKLOAD_MICROS};
use crate::rejection::{Reason, Rejection, in_range};
use crate::time::Span;

/// An unchecked stage.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StageSpec {
    /// Waiting jobs, without those that run.
    pub backlog_count: i64,
    /// How long jobs took: one mean, or each of some. None: it was never measured.
    pub run_times: Vec<Span>,
    /// Whether no more work will come: it gets no workers but those that are busy.
    pub done: bool,
    /// Minimum number of workers. Default: 0.
    pub minimum: i64,
    /// Maximum number of workers. Default: all.
    pub maximum: Option<i64>,
    /// Current workers, busy ones included.
    pub current: i64,
    /// Current workers that run a job, and stay.
    pub busy: i64,
    /// The jobs that arrive; they do not change how many workers it gets. None: as many as at
    /// the stage before, from which they come; at the first stage, none.
    pub arrivals: Option<Arrivals>,
}

/// How the place of a stage in the pipeline is weighted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Weighting {
    /// All stages count equally.
    #[default]
    Even,
    /// The workload of the i-th stage counts i times: items close to the end go first.
    Latency,
}

/// The work of a stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Workload {
    /// In microseconds: backlog times mean service time.
    pub micros: u64,
    /// The mean service time, to the nanosecond.
    pub mean_nanos: u64,
    /// Whether that is the mean of the other stages, because its own was not measured.
    pub is_estimated: bool,
}

/// Checked stages.
#[derive(Debug, Clone)]
pub(super) struct Checked {
    pub(super) workloads: Vec<Workload>,
    pub(super) loads: Vec<Load>,
    pub(super) weights: Vec<u64>,
    pub(super) shares: Vec<Share>,
    pub(super) done: Vec<bool>,
    pub(super) current: Vec<u64>,
}

/// The mean service time of a pipeline in which nothing was measured.
const NOTHING_MEASURED: u64 = 1_000_000_000;

impl Checked {
    /// Whether no worker is needed any more.
    pub(super) fn all_done(&self) -> bool {
        self.done.iter().all(|done| *done)
    }

    /// The stages in which jobs wait for a worker.
    pub(super) fn is_waiting(&self) -> Vec<bool> {
        let stages = self.loads.iter().zip(&self.done);
        stages.map(|(load, done)| load.backlog() > 0 && !done).collect()
    }

    /// Refuses fewer workers than the stages must have.
    pub(super) fn fit(&self, workers: u64) -> Result<(), Rejection> {
        let minima: u128 = self.shares.iter().map(|share| u128::from(share.minimum)).sum();
        if minima > u128::from(workers) {
            let allowed =
                format!("must be {minima} or more: so many must the stages have, or keep busy");
            return Err(Rejection::new(Reason::Contradictory, "worker_count", workers, allowed));
        }
        Ok(())
    }
}

pub(super) fn check(stages: &[StageSpec], weighting: Weighting) -> Result<Checked, Rejection> {
    in_range("stages", i64::try_from(stages.len()).unwrap_or(i64::MAX), STAGE_COUNT)?;
    let at = |place: usize| move |refused: Rejection| refused.under(&format!("stages[{place}]"));
    let numbered = || stages.iter().enumerate();
    let means = numbered()
        .map(|(place, stage)| mean_nanos(&stage.run_times).map_err(at(place)))
        .collect::<Result<Vec<_>, _>>()?;
    let measured: Vec<u64> = means.iter().flatten().copied().collect();
    let usual = mean(&measured).unwrap_or(NOTHING_MEASURED);
    let mut checked = Checked {
        workloads: Vec::new(),
        loads: Vec::new(),
        weights: Vec::new(),
        shares: Vec::new(),
        done: stages.iter().map(|stage| stage.done).collect(),
        current: Vec::new(),
    };
    let mut rate = Rate::NONE;
    for ((place, stage), mean) in numbered().zip(&means) {
        let (workload, backlog) = workload(stage, *mean, usual).map_err(at(place))?;
        rate = rate_of(stage, rate).map_err(at(place))?;
        let load = Load::try_new(backlog, workload.mean_nanos, rate).map_err(at(place))?;
        checked.loads.push(load);
        let weight = match weighting {
            Weighting::Even => 1,
            Weighting::Latency => place as u64 + 1,
        };
        checked.current.push(current(stage).map_err(at(place))?);
        checked.workloads.push(workload);
        checked.weights.push(weight);
        checked.shares.push(share(stage, workload, weight).map_err(at(place))?);
    }
    Ok(checked)
}

fn mean_nanos(times: &[Span]) -> Result<Option<u64>, Rejection> {
    let nanos = times.iter().enumerate().map(|(place, time)| {
        u64::try_from(time.nanos()).map_err(|_| {
            let allowed = "must be 0 s or more, and less than 584 years";
            let field = format!("run_times[{place}]");
            Rejection::new(Reason::OutOfRange, field, time, allowed)
        })
    });
    Ok(mean(&nanos.collect::<Result<Vec<_>, _>>()?))
}

/// Rounded to the nearest.
fn mean(numbers: &[u64]) -> Option<u64> {
    let count = numbers.len() as u128;
    let sum: u128 = numbers.iter().copied().map(u128::from).sum();
    (count > 0).then(|| u64::try_from((sum + count / 2) / count).unwrap_or(u64::MAX))
}

/// The workload of a stage, and its backlog.
fn workload(
    stage: &StageSpec,
    mean: Option<u64>,
    usual: u64,
) -> Result<(Workload, u64), Rejection> {
    let backlog = u64::try_from(stage.backlog_count).map_err(|_| {
        let allowed = "must be 0 jobs or more";
        Rejection::new(Reason::OutOfRange, "backlog_count", stage.backlog_count, allowed)
    })?;
    let mean_nanos = mean.unwrap_or(usual);
    let micros = (u128::from(backlog) * u128::from(mean_nanos) + 500) / 1_000;
    let micros =
        u64::try_from(micros).ok().filter(|micros| WORKLOAD_MICROS.allows((*micros).into()));
    let micros = micros.ok_or_else(|| {
        let allowed = format!("must make a workload of {WORKLOAD_MICROS}");
        Rejection::new(Reason::OutOfRange, "backlog_count", backlog, allowed)
    })?;
    Ok((Workload { micros, mean_nanos, is_estimated: mean.is_none() }, backlog))
}

/// Arrivals at a stage: its own, or those of the previous stage.
fn rate_of(stage: &StageSpec, before: Rate) -> Result<Rate, Rejection> {
    let rate = stage.arrivals.map(Rate::try_new).transpose()?;
    match rate {
        Some(rate) if rate.count > 0 && stage.done => {
            let allowed = "must be 0 or not set: no more work comes to a stage that is done";
            Err(Rejection::new(Reason::Contradictory, "arrival_count", rate.count, allowed))
        }
        Some(rate) => Ok(rate),
        None if stage.done => Ok(Rate::NONE),
        None => Ok(before),
    }
}

/// Its workers, of whom no more are busy than there are.
fn current(stage: &StageSpec) -> Result<u64, Rejection> {
    let current = in_range("current_worker_count", stage.current, STAGE_WORKERS)?;
    if stage.busy > stage.current {
        let allowed = format!("must be 0 to {current} workers, current_worker_count");
        let (field, busy) = ("busy_worker_count", stage.busy);
        return Err(Rejection::new(Reason::OutOfRange, field, busy, allowed));
    }
    Ok(current)
}

fn share(stage: &StageSpec, workload: Workload, weight: u64) -> Result<Share, Rejection> {
    let least = in_range("min_worker_count", stage.minimum, STAGE_WORKERS)?;
    let busy = in_range("busy_worker_count", stage.busy, STAGE_WORKERS)?;
    let maximum = stage.maximum.unwrap_or(STAGE_WORKERS.maximum);
    let maximum = in_range("max_worker_count", maximum, STAGE_WORKERS)?;
    if maximum < least {
        let allowed = format!("must be {least} or more, min_worker_count");
        return Err(Rejection::new(Reason::OutOfRange, "max_worker_count", maximum, allowed));
    }
    let workload = u128::from(workload.micros) * u128::from(weight);
    // Those who are busy stay, even where there should be fewer, or none.
    let minimum = if stage.done { busy } else { least.max(busy) };
    let maximum = if stage.done { busy } else { maximum.max(busy) };
    Ok(Share { workload, minimum, maximum })
}
