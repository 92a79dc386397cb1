//! A scenario, event by event.
//!
//! One loop handles the next event: a job is due, an attempt ends, a job comes back, or the number
//! of workers changes. Times are integer microseconds. Events at the same time come in this order:
//! the end of an attempt, a change of the workers, the return of the producer, a job that comes
//! back, a job that is due.

mod accounts;
mod ascending;
mod attempts;
mod clock;
mod departures;
mod job;
mod kind_distances;
mod limiters;
mod locks;
mod metrics;
mod partners;
mod phases;
mod pipeline;
mod producer;
mod queue;
mod runs;
mod source;
mod sums;
mod trace;
mod workers;

use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use offbeat_core::{Reason, Rejection};

use crate::generator::Generator;
use crate::scenario::{Scenario, Strategy, StrategyKind};
use accounts::Accounts;
use attempts::{Attempt, Attempts, End};
use clock::{Clock, NEVER};
use job::{CHILD, DelayedJobs, Job, NewJobs};
use limiters::{Admission, Limiters};
use locks::Locks;
pub use metrics::{LateRuns, PartnerStep, PartnerTally, Row};
use partners::{Partners, Reply};
pub use phases::{PhasePartner, PhaseTally, Tail};
use producer::Producer;
use queue::Queue;
pub use runs::{RunError, run_all, run_each};
use source::{Source, Track, anywhere};
pub(crate) use source::{first_kind, offsets, shifts};
pub use sums::{Step, Sums};
pub use trace::Trace;
use workers::Workers;

/// Lets another thread watch a run, and stop it.
#[derive(Debug, Default)]
pub struct Watch {
    /// Set this to end the run with the results so far.
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

/// The refusal of a scenario whose jobs come back too often.
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
    /// Why the run cannot continue.
    refused: Option<Rejection>,
    partners: Partners,
    limiters: Limiters,
    attempts: Attempts,
    delayed: DelayedJobs,
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
        let accounts = Accounts::new(scenario);
        Ok(Self {
            scenario,
            new_jobs: NewJobs::new(scenario),
            source,
            producer: Producer::new(scenario, strategy)?,
            refused: None,
            partners: Partners::new(scenario, seed, accounts.step()),
            limiters: Limiters::new(scenario),
            generator,
            attempts: Attempts::new(),
            delayed: DelayedJobs::new(),
            reschedules: false,
            locks: Locks::new(scenario),
            workers: Workers::new(scenario, queue.worker_count()),
            queue,
            clock: Clock::new(scenario.duration),
            accounts,
        })
    }

    fn begin(&mut self, kind: &StrategyKind) {
        let mut due = Vec::new();
        self.reschedules = matches!(kind, StrategyKind::SelfRescheduling);
        for track in self.source.tracks() {
            match track {
                Track::LeastRecent(recent) => recent.put_off(|at| self.producer.up_from(at)),
                Track::Cycles(cycles) if self.reschedules => due.extend(cycles.once()),
                Track::Cycles(_) => {}
            }
        }
        self.source.settle();
        for (at, user, kind) in due {
            self.come_at(at, user, kind);
        }
    }

    /// Handles the next event; false after the last.
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

    /// Ends the seconds that are over before the next event; false if the run must stop.
    fn end_seconds(&mut self, next: u64, watch: &Watch) -> bool {
        while self.clock.is_second_over(next) {
            self.end_second();
            self.clock.begin_second();
        }
        self.accounts.tell_at_times(watch);
        !watch.stop.load(Ordering::Relaxed)
    }

    fn end_second(&mut self) {
        self.accounts.end_second(self.queue.len(), &self.workers, &self.partners);
        self.partners.end_second();
    }

    fn finish(mut self) -> Result<Trace, Rejection> {
        if let Some(refused) = self.refused {
            return Err(refused);
        }
        let now = self.clock.now;
        let is_cut = now < self.clock.end;
        if !is_cut && self.clock.is_within_second() {
            self.end_second();
        }
        // A job that has not begun has waited at least this long.
        let waiting = self.queue.drain().chain(self.delayed.drain()).chain(self.limiters.drain());
        for job in waiting.filter(|job| job.first_start == NEVER && job.enqueued < now) {
            self.accounts.waited(now - job.enqueued, self.partners.asked_by(&job));
            self.partners.waited(&job, now - job.enqueued);
        }
        let ((partners, partner_steps), late_runs) = (self.partners.close(), self.producer.tally());
        Ok(Trace { partners, partner_steps, late_runs, ..self.accounts.close(is_cut, now) })
    }

    /// Enqueues the late runs when the producer is back; false if it cannot.
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

    /// Plans a job for a time, or for when the producer is back.
    fn come_at(&mut self, at: u64, user: u32, kind: u8) {
        let up = self.producer.up_from(at);
        if up > at {
            self.producer.mark_late();
        }
        let job = self.new_job(up, user, kind);
        self.delayed.push(job, up);
    }

    /// Enqueues what is due now.
    #[inline]
    fn take_due(&mut self) {
        let now = self.clock.now;
        match self.source.turn() {
            Some(Track::Cycles(cycles)) => {
                let due = cycles.next(&mut self.generator);
                self.source.settle();
                if let Some((user, kind)) = due {
                    if self.producer.is_down(now) {
                        self.producer.miss(user, kind);
                        return;
                    }
                    let job = self.new_job(now, user, kind);
                    self.enqueue(job);
                }
            }
            Some(Track::LeastRecent(recent)) => {
                recent.plan_next(|at| self.producer.up_from(at));
                let (users, spread, kinds) =
                    (recent.take(now), recent.spread, recent.kinds.clone());
                self.source.settle();
                let mut jobs = Vec::with_capacity(users.len() * kinds.len());
                for user in users {
                    for kind in &kinds {
                        let at = now + anywhere(spread, &mut self.generator);
                        jobs.push(self.new_job(at, user, *kind));
                    }
                }
                // In the order in which they leave, which is faster: see `Ascending`.
                let mut order: Vec<_> = jobs.iter().map(|job| job.enqueued).zip(0..).collect();
                order.sort_unstable();
                for (at, place) in order {
                    let job: Option<&Job> = jobs.get::<usize>(place);
                    job.copied().into_iter().for_each(|job| self.delayed.push(job, at));
                }
            }
            None => {}
        }
    }

    #[inline]
    fn new_job(&mut self, at: u64, user: u32, kind: u8) -> Job {
        self.new_jobs.make(&mut self.generator, at, user, kind)
    }

    #[inline]
    fn enqueue(&mut self, job: Job) {
        if job.first_start == NEVER && job.enqueued == self.clock.now {
            self.accounts.enqueued(&job, &self.partners, self.clock.now);
        }
        if self.queue.is_passed_through() && self.workers.may_take() {
            self.start(0, job);
        } else {
            self.queue.push(job);
            self.fill();
        }
    }

    /// Lets free workers take jobs; one at a time, if dequeuing is exclusive.
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
        match self.limiters.admit(&mut job, &self.partners, now) {
            Admission::Now => {}
            Admission::At(at) => {
                self.queue.give_back(lane);
                return self.delayed.push(job, at);
            }
            Admission::Held => return self.queue.give_back(lane),
        }
        if let Err(retry_after) = self.locks.take(&job) {
            self.accounts.lock_was_held();
            self.queue.give_back(lane);
            self.leave_limiter(&mut job);
            self.delayed.push(job, now + retry_after);
            return;
        }
        if job.first_start == NEVER {
            self.accounts.waited(now - job.enqueued, self.partners.asked_by(&job));
            self.partners.waited(&job, now - job.enqueued);
            job.first_start = now;
        }
        let reply = self.partners.ask(&job, now);
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
        self.leave_limiter(&mut job);
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
            End::Failed => {
                self.partners.gave_up(&job);
                self.was_not_answered(job);
            }
        }
        self.fill();
    }

    /// A job that its partner's limiter held may begin when an attempt at the partner ends. It
    /// comes before all jobs in the queue, because it has waited its turn there.
    #[inline]
    fn leave_limiter(&mut self, job: &mut Job) {
        if let Some(next) = self.limiters.leave(job, &self.partners) {
            self.queue.push_first(next);
        }
    }

    /// Handles an attempt at a partner that is down: the job comes again later, if the scenario has
    /// retries.
    fn was_not_answered(&mut self, mut job: Job) {
        job.failures = job.failures.saturating_add(1);
        let retries = self.scenario.retries.as_ref();
        match retries.and_then(|retries| retries.delay(job.failures.into())) {
            Some(delay) => self.delayed.push(job, self.clock.now.saturating_add(delay)),
            None => self.failed(job),
        }
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

    /// Plans what follows the end of a job, with strategies where one job brings the next.
    #[inline]
    fn come_again(&mut self, job: Job, last: u64) {
        if self.reschedules && job.kind != CHILD {
            let kind = self.scenario.kinds.get(usize::from(job.kind));
            let timing = kind.map_or(&self.scenario.timing, |kind| self.scenario.timing_of(kind));
            let at = timing.active_from(self.clock.now + timing.cycle);
            self.come_at(at, job.user, job.kind);
        }
        self.source.ended(job.user, job.kind, last);
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
