//! The handlers of `SlotService`: convert in, decide, convert out.

use std::pin::Pin;

use futures_util::Stream;
use offbeat_core::limits::PREDICATE_ZONES;
use offbeat_core::{Catalog, Moment, Rejection};
use prost::Message;
use tonic::{Request, Response, Status, Streaming};

use super::assign::assign;
use super::batch::{Batch, Opening};
use super::catalog::listed;
use super::comparison::compared;
use super::convert;
use super::describe::describe;
use super::stream;
use super::{audit, due_runs, migration};
use crate::schedules::LoadedSchedules;
use crate::work::{Permit, offload};
use offbeat_proto as proto;
use offbeat_proto::slot_service_server::SlotService;
use offbeat_proto::status;

/// Answers `SlotService`. Its only state is the clock, which answers requests that name no time,
/// and the loaded schedules; each request takes a snapshot of them.
#[derive(Debug, Clone)]
pub struct SlotHandlers {
    now: fn() -> Moment,
    schedules: LoadedSchedules,
}

impl SlotHandlers {
    /// Handlers that take default times from `now`, and named schedules from `schedules`.
    #[must_use]
    pub const fn new(now: fn() -> Moment, schedules: LoadedSchedules) -> Self {
        Self { now, schedules }
    }
}

/// Requests for more runs are computed off the event loop.
const INLINE_RUNS: i32 = 50;

type Answer<T> = Result<Response<T>, Status>;

fn answer<T>(decision: Result<T, Rejection>) -> Answer<T> {
    decision.map(Response::new).map_err(status::refused)
}

/// Memory of an answer and of its encoded message, as a multiple of the encoded size.
const MEMORY_FACTOR: usize = 3;

/// An answer that may be large. Its bytes count from now on, since it stays in memory until the
/// peer makes room for it.
fn large_answer<T: Message>(decision: Result<T, Rejection>, permit: Option<&Permit>) -> Answer<T> {
    let answer = answer(decision)?;
    let bytes = answer.get_ref().encoded_len().saturating_mul(MEMORY_FACTOR);
    match permit.is_none_or(|permit| permit.take_answer(bytes)) {
        true => Ok(answer),
        false => Err(status::no_room()),
    }
}

#[tonic::async_trait]
impl SlotService for SlotHandlers {
    async fn describe_schedule(
        &self,
        request: Request<proto::DescribeScheduleRequest>,
    ) -> Answer<proto::DescribeScheduleResponse> {
        let permit: Option<Permit> = request.extensions().get().cloned();
        let (request, now) = (request.into_inner(), self.now);
        let catalog = self.schedules.snapshot();
        // Up to 4,096 excluded spans in a cycle.
        answer(offload(true, permit, move || describe(request, now, &catalog)).await?)
    }

    async fn list_schedules(
        &self,
        request: Request<proto::ListSchedulesRequest>,
    ) -> Answer<proto::ListSchedulesResponse> {
        let permit: Option<Permit> = request.extensions().get().cloned();
        let (request, held) = (request.into_inner(), permit.clone());
        let catalog = self.schedules.snapshot();
        // Up to 1,000 schedules, whose fingerprints are computed here.
        let answered = move || large_answer(listed(request, &catalog), permit.as_ref());
        offload(true, held, answered).await?
    }

    async fn list_slots(
        &self,
        request: Request<proto::ListSlotsRequest>,
    ) -> Answer<proto::ListSlotsResponse> {
        let permit: Option<Permit> = request.extensions().get().cloned();
        let (request, now, held) = (request.into_inner(), self.now, permit.clone());
        let catalog = self.schedules.snapshot();
        // Up to 4,096 slots, each with a predicate.
        let answered = move || match list(request, now, &catalog, permit.as_ref()).transpose() {
            Some(listed) => large_answer(listed, permit.as_ref()),
            None => Err(status::no_room()),
        };
        offload(true, held, answered).await?
    }

    async fn get_window_predicate(
        &self,
        request: Request<proto::GetWindowPredicateRequest>,
    ) -> Answer<proto::GetWindowPredicateResponse> {
        let permit: Option<Permit> = request.extensions().get().cloned();
        let (request, now) = (request.into_inner(), self.now);
        let catalog = self.schedules.snapshot();
        answer(offload(true, permit, move || window(request, now, &catalog)).await?)
    }

    async fn assign_slot(
        &self,
        request: Request<proto::AssignSlotRequest>,
    ) -> Answer<proto::AssignSlotResponse> {
        let asked = request.get_ref();
        let many = asked.next_run_count.is_some_and(|count| count > INLINE_RUNS);
        let catalog = self.schedules.snapshot();
        let needs_search = convert::has_exclusions(asked.schedule.as_ref(), &catalog);
        let needs_checks = convert::takes_long(asked.schedule.as_ref());
        let long = many || asked.weight.is_some() || needs_search || needs_checks;
        let permit: Option<Permit> = request.extensions().get().cloned();
        let (request, now, held) = (request.into_inner(), self.now, permit.clone());
        let answered = move || large_answer(assign(request, now, &catalog), permit.as_ref());
        offload(long, held, answered).await?
    }

    async fn assign_slots(
        &self,
        request: Request<proto::AssignSlotsRequest>,
    ) -> Answer<proto::AssignSlotsResponse> {
        let permit = request.extensions().get().cloned();
        let proto::AssignSlotsRequest { schedule, ids, from_time, kind, weights, read_mask } =
            request.into_inner();
        let catalog = self.schedules.snapshot();
        let opening = Opening { schedule, from_time, kind, read_mask };
        let batch = Batch::open(opening, self.now, catalog, permit).await?;
        let identity = Some(batch.identity());
        let (_, assignments) = batch.assign(ids, weights).await?;
        Ok(Response::new(proto::AssignSlotsResponse { identity, assignments: Some(assignments) }))
    }

    type StreamSlotAssignmentsStream =
        Pin<Box<dyn Stream<Item = Result<proto::StreamSlotAssignmentsResponse, Status>> + Send>>;

    async fn stream_slot_assignments(
        &self,
        request: Request<Streaming<proto::StreamSlotAssignmentsRequest>>,
    ) -> Answer<Self::StreamSlotAssignmentsStream> {
        let permit = request.extensions().get().cloned();
        let (now, schedules) = (self.now, self.schedules.clone());
        let answers = stream::assignments(request.into_inner(), now, schedules, permit);
        Ok(Response::new(Box::pin(answers)))
    }

    async fn get_reciprocal_slots(
        &self,
        request: Request<proto::GetReciprocalSlotsRequest>,
    ) -> Answer<proto::GetReciprocalSlotsResponse> {
        let permit = request.extensions().get().cloned();
        let (request, catalog) = (request.into_inner(), self.schedules.snapshot());
        // Takes a search, or the clock changes of many years.
        let decide = move || convert::reciprocals(request, &catalog);
        answer(offload(true, permit, decide).await?)
    }

    async fn compare_schedules(
        &self,
        request: Request<proto::CompareSchedulesRequest>,
    ) -> Answer<proto::CompareSchedulesResponse> {
        let permit = request.extensions().get().cloned();
        let (request, catalog) = (request.into_inner(), self.schedules.snapshot());
        answer(offload(true, permit, move || compared(request, &catalog)).await?)
    }

    async fn list_due_runs(
        &self,
        request: Request<proto::ListDueRunsRequest>,
    ) -> Answer<proto::ListDueRunsResponse> {
        let permit = request.extensions().get().cloned();
        let catalog = self.schedules.snapshot();
        let listed = due_runs::list(request.into_inner(), self.now, catalog, permit).await?;
        Ok(Response::new(listed))
    }

    async fn plan_migration(
        &self,
        request: Request<proto::PlanMigrationRequest>,
    ) -> Answer<proto::PlanMigrationResponse> {
        let permit = request.extensions().get().cloned();
        let catalog = self.schedules.snapshot();
        let planned = migration::plan(request.into_inner(), self.now, catalog, permit).await?;
        Ok(Response::new(planned))
    }

    async fn audit_ids(
        &self,
        request: Request<proto::AuditIdsRequest>,
    ) -> Answer<proto::AuditIdsResponse> {
        let permit = request.extensions().get().cloned();
        let catalog = self.schedules.snapshot();
        Ok(Response::new(audit::audit(request.into_inner(), self.now, catalog, permit).await?))
    }
}

/// Rough memory of a listed slot until it is sent, in bytes: the slot itself, and its predicate.
const LISTED_SLOT_MEMORY: usize = 256;
const LISTED_PREDICATE_MEMORY: usize = 768;

/// `None` if there is no room for the list.
fn list(
    request: proto::ListSlotsRequest,
    now: fn() -> Moment,
    catalog: &Catalog,
    permit: Option<&Permit>,
) -> Result<Option<proto::ListSlotsResponse>, Rejection> {
    let proto::ListSlotsRequest { schedule, start_time, end_time, sql_target, kind } = request;
    convert::without_zones(sql_target.as_ref())?;
    // All kinds have the same slots; the rows in a slot depend on the kind.
    let schedule = match sql_target {
        None if kind.is_empty() => convert::schedule(schedule, catalog)?,
        _ => convert::schedule_of_kind(schedule, &kind, catalog)?,
    };
    let members = sql_target.map(|column| convert::membership(&schedule, column)).transpose()?;
    let start = convert::moment_or_now("start_time", start_time, now)?;
    let slots = match end_time {
        Some(end) => schedule.slots_starting_in(start, convert::moment("end_time", end)?)?,
        None => schedule.slots_of_a_period_from(start)?,
    };
    let predicate_memory = members.as_ref().map_or(0, |_| LISTED_PREDICATE_MEMORY);
    let memory = slots.len() * (LISTED_SLOT_MEMORY + predicate_memory);
    if permit.is_some_and(|permit| !permit.take_answer(memory)) {
        return Ok(None);
    }
    let mut listed: Vec<_> = slots.iter().map(convert::slot).collect();
    if let Some(members) = &members {
        for (slot, predicate) in listed.iter_mut().zip(members.slots(&slots)?) {
            slot.predicate = Some(convert::predicate(predicate));
        }
    }
    Ok(Some(proto::ListSlotsResponse {
        identity: Some(convert::identity(&schedule)),
        slots: listed,
        sql_index: members.map(|members| convert::sql_index(members.index())),
    }))
}

fn window(
    request: proto::GetWindowPredicateRequest,
    now: fn() -> Moment,
    catalog: &Catalog,
) -> Result<proto::GetWindowPredicateResponse, Rejection> {
    let proto::GetWindowPredicateRequest {
        schedule,
        start_time,
        end_time,
        sql_target,
        kind,
        time_zones,
    } = request;
    let schedule = convert::schedule_of_kind(schedule, &kind, catalog)?;
    if time_zones.is_empty() {
        convert::without_zones(sql_target.as_ref())?;
    }
    let members = convert::required_membership(&schedule, sql_target)?;
    let start = convert::moment_or_now("start_time", start_time, now)?;
    let end = convert::required("end_time", end_time, "must be at most a period after start_time")?;
    let end = convert::moment("end_time", end)?;
    let predicate = if time_zones.is_empty() {
        members.window(start, end)?
    } else {
        let zones = convert::zones("time_zones", &schedule, &time_zones, PREDICATE_ZONES)?;
        let named: Vec<_> = time_zones.iter().map(String::as_str).zip(zones).collect();
        members.window_in_zones(&named, start, end)?
    };
    Ok(proto::GetWindowPredicateResponse {
        identity: Some(convert::identity(&schedule)),
        predicate: Some(convert::predicate(predicate)),
        sql_index: Some(convert::sql_index(members.index())),
    })
}
