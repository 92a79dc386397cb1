//! Converts requests to checked parameters.

use std::sync::Arc;

use bytes::Bytes;
use offbeat_core::limits::POPULATION;
use offbeat_core::{
    Catalog, Id, PlacementKind, Profile, Reason, Rejection, Schedule, ScheduleName, ScheduleSpec,
};

use super::scalars::{moment, optional_span, required, span, unknown_enum_value};
use super::zones::ZoneColumn;
use super::{cycles, kinds};
use offbeat_proto as proto;

/// The kind of requests that name none.
const DEFAULT_KIND: &str = "default";

pub(in crate::api) fn schedule(
    message: Option<proto::Schedule>,
    catalog: &Catalog,
) -> Result<Arc<Schedule>, Rejection> {
    schedule_at("schedule", message, catalog)
}

/// The schedule of a field: its own spec, or a reference to a loaded schedule.
pub(in crate::api) fn schedule_at(
    field: &str,
    message: Option<proto::Schedule>,
    catalog: &Catalog,
) -> Result<Arc<Schedule>, Rejection> {
    use proto::schedule::Schedule as Wire;
    let proto::Schedule { schedule } = required(field, message, "it must be set")?;
    let checked = match required(field, schedule, "spec or reference must be set")? {
        Wire::Spec(spec) => schedule_spec(spec)
            .and_then(|spec| Schedule::try_new(&spec))
            .map(Arc::new)
            .map_err(|rejection| rejection.under("spec")),
        Wire::Reference(proto::ScheduleReference { name, version }) => {
            ScheduleName::try_new(&name, version.into())
                .and_then(|name| catalog.get(&name).cloned())
                .map_err(|rejection| rejection.under("reference"))
        }
    };
    checked.map_err(|rejection| rejection.under(field))
}

/// The schedule of a question about runs; that of the named kind, if the schedule declares kinds.
pub(in crate::api) fn schedule_of_kind(
    message: Option<proto::Schedule>,
    kind: &str,
    catalog: &Catalog,
) -> Result<Arc<Schedule>, Rejection> {
    of_kind(schedule(message, catalog)?, kind)
}

/// The schedule of a kind. Without declared kinds, the schedule itself.
pub(in crate::api) fn of_kind(
    schedule: Arc<Schedule>,
    kind: &str,
) -> Result<Arc<Schedule>, Rejection> {
    if schedule.kinds().is_none() {
        return Ok(schedule); // any name is a label
    }
    schedule.of_kind(Some(kind).filter(|kind| !kind.is_empty())).map(Arc::new)
}

/// Whether the schedule of a request has exclusions, so that finding runs takes a search. The
/// result does not matter if the schedule will be refused.
pub(in crate::api) fn has_exclusions(message: Option<&proto::Schedule>, catalog: &Catalog) -> bool {
    use proto::schedule::Schedule as Wire;
    match message.and_then(|message| message.schedule.as_ref()) {
        None => false,
        Some(Wire::Spec(spec)) => !spec.exclusions.is_empty(),
        Some(Wire::Reference(proto::ScheduleReference { name, version })) => {
            ScheduleName::try_new(name, (*version).into())
                .and_then(|name| catalog.get(&name).map(|schedule| schedule.has_exclusions()))
                .unwrap_or_default()
        }
    }
}

/// Whether a schedule takes long to check: the gaps of its kinds depend on the clock changes of
/// many years.
pub(in crate::api) fn takes_long(message: Option<&proto::Schedule>) -> bool {
    use proto::schedule::Schedule as Wire;
    let schedule = message.and_then(|message| message.schedule.as_ref());
    matches!(schedule, Some(Wire::Spec(spec)) if !spec.kinds.is_empty())
}

fn schedule_spec(message: proto::ScheduleSpec) -> Result<ScheduleSpec, Rejection> {
    let proto::ScheduleSpec {
        cycle,
        resolution,
        anchor_time,
        slot_count,
        placement,
        bucket_count,
        profile,
        salt,
        active_windows,
        exclusions,
        weight_quantum,
        kinds,
        kind_spacing,
        kind_conflicts,
        catch_up_span,
    } = message;
    let cycle = required("period", cycle, "must be 1 ms to 316224000 s (3660 days)")?;
    Ok(ScheduleSpec {
        cycle: cycles::cycle(cycle)?,
        resolution: resolution.map(|span_| span("resolution", span_)).transpose()?,
        anchor_time: anchor_time.map(|time| moment("anchor_time", time)).transpose()?,
        slot_count: slot_count.map(i64::from),
        placement: placement_kind(placement)?,
        bucket_count: bucket_count.map(i64::from),
        profile: profile_of(profile)?,
        salt,
        active_windows: cycles::windows(active_windows)?,
        exclusions: cycles::exclusions(exclusions)?,
        weight_quantum,
        kinds: kinds::of_schedule(kinds)?,
        kind_spacing: kinds::spacing("kind_spacing", kind_spacing)?,
        kind_conflicts: kinds::pairs(kind_conflicts),
        catch_up_span: optional_span("catch_up_span", catch_up_span)?,
    })
}

fn placement_kind(number: i32) -> Result<PlacementKind, Rejection> {
    match proto::Placement::try_from(number) {
        Ok(proto::Placement::Unspecified) => Ok(PlacementKind::default()),
        Ok(proto::Placement::Hash) => Ok(PlacementKind::Hash),
        Ok(proto::Placement::Twister) => Ok(PlacementKind::Twister),
        Ok(proto::Placement::Fraction) => Ok(PlacementKind::Fraction),
        Err(_) => Err(unknown_enum_value("placement", number, "0 to 3, a value of Placement")),
    }
}

fn profile_of(number: i32) -> Result<Option<Profile>, Rejection> {
    match proto::TwisterProfile::try_from(number) {
        Ok(proto::TwisterProfile::Unspecified) => Ok(None),
        Ok(proto::TwisterProfile::Ruby) => Ok(Some(Profile::Ruby)),
        Ok(proto::TwisterProfile::Ruby30To31) => Ok(Some(Profile::Ruby30To31)),
        Ok(proto::TwisterProfile::Python) => Ok(Some(Profile::Python)),
        Ok(proto::TwisterProfile::Php) => Ok(Some(Profile::Php)),
        Err(_) => Err(unknown_enum_value("profile", number, "0 to 4, a value of TwisterProfile")),
    }
}

/// The prefix of the run keys of a kind; an empty kind is `DEFAULT_KIND`.
pub(in crate::api) fn run_key_prefix(schedule: &Schedule, kind: &str) -> Result<String, Rejection> {
    schedule.run_key_prefix(kind_or_default(kind))
}

pub(in crate::api) const fn kind_or_default(kind: &str) -> &str {
    if kind.is_empty() { DEFAULT_KIND } else { kind }
}

pub(in crate::api) fn population(population: Option<i64>) -> Result<Option<u64>, Rejection> {
    let Some(population) = population else {
        return Ok(None);
    };
    if !POPULATION.allows(population.into()) {
        let allowed = format!("must be {POPULATION}");
        return Err(Rejection::new(Reason::OutOfRange, "population", population, allowed));
    }
    Ok(u64::try_from(population).ok())
}

/// Reads an ID; its text is borrowed from the message.
pub(in crate::api) fn id(message: &proto::Id) -> Result<Id<'_>, Rejection> {
    use proto::id::Id as Wire;
    let proto::Id { id } = message;
    let rejected_at = |field: &'static str| move |rejection: Rejection| rejection.under(field);
    match required("id", id.as_ref(), "one of its fields must be set")? {
        Wire::Uuid(text) => Id::uuid(text).map_err(rejected_at("id.uuid")),
        Wire::UuidBytes(bytes) => Id::uuid_bytes(bytes).map_err(rejected_at("id.uuid_bytes")),
        Wire::Integer(integer) => Ok(Id::Integer((*integer).into())),
        Wire::Decimal(text) => Id::decimal(text).map_err(rejected_at("id.decimal")),
        Wire::Text(text) => Id::text(text).map_err(rejected_at("id.text")),
        Wire::Fraction(fraction) => Id::fraction(*fraction).map_err(rejected_at("id.fraction")),
    }
}

/// A column of IDs, and the zones that they live in.
pub(in crate::api) struct Column {
    pub(in crate::api) ids: Ids,
    pub(in crate::api) zones: ZoneColumn,
}

/// The IDs of a column, by the field that is set.
pub(in crate::api) enum Ids {
    UuidBytes(Bytes),
    Uuids(Vec<String>),
    Integers(Vec<i64>),
    Decimals(Vec<String>),
    Texts(Vec<String>),
    Fractions(Vec<f64>),
}

/// Reads a column of IDs and checks its size; single IDs are not checked yet.
pub(in crate::api) fn checked_column(message: Option<proto::IdBatch>) -> Result<Column, Rejection> {
    let column = column(message)?;
    column.check()?;
    Ok(column)
}

/// The same, for requests whose IDs cannot have zones of their own.
pub(in crate::api) fn column_of_one_zone(
    message: Option<proto::IdBatch>,
) -> Result<Column, Rejection> {
    let column = checked_column(message)?;
    if column.zones.is_empty() {
        return Ok(column);
    }
    let allowed = "must not be set here: the answer is that of the schedule's own zone";
    Err(Rejection::new(Reason::Contradictory, "ids.time_zones", "a list", allowed))
}

/// Reads the one ID field of a column that is set, and the zones of its IDs.
pub(in crate::api) fn column(message: Option<proto::IdBatch>) -> Result<Column, Rejection> {
    let proto::IdBatch {
        packed_uuids,
        uuids,
        integers,
        decimals,
        texts,
        fractions,
        time_zones,
        time_zone_indexes,
    } = message.unwrap_or_default();
    let mut filled = Vec::new();
    let mut take = |name: &'static str, is_empty: bool, column: Ids| {
        if !is_empty {
            filled.push((name, column));
        }
    };
    take("packed_uuids", packed_uuids.is_empty(), Ids::UuidBytes(packed_uuids));
    take("uuids", uuids.is_empty(), Ids::Uuids(uuids));
    take("integers", integers.is_empty(), Ids::Integers(integers));
    take("decimals", decimals.is_empty(), Ids::Decimals(decimals));
    take("texts", texts.is_empty(), Ids::Texts(texts));
    take("fractions", fractions.is_empty(), Ids::Fractions(fractions));
    if filled.len() > 1 {
        let names: Vec<_> = filled.iter().map(|(name, _)| *name).collect();
        let allowed = "must be IDs of one type: send one batch for each";
        return Err(Rejection::new(Reason::Contradictory, "ids", names.join(" and "), allowed));
    }
    let filled = filled.pop().map(|(_, column)| column);
    let ids = required("ids", filled, "must be 1 to 65536 IDs in one of its fields")?;
    let zones = ZoneColumn::try_new(time_zones, time_zone_indexes, ids.len())?;
    Ok(Column { ids, zones })
}
