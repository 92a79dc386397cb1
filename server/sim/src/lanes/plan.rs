//! Which lanes to have, if any: by formula first, then simulated.

use offbeat_core::lanes::{LaneSet, LaneSetSpec, LaneSpec, OnTimeout};
use offbeat_core::limits::{DEFAULT_PLAN_LANES, LANE_TIMEOUT_MILLIS, PLAN_LANES, PLAN_WORKERS};
use offbeat_core::{Reason, Rejection, Span};

use super::performance::Performance;
use super::search::{Candidate, Search};
use super::simulate::{Work, simulate_lanes, simulate_queue};
use super::tags::Tags;
use crate::distribution::{Distribution, real};

/// Jobs that candidates are compared with, and that the answer is computed from.
const SCREENED_JOBS: usize = 60_000;
const JOBS: usize = 400_000;

/// Lanes must be better than one queue by this much, or they are not worth their while.
const WORTH_WHILE: f64 = 0.95;

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

/// How jobs fare with lanes and without, and whether workers keep up with them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sensitivity {
    /// Jobs per second.
    pub arrival_rate: f64,
    /// With lanes, if there are any.
    pub with_lanes: Option<(Performance, bool)>,
    /// With one queue.
    pub without_lanes: (Performance, bool),
}

/// What a cutoff between two lanes does, by formula.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CutoffSlowdown {
    /// The express lane's timeout.
    pub cutoff: Span,
    /// Workers of the express lane, in the best split.
    pub express_workers: u32,
    /// The mean bounded slowdown.
    pub mean_slowdown: f64,
}

/// A plan.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// Whether to have lanes.
    pub has_lanes: bool,
    /// The best ones that were found, fastest first; empty if none keep up.
    pub lanes: Vec<PlannedLane>,
    /// At the rate that was asked for, 20 % below, and 20 % above.
    pub rates: [Sensitivity; 3],
    /// By formula.
    pub cutoffs: Vec<CutoffSlowdown>,
    /// What slowdown is computed from.
    pub slowdown_floor: Span,
    /// The mean run time, in seconds.
    pub mean_seconds: f64,
    /// The share of the workers' time that the run times fill.
    pub utilization: f64,
    /// How many jobs were simulated for the answer.
    pub jobs: usize,
}

impl PlanSpec {
    /// Plans lanes.
    ///
    /// # Errors
    /// When a number is out of its range, or more arrives than the workers can do.
    pub fn plan(&self) -> Result<Plan, Rejection> {
        let question = self.check()?;
        let Question { workers, rate, floor, .. } = question;
        let tags = Tags::new(&self.run_times, rate, floor, self.on_timeout);
        let search = Search::new(&self.run_times, &tags, workers, question.longest_cutoff);
        let seed = self.seed.cast_unsigned();
        let work =
            |rate: f64, jobs: usize, seed: u64| Work::new(&self.run_times, rate, jobs, floor, seed);
        let screened = work(rate, SCREENED_JOBS, seed);
        let best = search.best(question.lanes, |candidate| {
            let performance = simulate_lanes(&screened, &self.lane_set(candidate)?);
            Ok(performance.mean_slowdown)
        })?;
        let set = best.as_ref().map(|best| self.lane_set(best)).transpose()?;
        let at = |rate: f64, jobs: usize| {
            // Other jobs than those by which the lanes were chosen, or they would flatter them.
            let work = work(rate, jobs, seed.wrapping_add(1));
            let tags = Tags::new(&self.run_times, rate, floor, self.on_timeout);
            let with = set.as_ref().zip(best.as_ref()).map(|(set, best)| {
                (simulate_lanes(&work, set), tags.keeps_up(&search.stages(best)))
            });
            let load = rate * question.mean / f64::from(workers);
            let without = (simulate_queue(&work, workers as usize), load < 1.0);
            Sensitivity { arrival_rate: rate, with_lanes: with, without_lanes: without }
        };
        let rates = [at(rate, JOBS), at(rate * 0.8, SCREENED_JOBS), at(rate * 1.2, SCREENED_JOBS)];
        let [now, ..] = &rates;
        let is_better = |(with, keeps_up): (Performance, bool)| {
            keeps_up && with.mean_slowdown < WORTH_WHILE * now.without_lanes.0.mean_slowdown
        };
        Ok(Plan {
            has_lanes: now.with_lanes.is_some_and(is_better),
            lanes: best.as_ref().map(|best| lanes_of(best).collect()).unwrap_or_default(),
            rates,
            cutoffs: search.curve(),
            slowdown_floor: micros(floor),
            mean_seconds: question.mean,
            utilization: rate * question.mean / f64::from(workers),
            jobs: JOBS,
        })
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

impl Plan {
    /// How much better lanes are than one queue, as a factor of the mean slowdown.
    #[must_use]
    pub fn gain(&self) -> Option<f64> {
        let [now, ..] = &self.rates;
        let with = now.with_lanes.map(|(with, _)| with.mean_slowdown)?;
        Some(now.without_lanes.0.mean_slowdown / with.max(real(1)))
    }
}
