//! Offsets of users in the cycle, as the service computes them.

use offbeat_core::reciprocal::{Reciprocals, Spacing};
use offbeat_core::schedule::Kinds;
use offbeat_core::spread::{Groups, Spread, SpreadSpec, Turn};
use offbeat_core::{Id, Moment, Reason, Rejection, Schedule, ScheduleSpec, Span};

use crate::scenario::{
    Kind, KindPlacement, Scenario, SlotSchedule, Strategy, StrategyKind, Timing,
};

/// The offset of each user in the cycle, in microseconds, as the service computes it.
pub(crate) fn offsets(schedule: &Schedule, population: u32) -> Result<Vec<u64>, Rejection> {
    let tick = u64::try_from(schedule.resolution().nanos() / 1_000).unwrap_or_default();
    let mut offsets = Vec::with_capacity(population as usize);
    let mut refused = None;
    schedule.place_all(
        (0..population).map(|user| Ok(Id::Integer(i64::from(user).into()))),
        |placed| match placed {
            Ok(place) => offsets.push(place.cycle_offset * tick),
            Err(rejection) => refused = Some(rejection),
        },
    );
    refused.map_or(Ok(offsets), Err)
}

/// The schedule of the first kind.
pub(crate) fn first_kind(schedule: &Schedule) -> Result<Schedule, Rejection> {
    let kinds = schedule.kinds().map(Kinds::as_slice);
    let first = kinds.and_then(|kinds| kinds.first()).map(|kind| kind.name.clone());
    schedule.of_kind(first.as_deref())
}

/// The schedule in requests for each kind: the schedule that declares the kind, or one for the kind
/// alone, shifted as the caller places it.
pub(in crate::world) fn kind_schedules(
    scenario: &Scenario,
    strategy: &Strategy,
    slots: &SlotSchedule,
) -> Result<Vec<Schedule>, Rejection> {
    let shifts = shifts(scenario, strategy)?;
    let own = |(place, (kind, shift)): (usize, (&Kind, u64))| {
        if let Some(timing) = &kind.timing {
            return hashed(timing, &kind.name);
        }
        if slots.schedule.kinds().is_some() {
            return slots.schedule.of_kind(Some(&place.to_string()));
        }
        if place > 0 && strategy.placement_of(kind) == KindPlacement::Independent {
            return hashed(&scenario.timing, &kind.name);
        }
        if shift > 0 && scenario.timing.is_narrowed() {
            let allowed = "must not be set with active windows and a kind that is reciprocal without \
                           being declared: no schedule says where its late runs go";
            return Err(Rejection::new(Reason::Contradictory, "producer", "a value", allowed));
        }
        let mut spec = slots.spec.clone();
        spec.anchor_time = Moment::from_unix_millis((shift / 1_000).cast_signed());
        Schedule::try_new(&spec)
    };
    scenario.kinds.iter().zip(shifts).enumerate().map(own).collect()
}

/// A schedule of the same timing with another salt.
pub(super) fn hashed(timing: &Timing, salt: &str) -> Result<Schedule, Rejection> {
    let mut spec = ScheduleSpec::every(Span::from_millis(timing.cycle / 1_000));
    spec.active_windows = timing.active_windows();
    spec.resolution = Some(Span::from_millis(1));
    spec.slot_count = Some(1);
    spec.salt = salt.to_owned();
    Schedule::try_new(&spec)
}

/// How far each kind stands after the first, in microseconds of active time; 0 for kinds with
/// places of their own.
pub(crate) fn shifts(scenario: &Scenario, strategy: &Strategy) -> Result<Vec<u64>, Rejection> {
    let shared: Vec<usize> = scenario.shared_kinds().collect();
    let (kinds, active) = (shared.len() as u64, scenario.timing.active());
    let reciprocal: Vec<u64> = match &strategy.kind {
        StrategyKind::Slots(slots) if u64::from(slots.schedule.slot_count()) >= kinds => {
            let count = slots.schedule.slot_count();
            let placed = Reciprocals::try_new(count.into(), kinds.cast_signed(), Spacing::Even)?;
            let slot = active / u64::from(count);
            placed.seen_from(0)?.iter().map(|kind| u64::from(kind.offset) * slot).collect()
        }
        _ => (0..kinds).map(|rank| active / kinds.max(1) * rank).collect(),
    };
    let mut shifts = vec![0; scenario.kinds.len()];
    for (place, shift) in shared.into_iter().zip(reciprocal) {
        let kind = scenario.kinds.get(place);
        let is_opposite =
            kind.is_some_and(|kind| strategy.placement_of(kind) == KindPlacement::Reciprocal);
        if let Some(own) = shifts.get_mut(place).filter(|_| is_opposite) {
            *own = shift;
        }
    }
    Ok(shifts)
}

/// All users at the beginning of the cycle, in the order of a spread over the groups, one
/// microsecond apart.
pub(super) fn spread(scenario: &Scenario, feeders: u32) -> Result<Vec<u64>, Rejection> {
    let size = scenario.lock.map_or(1, |lock| lock.group_size.max(1));
    let population = scenario.population;
    let starts = (0..population).step_by(size as usize);
    let mut groups = Groups::new(starts.map(|start| start..(start + size).min(population)));
    let mut spread = Spread::try_new(&SpreadSpec::round_robin(feeders.into()))?;
    let mut offsets = vec![0; population as usize];
    while let Turn::Job(dealt) = spread.next(&mut groups) {
        let place = usize::try_from(dealt.job).unwrap_or_default();
        offsets.get_mut(place).into_iter().for_each(|offset| *offset = dealt.sequence);
    }
    Ok(offsets)
}
