//! Bounds the work for an answer.

use core::cell::Cell;
use core::fmt;
use core::ops::Range;

use super::plan::CyclePlan;
use super::timeline::Timeline;
use crate::limits::WORKED_OUT;
use crate::rejection::{Reason, Rejection};

/// Too much would have to be worked out for an answer: more cycles and excluded spans than
/// [`WORKED_OUT`] allows. Whether there is a run is then not known, which is not the same as that
/// there is none.
///
/// As a [`Rejection`] it names `schedule`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkBudgetExhausted;

impl WorkBudgetExhausted {
    fn allowed() -> String {
        format!(
            "must need {WORKED_OUT} worked out for an answer: ask for fewer IDs, pieces or runs at \
             once, or take fewer recurring exclusions"
        )
    }
}

impl fmt::Display for WorkBudgetExhausted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&Self::allowed())
    }
}

impl core::error::Error for WorkBudgetExhausted {}

impl From<WorkBudgetExhausted> for Rejection {
    fn from(_: WorkBudgetExhausted) -> Self {
        Self::new(
            Reason::OutOfRange,
            "schedule",
            "what it excludes",
            WorkBudgetExhausted::allowed(),
        )
    }
}

/// Work done for an answer so far, in cycles and excluded spans.
#[derive(Debug, Clone, Default)]
pub(crate) struct Budget(Cell<u64>);

impl Budget {
    /// Works out some cycles.
    pub(crate) fn timeline(
        &self,
        plan: &CyclePlan,
        cycles: Range<i64>,
    ) -> Result<Timeline, WorkBudgetExhausted> {
        self.check()?;
        let timeline = Timeline::new(plan, cycles);
        self.spend(u64::try_from(timeline.work()).unwrap_or(u64::MAX));
        self.check()?;
        Ok(timeline)
    }

    /// Resets the work, for the next answer.
    pub(crate) fn renew(&self) {
        self.0.set(0);
    }

    pub(crate) fn spend(&self, work: u64) {
        self.0.set(self.0.get().saturating_add(work));
    }

    /// Whether something is left.
    pub(crate) fn check(&self) -> Result<(), WorkBudgetExhausted> {
        if WORKED_OUT.allows(self.0.get().into()) { Ok(()) } else { Err(WorkBudgetExhausted) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calendar::{Axis, CalendarUnit, Zone};
    use crate::placement::PlacementKind;

    #[test]
    fn cycles_without_exclusions_are_charged_too() {
        let zone = Zone::named("Europe/Berlin").unwrap();
        let axis = Axis::Calendar { unit: CalendarUnit::Day, zone, rate: 1 };
        let (windows, exclusions) = (Vec::new(), Vec::new());
        let plan = CyclePlan { axis, windows, exclusions, placement: PlacementKind::Hash };
        let budget = Budget::default();
        budget.spend(WORKED_OUT.maximum.unsigned_abs() - 100);
        assert!(budget.timeline(&plan, 0..16).is_ok());
        assert_eq!(budget.timeline(&plan, 0..48).map(|_| ()), Err(WorkBudgetExhausted));
        budget.renew();
        assert!(budget.timeline(&plan, 0..48).is_ok());
    }
}
