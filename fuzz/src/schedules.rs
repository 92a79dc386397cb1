//! Cycles: schedules of any numbers, their slots on the clock, windows, kinds and predicates.

use offbeat_core::reciprocal::{Reciprocals, Spacing};
use offbeat_core::sql::{ColumnSpec, ColumnType, Dialect, Membership, ParameterStyle};
use offbeat_core::{Moment, Placement, Rejection, Schedule, ScheduleSpec, Span};

use super::choices::Choices;
use super::ids::{PLACEMENTS, PROFILES};
use super::refusal;

const DIALECTS: [Dialect; 4] =
    [Dialect::PostgreSql, Dialect::MySql, Dialect::MariaDb, Dialect::Sqlite];
const COLUMNS: [ColumnType; 9] = [
    ColumnType::Uuid,
    ColumnType::UuidBytes,
    ColumnType::UuidBytesSwapped,
    ColumnType::UuidText,
    ColumnType::UuidDigits,
    ColumnType::Integer,
    ColumnType::Text,
    ColumnType::Fraction,
    ColumnType::HashDigits,
];
const STYLES: [ParameterStyle; 5] = [
    ParameterStyle::Literal,
    ParameterStyle::QuestionMark,
    ParameterStyle::Format,
    ParameterStyle::Dollar,
    ParameterStyle::Named,
];

fn heard<T>(decided: Result<T, Rejection>) -> Option<T> {
    decided.inspect_err(refusal::check).ok()
}

/// Choices: a schedule, two instants, a population, kinds and a column.
pub fn schedules(data: &[u8]) {
    let mut choices = Choices::new(data);
    let Some(spec) = spec(&mut choices) else { return };
    let Some(schedule) = heard(Schedule::try_new(&spec)) else { return };
    assert!((1..=spec.slot_count.unwrap_or(256)).contains(&schedule.slot_count().into()));
    assert_eq!(schedule.period(), spec.period);
    let ticks = u64::from(schedule.slot_count()) * schedule.slot_ticks();
    assert_eq!(ticks, schedule.period_ticks());
    assert_eq!(Schedule::try_new(&resolved(&schedule)).as_ref(), Ok(&schedule));
    let population = choices.integer().unsigned_abs() % 10_000_000_000;
    let load = schedule.slot_load(population);
    assert!(load.mean.is_finite() && load.fullest_median <= load.fullest_p99, "{load:?}");
    assert!(load.fullest_p99 <= population, "{load:?} of {population}");
    let start = heard(moment(&mut choices));
    let end = heard(moment(&mut choices));
    let (Some(start), Some(end)) = (start, end) else { return };
    on_the_clock(&schedule, start);
    in_a_window(&schedule, start, end);
    kinds(&schedule, &mut choices);
    if let Some(column) = column(&mut choices) {
        predicates(&schedule, &column, start, end);
    }
}

fn span(choices: &mut Choices<'_>) -> Option<Span> {
    let nanos = choices.maybe(Choices::narrow).unwrap_or_default();
    match choices.maybe(Choices::integer) {
        Some(millis) if millis > 0 && nanos == 0 => Some(Span::from_millis(millis.unsigned_abs())),
        _ => {
            let seconds = choices.integer();
            Span::try_new(seconds, nanos)
                .inspect_err(|refused| refusal::check(&refused.clone().under("span")))
                .ok()
        }
    }
}

fn moment(choices: &mut Choices<'_>) -> Result<Moment, Rejection> {
    let nanos = choices.maybe(Choices::narrow).unwrap_or_default();
    Moment::try_new(choices.integer(), nanos).map_err(|refused| refused.under("moment"))
}

fn spec(choices: &mut Choices<'_>) -> Option<ScheduleSpec> {
    Some(ScheduleSpec {
        period: span(choices)?,
        resolution: match choices.flip() {
            true => Some(span(choices)?),
            false => None,
        },
        anchor_time: match choices.flip() {
            true => Some(heard(moment(choices))?),
            false => None,
        },
        slot_count: choices.maybe(Choices::integer),
        placement: choices.one_of(&PLACEMENTS),
        bucket_count: choices.maybe(Choices::integer),
        profile: choices.maybe(|choices| choices.one_of(&PROFILES)),
        salt: choices.maybe(Choices::text).unwrap_or_default(),
        weight_quantum: None,
    })
}

/// What a schedule says of itself.
fn resolved(schedule: &Schedule) -> ScheduleSpec {
    let (bucket_count, profile, salt) = match schedule.placement() {
        Placement::Hash { salt } => (None, None, salt.clone()),
        Placement::Twister { bucket_count, profile } => {
            (Some(i64::from(*bucket_count)), Some(*profile), String::new())
        }
        Placement::Fraction => (None, None, String::new()),
    };
    ScheduleSpec {
        period: schedule.period(),
        resolution: Some(schedule.resolution()),
        anchor_time: Some(schedule.anchor_time()),
        slot_count: Some(schedule.slot_count().into()),
        placement: schedule.placement().kind(),
        bucket_count,
        profile,
        salt,
    }
}

fn on_the_clock(schedule: &Schedule, at: Moment) {
    if let Some(slot) = heard(schedule.slot_at(at)) {
        assert!(slot.start <= at && at < slot.end, "{slot:?} does not hold {at}");
        assert_eq!(schedule.slot_at(slot.start).as_ref(), Ok(&slot));
        let listed = heard(schedule.slots_starting_in(slot.start, slot.end));
        assert!(listed.is_none_or(|listed| listed == [slot]));
        if slot.index == 0 {
            assert_eq!(schedule.cycle_start(slot.cycle_index), Some(slot.start));
        }
    }
    if let Some(slots) = heard(schedule.slots_of_a_period_from(at)) {
        assert_eq!(slots.len(), schedule.slot_count() as usize);
        assert!(slots.iter().all(|slot| slot.start >= at));
        for pair in slots.windows(2) {
            assert_eq!(pair[0].end, pair[1].start);
            assert_eq!((pair[0].index + 1) % schedule.slot_count(), pair[1].index);
        }
    }
    if let Some(runs) = heard(schedule.runs_from(at, 3)) {
        let place = schedule.place_of_hash(0x1234_5678_9abc_def0);
        let period = i64::try_from(schedule.period().whole_millis().unwrap()).unwrap();
        let last = runs.last_run(&place);
        assert!(last.unix_millis < at.unix_millis_ceil());
        for (later, run) in (1..=3).zip(runs.next_runs(&place)) {
            assert_eq!(run.unix_millis, last.unix_millis + later * period);
            assert_eq!(run.cycle_index, last.cycle_index + later);
            assert!(run.unix_millis >= at.unix_millis_ceil());
        }
    }
}

fn in_a_window(schedule: &Schedule, start: Moment, end: Moment) {
    if let Some(slots) = heard(schedule.slots_starting_in(start, end)) {
        assert!(slots.iter().all(|slot| (start..end).contains(&slot.start)));
        assert!(slots.windows(2).all(|pair| pair[0].end == pair[1].start));
    }
    let Some((first, second)) = heard(schedule.offsets_running_in(start, end)) else { return };
    let period = schedule.period_ticks();
    assert!(first.start <= first.end && first.end <= period, "{first:?}");
    if let Some(second) = &second {
        assert!(second.start == 0 && first.end == period && second.end <= first.start);
    }
    // Whoever runs in the window is in the ranges, and nobody else.
    if let Some(runs) = heard(schedule.runs_from(start, 1)) {
        for hash in [0, 1, u64::MAX / 3, u64::MAX / 2, u64::MAX] {
            let place = schedule.place_of_hash(hash);
            let runs_then = runs.next_run(&place).unix_millis < end.unix_millis_ceil();
            let offset = place.cycle_offset;
            let within = first.contains(&offset)
                || second.as_ref().is_some_and(|second| second.contains(&offset));
            assert_eq!(runs_then, within, "{offset} in {first:?} {second:?}");
        }
    }
}

fn kinds(schedule: &Schedule, choices: &mut Choices<'_>) {
    let slots = schedule.slot_count();
    let placed = if choices.flip() {
        let mut needs = Vec::new();
        for _ in 0..choices.below(12) {
            let time = Span::from_seconds(choices.integer());
            let needed = schedule.slots_needed(time).map_err(|refused| refused.under("run_time"));
            needs.extend(heard(needed));
        }
        heard(Reciprocals::try_with_needs(slots.into(), &needs)).inspect(|placed| {
            let enough =
                placed.gaps().iter().zip(&needs).all(|(gap, need)| u64::from(*gap) >= *need);
            assert!(enough, "{needs:?} {placed:?}");
        })
    } else {
        let spacing = choices.one_of(&[Spacing::Even, Spacing::Stable]);
        heard(Reciprocals::try_new(slots.into(), choices.integer(), spacing))
    };
    let Some(placed) = placed else { return };
    let around: u64 = placed.gaps().iter().map(|gap| u64::from(*gap)).sum();
    assert_eq!(around, u64::from(slots));
    let Some(seen) = heard(placed.seen_from(choices.integer())) else { return };
    assert!(seen.iter().all(|kind| kind.user_slot < slots && kind.time_slot < slots));
    for kind in &seen {
        let back = placed.seen_from(kind.user_slot.into()).unwrap();
        assert_eq!(back[kind.kind_index as usize].time_slot, seen[0].user_slot);
    }
}

fn column(choices: &mut Choices<'_>) -> Option<ColumnSpec> {
    choices.maybe(|choices| ColumnSpec {
        dialect: choices.one_of(&DIALECTS),
        column_type: choices.one_of(&COLUMNS),
        parameter_style: choices.one_of(&STYLES),
        schema: choices.maybe(Choices::text).unwrap_or_default(),
        table: choices.maybe(Choices::text).unwrap_or_else(|| "t".to_owned()),
        name: choices.maybe(Choices::text).unwrap_or_else(|| "id".to_owned()),
        table_alias: choices.maybe(Choices::text).unwrap_or_default(),
        first_parameter_number: choices.maybe(Choices::narrow),
    })
}

fn predicates(schedule: &Schedule, column: &ColumnSpec, start: Moment, end: Moment) {
    let Some(members) = heard(Membership::try_new(schedule, column)) else { return };
    let slot = members.slot(schedule.slot_count() - 1);
    for predicate in [Some(slot), heard(members.window(start, end))].into_iter().flatten() {
        let sql = &predicate.sql;
        assert!(sql.starts_with('(') && sql.ends_with(')'), "{sql}");
        let literal = column.parameter_style == ParameterStyle::Literal;
        assert!(!literal || predicate.parameters.is_empty(), "{sql}");
        assert!(!sql.contains('\0'));
    }
    assert!(!members.index().create_statements.is_empty());
}
