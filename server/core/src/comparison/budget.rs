//! The time between two kinds that a job may wait and run.

use crate::rejection::{Reason, Rejection};
use crate::schedule::Schedule;
use crate::time::Span;

/// The time that passes before a due job is in the queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Delays(Span);

impl Delays {
    /// No delay.
    pub const NONE: Self = Self(Span::from_nanos(0));

    /// How long a due job may wait until it is enqueued, and how long the job that enqueues a
    /// slot may itself wait and run.
    ///
    /// # Errors
    /// When one is negative or longer than a period, naming `polling_delay` or `slot_job_delay`.
    pub fn try_new(schedule: &Schedule, polling: Span, slot_job: Span) -> Result<Self, Rejection> {
        let none = Span::from_nanos(0);
        for (field, delay) in [("polling_delay", polling), ("slot_job_delay", slot_job)] {
            if delay < none || delay > schedule.period() {
                let allowed = format!("must be 0s to {}, one period", schedule.period());
                return Err(Rejection::new(Reason::OutOfRange, field, delay, allowed));
            }
        }
        Ok(Self(polling.plus(slot_job)))
    }

    /// The run budget of a gap of so many slots: what the delays leave of its shortest time (see
    /// [`Schedule::shortest_gap`]), never below 0.
    #[must_use]
    pub fn leave_of(self, schedule: &Schedule, slots: u32) -> Span {
        schedule.shortest_gap(slots).0.minus(self.0).max(Span::from_nanos(0))
    }
}
