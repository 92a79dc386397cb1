//! Restarts of the store of a spread, which may lose its last moments.

use super::NamedSpread;
use super::queue::{Queue, Waiting};
use crate::rejection::Rejection;
use crate::spread::Spread;
use crate::spread::lease::Leases;

impl NamedSpread {
    /// Another life of the spread, whose time begins at 0. The groups stay, with what is known to
    /// be settled of them, and so do dead letters and the memory of settled groups.
    ///
    /// Any job may be leased by a consumer: its lease may be what was lost. So all of them wait
    /// for the length of the longest lease that they may be under, and are marked as redelivered; then they are leased with
    /// attempts from 1, in the order in which their groups were committed. Settlements by the
    /// leases of the earlier life are stale.
    ///
    /// # Errors
    /// Not with the spec of a spread that was opened.
    pub fn restart(mut self, epoch: u64) -> Result<Self, Rejection> {
        self.leases = Leases::try_new(epoch, &self.spec.leases())?;
        self.order = Spread::try_new(&self.spec.order)?;
        self.queue = Queue::default();
        for (number, group) in &mut self.groups {
            (group.since, group.redelivered) = (0, true);
            let waiting = Waiting {
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
