//! How the slots of a strategy are used.

use offbeat_core::Rejection;
use serde::Serialize;

use crate::scenario::{Kind, KindPlacement, Scenario, Strategy, StrategyKind};
use crate::world::{first_kind, offsets, shifts};

/// The slots of a strategy.
#[derive(Debug, Clone, Serialize)]
pub struct Slots {
    /// Number of users of each slot.
    pub loads: Vec<u32>,
    /// Where each kind of the users of slot 0 stands.
    pub kinds: Vec<KindSlot>,
}

/// The place of a kind in the cycle.
#[derive(Debug, Clone, Serialize)]
pub struct KindSlot {
    /// Name of the kind.
    pub name: String,
    /// Its slot. `None` for a kind that stands somewhere else for each user, and for one with a
    /// cycle or windows of its own.
    pub slot: Option<u32>,
    /// Whether it has a cycle or windows of its own.
    pub has_own_times: bool,
}

impl Slots {
    /// The slots of a strategy; `None` if it has none.
    pub(super) fn of(scenario: &Scenario, strategy: &Strategy) -> Result<Option<Self>, Rejection> {
        let StrategyKind::Slots(slots) = &strategy.kind else { return Ok(None) };
        let schedule = &first_kind(&slots.schedule)?;
        let (timing, count) = (&scenario.timing, u64::from(schedule.slot_count()));
        let slot_of =
            |active: u64| u32::try_from(active * count / timing.active()).unwrap_or_default();
        let mut loads = vec![0; usize::try_from(count).unwrap_or_default()];
        for offset in offsets(schedule, scenario.population)? {
            let load = loads.get_mut(slot_of(timing.active_before(offset)) as usize);
            load.into_iter().for_each(|load| *load += 1);
        }
        let shifts = shifts(scenario, strategy)?;
        let kind = |(place, (kind, shift)): (usize, (&Kind, u64))| {
            let is_apart = place > 0 && strategy.placement_of(kind) == KindPlacement::Independent;
            let has_own_times = kind.timing.is_some();
            let slot = (!is_apart && !has_own_times).then(|| slot_of(shift));
            KindSlot { name: kind.name.clone(), slot, has_own_times }
        };
        let kinds = scenario.kinds.iter().zip(shifts).enumerate().map(kind).collect();
        Ok(Some(Self { loads, kinds }))
    }
}
