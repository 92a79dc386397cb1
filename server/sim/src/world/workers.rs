//! Workers: how many there are, how many are busy, and when that changes.

use super::clock::NEVER;
use crate::scenario::{Autoscaler, Dequeue, Scenario};

#[derive(Debug)]
pub(super) struct Workers {
    count: u32,
    busy: u32,
    /// Counts that are still to come, each with the time from which it holds.
    changes: std::vec::IntoIter<(u64, u32)>,
    next_change: u64,
    autoscaler: Option<Autoscaler>,
    /// When the autoscaler next reads the depth of the queue.
    next_scaling: u64,
    dequeue: Option<Dequeue>,
    /// Until when a worker takes a job, if others must wait for that.
    turn: u64,
}

impl Workers {
    /// The workers of a scenario; or a constant number, if it has lanes.
    pub(super) fn new(scenario: &Scenario, of_lanes: Option<u32>) -> Self {
        let changes = of_lanes.map_or_else(|| scenario.workers.clone(), |count| vec![(0, count)]);
        let mut workers = Self {
            count: 0,
            busy: 0,
            changes: changes.into_iter(),
            next_change: 0,
            autoscaler: scenario.autoscaler,
            next_scaling: scenario.autoscaler.map_or(NEVER, |scaler| scaler.interval),
            dequeue: scenario.dequeue,
            turn: NEVER,
        };
        workers.change();
        workers
    }

    pub(super) const fn count(&self) -> u32 {
        self.count
    }

    pub(super) const fn busy(&self) -> u32 {
        self.busy
    }

    /// Whether a worker may take a job now.
    #[inline]
    pub(super) const fn may_take(&self) -> bool {
        self.busy < self.count && self.turn == NEVER
    }

    /// When their number changes next, or the next of them may take a job.
    #[inline]
    pub(super) fn next_time(&self) -> u64 {
        self.next_change.min(self.next_scaling).min(self.turn)
    }

    /// One worker takes a job from a queue of this depth. Returns how long that takes, in
    /// microseconds; others may have to wait for it.
    #[inline]
    pub(super) fn take(&mut self, now: u64, depth: u64) -> u64 {
        self.busy += 1;
        let Some(cost) = self.dequeue else { return 0 };
        let busy = if cost.contention { u64::from(self.busy) } else { 1 };
        let waiting = (cost.nanos_per_waiting.saturating_mul(depth) / 1_000).saturating_mul(busy);
        let mut time = cost.base.saturating_add(waiting);
        if cost.exclusive {
            let rivals = depth.min(self.count.saturating_sub(self.busy).into());
            time = time.saturating_add(cost.nanos_per_rival.saturating_mul(rivals) / 1_000);
            self.turn = if time > 0 { now.saturating_add(time) } else { NEVER };
        }
        time
    }

    /// One worker has ended an attempt.
    #[inline]
    pub(super) const fn release(&mut self) {
        self.busy -= 1;
    }

    /// Handles what happens at this time; `depth` is that of the queue.
    pub(super) fn pass(&mut self, now: u64, depth: usize) {
        if self.turn == now {
            self.turn = NEVER;
        }
        if self.next_change == now {
            self.change();
        }
        if self.next_scaling == now
            && let Some(scaler) = self.autoscaler
        {
            self.next_scaling = now + scaler.interval;
            if depth > scaler.up_at as usize {
                self.count = (self.count + scaler.step).min(scaler.maximum);
            } else if depth < scaler.down_at as usize {
                self.count = self.count.saturating_sub(scaler.step).max(scaler.minimum);
            }
        }
    }

    fn change(&mut self) {
        if let Some((_, count)) = self.changes.next() {
            self.count = count;
        }
        self.next_change = self.changes.as_slice().first().map_or(NEVER, |(at, _)| *at);
    }
}
