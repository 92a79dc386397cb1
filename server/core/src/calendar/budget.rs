//! What may be worked out for an answer.

use core::cell::Cell;
use core::ops::Range;

use super::cycles::Plan;
use super::timeline::Timeline;
use crate::limits::WORKED_OUT;
use crate::rejection::{Reason, Rejection};

/// What was worked out for a question so far. Once it is too much nothing more is, and no run is
/// found: whoever asks has to look, and to refuse.
#[derive(Debug, Clone, Default)]
pub(crate) struct WorkedOut(Cell<u64>);

impl WorkedOut {
    /// Whether there may be more.
    fn may_grow(&self) -> bool {
        WORKED_OUT.allows(self.0.get().into())
    }

    /// Works out some cycles, unless it would be too much.
    pub(crate) fn timeline(&self, plan: &Plan, cycles: Range<i64>) -> Option<Timeline> {
        let timeline = self.may_grow().then(|| Timeline::new(plan, cycles))?;
        if !plan.exclusions.is_empty() {
            let work = u64::try_from(timeline.work()).unwrap_or(u64::MAX);
            self.0.set(self.0.get().saturating_add(work));
        }
        self.may_grow().then_some(timeline)
    }

    /// Another question begins.
    pub(crate) fn begin(&self) {
        self.0.set(0);
    }

    /// Refuses what took too much; naming `schedule`.
    pub(crate) fn check(&self) -> Result<(), Rejection> {
        if self.may_grow() {
            return Ok(());
        }
        let value = "what it excludes";
        let allowed = format!(
            "must need {WORKED_OUT} worked out for an answer: ask for fewer IDs, pieces or runs at \
             once, or take fewer recurring exclusions"
        );
        Err(Rejection::new(Reason::OutOfRange, "schedule", value, allowed))
    }
}
