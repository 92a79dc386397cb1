//! Scenarios, checked: what is simulated.

mod fields;
mod file;
mod hours;
mod jobs;
mod outages;
mod partners;
mod retries;
mod run_time;
mod strategy;
mod timing;
mod workers;

pub use file::parse;
pub use run_time::Load;
pub use timing::Timing;

use offbeat_core::lanes::LaneSet;
use offbeat_core::runs::MissedRunPolicy;
use offbeat_core::stages::{Rule, Weighting};
use offbeat_core::{Schedule, ScheduleSpec, Span};
use serde::Deserialize;

use crate::distribution::Distribution;

/// A scenario. Times are in microseconds from its beginning.
#[derive(Debug, Clone)]
pub struct Scenario {
    /// Its name.
    pub name: String,
    /// Text of its author.
    pub description: String,
    /// Simulated time.
    pub duration: u64,
    /// Numbers of workers, each with the time from which it holds; the first from 0.
    pub workers: Vec<(u64, u32)>,
    /// Adds and removes workers.
    pub autoscaler: Option<Autoscaler>,
    /// Users, each of whom has a run of every kind in every cycle.
    pub population: u32,
    /// The cycle of all kinds without their own.
    pub timing: Timing,
    /// The kinds of job; strategies place the first one.
    pub kinds: Vec<Kind>,
    /// The stages of a pipeline, which each item goes through. With stages, there are no kinds, the
    /// users are the items, and all of them come at the beginning of each cycle.
    pub stages: Vec<Kind>,
    /// Jobs that jobs enqueue when they are done.
    pub children: Option<Children>,
    /// Cost of dequeueing a job.
    pub dequeue: Option<Dequeue>,
    /// The producer of jobs, if it stops at times.
    pub producer: Option<Producer>,
    /// Partners that jobs call.
    pub partners: Vec<Partner>,
    /// Repeats attempts that fail because a partner is down.
    pub retries: Option<Retries>,
    /// The lock that jobs take, if any.
    pub lock: Option<Lock>,
    /// If set, everything happens at multiples of this, as in a simulator with ticks.
    pub tick: Option<u64>,
    /// Notes on how the scenario was interpreted.
    pub notes: Vec<String>,
    /// The most events of a run.
    pub max_events: u64,
    /// Whether runs keep a row for each second, or only their sums.
    pub keeps_rows: bool,
    /// The strategies to compare.
    pub strategies: Vec<Strategy>,
    /// The seeds; each strategy has one run for each.
    pub seeds: Vec<u64>,
}

impl Scenario {
    /// Jobs of all runs together, without those that jobs enqueue.
    #[must_use]
    pub fn job_count(&self) -> u128 {
        let more = self.children.as_ref().map_or(0.0, |children| children.mean_count);
        let outages = self.producer.as_ref().map_or(0, |producer| producer.outages.len());
        let cycles = self.kinds.iter().chain(&self.stages).map(|kind| self.timing_of(kind).cycle);
        u128::from(self.population)
            * jobs_of_a_user(self.duration, cycles, outages)
            * (self.strategies.len() * self.seeds.len()) as u128
            * u128::from(crate::distribution::whole(libm::ceil(1.0 + more)))
    }

    /// When the jobs of a kind come.
    #[must_use]
    pub fn timing_of<'a>(&'a self, kind: &'a Kind) -> &'a Timing {
        kind.timing.as_ref().unwrap_or(&self.timing)
    }

    /// The places of the kinds that share the cycle of the scenario.
    pub fn shared_kinds(&self) -> impl Iterator<Item = usize> + '_ {
        let kinds = self.kinds.iter().enumerate();
        kinds.filter(|(_, kind)| kind.timing.is_none()).map(|(place, _)| place)
    }

    /// The most bytes of memory that its runs take, one after the other: three samples of each job,
    /// or what a waiting job takes; what a user takes; the intervals of the first seed, which stay
    /// until the last strategy has been run; and the results of phases and partners.
    #[must_use]
    pub fn memory(&self) -> u128 {
        const JOB: u128 = 52;
        const USER: u128 = 40;
        const USER_AND_KIND: u128 = 72;
        const INTERVAL: u128 = 8;
        const PHASE: u128 = 96;
        const PHASE_OF_PARTNER: u128 = 48;
        const PARTNER_STEPS: u128 = 24 * 1_200;
        let strategies = self.strategies.len() as u128;
        let runs = strategies * self.seeds.len() as u128;
        let partners = self.partners.len() as u128;
        let jobs = self.job_count() / runs.max(1);
        let kinds = self.kinds.len().max(self.stages.len()) as u128;
        let users = u128::from(self.population);
        jobs * (JOB + INTERVAL * strategies.saturating_sub(1))
            + users * (USER + USER_AND_KIND * kinds)
            + runs * self.phase_starts().len() as u128 * (PHASE + PHASE_OF_PARTNER * partners)
            + strategies * partners * PARTNER_STEPS
    }

    /// The seconds at which something changes from outside: the scenario's number of workers, a
    /// partner or the producer. Only the beginning if there are more than 500 of them.
    #[must_use]
    pub fn phase_starts(&self) -> Vec<u64> {
        const MOST: usize = 500;
        let end = self.duration.div_ceil(1_000_000);
        let outages = self.partners.iter().flat_map(|partner| &partner.outages);
        let outages = outages.chain(self.producer.iter().flat_map(|one| &one.outages));
        let mut starts: Vec<u64> = outages
            .flat_map(|(from, to)| [*from, *to])
            .chain(self.workers.iter().map(|(at, _)| *at))
            .map(|at| at.div_ceil(1_000_000))
            .chain([0])
            .filter(|second| *second < end)
            .collect();
        starts.sort_unstable();
        starts.dedup();
        if starts.len() > MOST { vec![0] } else { starts }
    }

    /// Seconds of all runs together.
    #[must_use]
    pub fn run_seconds(&self) -> u128 {
        u128::from(self.duration / 1_000_000) * (self.strategies.len() * self.seeds.len()) as u128
    }
}

/// The most jobs of a user: one for each cycle of each kind, and one more for each kind and outage
/// of the producer.
fn jobs_of_a_user(duration: u64, cycles: impl Iterator<Item = u64>, outages: usize) -> u128 {
    cycles.map(|cycle| u128::from(duration.div_ceil(cycle.max(1))) + outages as u128).sum()
}

/// A kind of job.
#[derive(Debug, Clone)]
pub struct Kind {
    /// Its name.
    pub name: String,
    /// How long its jobs run.
    pub run_time: Distribution,
    /// Where it stands, relative to the first kind, with strategies that do not set this
    /// themselves.
    pub placement: KindPlacement,
    /// Its own cycle and active windows. Such a kind has no place relative to the first one: each
    /// strategy places it separately.
    pub timing: Option<Timing>,
    /// Calls of each attempt to the partner of its user; 0 for none.
    pub calls: u32,
}

/// Place of a kind relative to the first kind of the same user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KindPlacement {
    /// Opposite: at the reciprocal slot.
    #[default]
    Reciprocal,
    /// Anywhere: by a hash of its own.
    Independent,
    /// At the same time.
    Same,
}

/// Jobs that jobs of the first kind enqueue when they are done.
#[derive(Debug, Clone)]
pub struct Children {
    /// How many, on average.
    pub mean_count: f64,
    /// How long they run.
    pub run_time: Distribution,
}

/// The cost of taking a job from the queue: `base`, plus `nanos_per_waiting` for each waiting job
/// (times the number of busy workers with `contention`), plus `nanos_per_rival` for each worker
/// that waits for its turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dequeue {
    /// Fixed part, in microseconds.
    pub base: u64,
    /// For each job that waits, in nanoseconds.
    pub nanos_per_waiting: u64,
    /// Whether each busy worker slows all others.
    pub contention: bool,
    /// Whether only one worker takes a job at a time, and others wait for their turn.
    pub exclusive: bool,
    /// For each worker that waits for its turn, in nanoseconds.
    pub nanos_per_rival: u64,
}

/// Adds and removes workers by the depth of the queue. Times are in microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Autoscaler {
    /// Time between two polls of the queue.
    pub interval: u64,
    /// Above this depth it adds `step` workers.
    pub up_at: u32,
    /// Below this depth it removes as many.
    pub down_at: u32,
    /// Workers added or removed at a time.
    pub step: u32,
    /// Minimum number of workers.
    pub minimum: u32,
    /// Maximum number of workers.
    pub maximum: u32,
}

/// The producer of jobs. Runs that are due while it is stopped are late.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Producer {
    /// Its outages (from, to): ascending, and apart.
    pub outages: Vec<(u64, u64)>,
    /// Policy for runs that were due in an outage.
    pub missed_runs: MissedRunPolicy,
    /// A late run is superseded if it would come less than this before the next run of its kind.
    pub min_gap: Option<Span>,
}

/// A system that jobs call, such as a bank. Times are in microseconds.
#[derive(Debug, Clone)]
pub struct Partner {
    /// Its name.
    pub name: String,
    /// The share of the users who are its customers.
    pub share: f64,
    /// If set, calls beyond this number within a second are refused.
    pub max_per_second: Option<u32>,
    /// How long a refused attempt takes.
    pub refusal_time: u64,
    /// After how long a refused attempt is repeated.
    pub retry_after: u64,
    /// Its outages (from, to): attempts fail in them.
    pub outages: Vec<(u64, u64)>,
    /// How long an attempt takes while it is down.
    pub outage_time: u64,
    /// Rate limit on the workers' side.
    pub limiter: Limiter,
}

impl Partner {
    /// Calls per second that can succeed: those that it answers, or that the limiter lets through
    /// if that is less. `None` without a limit.
    #[must_use]
    pub fn allowed_per_second(&self) -> Option<u32> {
        self.max_per_second.into_iter().chain(self.limiter.max_per_second).min()
    }
}

/// A limit on the workers' side for attempts that call a partner: a job above the limit waits
/// without a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Limiter {
    /// Calls per second, evenly apart.
    pub max_per_second: Option<u32>,
    /// Attempts at the same time.
    pub max_concurrent: Option<u32>,
}

/// Repeats attempts that fail because a partner is down, after a delay that grows. Times are in
/// microseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Retries {
    /// After so many failed attempts, the job has failed for good.
    pub max_attempts: u32,
    /// The delay after the first failed attempt.
    pub first_delay: u64,
    /// Factor of the delay after each further failed attempt.
    pub multiplier: f64,
    /// The longest delay.
    pub max_delay: u64,
}

impl Retries {
    /// The delay before the next attempt after `failures` failed ones, in microseconds; `None` if
    /// there is no next attempt.
    #[must_use]
    pub fn delay(&self, failures: u32) -> Option<u64> {
        if failures >= self.max_attempts {
            return None;
        }
        let growth = libm::pow(self.multiplier, f64::from(failures.saturating_sub(1)));
        let delay =
            crate::distribution::whole(crate::distribution::real(self.first_delay) * growth);
        Some(delay.min(self.max_delay))
    }
}

/// Jobs of one user, or of one group of users, lock one another out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lock {
    /// Users that share a lock.
    pub group_size: u32,
    /// After how long a job that finds the lock held tries again, in microseconds.
    pub retry_after: u64,
}

/// A way to place jobs in time.
#[derive(Debug, Clone)]
pub struct Strategy {
    /// Its name.
    pub name: String,
    /// How it places jobs.
    pub kind: StrategyKind,
    /// Where the kinds after the first stand; `None` if each kind's own placement decides.
    pub other_kinds: Option<KindPlacement>,
    /// Lanes instead of one queue. They divide the workers of the scenario.
    pub lanes: Option<LaneSet>,
}

impl Strategy {
    /// Where a kind after the first stands, relative to the first.
    #[must_use]
    pub fn placement_of(&self, kind: &Kind) -> KindPlacement {
        self.other_kinds.unwrap_or(kind.placement)
    }
}

/// The schedule of a strategy.
#[derive(Debug, Clone)]
pub struct SlotSchedule {
    /// The schedule as a caller describes it.
    pub spec: ScheduleSpec,
    /// The checked schedule. It declares the kinds of the scenario, named by their index, unless
    /// they stand where the caller shifts them.
    pub schedule: Schedule,
    /// The span over which late runs are smeared, where no kinds are declared.
    pub smear_span: Option<Span>,
}

/// How a strategy works.
#[derive(Debug, Clone)]
pub enum StrategyKind {
    /// All users at the beginning of the cycle.
    AtOnce,
    /// Each user at a random time, which is drawn again in each cycle.
    RandomSmear,
    /// At intervals, a batch of the users whose last run is longest ago. Times are in microseconds.
    LeastRecent {
        /// Time between two batches.
        interval: u64,
        /// Maximum size of a batch.
        batch: u32,
        /// The span over which a batch is smeared at random.
        spread: u64,
    },
    /// A run that is done enqueues the next one, a cycle later.
    SelfRescheduling,
    /// By a schedule, as the service answers.
    Slots(Box<SlotSchedule>),
    /// All users at the beginning of the cycle, with their groups spread.
    Spread {
        /// How many groups take turns.
        feeders: u32,
    },
    /// For pipelines: a free worker goes to the stage where it is worth most.
    Workers {
        /// The divisor rule.
        rule: Rule,
        /// How the place of a stage in the pipeline is weighted.
        weighting: Weighting,
    },
    /// For pipelines: every stage keeps its share of the workers.
    FixedWorkers,
}

impl StrategyKind {
    /// The name in scenarios.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::AtOnce => "at_once",
            Self::RandomSmear => "random_smear",
            Self::LeastRecent { .. } => "least_recent",
            Self::SelfRescheduling => "self_rescheduling",
            Self::Slots(_) => "slots",
            Self::Spread { .. } => "spread",
            Self::Workers { rule: Rule::DHondt, .. } => "d_hondt",
            Self::Workers { weighting: Weighting::Latency, .. } => "latency",
            Self::Workers { .. } => "minimum_score",
            Self::FixedWorkers => "fixed_workers",
        }
    }
}
