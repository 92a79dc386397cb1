//! `GetReciprocalSlots`: kinds that must not meet.

use offbeat_core::comparison::{Delays, check_suitable};
use offbeat_core::limits::KIND_COUNT;
use offbeat_core::reciprocal::{Reciprocals, Spacing};
use offbeat_core::{Catalog, Reason, Rejection, Schedule, Span};

use super::kinds;
use super::requests::schedule_at;
use super::responses::identity;
use super::scalars::{count, duration, required, span};
use offbeat_proto as proto;

/// Decides a request; a reference is looked up in `catalog`.
pub(in crate::api) fn reciprocals(
    request: proto::GetReciprocalSlotsRequest,
    catalog: &Catalog,
) -> Result<proto::GetReciprocalSlotsResponse, Rejection> {
    let proto::GetReciprocalSlotsRequest {
        schedule,
        slot_index,
        kind_count,
        kind_spacing,
        run_times,
        kind_conflicts,
        polling_delay,
        slot_job_delay,
    } = request;
    let schedule = schedule_at("schedule", schedule, catalog)?;
    check_suitable(&schedule).map_err(|refused| refused.under("schedule.spec"))?;
    let parameters = KindParameters {
        kind_count,
        spacing: kinds::spacing("kind_spacing", kind_spacing)?,
        run_times,
        conflicts: kind_conflicts,
    };
    let placed = parameters.place(&schedule)?;
    let delay = |field, delay: Option<prost_types::Duration>| {
        delay.map_or(Ok(Span::from_nanos(0)), |delay| span(field, delay))
    };
    let polling = delay("polling_delay", polling_delay)?;
    let slot_job = delay("slot_job_delay", slot_job_delay)?;
    let delays = Delays::try_new(&schedule, polling, slot_job)?;
    answer(&schedule, &placed, delays, slot_index)
}

/// Parameters that place kinds.
struct KindParameters {
    kind_count: Option<i32>,
    spacing: Spacing,
    run_times: Vec<prost_types::Duration>,
    conflicts: Vec<proto::KindIndexConflict>,
}

impl KindParameters {
    fn place(&self, schedule: &Schedule) -> Result<Reciprocals, Rejection> {
        let slot_count = i64::from(schedule.slot_count());
        if !self.run_times.is_empty() {
            self.goes_alone("run_times", "which makes no room for them")?;
            if !self.conflicts.is_empty() {
                let value = format_args!("{} pairs", self.conflicts.len());
                let allowed = "must not be set with run_times";
                return Err(Rejection::new(
                    Reason::Contradictory,
                    "kind_conflicts",
                    value,
                    allowed,
                ));
            }
            return Reciprocals::try_with_needs(slot_count, &self.needs(schedule)?);
        }
        let kinds = required("kind_count", self.kind_count, "must be 1 to 1000 kinds")?.into();
        if self.conflicts.is_empty() {
            return Reciprocals::try_new(slot_count, kinds, self.spacing);
        }
        self.goes_alone("kind_conflicts", "which knows none")?;
        let pair = |conflict: &proto::KindIndexConflict| {
            let proto::KindIndexConflict { first_kind_index, second_kind_index } = *conflict;
            (first_kind_index.into(), second_kind_index.into())
        };
        let pairs: Vec<_> = self.conflicts.iter().map(pair).collect();
        Reciprocals::try_with_conflicts(slot_count, kinds, &pairs)
            .map_err(|refused| Rejection { field: wire_name(&refused.field), ..refused })
    }

    /// Refuses `field` together with the stable spacing.
    fn goes_alone(&self, field: &str, why: &str) -> Result<(), Rejection> {
        if self.spacing == Spacing::Even {
            return Ok(());
        }
        let allowed = format!("must not be set with KIND_SPACING_STABLE, {why}");
        Err(Rejection::new(Reason::Contradictory, field, "a list", allowed))
    }

    /// How many slots each kind needs for its run time.
    fn needs(&self, schedule: &Schedule) -> Result<Vec<u64>, Rejection> {
        let times = i64::try_from(self.run_times.len()).unwrap_or(i64::MAX);
        if !KIND_COUNT.allows(times.into()) {
            let value = format_args!("{times} run times");
            let allowed = format!("must be {KIND_COUNT}");
            return Err(Rejection::new(Reason::OutOfRange, "run_times", value, allowed));
        }
        if let Some(kind_count) = self.kind_count
            && i64::from(kind_count) != times
        {
            let value = format_args!("{times} run times for {kind_count} kinds");
            let allowed = "must be none, or one for each kind";
            return Err(Rejection::new(Reason::Contradictory, "run_times", value, allowed));
        }
        let need = |(index, time): (usize, &prost_types::Duration)| {
            let field = format!("run_times[{index}]");
            let span = span(&field, *time)?;
            schedule.slots_needed(span).map_err(|rejection| rejection.under(&field))
        };
        self.run_times.iter().enumerate().map(need).collect()
    }
}

/// The name of a field of the core in messages.
fn wire_name(field: &str) -> String {
    match field.strip_prefix("conflicts") {
        Some(rest) => format!("kind_conflicts{rest}"),
        None => field.to_owned(),
    }
}

/// Both views of kinds, with their gaps as time and their run budgets.
fn answer(
    schedule: &Schedule,
    placed: &Reciprocals,
    delays: Delays,
    slot_index: i32,
) -> Result<proto::GetReciprocalSlotsResponse, Rejection> {
    let slots = |slots: u32| duration(schedule.span(u64::from(slots) * schedule.slot_ticks()));
    let budget = |slots: u32| Some(duration(delays.leave_of(schedule, slots)));
    let kinds = placed.seen_from(slot_index.into())?;
    let gap = placed.gap();
    Ok(proto::GetReciprocalSlotsResponse {
        identity: Some(identity(schedule)),
        gap_slot_count: count(gap),
        gap: Some(duration(schedule.shortest_gap(gap).0)),
        run_budget: budget(gap),
        independent_run_budget: budget(gap.saturating_sub(1)),
        kinds: kinds
            .iter()
            .map(|kind| proto::KindSlot {
                kind_index: count(kind.kind_index),
                offset_slot_count: count(kind.offset),
                id_slot_index: count(kind.user_slot),
                clock_slot_index: count(kind.time_slot),
                gap_slot_count: count(kind.gap),
                run_budget: budget(kind.gap),
                offset: Some(slots(kind.offset)),
            })
            .collect(),
    })
}
