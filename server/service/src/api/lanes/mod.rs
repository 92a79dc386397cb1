//! `LaneService` and `LanePlanningService`: convert in, decide, convert out.

mod lane_set;
mod plan;
mod request;
mod run_times;
mod sentences;
mod sentences_of_types;
mod significance;

use offbeat_core::lanes::{DispatchOutcome, Job, LaneState, Outcome, SplitSpec, dispatch};
use offbeat_core::limits::DISPATCHED_JOBS;
use offbeat_core::{Reason, Rejection};
use tonic::{Request, Response, Status};

use self::lane_set::NamedLanes;
use super::convert::{required, span, wide};
use crate::work::offload;
use offbeat_proto as proto;
use offbeat_proto::lane_service_server::LaneService;
use offbeat_proto::status;
use offbeat_proto::v1beta1::{self, lane_planning_service_server::LanePlanningService};
pub use plan::plan;

/// Requests with more jobs are dispatched off the event loop.
const INLINE_JOBS: usize = 256;

/// Answers `LaneService`; stateless.
#[derive(Debug, Clone, Copy)]
pub struct LaneHandlers;

#[tonic::async_trait]
impl LaneService for LaneHandlers {
    async fn route_job(
        &self,
        request: Request<proto::RouteJobRequest>,
    ) -> Result<Response<proto::RouteJobResponse>, Status> {
        answer(route_job(request.into_inner()))
    }

    async fn dispatch_jobs(
        &self,
        request: Request<proto::DispatchJobsRequest>,
    ) -> Result<Response<proto::DispatchJobsResponse>, Status> {
        let permit = request.extensions().get().cloned();
        let request = request.into_inner();
        let long = request.jobs.len() > INLINE_JOBS;
        answer(offload(long, permit, move || dispatch_jobs(request)).await?)
    }

    async fn split_workers(
        &self,
        request: Request<proto::SplitWorkersRequest>,
    ) -> Result<Response<proto::SplitWorkersResponse>, Status> {
        answer(split_workers(request.into_inner()))
    }
}

/// Answers `LanePlanningService`; stateless.
#[derive(Debug, Clone, Copy)]
pub struct LanePlanningHandlers;

#[tonic::async_trait]
impl LanePlanningService for LanePlanningHandlers {
    async fn plan_lanes(
        &self,
        request: Request<v1beta1::PlanLanesRequest>,
    ) -> Result<Response<v1beta1::PlanLanesResponse>, Status> {
        let permit = request.extensions().get().cloned();
        let request = request.into_inner();
        answer(offload(true, permit, move || plan(request)).await?)
    }
}

fn answer<T>(decision: Result<T, Rejection>) -> Result<Response<T>, Status> {
    decision.map(Response::new).map_err(status::refused)
}

fn route_job(request: proto::RouteJobRequest) -> Result<proto::RouteJobResponse, Rejection> {
    use proto::route_job_response::Outcome as Answer;
    let proto::RouteJobRequest { lane_set, timed_out_lane_names, prediction, worker_lane_name } =
        request;
    let lanes = NamedLanes::try_new(lane_set)?;
    let Job { timed_out, prediction } = lanes.job(&timed_out_lane_names, prediction)?;
    let worker =
        (!worker_lane_name.is_empty()).then(|| lanes.place("worker_lane_name", &worker_lane_name));
    let outcome = match lanes.set.route(&timed_out, prediction, worker.transpose()?)? {
        Outcome::Route(route) => Answer::Route(lanes.route(route)),
        Outcome::Failed { lane } => Answer::PermanentFailure(lanes.failure(lane)),
    };
    Ok(proto::RouteJobResponse { outcome: Some(outcome) })
}

fn dispatch_jobs(
    request: proto::DispatchJobsRequest,
) -> Result<proto::DispatchJobsResponse, Rejection> {
    let proto::DispatchJobsRequest { lane_set, free_workers, jobs } = request;
    let lanes = NamedLanes::try_new(lane_set)?;
    if jobs.len() > DISPATCHED_JOBS.max_size() {
        let allowed = format!("must be {DISPATCHED_JOBS}");
        return Err(Rejection::new(Reason::OutOfRange, "jobs", jobs.len(), allowed));
    }
    let free = free_workers.into_iter().map(|free| (free.lane_name, free.worker_count.into()));
    let free = lanes.by_lane("free_workers", free.collect())?;
    let (mut ids, mut known) = (Vec::with_capacity(jobs.len()), Vec::with_capacity(jobs.len()));
    for (place, job) in jobs.into_iter().enumerate() {
        let proto::PendingJob { id, timed_out_lane_names, prediction } = job;
        let job = lane_set::job_id(&id).and_then(|()| lanes.job(&timed_out_lane_names, prediction));
        known.push(job.map_err(|refused| refused.under(&format!("jobs[{place}]")))?);
        ids.push(id);
    }
    let decided = dispatch(&lanes.set, &free.values, &known);
    let DispatchOutcome { placements, failures } =
        decided.map_err(|refused| free.of_request(refused))?;
    let mut id_of = |job: usize| ids.get_mut(job).map(std::mem::take).unwrap_or_default();
    let dispatches = placements.into_iter().map(|placement| proto::JobDispatch {
        job_index: lane_set::index(placement.job),
        job_id: id_of(placement.job),
        route: Some(lanes.route(placement.route)),
    });
    let dispatches = dispatches.collect();
    let failures = failures.into_iter().map(|failed| proto::FailedJob {
        job_index: lane_set::index(failed.job),
        job_id: id_of(failed.job),
        failure: Some(lanes.failure(failed.lane)),
    });
    Ok(proto::DispatchJobsResponse { dispatches, failures: failures.collect() })
}

fn split_workers(
    request: proto::SplitWorkersRequest,
) -> Result<proto::SplitWorkersResponse, Rejection> {
    let proto::SplitWorkersRequest {
        lane_set,
        worker_count,
        states,
        max_move_count,
        min_improvement_percent,
    } = request;
    let mut message = required("lane_set", lane_set, "must be set")?;
    let lanes = NamedLanes::try_new(Some(message.clone()))?;
    let states = states.into_iter().enumerate().map(|(place, state)| {
        lane_state(state).map_err(|refused| refused.under(&format!("states[{place}]")))
    });
    let states = lanes.by_lane("states", states.collect::<Result<_, _>>()?)?;
    let spec = SplitSpec {
        worker_count: worker_count.map(i64::from),
        states: states.values.clone(),
        max_move_count: max_move_count.map(i64::from),
        min_improvement_percent: min_improvement_percent.into(),
    };
    let split = spec.split(&lanes.set).map_err(|refused| states.of_request(refused))?;
    for (lane, allocation) in message.lanes.iter_mut().zip(&split) {
        lane.worker_count = i32::try_from(allocation.worker_count).unwrap_or(i32::MAX);
    }
    let workloads = message.lanes.iter().zip(&split);
    let workloads = workloads.map(|(lane, allocation)| proto::LaneWorkload {
        lane_name: lane.name.clone(),
        workload_micros: wide(allocation.workload_micros),
    });
    Ok(proto::SplitWorkersResponse { workloads: workloads.collect(), lane_set: Some(message) })
}

fn lane_state(state: proto::LaneState) -> Result<(String, LaneState), Rejection> {
    let proto::LaneState {
        lane_name,
        backlog_count,
        mean_run_time,
        longest_wait,
        busy_worker_count,
    } = state;
    let optional = |field: &str, time: Option<prost_types::Duration>| {
        time.map(|time| span(field, time)).transpose()
    };
    let state = LaneState {
        backlog_count,
        mean_run_time: optional("mean_run_time", mean_run_time)?,
        longest_wait: optional("longest_wait", longest_wait)?,
        busy: busy_worker_count.into(),
    };
    Ok((lane_name, state))
}
