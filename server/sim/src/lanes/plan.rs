//! Which lanes to have, if any.

use offbeat_core::lanes::{LaneSet, LaneSetSpec, LaneSpec, OnTimeout};
use offbeat_core::limits::{DEFAULT_PLAN_LANES, LANE_TIMEOUT_MILLIS, PLAN_LANES, PLAN_WORKERS};
use offbeat_core::{Reason, Rejection, Span};

use super::search::{Candidate, Search};
use super::selection::{COMPARED, Selection, Tried, select};
use super::tags::Tags;
use super::trial::{
    Ratio, STREAM_JOBS, Streams, Summary, Trial, cost, mean_slowdown, mean_sojourn,
};
use crate::distribution::Distribution;

/// Streams that the verdict may take, and those of the rates below and above.
const MOST: usize = 40;
const SENSED: usize = 4;

/// The rates below and above.
const LESS: f64 = 0.8;
const MORE: f64 = 1.2;

/// Where a fifth more jobs would fill the workers to this part, one queue is no better off: jobs
/// would wait without end with either.
const FULL: f64 = 0.9;

/// Lanes must lower the slowdown to this part, or they are not worth their while.
const WORTH_WHILE: f64 = 0.95;

/// Where it stays uncertain that they do, and they cannot lower it even to this part, one queue is the
/// simpler choice.
const LITTLE: f64 = 0.8;

/// Rates of arrival, per second.
const RATES: core::ops::RangeInclusive<f64> = 1e-6..=1e6;

/// What is asked.
#[derive(Debug, Clone)]
pub struct PlanSpec {
    /// How long jobs run.
    pub run_times: Distribution,
    /// Jobs per second.
    pub arrival_rate: f64,
    /// Workers in all.
    pub worker_count: i64,
    /// No express timeout is longer.
    pub tolerated_wait: Option<Span>,
    /// Shorter run times count as this. Default: their 10th percentile.
    pub slowdown_floor: Option<Span>,
    /// What happens at a timeout.
    pub on_timeout: OnTimeout,
    /// Default: 3.
    pub max_lane_count: Option<i64>,
    /// Of the simulation.
    pub seed: i64,
}

/// A lane of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlannedLane {
    /// Its workers.
    pub workers: u32,
    /// Its timeout; none in the last.
    pub timeout: Option<Span>,
}

/// How jobs fare at a rate of arrival.
#[derive(Debug, Clone, PartialEq)]
pub struct Sensitivity {
    /// Jobs per second.
    pub arrival_rate: f64,
    /// With lanes, if there are any.
    pub with_lanes: Option<Summary>,
    /// With one queue.
    pub without_lanes: Summary,
}

/// What a cutoff between two lanes does.
#[derive(Debug, Clone, PartialEq)]
pub struct CutoffFigures {
    /// The express lane's timeout.
    pub cutoff: Span,
    /// Workers of the express lane, in the best split by formula.
    pub express_workers: u32,
    /// The median of the mean slowdowns; none, if the workers do not keep up.
    pub mean_slowdown: Option<f64>,
    /// The median of the mean sojourns, in microseconds; none, if the workers do not keep up.
    pub mean_sojourn: Option<f64>,
    /// Whether they also keep up with a fifth more, if one queue does.
    pub has_room: bool,
}

/// Whether to have lanes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// They make it better.
    Lanes,
    /// They make it no better, or worse.
    NoLanes,
    /// The streams differ too much to say.
    Undecided,
}

/// A plan.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// Whether to have lanes.
    pub verdict: Verdict,
    /// The best ones that were found, fastest first; empty if none keep up.
    pub lanes: Vec<PlannedLane>,
    /// Whether they keep up with a fifth more too, if one queue does.
    pub has_room: bool,
    /// The mean slowdown with lanes, as a part of that without.
    pub slowdown_ratio: Option<Ratio>,
    /// The same of the mean sojourn.
    pub sojourn_ratio: Option<Ratio>,
    /// At the rate that was asked for, 20 % below, and 20 % above.
    pub rates: [Sensitivity; 3],
    /// Cutoffs between two lanes, ascending.
    pub cutoffs: Vec<CutoffFigures>,
    /// Classes of jobs by the lane that their run time ends in.
    pub classes: Vec<RunTimeClass>,
    /// What slowdown is computed from.
    pub slowdown_floor: Span,
    /// The mean run time, in seconds.
    pub mean_seconds: f64,
    /// The share of the workers' time that the run times fill.
    pub utilization: f64,
    /// How many streams were simulated for the answer.
    pub streams: usize,
    /// How many jobs each of them has.
    pub stream_jobs: usize,
}

/// Jobs of about one length.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RunTimeClass {
    /// The longest run time; none in the last class.
    pub longest: Option<Span>,
    /// Its share of all jobs.
    pub share: f64,
}

impl PlanSpec {
    /// Plans lanes.
    ///
    /// # Errors
    /// When a number is out of its range, or more arrives than the workers can do.
    pub fn plan(&self) -> Result<Plan, Rejection> {
        let question = self.check()?;
        let Question { workers, rate, floor, .. } = question;
        let seed = self.seed.cast_unsigned();
        let tags = |rate: f64| Tags::new(&self.run_times, rate, floor, self.on_timeout);
        let (now, more) = (tags(rate), tags(rate * MORE));
        let search = Search::new(&self.run_times, &now, workers, question.longest_cutoff);
        let load = |rate: f64| rate * question.mean / f64::from(workers);
        let has_room = |candidate: &Candidate| {
            load(rate * MORE) >= FULL || more.keeps_up(&search.stages(candidate))
        };
        let streams = Streams::new(&self.run_times, rate, floor, seed);
        let lane_set = |candidate: &Candidate| self.lane_set(candidate);
        let Selection { mut best, chart } =
            select(&search, question.lanes, &streams, has_room, lane_set)?;
        let bounds = best.as_ref().map(|best| best.candidate.cutoffs.clone()).unwrap_or_default();
        let mut queue = Trial::of_queue(workers, bounds.clone());
        streams.simulate(&mut [&mut queue], COMPARED);
        let mut verdict = best.as_ref().map_or(Verdict::NoLanes, |best| judge(best, &queue));
        if let Some(best) = best.as_mut().filter(|_| verdict == Verdict::Undecided) {
            streams.simulate(&mut [&mut queue, &mut best.trial], MOST);
            verdict = judge(best, &queue);
        }
        let ratio = |figure| Some(best.as_ref()?.trial.against(&queue, figure));
        let at = |factor: f64| -> Result<Sensitivity, Rejection> {
            let (rate, tags) = (rate * factor, tags(rate * factor));
            let streams = Streams::new(&self.run_times, rate, floor, seed);
            let mut queue = Trial::of_queue(workers, bounds.clone());
            streams.simulate(&mut [&mut queue], SENSED);
            let with = best.as_ref().map(|best| -> Result<Summary, Rejection> {
                let mut trial = Trial::of_lanes(lane_set(&best.candidate)?, bounds.clone());
                streams.simulate(&mut [&mut trial], SENSED);
                Ok(trial.summary(tags.keeps_up(&search.stages(&best.candidate))))
            });
            Ok(Sensitivity {
                arrival_rate: rate,
                with_lanes: with.transpose()?,
                without_lanes: queue.summary(load(rate) < 1.0),
            })
        };
        let now = Sensitivity {
            arrival_rate: rate,
            with_lanes: best.as_ref().map(|best| best.trial.summary(true)),
            without_lanes: queue.summary(true),
        };
        Ok(Plan {
            verdict,
            lanes: best
                .as_ref()
                .map(|best| lanes_of(&best.candidate).collect())
                .unwrap_or_default(),
            has_room: best.as_ref().is_some_and(|best| best.has_room),
            slowdown_ratio: ratio(mean_slowdown),
            sojourn_ratio: ratio(mean_sojourn),
            rates: [now, at(LESS)?, at(MORE)?],
            cutoffs: chart.into_iter().map(|charted| shown(charted, has_room)).collect(),
            classes: self.classes(&bounds),
            slowdown_floor: micros(floor),
            mean_seconds: question.mean,
            utilization: load(rate),
            streams: queue.count(),
            stream_jobs: STREAM_JOBS,
        })
    }

    fn classes(&self, bounds: &[u64]) -> Vec<RunTimeClass> {
        let end = self.run_times.micros().len();
        let places: Vec<usize> =
            bounds.iter().map(|bound| self.run_times.place(*bound)).chain([end]).collect();
        let longest = bounds.iter().map(|bound| Some(micros(*bound))).chain([None]);
        let from = core::iter::once(0).chain(places.iter().copied());
        let spans = from.zip(places.iter().copied());
        let class = |(longest, (from, to))| RunTimeClass {
            longest,
            share: self.run_times.moments(from, to).share,
        };
        longest.zip(spans).map(class).collect()
    }

    fn check(&self) -> Result<Question, Rejection> {
        let workers = u32::try_from(self.worker_count)
            .ok()
            .filter(|_| PLAN_WORKERS.allows(self.worker_count.into()));
        let workers = workers.ok_or_else(|| {
            let allowed = format!("must be {PLAN_WORKERS}");
            Rejection::new(Reason::OutOfRange, "worker_count", self.worker_count, allowed)
        })?;
        let lanes = self.max_lane_count.unwrap_or(DEFAULT_PLAN_LANES);
        if !PLAN_LANES.allows(lanes.into()) {
            let allowed = format!("must be {PLAN_LANES}");
            return Err(Rejection::new(Reason::OutOfRange, "max_lane_count", lanes, allowed));
        }
        let rate = self.arrival_rate;
        if !RATES.contains(&rate) {
            let allowed = "must be 0.000001 to 1000000 jobs per second";
            return Err(Rejection::new(Reason::OutOfRange, "arrival_rate", rate, allowed));
        }
        let mean = self.run_times.all().first;
        let capacity = f64::from(workers) / mean;
        if rate >= capacity {
            let allowed = format!(
                "must be below {capacity:.6} jobs per second, all that {workers} workers can do at \
                 a mean run time of {mean:.6} s"
            );
            return Err(Rejection::new(Reason::OutOfRange, "arrival_rate", rate, allowed));
        }
        let longest_cutoff = match self.tolerated_wait {
            None => u64::MAX,
            Some(wait) => {
                let millis = wait.nanos().div_euclid(1_000_000);
                if !LANE_TIMEOUT_MILLIS.allows(millis) {
                    let allowed = format!("must be {LANE_TIMEOUT_MILLIS}");
                    return Err(Rejection::new(
                        Reason::OutOfRange,
                        "tolerated_wait",
                        wait,
                        allowed,
                    ));
                }
                u64::try_from(wait.nanos() / 1_000).unwrap_or(u64::MAX)
            }
        };
        let floor = match self.slowdown_floor {
            None => self.run_times.quantile(0.1),
            Some(floor) => {
                let micros = u64::try_from(floor.nanos() / 1_000).ok().filter(|floor| *floor > 0);
                micros.ok_or_else(|| {
                    let allowed = "must be 1 us or more, and less than 584,000 years";
                    Rejection::new(Reason::OutOfRange, "slowdown_floor", floor, allowed)
                })?
            }
        };
        Ok(Question { workers, rate, floor, mean, longest_cutoff, lanes: lanes.unsigned_abs() })
    }

    fn lane_set(&self, candidate: &Candidate) -> Result<LaneSet, Rejection> {
        let lanes = lanes_of(candidate).map(|lane| LaneSpec {
            worker_count: lane.workers.into(),
            attempt_timeout: lane.timeout,
        });
        let (lanes, on_timeout) = (lanes.collect(), self.on_timeout);
        LaneSetSpec { lanes, on_timeout, ..LaneSetSpec::default() }.check()
    }
}

/// What is asked, in range.
#[derive(Debug, Clone, Copy)]
struct Question {
    workers: u32,
    rate: f64,
    floor: u64,
    mean: f64,
    longest_cutoff: u64,
    lanes: u64,
}

fn lanes_of(candidate: &Candidate) -> impl Iterator<Item = PlannedLane> {
    let timeouts = candidate.cutoffs.iter().map(|cutoff| Some(micros(*cutoff))).chain([None]);
    let lanes = candidate.workers.iter().zip(timeouts);
    lanes.map(|(workers, timeout)| PlannedLane { workers: *workers, timeout })
}

pub(super) fn micros(micros: u64) -> Span {
    Span::from_nanos(micros.saturating_mul(1_000))
}

fn shown(
    (candidate, trial): (Candidate, Option<Trial>),
    has_room: impl Fn(&Candidate) -> bool,
) -> CutoffFigures {
    let summary = trial.map(|trial| trial.summary(true));
    CutoffFigures {
        cutoff: micros(candidate.cutoffs.first().copied().unwrap_or_default()),
        express_workers: candidate.workers.first().copied().unwrap_or_default(),
        mean_slowdown: summary.as_ref().map(|summary| summary.median.mean_slowdown),
        mean_sojourn: summary.as_ref().map(|summary| summary.median.mean_sojourn),
        has_room: summary.is_some() && has_room(&candidate),
    }
}

/// Lanes are worth their while if the mean slowdown falls by a twentieth at least and the cost falls
/// too, both with certainty.
fn judge(best: &Tried, queue: &Trial) -> Verdict {
    let slowdown = best.trial.against(queue, mean_slowdown);
    let cost = best.trial.against(queue, cost);
    let is_last = queue.count() >= MOST;
    if !best.has_room || slowdown.low > WORTH_WHILE || cost.low > 1.0 {
        Verdict::NoLanes
    } else if slowdown.high < WORTH_WHILE && cost.high < 1.0 {
        Verdict::Lanes
    } else if is_last && slowdown.low > LITTLE {
        Verdict::NoLanes
    } else {
        Verdict::Undecided
    }
}
