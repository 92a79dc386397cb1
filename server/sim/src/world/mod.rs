//! A scenario, event by event.
//!
//! One loop over what happens next: a job is due, an attempt ends, a job comes back, somebody
//! looks at the queue. Times are integer microseconds; of two things at the same time the end of
//! an attempt comes first, then what was planned first.

mod ascending;
mod departures;
mod job;
mod metrics;
mod partners;
mod pipeline;
mod queue;
mod runs;
mod source;
mod sums;

use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use offbeat_core::{Reason, Rejection};

use crate::generator::Generator;
use crate::run_times::Draw;
use crate::scenario::{Scenario, Strategy, StrategyKind};
use ascending::Ascending;
use departures::Departures;
use job::{CHILD, Job, Timed};
use metrics::slowdown;
pub use metrics::{PartnerTally, Row, Trace};
use partners::{Attempt, Partners};
use queue::Queue;
pub use runs::{RunError, run_all, run_each};
use source::{Source, anywhere};
pub(crate) use source::{offsets, shifts};
use sums::Rows;
pub use sums::{Step, Sums};

const SECOND: u64 = 1_000_000;

/// After how many rows a run tells how far it is.
const ROWS_AT_A_TIME: u64 = 1_000;

/// No run yet.
const NEVER: u64 = u64::MAX;

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
            world.tell(watch);
            return Ok(world.finish());
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

/// How an attempt ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Done,
    TimedOut,
    /// It is tried again after so long.
    Refused(u64),
    Failed,
}

#[derive(Debug, Clone, Copy)]
struct Running {
    job: Job,
    lane: u8,
    end: End,
}

struct World<'a> {
    scenario: &'a Scenario,
    generator: Generator,
    draws: Vec<Draw>,
    child_draw: Option<Draw>,
    /// For the slowdown, by kind; and of children.
    floors: Vec<u64>,
    child_floor: u64,
    source: Source,
    queue: Queue,
    partners: Partners,
    /// When attempts end, by their place in `running`.
    departures: Departures,
    running: Vec<Running>,
    free_places: Vec<u32>,
    /// Jobs that come back, and those that are not due yet.
    delayed: Ascending<Timed<Job>>,
    reschedules: bool,
    locked: Vec<bool>,
    last_end: Vec<u64>,
    worker_changes: std::vec::IntoIter<(u64, u32)>,
    next_change: u64,
    next_look: u64,
    /// When the worker that takes a job has it, if others wait for that.
    turn: u64,
    workers: u32,
    busy: u32,
    in_system: u64,
    now: u64,
    second_end: u64,
    number: u64,
    row: Row,
    rows: Rows,
    /// Of how many of them the watch knows.
    told_rows: u64,
    trace: Trace,
}

impl<'a> World<'a> {
    fn new(scenario: &'a Scenario, strategy: &Strategy, seed: u64) -> Result<Self, Rejection> {
        let mut generator = Generator::new(seed);
        let source = Source::new(scenario, strategy, &mut generator)?;
        let users = scenario.population as usize;
        let group = scenario.lock.map_or(1, |lock| lock.group_size.max(1)) as usize;
        let runs = scenario.strategies.len() * scenario.seeds.len();
        let jobs = usize::try_from(scenario.job_count()).unwrap_or_default() / runs.max(1);
        Ok(Self {
            scenario,
            draws: scenario.kinds.iter().map(|kind| Draw::new(&kind.run_time)).collect(),
            floors: scenario.kinds.iter().map(|kind| kind.run_time.quantile(0.1)).collect(),
            child_floor: scenario.children.as_ref().map_or(1, |one| one.run_time.quantile(0.1)),
            child_draw: scenario.children.as_ref().map(|child| Draw::new(&child.run_time)),
            source,
            queue: Queue::new(strategy.lanes.as_ref()),
            partners: Partners::new(&scenario.partners, scenario.population, &mut generator),
            generator,
            departures: Departures::new(),
            running: Vec::new(),
            free_places: Vec::new(),
            delayed: Ascending::new(),
            reschedules: false,
            locked: scenario.lock.map_or_else(Vec::new, |_| vec![false; users / group + 1]),
            last_end: vec![NEVER; users],
            worker_changes: scenario.workers.clone().into_iter(),
            next_change: 0,
            next_look: scenario.autoscaler.map_or(NEVER, |scaler| scaler.interval),
            turn: NEVER,
            workers: 0,
            busy: 0,
            in_system: 0,
            now: 0,
            second_end: SECOND,
            number: 0,
            row: Row::default(),
            rows: Rows::new(scenario.duration.div_ceil(SECOND), scenario.keeps_rows),
            told_rows: 0,
            trace: Trace {
                waits: Vec::with_capacity(jobs),
                sojourns: Vec::with_capacity(jobs),
                intervals: Vec::with_capacity(jobs),
                ..Trace::default()
            },
        })
    }

    fn begin(&mut self, kind: &StrategyKind) {
        if let Some(lanes) = self.queue.worker_count() {
            self.worker_changes = vec![(0, lanes)].into_iter();
        }
        self.change_workers();
        if let (StrategyKind::SelfRescheduling, Source::Cycles(cycles)) = (kind, &mut self.source) {
            self.reschedules = true;
            for (at, user, kind) in cycles.once() {
                let job = self.new_job(at, user, kind);
                self.delay(job, at);
            }
        }
    }

    /// The next thing that happens; false after the last.
    #[inline]
    fn step(&mut self, watch: &Watch) -> bool {
        let due = self.source.next_time();
        let departure = self.departures.next_time();
        let back = self.delayed.first().map_or(NEVER, |next| next.at);
        let other = self.next_change.min(self.next_look).min(self.turn);
        let next = due.min(departure).min(back).min(other);
        let next = next.min(self.scenario.duration);
        if next >= self.second_end && !self.end_seconds(next, watch) {
            return false;
        }
        self.pass(next);
        if next == self.scenario.duration {
            return false;
        }
        if departure == next {
            self.depart();
        } else if other == next {
            self.look();
        } else if back == next {
            if let Some(next) = self.delayed.pop() {
                self.enqueue(next.what);
            }
        } else {
            self.take_due();
        }
        true
    }

    #[inline]
    fn pass(&mut self, to: u64) {
        let span = to - self.now;
        self.trace.job_micros += u128::from(self.in_system) * u128::from(span);
        self.trace.available += u64::from(self.workers.max(self.busy)) * span;
        self.trace.worked += u64::from(self.busy) * span;
        self.now = to;
    }

    /// Rows of the seconds that are over before the next event; false if the run is to stop.
    fn end_seconds(&mut self, next: u64, watch: &Watch) -> bool {
        while next >= self.second_end {
            self.push_row();
            self.second_end += SECOND;
        }
        // Not after each second: other threads have the number too.
        if self.rows.len() - self.told_rows >= ROWS_AT_A_TIME {
            self.tell(watch);
        }
        !watch.stop.load(Ordering::Relaxed)
    }

    fn tell(&mut self, watch: &Watch) {
        let seconds = self.rows.len() - self.told_rows;
        self.told_rows = self.rows.len();
        watch.seconds.fetch_add(seconds, Ordering::Relaxed);
    }

    fn push_row(&mut self) {
        let depth = u32::try_from(self.queue.len()).unwrap_or(u32::MAX);
        let row =
            Row { queue_depth: depth, busy_workers: self.busy, workers: self.workers, ..self.row };
        self.rows.push(row);
        self.row = Row::default();
    }

    fn finish(mut self) -> Trace {
        self.trace.is_cut = self.now < self.scenario.duration;
        if !self.trace.is_cut && self.second_end < self.now + SECOND {
            self.push_row(); // of the part of a second at the end
        }
        // Who has not begun has waited so far, at least.
        let delayed = self.delayed.drain().map(|delayed| delayed.what);
        let waiting = self.queue.drain().chain(delayed);
        for job in waiting.filter(|job| job.first_start == NEVER && job.enqueued < self.now) {
            self.trace.waits.push(self.now - job.enqueued);
            self.partners.waited(&job, self.now - job.enqueued);
        }
        self.trace.partners = self.partners.tallies();
        let never = self.last_end.iter().filter(|last| **last == NEVER).count();
        self.trace.never_served = u32::try_from(never).unwrap_or(u32::MAX);
        self.rows.leave(&mut self.trace);
        self.trace.left_jobs = self.in_system;
        self.trace
    }

    /// Somebody's time has come.
    #[inline]
    fn take_due(&mut self) {
        match &mut self.source {
            Source::Cycles(cycles) => {
                if let Some((user, kind)) = cycles.next(&mut self.generator) {
                    let job = self.new_job(self.now, user, kind);
                    self.enqueue(job);
                }
            }
            Source::LeastRecent(recent) => {
                recent.next += recent.interval;
                let (users, spread) = (recent.take(self.now), recent.spread);
                let mut jobs = Vec::with_capacity(users.len() * self.scenario.kinds.len());
                for user in users {
                    for kind in 0..u8::try_from(self.scenario.kinds.len()).unwrap_or(1) {
                        let at = self.now + anywhere(spread, &mut self.generator);
                        jobs.push(self.new_job(at, user, kind));
                    }
                }
                // In the order in which they leave: see `Ascending`.
                let mut order: Vec<_> = jobs.iter().map(|job| job.enqueued).zip(0..).collect();
                order.sort_unstable();
                for (at, place) in order {
                    let job: Option<&Job> = jobs.get::<usize>(place);
                    job.copied().into_iter().for_each(|job| self.delay(job, at));
                }
            }
        }
    }

    #[inline]
    fn new_job(&mut self, at: u64, user: u32, kind: u8) -> Job {
        let share = self.generator.uniform();
        let draw = if kind == CHILD {
            self.child_draw.as_ref()
        } else {
            self.draws.get(usize::from(kind))
        };
        let left = draw.map_or(0, |draw| draw.at(share));
        let left = self.scenario.tick.map_or(left, |tick| left.div_ceil(tick) * tick);
        Job { enqueued: at, first_start: NEVER, left, user, kind, entry: 0, suspended: 0 }
    }

    fn delay(&mut self, job: Job, at: u64) {
        let number = self.number;
        self.number += 1;
        self.delayed.push(Timed { at, number, what: job });
    }

    #[inline]
    fn enqueue(&mut self, job: Job) {
        if job.first_start == NEVER && job.enqueued == self.now {
            self.row.enqueued += 1;
            self.trace.enqueued_jobs += 1;
            self.in_system += 1;
        }
        if self.queue.is_passed_through() && self.busy < self.workers && self.turn == NEVER {
            self.start(0, job);
        } else {
            self.queue.push(job);
            self.fill();
        }
    }

    /// Free workers take jobs, one at a time if they must.
    #[inline]
    fn fill(&mut self) {
        while self.busy < self.workers && self.turn == NEVER {
            let Some((lane, job)) = self.queue.take() else { return };
            self.start(lane, job);
        }
    }

    #[inline]
    fn start(&mut self, lane: u8, mut job: Job) {
        if job.kind != CHILD
            && let Some(lock) = self.scenario.lock
        {
            let held = self.locked.get_mut((job.user / lock.group_size.max(1)) as usize);
            if let Some(held) = held {
                if *held {
                    self.row.lock_conflicts += 1;
                    self.queue.give_back(lane);
                    self.delay(job, self.now + lock.retry_after);
                    return;
                }
                *held = true;
            }
        }
        if job.first_start == NEVER {
            self.trace.waits.push(self.now - job.enqueued);
            self.partners.waited(&job, self.now - job.enqueued);
            job.first_start = self.now;
        }
        let attempt = if job.kind == CHILD {
            Attempt::Answered
        } else {
            self.partners.ask(job.user, self.now)
        };
        let timeout = self.queue.timeout(lane);
        let (time, end) = match attempt {
            Attempt::Answered if job.left > timeout => (timeout, End::TimedOut),
            Attempt::Answered => (job.left, End::Done),
            Attempt::Refused { time, retry_after } => (time, End::Refused(retry_after)),
            Attempt::Down { time } => (time, End::Failed),
        };
        if end == End::TimedOut && self.queue.suspends() {
            job.left -= time;
            job.suspended |= 1 << (lane & 15);
        } else if end != End::Done {
            self.trace.wasted = self.trace.wasted.saturating_add(time);
        }
        self.busy += 1;
        let cost = self.take_time();
        self.row.started += 1;
        let place = self.place(Running { job, lane, end });
        self.departures.push(self.now.saturating_add(cost).saturating_add(time), place);
    }

    /// How long a worker takes to take a job; others may have to wait for that.
    #[inline]
    fn take_time(&mut self) -> u64 {
        let Some(cost) = self.scenario.dequeue else { return 0 };
        let depth = self.queue.len() as u64;
        let busy = if cost.contention { u64::from(self.busy) } else { 1 };
        let waiting = (cost.nanos_per_waiting.saturating_mul(depth) / 1_000).saturating_mul(busy);
        let mut time = cost.base.saturating_add(waiting);
        if cost.exclusive {
            let rivals = depth.min(self.workers.saturating_sub(self.busy).into());
            time = time.saturating_add(cost.nanos_per_rival.saturating_mul(rivals) / 1_000);
            self.turn = if time > 0 { self.now.saturating_add(time) } else { NEVER };
        }
        time
    }

    /// Where an attempt is remembered until it ends.
    #[inline]
    fn place(&mut self, running: Running) -> u32 {
        if let Some(place) = self.free_places.pop()
            && let Some(free) = self.running.get_mut(place as usize)
        {
            *free = running;
            return place;
        }
        self.running.push(running);
        u32::try_from(self.running.len() - 1).unwrap_or(u32::MAX)
    }

    #[inline]
    fn depart(&mut self) {
        let Some(place) = self.departures.pop() else { return };
        let Some(Running { mut job, lane, end }) = self.running.get(place as usize).copied() else {
            return;
        };
        self.free_places.push(place);
        self.busy -= 1;
        self.queue.give_back(lane);
        if job.kind != CHILD
            && let Some(lock) = self.scenario.lock
        {
            let held = self.locked.get_mut((job.user / lock.group_size.max(1)) as usize);
            held.into_iter().for_each(|held| *held = false);
        }
        match end {
            End::Done => self.done(job),
            End::Refused(after) => {
                self.row.failed += 1;
                self.delay(job, self.now + after);
            }
            End::TimedOut => {
                self.row.failed += 1;
                match self.queue.after(lane) {
                    Some(entry) => {
                        job.entry = entry;
                        self.queue.push(job);
                    }
                    None => self.failed(job),
                }
            }
            End::Failed => {
                self.row.failed += 1;
                self.failed(job);
            }
        }
        self.fill();
    }

    #[inline]
    fn done(&mut self, job: Job) {
        self.row.finished += 1;
        self.in_system -= 1;
        let sojourn = self.now - job.enqueued;
        self.trace.sojourns.push(sojourn);
        let floor = self.floors.get(usize::from(job.kind)).copied().unwrap_or(self.child_floor);
        let run_time = job.left + self.queue.ran_in(job.suspended);
        self.trace.slowdowns += slowdown(sojourn, run_time, floor);
        self.partners.done(&job);
        if job.kind == 0 {
            if let Some(last) = self.last_end.get_mut(job.user as usize) {
                if *last != NEVER {
                    self.trace.intervals.push(self.now - *last);
                }
                *last = self.now;
            }
            self.have_children();
        }
        self.come_again(job, self.now);
    }

    fn failed(&mut self, job: Job) {
        self.in_system -= 1;
        self.trace.failed_jobs += 1;
        let last = self.last_end.get(job.user as usize).copied().filter(|last| *last != NEVER);
        self.come_again(job, last.unwrap_or_default());
    }

    /// What the end of a job brings, in the strategies where jobs bring one another.
    #[inline]
    fn come_again(&mut self, job: Job, last: u64) {
        if self.reschedules && job.kind != CHILD {
            let at = self.now + self.scenario.cycle;
            let next = self.new_job(at, job.user, job.kind);
            self.delay(next, at);
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
            let child = self.new_job(self.now, 0, CHILD);
            self.enqueue(child);
            left -= 1.0;
        }
    }

    /// Workers come and go, or one of them lets the next take a job.
    fn look(&mut self) {
        if self.turn == self.now {
            self.turn = NEVER;
        }
        if self.next_change == self.now {
            self.change_workers();
        }
        if self.next_look == self.now
            && let Some(scaler) = self.scenario.autoscaler
        {
            self.next_look = self.now + scaler.interval;
            let depth = self.queue.len();
            if depth > scaler.up_at as usize {
                self.workers = (self.workers + scaler.step).min(scaler.maximum);
            } else if depth < scaler.down_at as usize {
                self.workers = self.workers.saturating_sub(scaler.step).max(scaler.minimum);
            }
        }
        self.fill();
    }

    fn change_workers(&mut self) {
        if let Some((_, count)) = self.worker_changes.next() {
            self.workers = count;
        }
        let next = self.worker_changes.as_slice().first();
        self.next_change = next.map_or(NEVER, |(at, _)| *at);
    }
}
