//! The handlers of `SlotService`: convert in, decide, convert out.

use std::pin::Pin;

use futures_util::Stream;
use offbeat_core::{Moment, Reason, Rejection};
use tonic::{Request, Response, Status, Streaming};

use super::assign::assign;
use super::batch::Batch;
use super::convert;
use super::status;
use super::stream;
use super::{audit, due_runs, migration};
use crate::proto;
use crate::proto::slot_service_server::SlotService;
use crate::work::off_loop;

/// Answers `SlotService`. Without state but for the clock, which requests that
/// name no time ask.
#[derive(Debug, Clone, Copy)]
pub struct SlotHandlers {
    now: fn() -> Moment,
}

impl SlotHandlers {
    /// Handlers that take the default of times from `now`.
    #[must_use]
    pub const fn new(now: fn() -> Moment) -> Self {
        Self { now }
    }
}

/// More runs are reckoned off the event loop.
const INLINE_RUNS: i32 = 50;

type Answer<T> = Result<Response<T>, Status>;

fn answer<T>(decision: Result<T, Rejection>) -> Answer<T> {
    decision.map(Response::new).map_err(|rejection| status::refused(&rejection))
}

#[tonic::async_trait]
impl SlotService for SlotHandlers {
    async fn describe_schedule(
        &self,
        request: Request<proto::DescribeScheduleRequest>,
    ) -> Answer<proto::DescribeScheduleResponse> {
        answer(describe(request.into_inner(), self.now))
    }

    async fn list_slots(
        &self,
        request: Request<proto::ListSlotsRequest>,
    ) -> Answer<proto::ListSlotsResponse> {
        let permit = request.extensions().get().cloned();
        let (request, now) = (request.into_inner(), self.now);
        // Up to 4,096 slots, each with a predicate.
        let listed = off_loop(true, permit, move || list(request, now)).await?;
        answer(listed)
    }

    async fn get_window_predicate(
        &self,
        request: Request<proto::GetWindowPredicateRequest>,
    ) -> Answer<proto::GetWindowPredicateResponse> {
        answer(window(request.into_inner(), self.now))
    }

    async fn assign_slot(
        &self,
        request: Request<proto::AssignSlotRequest>,
    ) -> Answer<proto::AssignSlotResponse> {
        let asked = request.get_ref();
        let many = asked.next_run_count.is_some_and(|count| count > INLINE_RUNS);
        let long = many || asked.weight.is_some();
        let permit = request.extensions().get().cloned();
        let (request, now) = (request.into_inner(), self.now);
        let assigned = off_loop(long, permit, move || assign(request, now)).await?;
        answer(assigned)
    }

    async fn assign_slots(
        &self,
        request: Request<proto::AssignSlotsRequest>,
    ) -> Answer<proto::AssignSlotsResponse> {
        let permit = request.extensions().get().cloned();
        let proto::AssignSlotsRequest { schedule, ids, from_time, kind, weights } =
            request.into_inner();
        let batch = Batch::try_new(schedule, from_time, &kind, self.now, permit)
            .map_err(|rejection| status::refused(&rejection))?;
        let identity = Some(batch.identity());
        let (_, assignments) = batch.assign(ids, weights, 0).await?;
        Ok(Response::new(proto::AssignSlotsResponse { identity, assignments: Some(assignments) }))
    }

    type StreamSlotAssignmentsStream =
        Pin<Box<dyn Stream<Item = Result<proto::StreamSlotAssignmentsResponse, Status>> + Send>>;

    async fn stream_slot_assignments(
        &self,
        request: Request<Streaming<proto::StreamSlotAssignmentsRequest>>,
    ) -> Answer<Self::StreamSlotAssignmentsStream> {
        let permit = request.extensions().get().cloned();
        Ok(Response::new(Box::pin(stream::assignments(request.into_inner(), self.now, permit))))
    }

    async fn get_reciprocal_slots(
        &self,
        request: Request<proto::GetReciprocalSlotsRequest>,
    ) -> Answer<proto::GetReciprocalSlotsResponse> {
        answer(reciprocals(request.into_inner()))
    }

    async fn list_due_runs(
        &self,
        request: Request<proto::ListDueRunsRequest>,
    ) -> Answer<proto::ListDueRunsResponse> {
        let permit = request.extensions().get().cloned();
        let listed = due_runs::list(request.into_inner(), self.now, permit).await?;
        Ok(Response::new(listed))
    }

    async fn plan_migration(
        &self,
        request: Request<proto::PlanMigrationRequest>,
    ) -> Answer<proto::PlanMigrationResponse> {
        let permit = request.extensions().get().cloned();
        let planned = migration::plan(request.into_inner(), self.now, permit).await?;
        Ok(Response::new(planned))
    }

    async fn audit_ids(
        &self,
        request: Request<proto::AuditIdsRequest>,
    ) -> Answer<proto::AuditIdsResponse> {
        let permit = request.extensions().get().cloned();
        Ok(Response::new(audit::audit(request.into_inner(), permit).await?))
    }
}

fn describe(
    request: proto::DescribeScheduleRequest,
    now: fn() -> Moment,
) -> Result<proto::DescribeScheduleResponse, Rejection> {
    let proto::DescribeScheduleRequest { schedule, at_time, population } = request;
    let schedule = convert::schedule(schedule)?;
    let slot = schedule.slot_at(convert::moment_or_now("at_time", at_time, now)?)?;
    let population = convert::population(population)?;
    Ok(proto::DescribeScheduleResponse {
        identity: Some(convert::identity(&schedule)),
        spec: Some(convert::resolved_spec(&schedule)),
        canonical_text: schedule.canonical_text(),
        slot_duration: Some(convert::duration(schedule.slot_duration())),
        slot: Some(convert::slot(&slot)),
        cycle_start_time: schedule.cycle_start(slot.cycle_index).map(convert::timestamp),
        bucket_share: convert::bucket_share(&schedule),
        slot_load: population.map(|ids| convert::expected_load(schedule.slot_load(ids))),
        second_load: population
            .and_then(|ids| schedule.second_load(ids))
            .map(convert::expected_load),
        // PENDING-MERGE: of calendars, windows and exclusions.
        cycle_end_time: None,
        active_duration: None,
        skipped_share: 0.0,
        deferred_share: 0.0,
    })
}

fn list(
    request: proto::ListSlotsRequest,
    now: fn() -> Moment,
) -> Result<proto::ListSlotsResponse, Rejection> {
    let proto::ListSlotsRequest { schedule, start_time, end_time, sql_column } = request;
    let schedule = convert::schedule(schedule)?;
    let members = sql_column.map(|column| convert::membership(&schedule, column)).transpose()?;
    let start = convert::moment_or_now("start_time", start_time, now)?;
    let slots = match end_time {
        Some(end) => schedule.slots_starting_in(start, convert::moment("end_time", end)?)?,
        None => schedule.slots_of_a_period_from(start)?,
    };
    let mut listed: Vec<_> = slots.iter().map(convert::slot).collect();
    if let Some(members) = &members {
        for (slot, predicate) in listed.iter_mut().zip(members.slots(&slots)?) {
            slot.predicate = Some(convert::predicate(predicate));
        }
    }
    Ok(proto::ListSlotsResponse {
        identity: Some(convert::identity(&schedule)),
        slots: listed,
        sql_index: members.map(|members| convert::sql_index(members.index())),
    })
}

fn window(
    request: proto::GetWindowPredicateRequest,
    now: fn() -> Moment,
) -> Result<proto::GetWindowPredicateResponse, Rejection> {
    let proto::GetWindowPredicateRequest { schedule, start_time, end_time, sql_column } = request;
    let schedule = convert::schedule(schedule)?;
    let members = convert::required_membership(&schedule, sql_column)?;
    let start = convert::moment_or_now("start_time", start_time, now)?;
    let end = convert::required("end_time", end_time, "must be at most a period after start_time")?;
    let predicate = members.window(start, convert::moment("end_time", end)?)?;
    Ok(proto::GetWindowPredicateResponse {
        identity: Some(convert::identity(&schedule)),
        predicate: Some(convert::predicate(predicate)),
        sql_index: Some(convert::sql_index(members.index())),
    })
}

fn reciprocals(
    request: proto::GetReciprocalSlotsRequest,
) -> Result<proto::GetReciprocalSlotsResponse, Rejection> {
    let proto::GetReciprocalSlotsRequest {
        schedule,
        slot_index,
        kind_count,
        spacing,
        run_times,
        conflicts,
        kind_schedules,
        polling_delay,
        slot_job_delay,
    } = request;
    let schedule = convert::schedule(schedule)?;
    // PENDING-MERGE: what is not supported yet; weights never are.
    let delays = polling_delay.is_some() || slot_job_delay.is_some();
    if !conflicts.is_empty() || !kind_schedules.is_empty() || delays {
        let allowed = "must not have conflicts, kind_schedules or delays: not supported yet";
        return Err(Rejection::new(Reason::Contradictory, "conflicts", "the request", allowed));
    }
    if let Some(quantum) = schedule.weight_quantum() {
        let allowed = "must not be set: the pieces of a weighted ID run in several slots, and would \
                       meet other kinds";
        let field = "schedule.spec.weight_quantum";
        return Err(Rejection::new(Reason::Contradictory, field, quantum, allowed));
    }
    let placed = convert::reciprocals(&schedule, kind_count, spacing, &run_times)?;
    convert::reciprocal_slots(&schedule, &placed, slot_index)
}
