//! Routes a single job.

use super::spec::{LaneSet, OnTimeout, check_probability};
use crate::rejection::{Reason, Rejection};
use crate::time::Span;

/// Knowledge about a job before it runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Prediction {
    /// How probable it is that it reaches the express lane's timeout: 0 to 1.
    SlowProbability(f64),
    /// How long it will run.
    RunTime(Span),
}

/// Why a job gets its lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RouteWhy {
    /// Nothing is known yet.
    Untried,
    /// It reached the timeout of a faster lane.
    Demoted,
    /// It was predicted to be slow.
    PredictedSlow,
    /// An idle worker of a slower lane takes it.
    IdleWorker,
}

/// The lane that runs a job's next attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Route {
    /// Index of the lane, 0 is the fastest.
    pub lane: usize,
    /// The attempt, from 1.
    pub attempt: usize,
    /// The attempt timeout; `None` is without limit.
    pub timeout: Option<Span>,
    /// The lane after the timeout; none if the job has then failed for good.
    pub on_timeout: Option<usize>,
    /// Why the job runs in this lane.
    pub why: RouteWhy,
    /// Whether a suspended attempt continues.
    pub resumes: bool,
}

/// The next lane of a job, or its failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The job runs in a lane.
    Route(Route),
    /// It reached the timeout of its last possible lane.
    Failed {
        /// Index of that lane.
        lane: usize,
    },
}

/// Which lanes may take a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Entry {
    /// This one, the fastest, and those that are slower.
    Lane { lane: usize, why: RouteWhy },
    /// None: it reached the timeout of the last lane that it could run in.
    Failed { lane: usize },
}

impl LaneSet {
    /// Where the next attempt of a job runs whose attempts in `timed_out` reached the timeout:
    /// with a free worker of `worker_lane_name` there, if that lane may run it, and otherwise in the
    /// fastest lane that may.
    ///
    /// # Errors
    /// When there is no such lane, the worker's has no workers, or a prediction is out of its range.
    pub fn route(
        &self,
        timed_out: &[usize],
        prediction: Option<Prediction>,
        worker_lane_name: Option<usize>,
    ) -> Result<Outcome, Rejection> {
        if let Some(lane) = worker_lane_name
            && self.lanes().get(lane).is_none_or(|lane| lane.workers == 0)
        {
            let allowed = "must be a lane of the set that has workers";
            return Err(Rejection::new(Reason::OutOfRange, "worker_lane_name", "another", allowed));
        }
        Ok(match (self.entry(timed_out, prediction)?, worker_lane_name) {
            (Entry::Lane { lane, .. }, Some(worker)) if worker > lane => {
                Outcome::Route(self.route_in(worker, timed_out.len(), RouteWhy::IdleWorker))
            }
            (Entry::Lane { lane, why }, _) => {
                Outcome::Route(self.route_in(lane, timed_out.len(), why))
            }
            (Entry::Failed { lane }, _) => Outcome::Failed { lane },
        })
    }

    /// Which lanes may take a job.
    pub(super) fn entry(
        &self,
        timed_out: &[usize],
        prediction: Option<Prediction>,
    ) -> Result<Entry, Rejection> {
        let predicted = self.predicted(prediction)?;
        let slowest = timed_out.iter().copied().max();
        if let Some((at, _)) = timed_out.iter().enumerate().find(|(_, lane)| **lane > self.last()) {
            let field = format!("timed_out_lane_names[{at}]");
            let allowed = "must be a lane of the set";
            return Err(Rejection::new(Reason::OutOfRange, field, "another", allowed));
        }
        Ok(match slowest {
            Some(slowest) => match self.after(slowest) {
                Some(lane) => Entry::Lane { lane, why: RouteWhy::Demoted },
                None => Entry::Failed { lane: slowest },
            },
            None if predicted > 0 => Entry::Lane { lane: predicted, why: RouteWhy::PredictedSlow },
            None => Entry::Lane { lane: 0, why: RouteWhy::Untried },
        })
    }

    /// The attempt of a job in a lane, after so many that reached a timeout.
    pub(super) fn route_in(&self, lane: usize, timeouts: usize, why: RouteWhy) -> Route {
        Route {
            lane,
            attempt: timeouts + 1,
            timeout: self.timeout(lane),
            on_timeout: self.timeout(lane).and_then(|_| self.after(lane)),
            why,
            resumes: timeouts > 0 && self.on_timeout == OnTimeout::Suspend,
        }
    }

    /// In which lane an untried job begins: 0 unless it is predicted to be slow.
    fn predicted(&self, prediction: Option<Prediction>) -> Result<usize, Rejection> {
        let begins = match prediction {
            None => 0,
            Some(Prediction::SlowProbability(probability)) => {
                check_probability("prediction.slow_probability", probability)?;
                usize::from(probability > self.max_express_slow_probability)
            }
            Some(Prediction::RunTime(time)) => {
                if time.nanos() < 0 {
                    let (field, allowed) = ("prediction.run_time", "must be 0 s or more");
                    return Err(Rejection::new(Reason::OutOfRange, field, time, allowed));
                }
                let keeps = |timeout: Option<Span>| timeout.is_none_or(|timeout| time <= timeout);
                let mut lanes = self.lanes().iter();
                lanes.position(|lane| keeps(lane.timeout)).unwrap_or(self.last())
            }
        };
        Ok(self.at_least(begins).unwrap_or(self.last()))
    }

    /// How probable it is that a job is slow, to sort by.
    pub(super) fn slowness(&self, prediction: Option<Prediction>) -> f64 {
        match prediction {
            None => 0.0,
            Some(Prediction::SlowProbability(probability)) => probability,
            Some(Prediction::RunTime(time)) => {
                let is_slow = self.timeout(0).is_some_and(|timeout| time > timeout);
                if is_slow { 1.0 } else { 0.0 }
            }
        }
    }
}
