//! Schedules with arbitrary numbers: their slots on the clock, windows, kinds and predicates.

use offbeat_core::reciprocal::{Reciprocals, Spacing};
use offbeat_core::runs::KeyRanges;
use offbeat_core::schedule::{Kind, Kinds};
use offbeat_core::sql::{ColumnSpec, ColumnType, Dialect, Membership, ParameterStyle};
use offbeat_core::{
    CalendarSpec, CalendarUnit, CycleSpec, CycleWindow, ExclusionPolicy, ExclusionSpec,
    ExclusionTimes, KindSpec, Moment, Place, Placement, Rejection, Schedule, ScheduleSpec, Span,
    Why,
};

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

/// Input: a schedule, two instants, a population, kinds and a column.
pub fn schedules(data: &[u8]) {
    let mut choices = Choices::new(data);
    let Some(spec) = spec(&mut choices) else { return };
    let Some(schedule) = heard(Schedule::try_new(&spec)) else { return };
    assert!((1..=spec.slot_count.unwrap_or(256)).contains(&schedule.slot_count().into()));
    if let CycleSpec::Period(period) = spec.cycle {
        assert_eq!(schedule.period(), period);
    }
    let ticks = u64::from(schedule.slot_count()) * schedule.slot_ticks();
    assert_eq!(ticks, schedule.active_ticks());
    assert!(schedule.span(ticks) <= schedule.period());
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
    declared(spec, &mut choices, start, end);
}

/// The same schedule with declared kinds, each of which must pass the checks of the whole
/// schedule.
fn declared(spec: ScheduleSpec, choices: &mut Choices<'_>, start: Moment, end: Moment) {
    let Some(kinds) = several(choices, |choices| {
        let name = choices.maybe(Choices::text).unwrap_or_else(|| "kind".to_owned());
        Some(KindSpec { name, run_time: if choices.flip() { Some(span(choices)?) } else { None } })
    }) else {
        return;
    };
    let names: Vec<String> = kinds.iter().map(|kind| kind.name.clone()).collect();
    let pair = |choices: &mut Choices<'_>| {
        Some((choices.maybe(Choices::text)?, choices.maybe(Choices::text)?))
    };
    let spec = ScheduleSpec {
        kinds,
        kind_spacing: choices.one_of(&[Spacing::Even, Spacing::Stable]),
        kind_conflicts: several(choices, pair).unwrap_or_default(),
        catch_up_span: if choices.flip() { span(choices) } else { None },
        ..spec
    };
    let Some(schedule) = heard(Schedule::try_new(&spec)) else { return };
    assert_eq!(Schedule::try_new(&resolved(&schedule)).as_ref(), Ok(&schedule));
    for name in names {
        let Some(of_kind) = heard(schedule.of_kind(Some(&name))) else { continue };
        on_the_clock(&of_kind, start);
        in_a_window(&of_kind, start, end);
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

const UNITS: [CalendarUnit; 3] = [CalendarUnit::Day, CalendarUnit::Week, CalendarUnit::Month];
const ZONES: [&str; 6] =
    ["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Pacific/Apia", "Nowhere"];

fn calendar(choices: &mut Choices<'_>) -> CalendarSpec {
    CalendarSpec {
        unit: choices.one_of(&UNITS),
        time_zone: choices
            .maybe(Choices::text)
            .unwrap_or_else(|| choices.one_of(&ZONES).to_owned()),
    }
}

fn window(choices: &mut Choices<'_>) -> Option<CycleWindow> {
    Some(CycleWindow { start: span(choices)?, end: span(choices)? })
}

fn exclusion(choices: &mut Choices<'_>) -> Option<ExclusionSpec> {
    let times = match choices.flip() {
        true => {
            ExclusionTimes::Dated { start: heard(moment(choices))?, end: heard(moment(choices))? }
        }
        false => {
            ExclusionTimes::Recurring { calendar: calendar(choices), window: window(choices)? }
        }
    };
    let policy = choices.one_of(&[ExclusionPolicy::Skip, ExclusionPolicy::Defer]);
    Some(ExclusionSpec { times, policy })
}

fn several<T>(
    choices: &mut Choices<'_>,
    one: impl Fn(&mut Choices<'_>) -> Option<T>,
) -> Option<Vec<T>> {
    (0..choices.below(4)).map(|_| one(choices)).collect()
}

fn spec(choices: &mut Choices<'_>) -> Option<ScheduleSpec> {
    let spec = plain_spec(choices)?;
    // Read last, so that the inputs of the existing corpus keep their meaning.
    Some(ScheduleSpec {
        cycle: choices.maybe(calendar).map_or(spec.cycle, CycleSpec::Calendar),
        active_windows: several(choices, window)?,
        exclusions: several(choices, exclusion)?,
        weight_quantum: choices.maybe(Choices::integer),
        ..spec
    })
}

fn plain_spec(choices: &mut Choices<'_>) -> Option<ScheduleSpec> {
    Some(ScheduleSpec {
        cycle: CycleSpec::Period(span(choices)?),
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
        active_windows: Vec::new(),
        exclusions: Vec::new(),
        kinds: Vec::new(),
        kind_spacing: Spacing::Even,
        kind_conflicts: Vec::new(),
        catch_up_span: None,
    })
}

/// The spec that a schedule reports of itself.
fn resolved(schedule: &Schedule) -> ScheduleSpec {
    let (bucket_count, profile, salt) = match schedule.placement() {
        Placement::Hash { salt } => (None, None, salt.clone()),
        Placement::Twister { bucket_count, profile } => {
            (Some(i64::from(*bucket_count)), Some(*profile), String::new())
        }
        Placement::Fraction => (None, None, String::new()),
    };
    let calendar = |(unit, zone): (CalendarUnit, &str)| {
        CycleSpec::Calendar(CalendarSpec { unit, time_zone: zone.to_owned() })
    };
    let kinds = schedule.kinds();
    ScheduleSpec {
        cycle: schedule.calendar().map_or(CycleSpec::Period(schedule.period()), calendar),
        resolution: Some(schedule.resolution()),
        anchor_time: schedule.anchor_time(),
        slot_count: Some(schedule.slot_count().into()),
        placement: schedule.placement().kind(),
        bucket_count,
        profile,
        salt,
        weight_quantum: schedule.weight_quantum().and_then(|quantum| i64::try_from(quantum).ok()),
        active_windows: schedule.active_windows(),
        exclusions: schedule.exclusions(),
        kinds: kinds.map_or_else(Vec::new, |kinds| {
            let kind = |kind: &Kind| KindSpec { name: kind.name.clone(), run_time: kind.run_time };
            kinds.as_slice().iter().map(kind).collect()
        }),
        kind_spacing: kinds.map_or(Spacing::Even, Kinds::spacing),
        kind_conflicts: kinds.map_or_else(Vec::new, |kinds| {
            let owned = |(one, other): (&str, &str)| (one.to_owned(), other.to_owned());
            kinds.conflicts().map(owned).collect()
        }),
        catch_up_span: kinds.map(Kinds::catch_up_span),
    }
}

fn on_the_clock(schedule: &Schedule, at: Moment) {
    if let Some(slot) = heard(schedule.slot_at(at)).flatten() {
        assert!(slot.start <= at && at < slot.end, "{slot:?} does not hold {at}");
        if schedule.is_plain() {
            assert_eq!(schedule.slot_at(slot.start).as_ref(), Ok(&Some(slot)));
            let listed = heard(schedule.slots_starting_in(slot.start, slot.end));
            assert!(listed.is_none_or(|listed| listed == [slot]));
            if slot.index == 0 {
                assert_eq!(schedule.cycle_start(slot.cycle_index), Some(slot.start));
            }
        }
    }
    if let Some(slots) = heard(schedule.slots_of_a_period_from(at)) {
        assert!(slots.iter().all(|slot| slot.start >= at));
        if schedule.is_plain() {
            assert_eq!(slots.len(), schedule.slot_count() as usize);
            for pair in slots.windows(2) {
                assert_eq!(pair[0].end, pair[1].start);
                assert_eq!((pair[0].index + 1) % schedule.slot_count(), pair[1].index);
            }
        }
    }
    if let Some(runs) = heard(schedule.runs_from(at, 3)) {
        let place = schedule.place_of_hash(0x1234_5678_9abc_def0);
        // The work for an answer has a budget.
        let Ok(mut before) = runs.last_run(&place) else { return };
        assert!(before.is_none_or(|last| last.unix_millis < at.unix_millis_ceil()));
        let cycles = schedule.cycle_cache(at);
        let again = cycles.runs_of(&place);
        if let Ok(last) = again.last(at.unix_millis_ceil()) {
            assert_eq!(last, before);
        }
        if let (Ok(next), Ok(again)) = (runs.next_run(&place), again.next(at.unix_millis_ceil())) {
            assert_eq!(again, next);
        }
        let period = i64::try_from(schedule.period().whole_millis().unwrap()).unwrap();
        for run in runs.next_runs(&place).take(3).map_while(Result::ok) {
            assert!(run.unix_millis >= at.unix_millis_ceil());
            if let Some(before) = before {
                assert!(run.cycle_index > before.cycle_index, "{before:?} {run:?}");
                // Where the zone skips a day, two runs may coincide.
                assert!(run.unix_millis >= before.unix_millis, "{before:?} {run:?}");
                assert!(!schedule.is_plain() || run.unix_millis == before.unix_millis + period);
            }
            before = Some(run);
        }
    }
}

fn in_a_window(schedule: &Schedule, start: Moment, end: Moment) {
    if let Some(slots) = heard(schedule.slots_starting_in(start, end)) {
        assert!(slots.iter().all(|slot| (start..end).contains(&slot.start)));
        assert!(!schedule.is_plain() || slots.windows(2).all(|pair| pair[0].end == pair[1].start));
    }
    let Some(keys) = heard(schedule.keys_running_in(start, end)) else { return };
    let KeyRanges::Hashes(hashes) = keys else { return };
    if matches!(schedule.placement(), Placement::Twister { .. }) {
        return;
    }
    // An ID runs in the window if and only if its hash is in the ranges.
    if let Some(runs) = heard(schedule.runs_from(start, 1)) {
        for hash in [0, 1, u64::MAX / 3, u64::MAX / 2, u64::MAX] {
            let place: Place = schedule.place_of_hash(hash);
            assert_eq!(place.why, Why::Hash(hash));
            let Ok(next) = runs.next_run(&place) else { return };
            let runs_then = next.is_some_and(|run| run.unix_millis < end.unix_millis_ceil());
            let within = hashes.iter().any(|range| range.contains(&hash.into()));
            assert_eq!(runs_then, within, "{hash} in {hashes:?}");
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
        column: choices.maybe(Choices::text).unwrap_or_else(|| "id".to_owned()),
        table_alias: choices.maybe(Choices::text).unwrap_or_default(),
        first_parameter_number: choices.maybe(Choices::narrow),
        time_zone_column: String::new(),
    })
}

fn predicates(schedule: &Schedule, column: &ColumnSpec, start: Moment, end: Moment) {
    let Some(members) = heard(Membership::try_new(schedule, column)) else { return };
    let slot = members.slot(schedule.slot_count() - 1, 0);
    for predicate in [Some(slot), heard(members.window(start, end))].into_iter().flatten() {
        let sql = &predicate.sql;
        assert!(sql.starts_with('(') && sql.ends_with(')'), "{sql}");
        let literal = column.parameter_style == ParameterStyle::Literal;
        assert!(!literal || predicate.parameters.is_empty(), "{sql}");
        assert!(!sql.contains('\0'));
    }
    assert!(!members.index().create_statements.is_empty());
}
