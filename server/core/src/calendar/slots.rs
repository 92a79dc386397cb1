//! Slots on the clock. A slot spans the time from its earliest regular run to behind its latest.

use core::ops::Range;

use super::map::CycleMap;
use super::plan::CyclePlan;
use crate::limits::LISTED_SLOTS;

/// One slot of one cycle, in ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SlotSpan {
    pub(crate) index: u32,
    pub(crate) cycle_index: i64,
    pub(crate) start: i64,
    pub(crate) end: i64,
}

impl SlotSpan {
    fn new(map: &CycleMap, slot_count: u32, slot: u64) -> Option<Self> {
        let length = map.active_ticks / u64::from(slot_count);
        if map.is_skipped {
            return None; // nothing of it runs
        }
        let (first, last) = map.instants_of(&(slot * length..(slot + 1) * length))?;
        let index = u32::try_from(slot).ok()?;
        Some(Self { index, cycle_index: map.index, start: first, end: last + 1 })
    }

    const fn holds(&self, instant: i64) -> bool {
        self.start <= instant && instant < self.end
    }
}

/// The slots that start in [`from`, `to`), in order; or about how many there are, if those are
/// more than are listed.
pub(crate) fn starting_in(
    plan: &CyclePlan,
    slot_count: u32,
    from: i64,
    to: i64,
) -> Result<Vec<SlotSpan>, i128> {
    if from >= to {
        return Ok(Vec::new());
    }
    let axis = &plan.axis;
    let cycles = axis.holding(axis.wall_at(from)) - 1..axis.holding(axis.wall_at(to)) + 2;
    // All cycles but two at either end lie in the window as a whole.
    let whole = i128::from(cycles.end - cycles.start - 4) * i128::from(slot_count);
    if !LISTED_SLOTS.allows(whole.max(0)) {
        return Err(whole);
    }
    let (mut found, mut edges, mut count) = (Vec::new(), 0, 0);
    for map in cycles.map(|index| plan.map(index)) {
        let length = map.active_ticks / u64::from(slot_count);
        let mut slots: Vec<Range<u64>> = Vec::new();
        for segment in &map.segments {
            let ticks = segment.offsets_in(from, to);
            if ticks.is_empty() {
                continue;
            }
            let next = slots.last().map_or(0, |last| last.end);
            let touched = (ticks.start / length).max(next)..(ticks.end - 1) / length + 1;
            edges += 1;
            count += i128::from(touched.end.saturating_sub(touched.start));
            slots.push(touched);
        }
        // At either end of a segment a slot may have started before the window.
        if !LISTED_SLOTS.allows((count - 2 * edges).max(0)) {
            return Err(count);
        }
        let all = slots.into_iter().flatten();
        found.extend(all.filter_map(|slot| SlotSpan::new(&map, slot_count, slot)));
    }
    found.retain(|slot| (from..to).contains(&slot.start));
    found.sort_unstable_by_key(|slot| (slot.start, slot.cycle_index, slot.index));
    let count = i128::try_from(found.len()).unwrap_or(i128::MAX);
    if LISTED_SLOTS.allows(count) { Ok(found) } else { Err(count) }
}

/// The first slots that start at or after an instant: as many as a cycle has, which are not
/// more than are listed.
pub(crate) fn starting_from(plan: &CyclePlan, slot_count: u32, from: i64) -> Vec<SlotSpan> {
    let cycle = plan.axis.at(from);
    let mut found: Vec<SlotSpan> = (cycle - 1..cycle + 4)
        .map(|index| plan.map(index))
        .flat_map(|map| {
            (0..slot_count).filter_map(move |slot| SlotSpan::new(&map, slot_count, slot.into()))
        })
        .filter(|slot| slot.start >= from)
        .collect();
    found.sort_unstable_by_key(|slot| (slot.start, slot.cycle_index, slot.index));
    found.truncate(usize::try_from(slot_count).unwrap_or(usize::MAX));
    found
}

/// The slot that runs at an instant; none outside of the active windows, but where the runs of a
/// time come that the clock skips. While the clock shows an hour for the second time, only a slot
/// runs that goes on after it.
pub(crate) fn running_at(plan: &CyclePlan, slot_count: u32, instant: i64) -> Option<SlotSpan> {
    let axis = &plan.axis;
    let wall = axis.wall_at(instant);
    let index = axis.holding(wall);
    let offset = (wall - axis.start(index)).unsigned_abs();
    let is_active =
        plan.windows.is_empty() || plan.windows.iter().any(|window| window.contains(&offset));
    let slot_of = |map: &CycleMap, tick: u64| {
        let length = map.active_ticks / u64::from(slot_count);
        SlotSpan::new(map, slot_count, tick / length).filter(|slot| slot.holds(instant))
    };
    let map = plan.map(index);
    let shown = map
        .segments
        .iter()
        .find(|segment| (segment.wall..segment.wall + segment.ticks).contains(&offset));
    let shown = shown.and_then(|segment| slot_of(&map, segment.offset + (offset - segment.wall)));
    shown.or_else(|| {
        let maps: Vec<CycleMap> = (index - 1..=index + 1).map(|index| plan.map(index)).collect();
        let segments =
            maps.iter().flat_map(|map| map.segments.iter().map(move |segment| (map, segment)));
        let (map, segment) = segments
            .filter(|(_, segment)| segment.instant <= instant)
            .filter(|(_, segment)| is_active || instant < segment.end())
            .max_by_key(|(_, segment)| segment.end())?;
        slot_of(
            map,
            segment.offset + (instant - segment.instant).unsigned_abs().min(segment.ticks - 1),
        )
    })
}
