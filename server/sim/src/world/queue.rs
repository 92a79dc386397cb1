//! The waiting jobs: one queue, or lanes.

use std::collections::VecDeque;

use offbeat_core::lanes::{Dispatcher, LaneSet, OnTimeout};

use super::job::Job;

#[derive(Debug)]
pub(super) enum Queue {
    One(VecDeque<Job>),
    Lanes(Lanes),
}

#[derive(Debug)]
pub(super) struct Lanes {
    waiting: Dispatcher<Job>,
    set: LaneSet,
    free: Vec<u64>,
    timeouts: Vec<u64>,
    len: usize,
}

impl Queue {
    pub(super) fn new(lanes: Option<&LaneSet>) -> Self {
        let Some(set) = lanes else { return Self::One(VecDeque::new()) };
        let micros = |lane: usize| {
            let timeout = set.timeout(lane).map(|timeout| timeout.nanos() / 1_000);
            timeout.and_then(|micros| u64::try_from(micros).ok()).unwrap_or(u64::MAX)
        };
        Self::Lanes(Lanes {
            waiting: Dispatcher::new(set),
            free: set.lanes().iter().map(|lane| lane.workers).collect(),
            timeouts: (0..set.lanes().len()).map(micros).collect(),
            set: set.clone(),
            len: 0,
        })
    }

    /// The workers of all lanes, if there are lanes.
    pub(super) fn worker_count(&self) -> Option<u32> {
        match self {
            Self::One(_) => None,
            Self::Lanes(lanes) => u32::try_from(lanes.free.iter().sum::<u64>()).ok(),
        }
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        match self {
            Self::One(queue) => queue.len(),
            Self::Lanes(lanes) => lanes.len,
        }
    }

    /// Whether a job need not wait in it for a free worker: there is only one lane, and no job
    /// waits.
    #[inline]
    pub(super) fn is_passed_through(&self) -> bool {
        matches!(self, Self::One(queue) if queue.is_empty())
    }

    #[inline]
    pub(super) fn push(&mut self, job: Job) {
        match self {
            Self::One(queue) => queue.push_back(job),
            Self::Lanes(lanes) => {
                lanes.waiting.push(job, job.entry.into());
                lanes.len += 1;
            }
        }
    }

    /// Puts a job before all others. With lanes, it is pushed as usual: see `Limiters`.
    pub(super) fn push_first(&mut self, job: Job) {
        match self {
            Self::One(queue) => queue.push_front(job),
            Self::Lanes(_) => self.push(job),
        }
    }

    /// All waiting jobs.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = Job> + '_ {
        std::iter::from_fn(move || match self {
            Self::One(queue) => queue.pop_front(),
            Self::Lanes(lanes) => lanes.waiting.take(lanes.set.last()),
        })
    }

    /// The job that a free worker takes, and its lane. The slowest lane chooses first.
    #[inline]
    pub(super) fn take(&mut self) -> Option<(u8, Job)> {
        match self {
            Self::One(queue) => queue.pop_front().map(|job| (0, job)),
            Self::Lanes(lanes) => {
                for (lane, free) in lanes.free.iter_mut().enumerate().rev() {
                    if *free == 0 {
                        continue;
                    }
                    if let Some(job) = lanes.waiting.take(lane) {
                        *free -= 1;
                        lanes.len -= 1;
                        return Some((u8::try_from(lane).unwrap_or(u8::MAX), job));
                    }
                }
                None
            }
        }
    }

    /// Frees a worker of a lane.
    #[inline]
    pub(super) fn give_back(&mut self, lane: u8) {
        if let Self::Lanes(lanes) = self {
            lanes.free.get_mut(usize::from(lane)).into_iter().for_each(|free| *free += 1);
        }
    }

    #[inline]
    pub(super) fn timeout(&self, lane: u8) -> u64 {
        match self {
            Self::One(_) => u64::MAX,
            Self::Lanes(lanes) => {
                lanes.timeouts.get(usize::from(lane)).copied().unwrap_or(u64::MAX)
            }
        }
    }

    /// How long a job ran in the lanes that suspended it, in microseconds.
    pub(super) fn ran_in(&self, suspended: u16) -> u64 {
        match self {
            Self::Lanes(lanes) if suspended != 0 => {
                let those = lanes.timeouts.iter().enumerate();
                those.filter(|(lane, _)| suspended >> lane & 1 == 1).map(|(_, time)| time).sum()
            }
            _ => 0,
        }
    }

    pub(super) fn suspends(&self) -> bool {
        matches!(self, Self::Lanes(lanes) if lanes.set.on_timeout == OnTimeout::Suspend)
    }

    /// The lane after a timeout in this lane; `None` if the job fails then.
    pub(super) fn after(&self, lane: u8) -> Option<u8> {
        match self {
            Self::One(_) => None,
            Self::Lanes(lanes) => {
                lanes.set.after(lane.into()).and_then(|lane| lane.try_into().ok())
            }
        }
    }
}
