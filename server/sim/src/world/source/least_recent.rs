//! Users by the time of their last run.

use super::super::ascending::Ascending;
use crate::scenario::Timing;

/// At intervals, a batch of the users whose last run is longest ago.
#[derive(Debug)]
pub(in crate::world) struct LeastRecent {
    idle: Ascending<(u64, u32)>,
    /// All kinds of a user are enqueued together; the first says when the user is idle again.
    pub(in crate::world) kinds: Vec<u8>,
    pub(super) interval: u64,
    pub(super) batch: u32,
    pub(in crate::world) spread: u64,
    timing: Timing,
    /// When the next batch comes.
    pub(in crate::world) next: u64,
}

impl LeastRecent {
    /// All users are idle at first.
    pub(super) fn new(users: u32, timing: Timing, kinds: Vec<u8>) -> Self {
        let idle = (0..users).map(|user| (0, user)).collect();
        let next = timing.active_from(0);
        Self { idle, kinds, interval: timing.cycle, batch: 0, spread: 0, timing, next }
    }

    /// Takes the due users whose last run is longest ago.
    pub(in crate::world) fn take(&mut self, now: u64) -> Vec<u32> {
        let mut taken = Vec::new();
        while taken.len() < self.batch as usize {
            match self.idle.first() {
                Some((last, _)) if *last == 0 || last + self.timing.cycle <= now => {}
                _ => break,
            }
            taken.extend(self.idle.pop().map(|(_, user)| user));
        }
        taken
    }

    /// Plans the next batch an interval later, in active time.
    pub(in crate::world) fn plan_next(&mut self, up_from: impl Fn(u64) -> u64) {
        self.next = self.next.saturating_add(self.interval);
        self.put_off(up_from);
    }

    /// Delays the next batch until the producer is up, in active time.
    pub(in crate::world) fn put_off(&mut self, up_from: impl Fn(u64) -> u64) {
        loop {
            let next = up_from(self.timing.active_from(self.next));
            if next == self.next {
                return;
            }
            self.next = next;
        }
    }

    /// A user's run has ended. If it failed, `last` is when an earlier one was done.
    pub(super) fn ended(&mut self, user: u32, kind: u8, last: u64) {
        if self.kinds.first() == Some(&kind) {
            self.idle.push((last, user));
        }
    }
}
