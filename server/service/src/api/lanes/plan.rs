//! `PlanLanes`: convert in, plan, convert out.

use offbeat_core::lanes::OnTimeout;
use offbeat_core::{Rejection, Span};
use offbeat_sim::lanes::{
    ClassPerformance, CutoffFigures, LanesByType, Plan, PlanSpec, Ratio, RunTimeClass, Sensitivity,
    Summary, TypeFigures, Verdict,
};

use super::lane_set::on_timeout_of;
use super::request::Request;
use super::run_times::{RunTimeInput, run_times_of, samples_by_class};
use super::sentences::sentences;
use crate::api::convert::{duration, required, span};
use offbeat_proto as proto;
use offbeat_proto::v1beta1;

/// Plans the lanes of a request.
///
/// # Errors
/// When a field of the request is refused.
pub fn plan(request: v1beta1::PlanLanesRequest) -> Result<v1beta1::PlanLanesResponse, Rejection> {
    let v1beta1::PlanLanesRequest {
        run_times,
        arrival_rate,
        worker_count,
        tolerated_wait,
        slowdown_floor,
        on_timeout,
        max_lane_count,
        seed,
    } = request;
    let optional = |field: &str, time: Option<prost_types::Duration>| {
        time.map(|time| span(field, time)).transpose()
    };
    let allowed = "samples, samples_by_type, histogram or percentiles must be set";
    let given = required("run_times", run_times, allowed)?;
    let RunTimeInput { run_times, type_names } = run_times_of(&given)?;
    let spec = PlanSpec {
        run_times,
        arrival_rate,
        worker_count: worker_count.into(),
        tolerated_wait: optional("tolerated_wait", tolerated_wait)?,
        slowdown_floor: optional("slowdown_floor", slowdown_floor)?,
        on_timeout: on_timeout_of(on_timeout)?,
        max_lane_count: max_lane_count.map(i64::from),
        seed,
    };
    let plan = spec.plan()?;
    let known = Request {
        on_timeout: spec.on_timeout,
        samples: samples_by_class(&plan.classes, &given),
        type_names,
    };
    Ok(answer(&plan, &known))
}

fn answer(plan: &Plan, request: &Request) -> v1beta1::PlanLanesResponse {
    let names = ["express", if plan.lanes.len() > 2 { "medium" } else { "slow" }, "slow"];
    let lanes = plan.lanes.iter().zip(names).map(|(lane, name)| proto::Lane {
        name: name.to_owned(),
        worker_count: i32::try_from(lane.workers).unwrap_or(i32::MAX),
        attempt_timeout: lane.timeout.map(duration),
    });
    let lane_set = proto::LaneSet {
        lanes: lanes.collect(),
        policy: proto::LanePolicy::ExpressFirst.into(),
        on_timeout: match request.on_timeout {
            OnTimeout::Abort => proto::TimeoutAction::Abort.into(),
            OnTimeout::Suspend => proto::TimeoutAction::Suspend.into(),
        },
        max_express_slow_probability: None,
    };
    let [now, less, more] = &plan.rates;
    let sensitivity = |at: &Sensitivity| v1beta1::LaneSensitivity {
        arrival_rate: at.arrival_rate,
        with_lanes: at.with_lanes.as_ref().map(performance),
        without_lanes: Some(performance(&at.without_lanes)),
        by_type: at.by_type.as_ref().map(performance),
    };
    let cutoff = |point: &CutoffFigures| v1beta1::CutoffFigures {
        cutoff: Some(duration(point.cutoff)),
        express_worker_count: i32::try_from(point.express_workers).unwrap_or(i32::MAX),
        mean_slowdown: point.mean_slowdown,
        mean_sojourn: point.mean_sojourn.map(mean),
        stable: point.mean_slowdown.is_some(),
        stable_with_more_arrivals: point.has_room,
        mean_slowdown_range: point.slowdown_range.map(range),
    };
    let verdict = match plan.verdict {
        Verdict::Lanes => v1beta1::LaneVerdict::Lanes,
        Verdict::LanesByType => v1beta1::LaneVerdict::LanesByType,
        Verdict::NoLanes => v1beta1::LaneVerdict::NoLanes,
        Verdict::Undecided => v1beta1::LaneVerdict::Undecided,
    };
    v1beta1::PlanLanesResponse {
        verdict: verdict.into(),
        lane_set: (!plan.lanes.is_empty()).then_some(lane_set),
        with_lanes: now.with_lanes.as_ref().map(performance),
        without_lanes: Some(performance(&now.without_lanes)),
        sensitivities: vec![sensitivity(less), sensitivity(more)],
        cutoffs: plan.cutoffs.iter().map(cutoff).collect(),
        slowdown_floor: Some(duration(plan.slowdown_floor)),
        mean_run_time: Some(duration(seconds(plan.mean_seconds))),
        utilization: plan.utilization,
        stream_count: i32::try_from(plan.streams).unwrap_or(i32::MAX),
        stream_job_count: i32::try_from(plan.stream_jobs).unwrap_or(i32::MAX),
        slowdown_ratio: plan.slowdown_ratio.map(ratio),
        sojourn_ratio: plan.sojourn_ratio.map(ratio),
        run_time_classes: classes(plan, &request.samples),
        messages: sentences(plan, request),
        lanes_by_type: plan.by_type.as_ref().map(|found| by_type(plan, found, request)),
        job_types: plan.types.iter().map(|kind| job_type(plan, kind, request)).collect(),
    }
}

fn by_type(plan: &Plan, found: &LanesByType, request: &Request) -> v1beta1::LanesByType {
    let [now, ..] = &plan.rates;
    let names = found.slow_types.iter().map(|place| request.type_name(*place).to_owned());
    v1beta1::LanesByType {
        slow_type_names: names.collect(),
        express_worker_count: i32::try_from(found.express_workers).unwrap_or(i32::MAX),
        slow_worker_count: i32::try_from(found.slow_workers).unwrap_or(i32::MAX),
        performance: now.by_type.as_ref().map(performance),
        stable_with_more_arrivals: found.has_room,
        slowdown_ratio: Some(ratio(found.slowdown_ratio)),
        sojourn_ratio: Some(ratio(found.sojourn_ratio)),
        slowdown_ratio_to_timeouts: found.slowdown_to_timeouts.map(ratio),
        sojourn_ratio_to_timeouts: found.sojourn_to_timeouts.map(ratio),
    }
}

fn job_type(plan: &Plan, kind: &TypeFigures, request: &Request) -> v1beta1::JobTypeFigures {
    let [now, ..] = &plan.rates;
    let sojourn = |summary: &Summary| {
        summary.median.types.get(kind.place).map(|jobs| mean(jobs.mean_sojourn))
    };
    v1beta1::JobTypeFigures {
        name: request.type_name(kind.place).to_owned(),
        sample_count: i32::try_from(kind.samples).unwrap_or(i32::MAX),
        job_ratio: kind.share,
        work_ratio: kind.work_share,
        mean_run_time: Some(duration(seconds(kind.mean_seconds))),
        p50_run_time: Some(duration(kind.p50)),
        p99_run_time: Some(duration(kind.p99)),
        max_run_time: Some(duration(kind.longest)),
        timeout_ratio: plan.demoted.get(kind.place).copied(),
        mean_sojourn_with_lanes: now.with_lanes.as_ref().and_then(sojourn),
        mean_sojourn_by_type: now.by_type.as_ref().and_then(sojourn),
        mean_sojourn_without_lanes: sojourn(&now.without_lanes),
    }
}

fn classes(plan: &Plan, samples: &[usize]) -> Vec<v1beta1::RunTimeClass> {
    let [now, ..] = &plan.rates;
    let Some(with) = &now.with_lanes else { return Vec::new() };
    let without = &now.without_lanes.median.classes;
    let figures = plan.classes.iter().zip(with.median.classes.iter().zip(without));
    let class = |(place, (class, (with, without))): (
        usize,
        (&RunTimeClass, (&ClassPerformance, &ClassPerformance)),
    )| v1beta1::RunTimeClass {
        max_run_time: class.longest.map(duration),
        job_ratio: class.share,
        sample_count: samples.get(place).and_then(|count| i32::try_from(*count).ok()),
        mean_wait_with_lanes: Some(mean(with.mean_wait)),
        mean_wait_without_lanes: Some(mean(without.mean_wait)),
        mean_sojourn_with_lanes: Some(mean(with.mean_sojourn)),
        mean_sojourn_without_lanes: Some(mean(without.mean_sojourn)),
    };
    figures.enumerate().map(class).collect()
}

fn performance(found: &Summary) -> v1beta1::LanePerformance {
    let Summary { median: found, slowdown_range, sojourn_range, keeps_up } = found;
    let [low_sojourn, high_sojourn] = sojourn_range.map(|micros| Some(mean(micros)));
    let micros = |micros: u64| duration(Span::from_nanos(micros.saturating_mul(1_000)));
    v1beta1::LanePerformance {
        mean_slowdown: found.mean_slowdown,
        p95_slowdown: found.p95_slowdown,
        mean_wait: Some(mean(found.mean_wait)),
        p95_wait: Some(micros(found.p95_wait)),
        mean_sojourn: Some(mean(found.mean_sojourn)),
        p95_sojourn: Some(micros(found.p95_sojourn)),
        wasted_ratio: found.wasted_ratio,
        stable: *keeps_up,
        mean_slowdown_range: Some(range(*slowdown_range)),
        mean_sojourn_range: Some(v1beta1::DurationRange { low: low_sojourn, high: high_sojourn }),
    }
}

const fn range([low, high]: [f64; 2]) -> v1beta1::FigureRange {
    v1beta1::FigureRange { low, high }
}

const fn ratio(ratio: Ratio) -> v1beta1::RatioInterval {
    let Ratio { estimate, low, high } = ratio;
    v1beta1::RatioInterval { estimate, low, high }
}

/// Converts a mean in microseconds.
fn mean(micros: f64) -> prost_types::Duration {
    duration(seconds(micros / 1e6))
}

/// Converts a mean in seconds, rounded to microseconds.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "rounded")]
fn seconds(seconds: f64) -> Span {
    Span::from_nanos(((seconds * 1e6 + 0.5) as u64).saturating_mul(1_000))
}
