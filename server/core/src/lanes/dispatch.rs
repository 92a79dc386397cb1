//! Which job a free worker takes.

use std::collections::VecDeque;

use super::route::{Entry, Prediction, Route, RouteWhy};
use super::spec::{LanePolicy, LaneSet};
use crate::rejection::{Reason, Rejection};

/// Jobs that wait, by the fastest lane that may take them.
///
/// [`take`](Self::take) is the whole rule; who calls it asks for the slowest free worker first.
#[derive(Debug, Clone)]
pub struct Dispatcher<J> {
    policy: LanePolicy,
    /// By what a worker prefers: how far a job was demoted. Each with its number in the order
    /// of arrival, and the fastest lane that may take it.
    queues: Vec<VecDeque<QueuedJob<J>>>,
    arrivals: u64,
}

#[derive(Debug, Clone)]
struct QueuedJob<J> {
    number: u64,
    job: J,
}

impl<J> Dispatcher<J> {
    /// An empty dispatcher for these lanes.
    #[must_use]
    pub fn new(lanes: &LaneSet) -> Self {
        let queues = lanes.lanes().iter().map(|_| VecDeque::new()).collect();
        Self { policy: lanes.policy, queues, arrivals: 0 }
    }

    /// A job waits behind all others. `entry` is the fastest lane that may take it: 0 of untried
    /// ones, [`LaneSet::after`] the lane whose timeout a job reached. Of lanes that are not
    /// there, the last.
    #[inline]
    pub fn push(&mut self, job: J, entry: usize) {
        let number = self.arrivals;
        self.arrivals += 1;
        let last = self.queues.len() - 1;
        if let Some(queue) = self.queues.get_mut(entry.min(last)) {
            queue.push_back(QueuedJob { number, job });
        }
    }

    /// The job that a free worker of `lane` takes: under [`LanePolicy::ExpressFirst`] the first
    /// of those that were demoted furthest, but not beyond this lane; under
    /// [`LanePolicy::SlowFirst`] the first of all that it may take.
    #[inline]
    pub fn take(&mut self, lane: usize) -> Option<J> {
        self.take_of(lane, |_| true)
    }

    /// The same, of the jobs alone whose fastest lane `may` be taken from.
    #[inline]
    fn take_of(&mut self, lane: usize, may: impl Fn(usize) -> bool) -> Option<J> {
        let within = self.queues.get_mut(..=lane)?.iter_mut().enumerate();
        let mut waiting = within.filter(|(entry, queue)| !queue.is_empty() && may(*entry));
        let (_, queue) = match self.policy {
            LanePolicy::ExpressFirst => waiting.next_back()?,
            LanePolicy::SlowFirst => {
                waiting.min_by_key(|(_, queue)| queue.front().map(|first| first.number))?
            }
        };
        queue.pop_front().map(|first| first.job)
    }

    /// How many jobs wait whose fastest lane this is.
    fn len_of(&self, entry: usize) -> u64 {
        self.queues.get(entry).map_or(0, |queue| queue.len() as u64)
    }

    /// How many jobs wait.
    #[must_use]
    pub fn len(&self) -> usize {
        self.queues.iter().map(VecDeque::len).sum()
    }

    /// Whether no job waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.queues.iter().all(VecDeque::is_empty)
    }
}

/// A waiting job, as a caller describes it.
#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    /// The lanes whose timeout it reached.
    pub timed_out: Vec<usize>,
    /// The probability that it is slow, if it was predicted.
    pub prediction: Option<Prediction>,
}

/// The route that a job gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placement {
    /// Index in the list of jobs.
    pub job: usize,
    /// The lane and the attempt.
    pub route: Route,
}

/// A job that has failed for good.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct FailedJob {
    /// Index in the list of jobs.
    pub job: usize,
    /// The last lane that it could run in, whose timeout it reached.
    pub lane: usize,
}

/// Results of a dispatch; jobs in neither list continue to wait.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DispatchOutcome {
    /// In the order of choice.
    pub placements: Vec<Placement>,
    /// In the order of the list of jobs.
    pub failures: Vec<FailedJob>,
}

/// Places jobs on free workers; `free` says how many each lane has.
///
/// Untried jobs wait in the order of their slowness, then in that of the list. No worker idles
/// beside a job that it may run: a slow lane leaves the jobs to the free workers of faster lanes
/// that have no others, as long as there is another job for it.
///
/// # Errors
/// When there are more free workers than workers, or a job is refused: `jobs[2].prediction`.
pub fn dispatch(lanes: &LaneSet, free: &[i64], jobs: &[Job]) -> Result<DispatchOutcome, Rejection> {
    let free = check_free(lanes, free)?;
    let mut entries = Vec::with_capacity(jobs.len());
    for (place, job) in jobs.iter().enumerate() {
        let entry = lanes.entry(&job.timed_out, job.prediction);
        entries.push(entry.map_err(|refused| refused.under(&format!("jobs[{place}]")))?);
    }
    // As they come, where equal; what is demoted is slow for certain, and is not chosen by prediction.
    let slowness = |job: &Job| {
        if job.timed_out.is_empty() { lanes.slowness(job.prediction) } else { 0.0 }
    };
    let mut order: Vec<(f64, usize)> = jobs.iter().map(slowness).zip(0..).collect();
    order.sort_unstable_by(|(a, one), (b, other)| a.total_cmp(b).then(one.cmp(other)));
    let mut waiting = Dispatcher::new(lanes);
    let mut refused_express =
        Dispatcher { policy: LanePolicy::SlowFirst, ..Dispatcher::new(lanes) };
    let mut failures = Vec::new();
    for (_, job) in order {
        match entries.get(job).copied() {
            // Refused the express lane, yet untried: nobody prefers it to other untried jobs.
            Some(Entry::Lane { lane, why: RouteWhy::PredictedSlow }) => {
                refused_express.push(job, lane);
            }
            Some(Entry::Lane { lane, .. }) => waiting.push(job, lane),
            Some(Entry::Failed { lane }) => failures.push(FailedJob { job, lane }),
            None => {}
        }
    }
    failures.sort_unstable();
    let mut placements = Vec::new();
    for (lane, count) in free.iter().copied().enumerate().rev() {
        for _ in 0..count {
            let left = |entry: usize| waiting.len_of(entry) + refused_express.len_of(entry);
            let spare = spare(free.get(..lane).unwrap_or_default(), left);
            let may = |entry: usize| spare.get(entry).copied().unwrap_or(true);
            let taken = waiting.take_of(lane, may).or_else(|| refused_express.take_of(lane, may));
            let taken = taken.or_else(|| waiting.take(lane)).or_else(|| refused_express.take(lane));
            let Some(job) = taken else { break };
            let timeouts = jobs.get(job).map_or(0, |job| job.timed_out.len());
            let why = match entries.get(job) {
                Some(Entry::Lane { lane: entry, why }) if *entry == lane => *why,
                _ => RouteWhy::IdleWorker,
            };
            placements.push(Placement { job, route: lanes.route_in(lane, timeouts, why) });
        }
    }
    Ok(DispatchOutcome { placements, failures })
}

/// By lane, whether the free workers of these lanes, the fastest ones, have enough jobs without one
/// of those whose fastest lane it is; `left` says how many of these there are.
fn spare(free: &[u64], left: impl Fn(usize) -> u64) -> Vec<bool> {
    let mut waiting = 0_u64;
    let mut spare = Vec::with_capacity(free.len());
    for (lane, free) in free.iter().enumerate() {
        waiting = (waiting + left(lane)).saturating_sub(*free);
        spare.push(waiting > 0);
    }
    // A job that a faster lane needs is needed there, even if other lanes may take it, too.
    let mut is_spare = true;
    for lane in spare.iter_mut().rev() {
        is_spare &= *lane;
        *lane = is_spare;
    }
    spare
}

fn check_free(lanes: &LaneSet, free: &[i64]) -> Result<Vec<u64>, Rejection> {
    let field = "free_workers";
    if free.len() != lanes.lanes().len() {
        let allowed = format!("must have {}, one for each lane", lanes.lanes().len());
        let value = format!("{} counts", free.len());
        return Err(Rejection::new(Reason::Contradictory, field, value, allowed));
    }
    let checked = lanes.lanes().iter().zip(free).enumerate().map(|(place, (lane, free))| {
        let checked = u64::try_from(*free).ok().filter(|free| *free <= lane.workers);
        checked.ok_or_else(|| {
            let allowed = format!("must be 0 to {} workers, those of the lane", lane.workers);
            Rejection::new(
                Reason::OutOfRange,
                format!("{field}[{place}].worker_count"),
                free,
                allowed,
            )
        })
    });
    checked.collect()
}
