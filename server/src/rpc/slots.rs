//! The handlers of `SlotService`: convert in, decide, convert out.

use std::pin::Pin;

use futures_util::Stream;
use offbeat_core::timetable::check_run_count;
use offbeat_core::{Moment, Rejection};
use tonic::{Request, Response, Status, Streaming};

use super::batch::Batch;
use super::convert;
use super::describe::describe;
use super::status;
use super::stream;
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
        let permit = request.extensions().get().cloned();
        let (request, now) = (request.into_inner(), self.now);
        // Up to 4,096 excluded spans in a cycle.
        answer(off_loop(true, permit, move || describe(request, now)).await?)
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
        let permit = request.extensions().get().cloned();
        let (request, now) = (request.into_inner(), self.now);
        answer(off_loop(true, permit, move || window(request, now)).await?)
    }

    async fn assign_slot(
        &self,
        request: Request<proto::AssignSlotRequest>,
    ) -> Answer<proto::AssignSlotResponse> {
        let long = request.get_ref().next_run_count.is_some_and(|count| count > INLINE_RUNS);
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
        let batch = convert::not_yet("weights", !weights.is_empty()) // PENDING-MERGE
            .and_then(|()| Batch::try_new(schedule, from_time, &kind, self.now, permit))
            .map_err(|rejection| status::refused(&rejection))?;
        let identity = Some(batch.identity());
        let assignments = batch.assign(ids, 0).await?;
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

    // PENDING-MERGE: the branch `duties` answers the three methods below.
    async fn list_due_runs(
        &self,
        _request: Request<proto::ListDueRunsRequest>,
    ) -> Answer<proto::ListDueRunsResponse> {
        Err(status::unknown_method("ListDueRuns".to_owned()))
    }

    async fn plan_migration(
        &self,
        _request: Request<proto::PlanMigrationRequest>,
    ) -> Answer<proto::PlanMigrationResponse> {
        Err(status::unknown_method("PlanMigration".to_owned()))
    }

    async fn audit_ids(
        &self,
        _request: Request<proto::AuditIdsRequest>,
    ) -> Answer<proto::AuditIdsResponse> {
        Err(status::unknown_method("AuditIds".to_owned()))
    }
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

fn assign(
    request: proto::AssignSlotRequest,
    now: fn() -> Moment,
) -> Result<proto::AssignSlotResponse, Rejection> {
    let proto::AssignSlotRequest {
        schedule,
        id,
        from_time,
        next_run_count,
        kind,
        weight,
        newcomer,
    } = request;
    convert::not_yet("weight", weight.is_some())?; // PENDING-MERGE
    convert::not_yet("newcomer", newcomer.is_some())?; // PENDING-MERGE
    let schedule = convert::schedule(schedule)?;
    let id = convert::required("id", id, "it must be set")?;
    let id = convert::id(&id)?;
    let run_count = check_run_count(next_run_count.unwrap_or(1).into())?;
    let runs =
        schedule.runs_from(convert::moment_or_now("from_time", from_time, now)?, run_count)?;
    let prefix = convert::run_key_prefix(&schedule, &kind)?;
    let place = schedule.place(&id).map_err(|rejection| rejection.under("id"))?;
    let next_runs: Vec<_> = runs.next_runs(&place).take(run_count.max(1)).collect();
    let next_cycle = next_runs.first().map_or(runs.cycle(), |run| run.cycle_index);
    let last_run = runs.last_run(&place);
    let place = schedule.place_in(&place, next_cycle);
    Ok(proto::AssignSlotResponse {
        identity: Some(convert::identity(&schedule)),
        slot_index: convert::count(place.slot),
        slot_offset: Some(convert::duration(schedule.span(place.slot_offset))),
        cycle_offset: Some(convert::duration(schedule.span(place.cycle_offset))),
        last_run: last_run.map(|run| convert::run(run, &prefix, &id)),
        next_runs: next_runs
            .into_iter()
            .take(run_count)
            .map(|run| convert::run(run, &prefix, &id))
            .collect(),
        reason: Some(convert::placement_reason(&place, &id)),
        first_run: None,            // PENDING-MERGE
        further_pieces: Vec::new(), // PENDING-MERGE
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
    // PENDING-MERGE: of the branch `names`.
    convert::not_yet("conflicts", !conflicts.is_empty())?;
    convert::not_yet("kind_schedules", !kind_schedules.is_empty())?;
    convert::not_yet("polling_delay", polling_delay.is_some())?;
    convert::not_yet("slot_job_delay", slot_job_delay.is_some())?;
    let schedule = convert::schedule(schedule)?;
    let placed = convert::reciprocals(&schedule, kind_count, spacing, &run_times)?;
    convert::reciprocal_slots(&schedule, &placed, slot_index)
}
