//! The kinds that a description declares, checked: their names, where they stand, and that all fit.

use std::collections::BTreeSet;

use super::turns::Turns;
use super::{Kind, KindSpec, Kinds, check_gap};
use crate::calendar::ExclusionPolicy;
use crate::ids::check_part;
use crate::limits::{KIND_COUNT, KIND_NAME};
use crate::reciprocal::{Reciprocals, Spacing};
use crate::rejection::{Reason, Rejection};
use crate::schedule::{Schedule, ScheduleSpec};
use crate::time::{Moment, Span};

/// The kinds of a description; `schedule` is the rest of it.
pub(in crate::schedule) fn kinds(
    spec: &ScheduleSpec,
    schedule: &Schedule,
) -> Result<Option<Kinds>, Rejection> {
    if spec.kinds.is_empty() {
        goes_with_kinds(spec)?;
        return Ok(None);
    }
    check_names(&spec.kinds)?;
    let conflicts = conflicts(spec)?;
    let arrangement = arrangement(spec, schedule, &conflicts)?;
    if spec.kinds.len() > 1 {
        fits_several(spec)?;
    }
    let mut known: Vec<(u32, (Span, Option<Moment>))> = Vec::new();
    let mut kinds = Vec::with_capacity(spec.kinds.len());
    for (kind, (&offset, gap)) in
        spec.kinds.iter().zip(arrangement.positions().iter().zip(arrangement.gaps()))
    {
        let (gap_time, shortest_cycle_start) = match known.iter().find(|(slots, _)| *slots == gap) {
            Some((_, shortest)) => *shortest,
            None => {
                let shortest = schedule.shortest_gap(gap);
                known.push((gap, shortest));
                shortest
            }
        };
        let KindSpec { name, run_time } = kind.clone();
        kinds.push(Kind { name, run_time, offset, gap, gap_time, shortest_cycle_start });
    }
    for (index, kind) in kinds.iter().enumerate() {
        check_gap(index, kind)?;
    }
    let turns = Turns::try_new(spec.catch_up_span, schedule, &kinds)?;
    Ok(Some(Kinds { kinds, spacing: spec.kind_spacing, conflicts, turns }))
}

/// Refuses fields that have a meaning only with kinds.
fn goes_with_kinds(spec: &ScheduleSpec) -> Result<(), Rejection> {
    let refuse = |field: &str, value: &dyn core::fmt::Display| {
        let allowed = "must not be set without kinds";
        Err(Rejection::new(Reason::Contradictory, field, value, allowed))
    };
    if spec.kind_spacing != Spacing::default() {
        return refuse("kind_spacing", &"STABLE");
    }
    if !spec.kind_conflicts.is_empty() {
        return refuse("kind_conflicts", &format_args!("{} pairs", spec.kind_conflicts.len()));
    }
    match spec.catch_up_span {
        Some(span) => refuse("catch_up_span", &span),
        None => Ok(()),
    }
}

fn check_names(kinds: &[KindSpec]) -> Result<(), Rejection> {
    if !KIND_COUNT.allows(kinds.len() as i128) {
        let value = format_args!("{} kinds", kinds.len());
        let allowed = format!("must be {KIND_COUNT}");
        return Err(Rejection::new(Reason::OutOfRange, "kinds", value, allowed));
    }
    let mut names = BTreeSet::new();
    for (index, KindSpec { name, run_time }) in kinds.iter().enumerate() {
        let at = |refused: Rejection| refused.under(&format!("kinds[{index}]"));
        check_part("name", name, KIND_NAME).map_err(at)?;
        if !names.insert(name) {
            let allowed = "must be another name for each kind";
            return Err(at(Rejection::new(Reason::Contradictory, "name", name, allowed)));
        }
        if run_time.is_some() != kinds.first().is_some_and(|kind| kind.run_time.is_some()) {
            let value = run_time.map_or_else(|| "nothing".to_owned(), |time| time.to_string());
            let allowed = "must be set for every kind, or for none";
            return Err(at(Rejection::new(Reason::Contradictory, "run_time", value, allowed)));
        }
    }
    Ok(())
}

/// The pairs that must not meet, by their indexes: in order, each once.
fn conflicts(spec: &ScheduleSpec) -> Result<Vec<(u32, u32)>, Rejection> {
    let mut pairs = Vec::with_capacity(spec.kind_conflicts.len());
    for (place, (first, second)) in spec.kind_conflicts.iter().enumerate() {
        let kind = |field: &str, name: &str| {
            let index = spec.kinds.iter().position(|kind| kind.name == name);
            index.and_then(|index| u32::try_from(index).ok()).ok_or_else(|| {
                let field = format!("kind_conflicts[{place}].{field}");
                let allowed = "must be the name of a kind of the schedule";
                Rejection::new(Reason::OutOfRange, field, format_args!("{name:?}"), allowed)
            })
        };
        let (first, second) = (kind("first_kind", first)?, kind("second_kind", second)?);
        pairs.push((first.min(second), first.max(second)));
    }
    let given = pairs.len();
    pairs.sort_unstable();
    pairs.dedup();
    if pairs.len() < given || pairs.iter().any(|(first, second)| first == second) {
        let value = format_args!("{given} pairs");
        let allowed = "must be pairs of two kinds, each pair once";
        return Err(Rejection::new(Reason::Contradictory, "kind_conflicts", value, allowed));
    }
    Ok(pairs)
}

fn arrangement(
    spec: &ScheduleSpec,
    schedule: &Schedule,
    conflicts: &[(u32, u32)],
) -> Result<Reciprocals, Rejection> {
    let slots = i64::from(schedule.slot_count());
    let count = i64::try_from(spec.kinds.len()).unwrap_or(i64::MAX);
    let refuse = |field: &str, value: String, allowed: &str| {
        Err(Rejection::new(Reason::Contradictory, field, value, allowed))
    };
    // A caller sets the kinds and not these fields, so a refusal names the kinds.
    let named = |refused: Rejection| Rejection {
        field: match refused.field.as_str() {
            "kind_count" | "run_times" => "kinds".to_owned(),
            field if field.starts_with("conflicts") => "kind_conflicts".to_owned(),
            field => field.to_owned(),
        },
        ..refused
    };
    let has_run_times = spec.kinds.iter().any(|kind| kind.run_time.is_some());
    if has_run_times && spec.kind_spacing == Spacing::Stable {
        let allowed = "must be EVEN with run times: STABLE makes no room for them";
        return refuse("kind_spacing", "STABLE".to_owned(), allowed);
    }
    if !conflicts.is_empty() && (has_run_times || spec.kind_spacing == Spacing::Stable) {
        let allowed = "must not be set with run times, nor with the spacing STABLE";
        return refuse("kind_conflicts", format!("{} pairs", conflicts.len()), allowed);
    }
    if has_run_times {
        let mut needs = Vec::with_capacity(spec.kinds.len());
        for (index, kind) in spec.kinds.iter().enumerate() {
            let run_time = kind.run_time.unwrap_or(Span::from_seconds(0));
            let need = schedule.slots_needed(run_time);
            needs.push(need.map_err(|refused| refused.under(&format!("kinds[{index}].run_time")))?);
        }
        return Reciprocals::try_with_needs(slots, &needs).map_err(named);
    }
    if conflicts.is_empty() {
        return Reciprocals::try_new(slots, count, spec.kind_spacing).map_err(named);
    }
    let pairs: Vec<_> =
        conflicts.iter().map(|(first, second)| ((*first).into(), (*second).into())).collect();
    Reciprocals::try_with_conflicts(slots, count, &pairs).map_err(named)
}

/// Refuses fields that would let several kinds meet.
fn fits_several(spec: &ScheduleSpec) -> Result<(), Rejection> {
    if let Some(quantum) = spec.weight_quantum {
        let allowed = "must not be set with two or more kinds: the pieces of a weighted ID run in \
                       several slots, and would meet other kinds";
        return Err(Rejection::new(Reason::Contradictory, "weight_quantum", quantum, allowed));
    }
    let deferring = spec.exclusions.iter().position(|one| one.policy == ExclusionPolicy::Defer);
    if let Some(index) = deferring {
        let allowed = "must be SKIP with two or more kinds: a deferred run can meet a run of another \
                       kind (or use active_windows, in which all kinds keep apart)";
        let field = format!("exclusions[{index}].policy");
        return Err(Rejection::new(Reason::Contradictory, field, "DEFER", allowed));
    }
    Ok(())
}
