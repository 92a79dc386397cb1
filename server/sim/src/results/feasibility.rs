//! Whether the workers and the partners can do what comes. Read this before any strategy is called
//! good.

use serde::Serialize;

use super::Digest;
use crate::distribution::real;
use crate::scenario::{Partner, Scenario};
use crate::world::{PhasePartner, PhaseTally, Tail};

/// At most this many phases are shown: those in which the most workers were busy.
const SHOWN_PHASES: usize = 100;

/// What comes, and what can be done. Figures are means over the seeds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Feasibility {
    /// Workers that the enqueued jobs would keep busy all the time: the time that these jobs take a
    /// worker, over the duration. Repeated attempts are not included.
    pub workers_needed: f64,
    /// Workers available, on average.
    pub workers_available: f64,
    /// Jobs that were enqueued.
    pub jobs_enqueued: f64,
    /// Whether jobs pile up, with any seed. Only the last cycle counts, or half of the run if that
    /// is shorter. Some jobs must wait in it at every moment; and either the number of waiting jobs
    /// grows by more than a hundredth of the jobs that come, or more workers are needed than
    /// available.
    pub jobs_pile_up: bool,
    /// The parts of the run in which nothing changes from outside.
    pub phases: Vec<Phase>,
}

/// A part of the run in which nothing changes from outside: the scenario's number of workers, the
/// partners and the producer. Times are in seconds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Phase {
    /// Start, inclusive.
    pub from: f64,
    /// End, exclusive.
    pub to: f64,
    /// As [`Feasibility::workers_needed`], for the jobs that are enqueued in the phase.
    pub workers_needed: f64,
    /// Workers available, on average.
    pub workers_available: f64,
    /// Workers with a job, on average.
    pub busy_workers: f64,
    /// The mean time from enqueuing to the first attempt, of jobs whose first attempt began in the
    /// phase.
    pub mean_wait: f64,
    /// The most jobs that waited at the end of a second.
    pub max_queue_depth: f64,
    /// Whether the producer is stopped.
    pub producer_is_down: bool,
    /// In the order of the scenario.
    pub partners: Vec<PhaseOfPartner>,
}

/// Calls to a partner in a phase.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PhaseOfPartner {
    /// Whether it is down.
    pub is_down: bool,
    /// Calls of the enqueued jobs per second, on average.
    pub calls_needed: f64,
    /// Calls per second that the partner answers and the limiter lets through; `None` without a
    /// limit.
    pub calls_allowed: Option<f64>,
    /// Workers that wait for the partner without success, on average.
    pub unanswered_workers: f64,
    /// The mean time from enqueuing to the first attempt, of the jobs of its customers.
    pub mean_wait: f64,
}

impl Feasibility {
    /// The feasibility over the runs of a strategy.
    pub(super) fn of(scenario: &Scenario, digests: &[Digest]) -> Self {
        let runs = real(digests.len().max(1) as u64);
        let sum = |of: &dyn Fn(&PhaseTally) -> f64| {
            digests.iter().flat_map(|digest| &digest.phases).map(of).sum::<f64>()
        };
        let seconds = sum(&|phase| seconds_of(phase)).max(1.0);
        let workers_needed = sum(&|phase| real(phase.offered) / 1e6) / seconds;
        let workers_available = sum(&|phase| real(phase.workers)) / seconds;
        let is_short = workers_needed > workers_available;
        Self {
            workers_needed,
            workers_available,
            jobs_enqueued: digests.iter().map(|digest| real(digest.enqueued_jobs)).sum::<f64>()
                / runs,
            jobs_pile_up: digests.iter().any(|digest| piles_up(&digest.tail, is_short)),
            phases: phases(scenario, digests),
        }
    }
}

fn piles_up(tail: &Tail, is_short: bool) -> bool {
    let growth = tail.last.saturating_sub(tail.first);
    tail.fewest > 0 && (is_short || growth.saturating_mul(100) > tail.enqueued)
}

fn seconds_of(phase: &PhaseTally) -> f64 {
    real(phase.seconds.1 - phase.seconds.0)
}

fn phases(scenario: &Scenario, digests: &[Digest]) -> Vec<Phase> {
    let count = digests.iter().map(|digest| digest.phases.len()).min().unwrap_or(0);
    let all = |place: usize| -> Vec<&PhaseTally> {
        digests.iter().filter_map(|digest| digest.phases.get(place)).collect()
    };
    let mut phases: Vec<Phase> = (0..count).map(|place| Phase::of(scenario, &all(place))).collect();
    if phases.len() > SHOWN_PHASES {
        phases.sort_by(|a, b| b.busy_workers.total_cmp(&a.busy_workers));
        phases.truncate(SHOWN_PHASES);
        phases.sort_by(|a, b| a.from.total_cmp(&b.from));
    }
    phases
}

impl Phase {
    /// The same phase over all runs.
    fn of(scenario: &Scenario, runs: &[&PhaseTally]) -> Self {
        let (from, to) = runs.first().map_or((0, 0), |phase| phase.seconds);
        let seconds = runs.iter().map(|phase| seconds_of(phase)).sum::<f64>().max(1.0);
        let mean = |of: &dyn Fn(&PhaseTally) -> f64| {
            runs.iter().map(|phase| of(phase)).sum::<f64>() / seconds
        };
        let micros = from * 1_000_000;
        let is_in = |(from, to): &(u64, u64)| (*from..*to).contains(&micros);
        let partner = |(place, partner): (usize, &Partner)| {
            let tallies = runs.iter().filter_map(|phase| phase.partners.get(place));
            let tallies: Vec<&PhasePartner> = tallies.collect();
            let per_second = |of: &dyn Fn(&PhasePartner) -> u64| {
                tallies.iter().map(|tally| real(of(tally))).sum::<f64>() / seconds
            };
            PhaseOfPartner {
                is_down: partner.outages.iter().any(is_in),
                calls_needed: per_second(&|tally| tally.calls),
                calls_allowed: partner.allowed_per_second().map(f64::from),
                unanswered_workers: per_second(&|tally| tally.unanswered),
                mean_wait: mean_wait(tallies.iter().map(|tally| (tally.waited, tally.wait_micros))),
            }
        };
        let depths = runs.iter().map(|phase| f64::from(phase.max_queue_depth));
        Self {
            from: real(from),
            to: real(to),
            workers_needed: mean(&|phase| real(phase.offered) / 1e6),
            workers_available: mean(&|phase| real(phase.workers)),
            busy_workers: mean(&|phase| real(phase.busy_workers)),
            mean_wait: mean_wait(runs.iter().map(|phase| (phase.waited, phase.wait_micros))),
            max_queue_depth: depths.sum::<f64>() / real(runs.len().max(1) as u64),
            producer_is_down: scenario.producer.iter().flat_map(|one| &one.outages).any(is_in),
            partners: scenario.partners.iter().enumerate().map(partner).collect(),
        }
    }
}

/// The mean wait in seconds.
#[expect(clippy::cast_precision_loss, reason = "a mean")]
fn mean_wait(of_runs: impl Iterator<Item = (u64, u128)>) -> f64 {
    let (count, micros) =
        of_runs.fold((0, 0), |(jobs, sum), (waited, wait)| (jobs + waited, sum + wait));
    micros as f64 / 1e6 / real(count.max(1))
}
