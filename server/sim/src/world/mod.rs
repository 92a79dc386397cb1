//! A scenario, event by event.
//!
//! One loop over what happens next: a job is due, an attempt ends, a job comes back, somebody
//! looks at the queue. Times are integer microseconds; of two things at the same time the end of
//! an attempt comes first, then what was planned first.

mod accounts;
mod ascending;
mod attempts;
mod clock;
mod departures;
mod job;
mod kind_distances;
mod locks;
mod metrics;
mod partners;
mod pipeline;
mod producer;
mod queue;
mod runs;
mod source;
mod sums;
mod workers;

use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use offbeat_core::{Reason, Rejection};

use crate::generator::Generator;
use crate::scenario::{Scenario, Strategy, StrategyKind};
use accounts::Accounts;
use attempts::{Attempt, Attempts, End};
use clock::{Clock, NEVER};
use job::{CHILD, Delayed, Job, NewJobs};
use locks::Locks;
pub use metrics::{LateRuns, PartnerTally, Row, Trace};
use partners::{Partners, Reply};
use producer::Producer;
use queue::Queue;
pub use runs::{RunError, run_all, run_each};
use source::{Source, anywhere};
pub(crate) use source::{first_kind, offsets, shifts};
pub use sums::{Step, Sums};
use workers::Workers;

/// How a run is watched from another thread, and stopped.
#[derive(Debug, Default)]
pub struct Watch {
    /// Set it to end the run with what there is.
    pub stop: AtomicBool,
    /// Seconds that were simulated, of all runs together.
    pub seconds: AtomicU64,
}

/// Runs a scenario with one of its strategies.
///
/// # Errors
/// When a decision of the service is refused, such as a schedule's.
pub fn run(
    scenario: &Scenario,
    strategy: &Strategy,
    seed: u64,
    watch: &Watch,
) -> Result<Trace, Rejection> {
    if !scenario.stages.is_empty() {
        return pipeline::run(scenario, strategy, seed, watch);
    }
    let mut world = World::new(scenario, strategy, seed)?;
    world.begin(&strategy.kind);
    for _ in 0..scenario.max_events {
        if !world.step(watch) {
            world.accounts.tell(watch);
            return world.finish();
        }
    }
    Err(too_many_events(scenario))
}

/// A scenario may make its jobs come back again and again.
fn too_many_events(scenario: &Scenario) -> Rejection {
    let (most, value) = (scenario.max_events, "more events in a run");
    let allowed = format!("must make at most {most}: jobs that come back less often, or are fewer");
    Rejection::new(Reason::OutOfRange, "scenario", value, allowed)
}

struct World<'a> {
    scenario: &'a Scenario,
    generator: Generator,
    new_jobs: NewJobs,
    source: Source,
    queue: Queue,
    producer: Producer,
    /// Why it cannot go on.
    refused: Option<Rejection>,
    partners: Partners,
    attempts: Attempts,
    delayed: Delayed,
    reschedules: bool,
    locks: Locks,
    workers: Workers,
    clock: Clock,
    accounts: Accounts,
}

impl<'a> World<'a> {
    fn new(scenario: &'a Scenario, strategy: &Strategy, seed: u64) -> Result<Self, Rejection> {
        let mut generator = Generator::new(seed);
        let source = Source::new(scenario, strategy, &mut generator)?;
        let queue = Queue::new(strategy.lanes.as_ref());
        Ok(Self {
            scenario,
            new_jobs: NewJobs::new(scenario),
            source,
            producer: Producer::new(scenario, strategy)?,
            refused: None,
            partners: Partners::new(&scenario.partners, scenario.population, &mut generator),
            generator,
            attempts: Attempts::new(),
            delayed: Delayed::new(),
            reschedules: false,
            locks: Locks::new(scenario),
            workers: Workers::new(scenario, queue.worker_count()),
            queue,
            clock: Clock::new(scenario.duration),
            accounts: Accounts::new(scenario),
        })
    }

    fn begin(&mut self, kind: &StrategyKind) {
        if let Source::LeastRecent(recent) = &mut self.source {
            recent.next = self.producer.up_from(recent.next);
        }
        if let (StrategyKind::SelfRescheduling, Source::Cycles(cycles)) = (kind, &mut self.source) {
            self.reschedules = true;
            for (at, user, kind) in cycles.once() {
                self.come_at(at, user, kind);
            }
        }
    }

    /// The next thing that happens; false after the last.
    #[inline]
    fn step(&mut self, watch: &Watch) -> bool {
        let departure = self.attempts.next_time();
        let back = self.delayed.next_time();
        let change = self.workers.next_time();
        let return_ = self.producer.back_at();
        let next = self.source.next_time().min(departure).min(back).min(change);
        let next = next.min(return_).min(self.clock.end);
        if self.clock.is_second_over(next) && !self.end_seconds(next, watch) {
            return false;
        }
        let span = self.clock.advance(next);
        self.accounts.pass(span, &self.workers);
        if next == self.clock.end {
            return false;
        }
        if departure == next {
            self.depart();
        } else if change == next {
            self.workers.pass(next, self.queue.len());
            self.fill();
        } else if return_ == next {
            return self.take_late();
        } else if back == next {
            if let Some(job) = self.delayed.pop() {
                self.enqueue(job);
            }
        } else {
            self.take_due();
        }
        true
    }

    /// Rows of the seconds that are over before the next event; false if the run is to stop.
    fn end_seconds(&mut self, next: u64, watch: &Watch) -> bool {
        while self.clock.is_second_over(next) {
            self.accounts.end_second(self.queue.len(), &self.workers);
            self.clock.begin_second();
        }
        self.accounts.tell_at_times(watch);
        !watch.stop.load(Ordering::Relaxed)
    }

    fn finish(mut self) -> Result<Trace, Rejection> {
        if let Some(refused) = self.refused {
            return Err(refused);
        }
        let now = self.clock.now;
        let is_cut = now < self.clock.end;
        if !is_cut && self.clock.is_within_second() {
            self.accounts.end_second(self.queue.len(), &self.workers);
        }
        // A job that has not begun has waited so far, at least.
        let waiting = self.queue.drain().chain(self.delayed.drain());
        for job in waiting.filter(|job| job.first_start == NEVER && job.enqueued < now) {
            self.accounts.waited(now - job.enqueued);
            self.partners.waited(&job, now - job.enqueued);
        }
        let (partners, late_runs) = (self.partners.tallies(), self.producer.tally());
        Ok(Trace { partners, late_runs, ..self.accounts.close(is_cut, now) })
    }

    /// The producer is back, and enqueues what is late; false if it cannot.
    fn take_late(&mut self) -> bool {
        match self.producer.come_back() {
            Ok(late) => {
                for (at, user, kind) in late {
                    let job = self.new_job(at, user, kind);
                    self.delayed.push(job, at);
                }
            }
            Err(refused) => self.refused = Some(refused),
        }
        self.refused.is_none()
    }

    /// A job comes at a time, or when the producer is back.
    fn come_at(&mut self, at: u64, user: u32, kind: u8) {
        let up = self.producer.up_from(at);
        if up > at {
            self.producer.is_late();
        }
        let job = self.new_job(up, user, kind);
        self.delayed.push(job, up);
    }

    /// A user's time has come.
    #[inline]
    fn take_due(&mut self) {
        let now = self.clock.now;
        match &mut self.source {
            Source::Cycles(cycles) => {
                if let Some((user, kind)) = cycles.next(&mut self.generator) {
                    if self.producer.is_down(now) {
                        self.producer.miss(user, kind);
                        return;
                    }
                    let job = self.new_job(now, user, kind);
                    self.enqueue(job);
                }
            }
            Source::LeastRecent(recent) => {
                recent.next = self.producer.up_from(recent.next + recent.interval);
                let (users, spread) = (recent.take(now), recent.spread);
                let mut jobs = Vec::with_capacity(users.len() * self.scenario.kinds.len());
                for user in users {
                    for kind in 0..u8::try_from(self.scenario.kinds.len()).unwrap_or(1) {
                        let at = now + anywhere(spread, &mut self.generator);
                        jobs.push(self.new_job(at, user, kind));
                    }
                }
                // In the order in which they leave: see `Ascending`.
                let mut order: Vec<_> = jobs.iter().map(|job| job.enqueued).zip(0..).collect();
                order.sort_unstable();
                for (at, place) in order {
                    let job: Option<&Job> = jobs.get::<usize>(place);
                    job.copied().into_iter().for_each(|job| self.delayed.push(job, at));
                }
            }
        }
    }

    #[inline]
    fn new_job(&mut self, at: u64, user: u32, kind: u8) -> Job {
        self.new_jobs.make(&mut self.generator, at, user, kind)
    }

    #[inline]
    fn enqueue(&mut self, job: Job) {
        if job.first_start == NEVER && job.enqueued == self.clock.now {
            self.accounts.enqueued(&job);
        }
        if self.queue.is_passed_through() && self.workers.may_take() {
            self.start(0, job);
        } else {
            self.queue.push(job);
            self.fill();
        }
    }

    /// Free workers take jobs, one at a time if they must.
    #[inline]
    fn fill(&mut self) {
        while self.workers.may_take() {
            let Some((lane, job)) = self.queue.take() else { return };
            self.start(lane, job);
        }
    }

    #[inline]
    fn start(&mut self, lane: u8, mut job: Job) {
        let now = self.clock.now;
        if let Err(retry_after) = self.locks.take(&job) {
            self.accounts.lock_was_held();
            self.queue.give_back(lane);
            self.delayed.push(job, now + retry_after);
            return;
        }
        if job.first_start == NEVER {
            self.accounts.waited(now - job.enqueued);
            self.partners.waited(&job, now - job.enqueued);
            job.first_start = now;
        }
        let reply =
            if job.kind == CHILD { Reply::Answered } else { self.partners.ask(job.user, now) };
        let timeout = self.queue.timeout(lane);
        let (time, end) = match reply {
            Reply::Answered if job.left > timeout => (timeout, End::TimedOut),
            Reply::Answered => (job.left, End::Done),
            Reply::Refused { time, retry_after } => (time, End::Refused(retry_after)),
            Reply::Down { time } => (time, End::Failed),
        };
        if end == End::TimedOut && self.queue.suspends() {
            job.left -= time;
            job.suspended |= 1 << (lane & 15);
        } else if end != End::Done {
            self.accounts.wasted(time);
        }
        let cost = self.workers.take(now, self.queue.len() as u64);
        self.accounts.attempt_started();
        let ends_at = now.saturating_add(cost).saturating_add(time);
        self.attempts.push(ends_at, Attempt { job, lane, end });
    }

    #[inline]
    fn depart(&mut self) {
        let Some(Attempt { mut job, lane, end }) = self.attempts.pop() else { return };
        self.workers.release();
        self.queue.give_back(lane);
        self.locks.release(&job);
        if end != End::Done {
            self.accounts.attempt_failed();
        }
        match end {
            End::Done => self.done(job),
            End::Refused(after) => self.delayed.push(job, self.clock.now + after),
            End::TimedOut => match self.queue.after(lane) {
                Some(entry) => {
                    job.entry = entry;
                    self.queue.push(job);
                }
                None => self.failed(job),
            },
            End::Failed => self.failed(job),
        }
        self.fill();
    }

    #[inline]
    fn done(&mut self, job: Job) {
        let now = self.clock.now;
        self.accounts.done(&job, job.left + self.queue.ran_in(job.suspended), now);
        self.partners.done(&job);
        if job.kind == 0 {
            self.have_children();
        }
        self.come_again(job, now);
    }

    fn failed(&mut self, job: Job) {
        let last = self.accounts.failed(&job);
        self.come_again(job, last.unwrap_or_default());
    }

    /// What the end of a job brings, in the strategies where jobs bring one another.
    #[inline]
    fn come_again(&mut self, job: Job, last: u64) {
        if self.reschedules && job.kind != CHILD {
            let at = self.clock.now + self.scenario.cycle;
            self.come_at(at, job.user, job.kind);
        }
        if let Source::LeastRecent(recent) = &mut self.source
            && job.kind == 0
        {
            recent.ended(job.user, last);
        }
    }

    fn have_children(&mut self) {
        let Some(children) = &self.scenario.children else { return };
        let mut left = children.mean_count;
        while left > 0.0 && self.generator.uniform() < left {
            let child = self.new_job(self.clock.now, 0, CHILD);
            self.enqueue(child);
            left -= 1.0;
        }
    }
}
