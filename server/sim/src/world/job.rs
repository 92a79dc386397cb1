//! Jobs, and when they come.

use core::cmp::Ordering;

use super::ascending::Ascending;
use super::clock::NEVER;
use crate::distribution::Draw;
use crate::generator::Generator;
use crate::scenario::Scenario;

/// A job that waits or runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Job {
    pub(super) enqueued: u64,
    /// When its first attempt began; `u64::MAX` before that.
    pub(super) first_start: u64,
    /// How long it would run; for a suspended job, the rest.
    pub(super) left: u64,
    pub(super) user: u32,
    /// The place of its kind, or [`CHILD`].
    pub(super) kind: u8,
    /// The fastest lane that may take it.
    pub(super) entry: u8,
    /// The lanes that suspended it, one bit each: it ran in each until the lane's timeout.
    pub(super) suspended: u16,
    /// Attempts that failed because the partner was down.
    pub(super) failures: u8,
    /// Whether the limiter of the partner has given its next call a time.
    pub(super) is_paced: bool,
    /// Whether it counts among the attempts that call the partner at the same time.
    pub(super) has_permit: bool,
}

/// The kind of jobs that jobs enqueue.
pub(super) const CHILD: u8 = u8::MAX;

/// Makes jobs, and draws their run times.
#[derive(Debug)]
pub(super) struct NewJobs {
    draws: Vec<Draw>,
    child_draw: Option<Draw>,
    /// Run times are rounded up to multiples of it.
    tick: Option<u64>,
}

impl NewJobs {
    pub(super) fn new(scenario: &Scenario) -> Self {
        Self {
            draws: scenario.kinds.iter().map(|kind| Draw::new(&kind.run_time)).collect(),
            child_draw: scenario.children.as_ref().map(|child| Draw::new(&child.run_time)),
            tick: scenario.tick,
        }
    }

    pub(super) fn make(&self, generator: &mut Generator, at: u64, user: u32, kind: u8) -> Job {
        let share = generator.uniform();
        let draw = if kind == CHILD {
            self.child_draw.as_ref()
        } else {
            self.draws.get(usize::from(kind))
        };
        let left = draw.map_or(0, |draw| draw.at(share));
        let left = self.tick.map_or(left, |tick| left.div_ceil(tick) * tick);
        Job {
            enqueued: at,
            first_start: NEVER,
            left,
            user,
            kind,
            entry: 0,
            suspended: 0,
            failures: 0,
            is_paced: false,
            has_permit: false,
        }
    }
}

/// Jobs that come back, and those that are not due yet.
#[derive(Debug)]
pub(super) struct DelayedJobs {
    jobs: Ascending<Timed<Job>>,
    number: u64,
}

impl DelayedJobs {
    pub(super) const fn new() -> Self {
        Self { jobs: Ascending::new(), number: 0 }
    }

    pub(super) fn push(&mut self, job: Job, at: u64) {
        let number = self.number;
        self.number += 1;
        self.jobs.push(Timed { at, number, what: job });
    }

    /// When the next one comes; `u64::MAX` if there is none.
    #[inline]
    pub(super) fn next_time(&self) -> u64 {
        self.jobs.first().map_or(NEVER, |next| next.at)
    }

    #[inline]
    pub(super) fn pop(&mut self) -> Option<Job> {
        self.jobs.pop().map(|next| next.what)
    }

    pub(super) fn drain(&mut self) -> impl Iterator<Item = Job> + '_ {
        self.jobs.drain().map(|delayed| delayed.what)
    }
}

/// An event at a time; of two at the same time, the one that was planned first comes first.
#[derive(Debug, Clone, Copy)]
pub(super) struct Timed<T> {
    pub(super) at: u64,
    pub(super) number: u64,
    pub(super) what: T,
}

impl<T> PartialEq for Timed<T> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<T> Eq for Timed<T> {}

impl<T> PartialOrd for Timed<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> Ord for Timed<T> {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        (self.at, self.number).cmp(&(other.at, other.number))
    }
}
