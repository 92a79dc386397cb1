//! Lanes by formula: each is a queue of its own, for only those jobs that reach it.

use offbeat_core::lanes::OnTimeout;

use crate::distribution::{Distribution, Moments};
use crate::formulas::mgc_wait;

/// A lane to estimate: its workers, and how many of the run times end within its timeout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stage {
    /// Number of workers.
    pub workers: u32,
    /// How many of the ascending run times end in this lane or an earlier one; in the last lane,
    /// all of them.
    pub until: usize,
    /// Its timeout in microseconds.
    pub timeout: u64,
}

/// Estimates with TAGS: every lane takes only the jobs that were demoted to it. Real slow lanes
/// also help with new jobs when they are idle, so they do better; the simulation shows by how much.
#[derive(Debug)]
pub struct Tags<'a> {
    run_times: &'a Distribution,
    /// ∫1/max(x, floor) over the first run times, in 1/s.
    inverse: Vec<f64>,
    rate: f64,
    on_timeout: OnTimeout,
}

impl<'a> Tags<'a> {
    /// Estimates for jobs with these run times, which arrive at `rate` per second. `floor` is that
    /// of the slowdown, in microseconds.
    #[must_use]
    pub fn new(run_times: &'a Distribution, rate: f64, floor: u64, on_timeout: OnTimeout) -> Self {
        let mut inverse = vec![0.0];
        let mut sum = 0.0;
        let shares = run_times.cumulative().windows(2);
        for (micros, pair) in run_times.micros().iter().zip(shares) {
            let share = pair.last().copied().unwrap_or_default()
                - pair.first().copied().unwrap_or_default();
            sum += share / seconds((*micros).max(floor));
            inverse.push(sum);
        }
        Self { run_times, inverse, rate, on_timeout }
    }

    /// The mean slowdown, 1 + wait / max(run time, floor); infinite where a lane does not keep up.
    #[must_use]
    pub fn slowdown(&self, lanes: &[Stage]) -> f64 {
        let end = self.run_times.micros().len();
        let (mut slowdown, mut from, mut before) = (1.0, 0, 0.0);
        for (place, lane) in lanes.iter().enumerate() {
            let timeout = (place + 1 < lanes.len()).then_some(lane);
            let Moments { share, first, second } = self.attempts(from, before, timeout);
            if share <= 0.0 {
                break;
            }
            let (mean, square) = (first / share, second / share);
            let mut lost = mgc_wait(lane.workers, self.rate * share, mean, square);
            if let (Some(lane), OnTimeout::Abort) = (timeout, self.on_timeout) {
                // Only jobs that reach the timeout lose the attempt.
                slowdown += seconds(lane.timeout) * self.inverse_from(lane.until);
            }
            if !lost.is_finite() {
                lost = f64::INFINITY;
            }
            slowdown += lost * self.inverse_from(from);
            if let Some(lane) = timeout {
                (from, before) = (lane.until.min(end), seconds(lane.timeout));
            }
        }
        slowdown
    }

    /// The load of a lane's workers: for each job from one place on, the part of its run time up to
    /// the timeout; after a suspension, the rest of it.
    fn attempts(&self, from: usize, before: f64, timeout: Option<&Stage>) -> Moments {
        let end = self.run_times.micros().len();
        let until = timeout.map_or(end, |lane| lane.until.clamp(from, end));
        let done = match self.on_timeout {
            OnTimeout::Abort => 0.0,
            OnTimeout::Suspend => before,
        };
        let ending = self.run_times.moments(from, until);
        let rest = self.run_times.moments(until, end).share;
        let whole = timeout.map_or(0.0, |lane| (seconds(lane.timeout) - done).max(0.0));
        Moments {
            share: ending.share + rest,
            first: ending.first - done * ending.share + whole * rest,
            second: ending.second - 2.0 * done * ending.first
                + done * done * ending.share
                + whole * whole * rest,
        }
    }

    /// ∫1/max(x, floor) of the run times from a place on, in 1/s.
    fn inverse_from(&self, from: usize) -> f64 {
        let all = self.inverse.last().copied().unwrap_or_default();
        all - self.inverse.get(from).copied().unwrap_or(all)
    }

    /// Whether real lanes keep up: the slow lanes must have time for the demoted jobs, and for the
    /// new jobs that the express lane has no room for.
    #[must_use]
    pub fn keeps_up(&self, lanes: &[Stage]) -> bool {
        let Some((express, slow)) = lanes.split_first() else { return false };
        let all = self.run_times.all();
        let attempts = self.attempts(0, 0.0, Some(express)).first;
        let room = f64::from(express.workers) / (self.rate * attempts);
        let overflow = (1.0 - room).max(0.0);
        let (mut from, mut before) = (express.until, seconds(express.timeout));
        let mut demoted = 0.0;
        let mut fits = true;
        for (place, lane) in slow.iter().enumerate() {
            let timeout = (place + 1 < slow.len()).then_some(lane);
            let work = self.rate * self.attempts(from, before, timeout).first;
            let behind: u32 = slow.iter().skip(place).map(|lane| lane.workers).sum();
            fits &= (1.0 - overflow) * work < f64::from(behind);
            demoted += work;
            (from, before) = (lane.until, seconds(lane.timeout));
        }
        let workers: u32 = slow.iter().map(|lane| lane.workers).sum();
        let work = overflow * self.rate * all.first + (1.0 - overflow) * demoted;
        fits && work < f64::from(workers)
    }
}

fn seconds(micros: u64) -> f64 {
    crate::distribution::real(micros) / 1e6
}
