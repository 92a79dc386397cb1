//! Restarts of the store of a spread, which may have lost its last changes.

use super::NamedSpread;
use super::queue::{Queue, QueuedGroup};
use crate::rejection::Rejection;
use crate::spread::Spread;
use crate::spread::lease::Leases;

impl NamedSpread {
    /// Begins another life of the spread, whose time begins at 0. The groups stay, with the jobs
    /// that are known to be settled. So do the dead letters and the memory of settled groups.
    ///
    /// A consumer may hold any job, by a lease that was lost. So each group waits for as long as
    /// the longest lease that its jobs may be under, and its jobs are marked as redelivered. Then
    /// they are leased with attempts from 1: first the groups with the shorter wait, and those with
    /// the same wait in the order in which they were committed. Settlements by the leases of the
    /// earlier life are stale.
    ///
    /// # Errors
    /// None for a spread that was opened, because its spec was checked.
    pub fn restart(mut self, epoch: u64) -> Result<Self, Rejection> {
        self.leases = Leases::try_new(epoch, &self.spec.leases())?;
        self.order = Spread::try_new(&self.spec.order)?;
        self.queue = Queue::default();
        for (number, group) in &mut self.groups {
            (group.since, group.redelivered) = (0, true);
            let waiting = QueuedGroup {
                number: *number,
                job_count: group.content.job_count(),
                settled: group.settled.ranges().collect(),
                next: 0,
            };
            self.queue.add(waiting, group.longest_lease, 0);
        }
        if self.state != super::SpreadState::Open {
            self.queue.close();
        }
        self.intake.restart();
        (self.epoch, self.settled_jobs) = (epoch, 0);
        Ok(self)
    }
}
