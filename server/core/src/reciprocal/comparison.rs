//! Whether the slots of two schedules are slots of one another.

use crate::placement::Placement;
use crate::rejection::{Reason, Rejection};
use crate::schedule::Schedule;

/// Refuses a schedule of which a slot is no fixed span of time, or an ID no single place.
///
/// # Errors
/// When it has a calendar, active windows, exclusions or weights, naming the field.
pub fn check_suitable(schedule: &Schedule) -> Result<(), Rejection> {
    if let Some(field) = schedule.irregular_field() {
        let allowed = "must not be set: a slot is then no fixed span of time, and opposite slots are \
                       not a fixed span apart";
        return Err(Rejection::new(Reason::Contradictory, field, "what it holds", allowed));
    }
    let Some(quantum) = schedule.weight_quantum() else { return Ok(()) };
    let allowed = "must not be set: the pieces of a weighted ID run in several slots, and would \
                   meet other kinds";
    Err(Rejection::new(Reason::Contradictory, "weight_quantum", quantum, allowed))
}

/// Refuses a kind's schedule whose slots are not those of `schedule`, or which places an ID
/// elsewhere in them: what it must share is the period, the resolution, the slot count, the
/// placement with all that belongs to it, and the anchor up to whole slots.
///
/// # Errors
/// Naming the first field that differs, with both values.
pub fn check_comparable(schedule: &Schedule, kind: &Schedule) -> Result<(), Rejection> {
    check_suitable(kind)?;
    let same = |field: &str, ours: String, theirs: String| {
        if ours == theirs {
            return Ok(());
        }
        let allowed =
            format!("must be {ours}, as in schedule: a slot of one is no slot of another");
        Err(Rejection::new(Reason::Contradictory, field, theirs, allowed))
    };
    same("period", schedule.period().to_string(), kind.period().to_string())?;
    same("resolution", schedule.resolution().to_string(), kind.resolution().to_string())?;
    same("slot_count", schedule.slot_count().to_string(), kind.slot_count().to_string())?;
    let (ours, theirs) = (schedule.placement(), kind.placement());
    same("placement", ours.kind().name().to_owned(), theirs.kind().name().to_owned())?;
    match (ours, theirs) {
        (Placement::Hash { salt: ours }, Placement::Hash { salt: theirs }) => {
            same("salt", format!("{ours:?}"), format!("{theirs:?}"))?;
        }
        (
            Placement::Twister { bucket_count, profile },
            Placement::Twister { bucket_count: buckets, profile: drawn },
        ) => {
            same("bucket_count", bucket_count.to_string(), buckets.to_string())?;
            same("profile", profile.name().to_owned(), drawn.name().to_owned())?;
        }
        _ => {}
    }
    let apart = i128::from(kind.anchor_millis()) - i128::from(schedule.anchor_millis());
    let slot = schedule.slot_duration();
    if (apart * 1_000_000).rem_euclid(slot.nanos()) != 0 {
        let time = |schedule: &Schedule| {
            schedule.anchor_time().map_or_else(String::new, |time| time.to_string())
        };
        let ours = time(schedule);
        let allowed = format!("must be {ours}, as in schedule, or whole slots of {slot} from it");
        let value = time(kind);
        return Err(Rejection::new(Reason::Contradictory, "anchor_time", value, allowed));
    }
    Ok(())
}
