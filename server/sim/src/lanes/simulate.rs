//! Jobs on lanes, event by event.

use core::cmp::Reverse;

use std::collections::BinaryHeap;

use offbeat_core::lanes::{Dispatcher, LaneSet, OnTimeout};

use super::performance::{Performance, Tally};
use crate::distribution::{Distribution, whole};
use crate::generator::Generator;

/// Jobs as they arrive: the same for everything that is compared.
#[derive(Debug, Clone)]
pub struct Work {
    /// Arrival and run time of each, in microseconds, by arrival.
    jobs: Vec<(u64, u64)>,
    /// The type of each; empty if that is not known.
    types: Vec<u8>,
    type_count: usize,
    floor: u64,
}

impl Work {
    /// `count` jobs that arrive independently of one another at `rate` per second (a Poisson
    /// process), with the run times of `run_times`. `floor` is that of the slowdown, in
    /// microseconds.
    #[must_use]
    pub fn new(run_times: &Distribution, rate: f64, count: usize, floor: u64, seed: u64) -> Self {
        let mut generator = Generator::new(seed);
        let offset = generator.uniform();
        let mut sizes = run_times.spread(count, offset);
        generator.shuffle(&mut sizes);
        let mut now = 0.0;
        let jobs = sizes.iter().map(|(size, _)| {
            now += generator.exponential() * 1e6 / rate;
            (whole(now), *size)
        });
        let jobs = jobs.collect();
        let known = run_times.types().iter().max().map(|last| usize::from(*last) + 1);
        let types = known.map(|_| sizes.iter().map(|(_, kind)| *kind).collect());
        Self {
            jobs,
            types: types.unwrap_or_default(),
            type_count: known.unwrap_or_default(),
            floor,
        }
    }

    /// The type of a job; 0 if that is not known.
    #[inline]
    fn type_of(&self, job: usize) -> usize {
        self.types.get(job).copied().unwrap_or_default().into()
    }

    fn tally<'a>(&self, bounds: &'a [u64]) -> Tally<'a> {
        Tally::new(self.floor, self.counted().len(), bounds, self.type_count)
    }

    /// How many jobs there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.jobs.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.jobs.is_empty()
    }

    /// The jobs that count: not the first tenth, which find empty queues, and not the last tenth,
    /// after which no jobs arrive.
    fn counted(&self) -> core::ops::Range<usize> {
        self.jobs.len() / 10..self.jobs.len() - self.jobs.len() / 10
    }
}

/// One queue for all workers: each job begins on the first worker that is free (J. Kiefer and J.
/// Wolfowitz, 1955). `bounds` divide jobs into classes: each is the longest run time of a class, in
/// microseconds; the last class has none.
#[must_use]
pub fn simulate_queue(work: &Work, workers: usize, bounds: &[u64]) -> Performance {
    let counted = work.counted();
    let mut tally = work.tally(bounds);
    let mut free: BinaryHeap<Reverse<u64>> = vec![Reverse(0); workers.max(1)].into();
    let mut worked = 0;
    for (place, (arrival, run_time)) in work.jobs.iter().enumerate() {
        let Some(mut first) = free.peek_mut() else { break };
        let start = first.0.max(*arrival);
        let end = start + run_time;
        *first = Reverse(end);
        worked = u64::saturating_add(worked, *run_time);
        if counted.contains(&place) {
            tally.add(*arrival, start, end, *run_time, work.type_of(place));
        }
    }
    tally.performance(worked, 0, 0)
}

/// The end of an attempt, ordered by time, then by the order in which attempts began. It is small,
/// so that a heap of a thousand of them stays in the cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Departure {
    at: u64,
    number: u32,
    job: u32,
    lane: u8,
    is_timeout: bool,
}

/// A job of a simulation.
#[derive(Debug, Clone, Copy)]
struct Progress {
    start: u64,
    left: u64,
}

/// Jobs on lanes, dispatched by the rule that the service uses. `bounds` are those of
/// [`simulate_queue`]. `entries` is the lane in which new jobs of each type begin, as if they were
/// demoted to it; a type without an entry begins in the first lane.
#[must_use]
pub fn simulate_lanes(
    work: &Work,
    lanes: &LaneSet,
    entries: &[usize],
    bounds: &[u64],
) -> Performance {
    let mut run = Run::new(work, lanes, bounds);
    let mut arrivals = work.jobs.iter().enumerate().peekable();
    loop {
        let next = run.departures.peek().map(|Reverse(departure)| departure.at);
        match (arrivals.peek().copied(), next) {
            (Some((job, (arrival, _))), end) if end.is_none_or(|end| *arrival < end) => {
                arrivals.next();
                run.now = *arrival;
                run.waiting.push(job, entries.get(work.type_of(job)).copied().unwrap_or_default());
                run.fill();
            }
            (_, Some(_)) => run.depart(),
            (_, None) => break,
        }
    }
    run.tally.performance(run.worked, run.wasted, run.failed)
}

struct Run<'a> {
    work: &'a Work,
    timeouts: Vec<u64>,
    /// For each lane, the next one; `None` after the last lane, where a timeout makes a job fail.
    after: Vec<Option<usize>>,
    suspends: bool,
    free: Vec<u64>,
    waiting: Dispatcher<usize>,
    departures: BinaryHeap<Reverse<Departure>>,
    progress: Vec<Progress>,
    counted: core::ops::Range<usize>,
    tally: Tally<'a>,
    now: u64,
    number: u32,
    worked: u64,
    wasted: u64,
    failed: u64,
}

impl<'a> Run<'a> {
    fn new(work: &'a Work, lanes: &LaneSet, bounds: &'a [u64]) -> Self {
        let micros = |lane: usize| {
            let timeout = lanes.timeout(lane).map(|timeout| timeout.nanos() / 1_000);
            timeout.and_then(|micros| u64::try_from(micros).ok()).unwrap_or(u64::MAX)
        };
        let counted = work.counted();
        Self {
            timeouts: (0..lanes.lanes().len()).map(micros).collect(),
            after: (0..lanes.lanes().len()).map(|lane| lanes.after(lane)).collect(),
            suspends: lanes.on_timeout == OnTimeout::Suspend,
            free: lanes.lanes().iter().map(|lane| lane.workers).collect(),
            waiting: Dispatcher::new(lanes),
            departures: BinaryHeap::new(),
            progress: work
                .jobs
                .iter()
                .map(|(_, size)| Progress { start: u64::MAX, left: *size })
                .collect(),
            tally: work.tally(bounds),
            counted,
            work,
            now: 0,
            number: 0,
            worked: 0,
            wasted: 0,
            failed: 0,
        }
    }

    /// Free workers take jobs, the slowest lane first.
    #[inline]
    fn fill(&mut self) {
        for lane in (0..self.free.len()).rev() {
            while self.free.get(lane).is_some_and(|free| *free > 0) {
                let Some(job) = self.waiting.take(lane) else { break };
                self.start(job, lane);
            }
        }
    }

    #[inline]
    fn start(&mut self, job: usize, lane: usize) {
        let Some(progress) = self.progress.get_mut(job) else { return };
        progress.start = progress.start.min(self.now);
        let timeout = self.timeouts.get(lane).copied().unwrap_or(u64::MAX);
        let is_timeout = progress.left > timeout;
        let time = progress.left.min(timeout);
        if self.suspends {
            progress.left -= time;
        } else if is_timeout {
            self.wasted = self.wasted.saturating_add(time);
        }
        self.worked = self.worked.saturating_add(time);
        self.free.get_mut(lane).into_iter().for_each(|free| *free -= 1);
        let number = self.number;
        self.number += 1;
        let at = self.now.saturating_add(time);
        // A stream has 100,000 jobs, and there are 16 lanes at most.
        let job = u32::try_from(job).unwrap_or(u32::MAX);
        let lane = u8::try_from(lane).unwrap_or(u8::MAX);
        self.departures.push(Reverse(Departure { at, number, job, lane, is_timeout }));
    }

    #[inline]
    fn depart(&mut self) {
        let Some(Reverse(departure)) = self.departures.pop() else { return };
        let Departure { at, is_timeout, .. } = departure;
        let (lane, job) = (usize::from(departure.lane), departure.job as usize);
        self.now = at;
        self.free.get_mut(lane).into_iter().for_each(|free| *free += 1);
        if is_timeout {
            match self.after.get(lane).copied().flatten() {
                Some(entry) => self.waiting.push(job, entry),
                None => self.failed += 1,
            }
        } else if self.counted.contains(&job)
            && let Some((arrival, run_time)) = self.work.jobs.get(job)
            && let Some(progress) = self.progress.get(job)
        {
            let kind = self.work.type_of(job);
            self.tally.add(*arrival, progress.start, at, *run_time, kind);
        }
        self.fill();
    }
}
