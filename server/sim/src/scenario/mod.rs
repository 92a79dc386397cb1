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

pub use file::{Load, parse};
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
    /// Numbers of workers with the times from which they hold; the first from 0.
    pub workers: Vec<(u64, u32)>,
    /// Adds and removes workers.
    pub autoscaler: Option<Autoscaler>,
    /// Users, each of whom has a run of every kind in every cycle.
    pub population: u32,
    /// The cycle of all kinds that have none of their own.
    pub timing: Timing,
    /// The kinds of job; the first is what the strategies place.
    pub kinds: Vec<Kind>,
    /// The stages of a pipeline, which each item goes through; then there are no kinds, the users
    /// are its items, and all of them come at the beginning of each cycle.
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
    /// Everything happens at multiples of this, as in a simulator that goes by ticks.
    pub tick: Option<u64>,
    /// Notes on how the scenario was interpreted.
    pub notes: Vec<String>,
    /// No run may have more events.
    pub max_events: u64,
    /// Whether runs leave their rows, by second, or only what they come to.
    pub keeps_rows: bool,
    /// The strategies to compare.
    pub strategies: Vec<Strategy>,
    /// One run of each strategy for each.
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

    /// Bytes of memory that its runs take, one after the other, at most: what a job leaves (three
    /// samples) or takes as it waits, what a user takes, the intervals of the first seed, which
    /// stay until the last strategy has been run, and the results of phases and partners.
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

    /// The seconds at which something changes from outside: the workers that the scenario tells, a
    /// partner, or the producer. The beginning alone if they are more than 500.
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

/// Jobs of a user, at most: one for each cycle of each kind, and one more for each outage of the
/// producer.
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
    /// Where it stands, seen from the first kind, with strategies that do not say so themselves.
    pub placement: KindPlacement,
    /// Its own cycle and active windows. Such a kind does not stand anywhere seen from the first:
    /// each strategy places it for itself.
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

/// What taking a job from the queue costs: `base` + jobs that wait × `per_waiting`, the latter
/// times the workers that are busy if they contend, + workers that wait for their turn ×
/// `per_rival`.
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
    /// A late run that would come so shortly before the next of its kind is superseded.
    pub min_gap: Option<Span>,
}

/// Somebody whom jobs ask: a bank.
#[derive(Debug, Clone)]
pub struct Partner {
    /// Its name.
    pub name: String,
    /// The share of the users who are its customers.
    pub share: f64,
    /// Further attempts within a second are refused, if set.
    pub max_per_second: Option<u32>,
    /// How long a refused attempt takes.
    pub refusal_time: u64,
    /// After which time it is tried again.
    pub retry_after: u64,
    /// From when to when it is down: attempts fail.
    pub outages: Vec<(u64, u64)>,
    /// How long an attempt takes while it is down.
    pub outage_time: u64,
    /// Rate limit on the workers' side.
    pub limiter: Limiter,
}

impl Partner {
    /// Calls in a second that come to something: what it answers, or what the limiter lets through
    /// if that is less.
    #[must_use]
    pub fn allowed_per_second(&self) -> Option<u32> {
        self.max_per_second.into_iter().chain(self.limiter.max_per_second).min()
    }
}

/// Attempts that ask a partner, as the workers' side limits them: a job above the limit waits,
/// without a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Limiter {
    /// Calls in a second, evenly apart.
    pub max_per_second: Option<u32>,
    /// Attempts at the same time.
    pub max_concurrent: Option<u32>,
}

/// Attempts that fail since a partner is down are repeated: after a delay, which grows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Retries {
    /// Attempts that fail so, of a job; then it has failed for good.
    pub max_attempts: u32,
    /// After the first of them.
    pub first_delay: u64,
    /// After each further one, so many times as long.
    pub multiplier: f64,
    /// No longer than this.
    pub max_delay: u64,
}

impl Retries {
    /// After how long the next attempt comes, when so many have failed; `None` if none comes.
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
    /// When a job that finds it held tries again.
    pub retry_after: u64,
}

/// A way to place jobs in time.
#[derive(Debug, Clone)]
pub struct Strategy {
    /// Its name.
    pub name: String,
    /// How it places jobs.
    pub kind: StrategyKind,
    /// Where the kinds after the first stand, unless it is as each of them says.
    pub other_kinds: Option<KindPlacement>,
    /// Lanes instead of one queue. They share out the workers of the scenario.
    pub lanes: Option<LaneSet>,
}

impl Strategy {
    /// Where a kind after the first stands, seen from it.
    #[must_use]
    pub fn placement_of(&self, kind: &Kind) -> KindPlacement {
        self.other_kinds.unwrap_or(kind.placement)
    }
}

/// The schedule of a strategy.
#[derive(Debug, Clone)]
pub struct SlotSchedule {
    /// The schedule as a caller writes it.
    pub spec: ScheduleSpec,
    /// The same, checked. It declares the kinds of the scenario, by their place in it, unless they
    /// stand where the caller shifts them.
    pub schedule: Schedule,
    /// Over which span late runs are smeared, where no kinds are declared.
    pub smear_span: Option<Span>,
}

/// How a strategy works.
#[derive(Debug, Clone)]
pub enum StrategyKind {
    /// Everybody at the beginning of the cycle.
    AtOnce,
    /// Everybody at a random time of the cycle, another in each.
    RandomSmear,
    /// Now and then a batch of those whose last run is longest ago.
    LeastRecent {
        /// Time between two batches.
        interval: u64,
        /// Maximum size of a batch.
        batch: u32,
        /// Over what time they are smeared at random.
        spread: u64,
    },
    /// A run that is done enqueues the next, a cycle later.
    SelfRescheduling,
    /// By a schedule, as the service answers.
    Slots(Box<SlotSchedule>),
    /// Everybody at the beginning of the cycle, groups spread.
    Spread {
        /// How many groups take turns.
        feeders: u32,
    },
    /// Of pipelines: a worker that is free goes where it is worth most.
    Workers {
        /// The divisor rule.
        rule: Rule,
        /// How the place of a stage in the pipeline is weighted.
        weighting: Weighting,
    },
    /// Of pipelines: every stage keeps its share of the workers.
    FixedWorkers,
}

impl StrategyKind {
    /// As scenarios name it.
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
