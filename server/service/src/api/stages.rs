//! `StageService`: convert in, decide, convert out.

use offbeat_core::ids::check_names;
use offbeat_core::stages::{
    AllocationSpec, Arrivals, Move, NextSpec, Plan, Rule, StageAllocation, StageSpec, StarvedStage,
    Weighting, Why,
};
use offbeat_core::{Reason, Rejection, Span};
use tonic::{Request, Response, Status};

use super::convert::{duration, optional_span, required, span, unknown_enum_value, wide};
use crate::work::offload;
use offbeat_proto as proto;
use offbeat_proto::allocate_workers_response::Outcome as AllocationOutcome;
use offbeat_proto::choose_stage_response::Outcome as Gone;
use offbeat_proto::stage_service_server::StageService;
use offbeat_proto::status;

/// Plans for more stages, or with more moves, are made off the event loop.
const INLINE_STAGES: usize = 64;
const INLINE_MOVES: i32 = 64;

const DEFAULT_ARRIVAL_PERIOD: Span = Span::from_seconds(1);

/// Answers `StageService`; stateless.
#[derive(Debug, Clone, Copy)]
pub struct StageHandlers;

#[tonic::async_trait]
impl StageService for StageHandlers {
    async fn allocate_workers(
        &self,
        request: Request<proto::AllocateWorkersRequest>,
    ) -> Result<Response<proto::AllocateWorkersResponse>, Status> {
        let permit = request.extensions().get().cloned();
        let request = request.into_inner();
        let many_moves = request.max_move_count.is_some_and(|moves| moves > INLINE_MOVES);
        let long = many_moves || request.stages.len() > INLINE_STAGES;
        let decided = offload(long, permit, move || allocate(request)).await?;
        decided.map(Response::new).map_err(status::refused)
    }

    async fn choose_stage(
        &self,
        request: Request<proto::ChooseStageRequest>,
    ) -> Result<Response<proto::ChooseStageResponse>, Status> {
        let permit = request.extensions().get().cloned();
        let request = request.into_inner();
        let long = request.stages.len() > INLINE_STAGES;
        let decided = offload(long, permit, move || next(request)).await?;
        decided.map(Response::new).map_err(status::refused)
    }
}

/// Distributes the workers of a request among its stages.
///
/// # Errors
/// When a field of the request is refused.
pub fn allocate(
    request: proto::AllocateWorkersRequest,
) -> Result<proto::AllocateWorkersResponse, Rejection> {
    let proto::AllocateWorkersRequest {
        stages,
        worker_count,
        rule,
        weighting,
        max_move_count,
        min_improvement_percent,
        prevent_starvation,
    } = request;
    let rule = rule_of(rule)?;
    let (names, stages) = stages_of(stages)?;
    let allowed = "must be set: how many workers there are";
    let spec = AllocationSpec {
        stages,
        worker_count: required("worker_count", worker_count, allowed)?.into(),
        rule,
        weighting: weighting_of(weighting)?,
        max_move_count: max_move_count.map(i64::from),
        min_improvement_percent: min_improvement_percent.into(),
        prevent_starvation,
    };
    let outcome =
        spec.plan()?.map_or(AllocationOutcome::AllStagesDone(proto::AllStagesDone {}), |plan| {
            AllocationOutcome::Allocation(allocation(rule, names, &plan))
        });
    Ok(proto::AllocateWorkersResponse { outcome: Some(outcome) })
}

fn next(request: proto::ChooseStageRequest) -> Result<proto::ChooseStageResponse, Rejection> {
    let proto::ChooseStageRequest {
        stages,
        current_stage_name,
        rule,
        weighting,
        min_gain_percent,
        prevent_starvation,
    } = request;
    let (mut names, stages) = stages_of(stages)?;
    let spec = NextSpec {
        stages,
        from: place_of(&names, &current_stage_name)?,
        rule: rule_of(rule)?,
        weighting: weighting_of(weighting)?,
        min_gain_percent: min_gain_percent.into(),
        prevent_starvation,
    };
    let Some(next) = spec.next()? else {
        let outcome = Some(Gone::AllStagesDone(proto::AllStagesDone {}));
        return Ok(proto::ChooseStageResponse { outcome });
    };
    let reason = match next.why {
        Why::WorthMost => proto::StageChoiceReason::WorthMost,
        Why::BelowMinimum => proto::StageChoiceReason::BelowMinimum,
        Why::GainTooSmall => proto::StageChoiceReason::GainTooSmall,
        Why::AllFull => proto::StageChoiceReason::AllFull,
    };
    let stage = next.stage.and_then(|stage| names.get_mut(stage)).map(std::mem::take);
    let choice = proto::StageChoice {
        changes_stage: next.stage.is_some() && next.stage != spec.from,
        stage_name: stage.unwrap_or_default(),
        reason: reason.into(),
        quotient: next.quotient,
        current_quotient: next.current_quotient,
    };
    Ok(proto::ChooseStageResponse { outcome: Some(Gone::Choice(choice)) })
}

fn place_of(names: &[String], name: &str) -> Result<Option<usize>, Rejection> {
    if name.is_empty() {
        return Ok(None);
    }
    let place = names.iter().position(|other| other == name);
    place.map(Some).ok_or_else(|| {
        let allowed = "must be the name of one of the stages, or empty";
        Rejection::new(Reason::OutOfRange, "current_stage_name", format!("{name:?}"), allowed)
    })
}

fn stages_of(stages: Vec<proto::Stage>) -> Result<(Vec<String>, Vec<StageSpec>), Rejection> {
    check_names(stages.iter().map(|stage| stage.name.as_str()))
        .map_err(|refused| refused.under("stages"))?;
    let named = stages.into_iter().enumerate().map(|(place, stage)| {
        stage_of(stage).map_err(|refused| refused.under(&format!("stages[{place}]")))
    });
    named.collect()
}

fn stage_of(stage: proto::Stage) -> Result<(String, StageSpec), Rejection> {
    let proto::Stage {
        name,
        backlog_count,
        mean_run_time,
        run_times,
        done,
        min_worker_count,
        max_worker_count,
        current_worker_count,
        busy_worker_count,
        arrival_count,
        arrival_period,
    } = stage;
    let mean = mean_run_time.map(|mean| span("mean_run_time", mean)).transpose()?;
    if mean.is_some() && !run_times.is_empty() {
        let allowed = "must not be set beside mean_run_time";
        let value = format!("{} of them", run_times.len());
        return Err(Rejection::new(Reason::Contradictory, "run_times", value, allowed));
    }
    if let Some(mean) = mean.filter(|mean| u64::try_from(mean.nanos()).is_err()) {
        let allowed = "must be 0 s or more, and less than 584 years";
        return Err(Rejection::new(Reason::OutOfRange, "mean_run_time", mean, allowed));
    }
    let times = run_times.into_iter().enumerate();
    let times = times.map(|(place, time)| span(&format!("run_times[{place}]"), time));
    let spec = StageSpec {
        backlog_count,
        run_times: mean.map(Ok).into_iter().chain(times).collect::<Result<_, _>>()?,
        done,
        minimum: min_worker_count.into(),
        maximum: max_worker_count.map(i64::from),
        current: current_worker_count.into(),
        busy: busy_worker_count.into(),
        arrivals: arrivals_of(arrival_count, arrival_period)?,
    };
    Ok((name, spec))
}

/// The arrivals at a stage, if the request gives them.
///
/// # Errors
/// When the period is malformed, or set without a count.
pub fn arrivals_of(
    count: Option<i64>,
    period: Option<prost_types::Duration>,
) -> Result<Option<Arrivals>, Rejection> {
    let period = optional_span("arrival_period", period)?;
    match (count, period) {
        (None, Some(period)) => {
            let allowed = "must not be set without arrival_count";
            Err(Rejection::new(Reason::Contradictory, "arrival_period", period, allowed))
        }
        (None, None) => Ok(None),
        (Some(count), period) => {
            Ok(Some(Arrivals { count, period: period.unwrap_or(DEFAULT_ARRIVAL_PERIOD) }))
        }
    }
}

fn rule_of(number: i32) -> Result<Rule, Rejection> {
    match proto::AllocationRule::try_from(number) {
        Ok(proto::AllocationRule::Unspecified | proto::AllocationRule::MinimumScore) => {
            Ok(Rule::MinimumScore)
        }
        Ok(proto::AllocationRule::DHondt) => Ok(Rule::DHondt),
        Err(_) => Err(unknown_enum_value("rule", number, "0 to 2, a value of AllocationRule")),
    }
}

fn weighting_of(number: i32) -> Result<Weighting, Rejection> {
    match proto::StageWeighting::try_from(number) {
        Ok(proto::StageWeighting::Unspecified | proto::StageWeighting::Even) => Ok(Weighting::Even),
        Ok(proto::StageWeighting::Latency) => Ok(Weighting::Latency),
        Err(_) => Err(unknown_enum_value("weighting", number, "0 to 2, a value of StageWeighting")),
    }
}

fn allocation(rule: Rule, names: Vec<String>, plan: &Plan) -> proto::WorkerAllocation {
    let name_of = |stage: Option<usize>| {
        stage.and_then(|stage| names.get(stage)).cloned().unwrap_or_default()
    };
    let moves = plan.moves.iter().map(|Move { from, to, count }| proto::WorkerMove {
        from_stage_name: name_of(*from),
        to_stage_name: name_of(*to),
        worker_count: workers(*count),
    });
    let moves = moves.collect();
    let starved =
        plan.starved.iter().map(|StarvedStage { stage, backlog, cost }| proto::StarvedStage {
            stage_name: name_of(Some(*stage)),
            backlog_count: wide(*backlog),
            cost: *cost,
        });
    let starved_stages = starved.collect();
    let stable = |stage: &StageAllocation| stage.load.min_stable_workers();
    let stages = names.into_iter().zip(&plan.stages).map(|(name, stage)| proto::StageAllocation {
        stage_name: name,
        worker_count: workers(stage.worker_count),
        workload_micros: wide(stage.workload.micros),
        weight: workers(stage.weight),
        mean_run_time: Some(duration(Span::from_nanos(stage.workload.mean_nanos))),
        run_time_estimated: stage.workload.is_estimated,
        score: stage.score(),
        next_quotient: stage.next_quotient(rule),
        drain_time_micros: stage.load.drain_micros(stage.worker_count).map(wide),
        min_stable_worker_count: workers(stable(stage)),
    });
    proto::WorkerAllocation {
        stages: stages.collect(),
        moves,
        unassigned_worker_count: workers(plan.unassigned),
        score: plan.score,
        current_score: plan.current_score,
        improvement_too_small: plan.improvement_too_small,
        starved_stages,
        starvation_prevention_cost: plan.starvation_prevention_cost,
        min_stable_worker_count: wide(plan.stages.iter().map(stable).sum()),
    }
}

/// A number of workers as the wire has it; all are at most 10^9.
fn workers(count: u64) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}
