//! Locks that the jobs of one user, or of one group of users, take.

use super::job::{CHILD, Job};
use crate::scenario::{Lock, Scenario};

#[derive(Debug)]
pub(super) struct Locks {
    lock: Option<Lock>,
    /// By group of users.
    held: Vec<bool>,
}

impl Locks {
    pub(super) fn new(scenario: &Scenario) -> Self {
        let count = |lock: Lock| scenario.population as usize / group_size(lock) as usize + 1;
        let held = scenario.lock.map_or_else(Vec::new, |lock| vec![false; count(lock)]);
        Self { lock: scenario.lock, held }
    }

    /// Takes the lock of a job, if it has one. If the lock is held, the error is the time after
    /// which the job tries again.
    #[inline]
    pub(super) fn take(&mut self, job: &Job) -> Result<(), u64> {
        let Some(lock) = self.lock else { return Ok(()) };
        match self.of(job, lock) {
            Some(true) => Err(lock.retry_after),
            Some(held) => {
                *held = true;
                Ok(())
            }
            None => Ok(()),
        }
    }

    #[inline]
    pub(super) fn release(&mut self, job: &Job) {
        if let Some(lock) = self.lock
            && let Some(held) = self.of(job, lock)
        {
            *held = false;
        }
    }

    #[inline]
    fn of(&mut self, job: &Job, lock: Lock) -> Option<&mut bool> {
        if job.kind == CHILD {
            return None;
        }
        self.held.get_mut((job.user / group_size(lock)) as usize)
    }
}

#[inline]
const fn group_size(lock: Lock) -> u32 {
    if lock.group_size == 0 { 1 } else { lock.group_size }
}
