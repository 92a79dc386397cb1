//! The backlogs of a pipeline until its next allocation.

use super::load::{Arrivals, Rate};
use crate::rejection::{Reason, Rejection};
use crate::time::Span;

/// A stage between two allocations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FlowStage {
    /// Number of workers.
    pub worker_count: u64,
    /// Mean service time of a job, in nanoseconds.
    pub mean_nanos: u64,
    /// Arrivals. `None`: the jobs that the previous stage finishes.
    pub arrivals: Option<Arrivals>,
}

/// The backlogs of a pipeline, in whole jobs: parts of a job are kept for the next step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flow {
    queues: Vec<Queue>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Queue {
    backlog: u64,
    /// The part of the next job that has arrived, in parts of `period_nanos`.
    arrived: u64,
    period_nanos: u64,
    /// The time that workers have spent on the next job.
    worked_nanos: u64,
}

impl Flow {
    /// A pipeline with these backlogs.
    #[must_use]
    pub fn new(backlogs: impl IntoIterator<Item = u64>) -> Self {
        let queue = |backlog| Queue { backlog, arrived: 0, period_nanos: 1, worked_nanos: 0 };
        Self { queues: backlogs.into_iter().map(queue).collect() }
    }

    /// Replaces the backlog of a stage, if there is such a stage.
    pub fn set_backlog(&mut self, stage: usize, backlog: u64) {
        self.queues.get_mut(stage).into_iter().for_each(|queue| queue.backlog = backlog);
    }

    /// The jobs that wait at each stage.
    pub fn backlogs(&self) -> impl Iterator<Item = u64> + '_ {
        self.queues.iter().map(|queue| queue.backlog)
    }

    /// Lets time pass, and returns how many jobs have left the last stage.
    ///
    /// One stage after the other gets its arrivals and does what its workers can do in that time.
    /// So a job may pass several stages in one step: a step should be long beside the run times,
    /// and short beside the time in which a backlog drains.
    ///
    /// # Errors
    /// When the time is not 0 s to 584 years, or arrivals are out of range.
    pub fn advance(&mut self, stages: &[FlowStage], elapsed: Span) -> Result<u64, Rejection> {
        let nanos = u64::try_from(elapsed.nanos()).map_err(|_| {
            let allowed = "must be 0 s or more, and less than 584 years";
            Rejection::new(Reason::OutOfRange, "elapsed", elapsed, allowed)
        })?;
        let mut finished = 0;
        for (at, (queue, stage)) in self.queues.iter_mut().zip(stages).enumerate() {
            if let Some(arrivals) = stage.arrivals {
                let rate = Rate::try_new(arrivals);
                let rate = rate.map_err(|refused| refused.under(&format!("stages[{at}]")))?;
                finished = queue.arrivals(rate, nanos);
            }
            queue.backlog = queue.backlog.saturating_add(finished);
            finished = queue.work(stage, nanos);
        }
        Ok(finished)
    }
}

impl Queue {
    /// The whole jobs that arrive in that time.
    fn arrivals(&mut self, rate: Rate, nanos: u64) -> u64 {
        let Rate { count, period_nanos } = rate;
        if self.period_nanos != period_nanos {
            (self.arrived, self.period_nanos) = (0, period_nanos);
        }
        let parts = u128::from(count) * u128::from(nanos) + u128::from(self.arrived);
        let (jobs, rest) = divide(parts, period_nanos);
        self.arrived = rest;
        jobs
    }

    /// The jobs that the workers finish in that time.
    fn work(&mut self, stage: &FlowStage, nanos: u64) -> u64 {
        if stage.worker_count == 0 {
            return 0;
        }
        let time = u128::from(stage.worker_count) * u128::from(nanos);
        let (jobs, rest) = match stage.mean_nanos {
            0 => (u64::MAX, 0),
            mean => divide(time + u128::from(self.worked_nanos), mean),
        };
        let jobs = jobs.min(self.backlog);
        self.backlog -= jobs;
        // Idle workers save nothing up.
        self.worked_nanos = if self.backlog == 0 { 0 } else { rest };
        jobs
    }
}

/// How often, and what is left; as often as 64 bits say at most.
fn divide(dividend: u128, divisor: u64) -> (u64, u64) {
    let divisor = u128::from(divisor.max(1));
    let often = u64::try_from(dividend / divisor).unwrap_or(u64::MAX);
    (often, u64::try_from(dividend % divisor).unwrap_or_default())
}
