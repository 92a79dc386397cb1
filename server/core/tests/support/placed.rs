//! Schedules of every placement, IDs for them, and their runs by walking.

use offbeat_core::{Id, Moment, Place, PlacementKind, Profile, Schedule, ScheduleSpec, Span};
use proptest::prelude::*;

use super::{id, millis};

pub fn schedules() -> impl Strategy<Value = Schedule> {
    let placement = prop::sample::select(vec![
        PlacementKind::Hash,
        PlacementKind::Fraction,
        PlacementKind::Twister,
    ]);
    let tick = prop::sample::select(vec![1u64, 250, 1_000]);
    (1u64..=200, 1u64..500, tick, -4_000_000i64..4_000_000, placement).prop_map(
        |(slots, slot_ticks, tick, anchor, placement)| {
            Schedule::try_new(&ScheduleSpec {
                resolution: Some(Span::from_millis(tick)),
                anchor_time: Some(Moment::try_new(anchor, 0).unwrap()),
                slot_count: Some(slots as i64),
                placement,
                profile: (placement == PlacementKind::Twister).then_some(Profile::Python),
                weight_quantum: Some(10),
                ..ScheduleSpec::every(Span::from_millis(slots * slot_ticks * tick))
            })
            .unwrap()
        },
    )
}

/// An ID made from a number; consecutive numbers give IDs that are far apart.
pub fn id_for(schedule: &Schedule, number: u64) -> Id<'static> {
    id(schedule, number.wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

/// The runs of a place before `until`, by a walk over its cycles that starts at `from`.
pub fn runs_by_walking(
    schedule: &Schedule,
    place: &Place,
    from: i64,
    until: i64,
) -> Vec<(i64, i64)> {
    let runs = schedule.runs_from(millis(from), 1).unwrap();
    runs.next_runs(place)
        .map(Result::unwrap)
        .map(|run| (run.cycle_index, run.unix_millis))
        .take_while(|(_, start)| *start < until)
        .collect()
}
