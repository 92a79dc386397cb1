//! `PlanLanes`: convert in, plan, convert out.

use offbeat_core::lanes::OnTimeout;
use offbeat_core::{Rejection, Span};
use offbeat_sim::distribution::Distribution;
use offbeat_sim::lanes::{CutoffSlowdown, Performance, Plan, PlanSpec, Sensitivity};

use super::lane_set::on_timeout_of;
use crate::api::convert::{duration, required, span};
use offbeat_proto as proto;
use offbeat_proto::v1beta1::{self, plan_lanes_request::RunTimes as Given};

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
    let given = required("run_times", run_times, "samples, histogram or percentiles must be set")?;
    let spec = PlanSpec {
        run_times: run_times_of(given)?,
        arrival_rate,
        worker_count: worker_count.into(),
        tolerated_wait: optional("tolerated_wait", tolerated_wait)?,
        slowdown_floor: optional("slowdown_floor", slowdown_floor)?,
        on_timeout: on_timeout_of(on_timeout)?,
        max_lane_count: max_lane_count.map(i64::from),
        seed,
    };
    Ok(answer(&spec.plan()?, spec.on_timeout))
}

fn run_times_of(given: Given) -> Result<Distribution, Rejection> {
    match given {
        Given::Samples(v1beta1::RunTimeSamples { run_time_micros }) => {
            Distribution::of_samples(&run_time_micros).map_err(|refused| refused.under("samples"))
        }
        Given::Histogram(v1beta1::RunTimeHistogram { buckets }) => {
            let buckets = buckets.into_iter().enumerate().map(|(place, bucket)| {
                let v1beta1::RunTimeBucket { upper_bound, job_count } = bucket;
                let field = format!("buckets[{place}].upper_bound");
                let bound = span(&field, required(&field, upper_bound, "must be set")?)?;
                Ok((bound, job_count))
            });
            let buckets = buckets.collect::<Result<Vec<_>, _>>();
            buckets
                .and_then(|buckets| Distribution::of_histogram(&buckets))
                .map_err(|refused: Rejection| refused.under("histogram"))
        }
        Given::Percentiles(v1beta1::RunTimePercentiles { p50, p90, mean }) => {
            let optional = |field: &str, time: Option<prost_types::Duration>| {
                time.map(|time| span(field, time)).transpose()
            };
            let given = optional("p50", p50)
                .and_then(|p50| Ok((p50, optional("p90", p90)?, optional("mean", mean)?)));
            given
                .and_then(|(p50, p90, mean)| Distribution::of_percentiles(p50, p90, mean))
                .map_err(|refused| refused.under("percentiles"))
        }
    }
}

fn answer(plan: &Plan, on_timeout: OnTimeout) -> v1beta1::PlanLanesResponse {
    let names = ["express", if plan.lanes.len() > 2 { "medium" } else { "slow" }, "slow"];
    let lanes = plan.lanes.iter().zip(names).map(|(lane, name)| proto::Lane {
        name: name.to_owned(),
        worker_count: i32::try_from(lane.workers).unwrap_or(i32::MAX),
        attempt_timeout: lane.timeout.map(duration),
    });
    let lane_set = proto::LaneSet {
        lanes: lanes.collect(),
        policy: proto::LanePolicy::ExpressFirst.into(),
        on_timeout: match on_timeout {
            OnTimeout::Abort => proto::TimeoutAction::Abort.into(),
            OnTimeout::Suspend => proto::TimeoutAction::Suspend.into(),
        },
        max_express_slow_probability: None,
    };
    let [now, less, more] = &plan.rates;
    let sensitivity = |at: &Sensitivity| v1beta1::LaneSensitivity {
        arrival_rate: at.arrival_rate,
        with_lanes: at.with_lanes.map(performance),
        without_lanes: Some(performance(at.without_lanes)),
    };
    let cutoff = |point: &CutoffSlowdown| v1beta1::CutoffSlowdown {
        cutoff: Some(duration(point.cutoff)),
        express_worker_count: i32::try_from(point.express_workers).unwrap_or(i32::MAX),
        mean_slowdown: point.mean_slowdown,
    };
    let verdict =
        if plan.has_lanes { v1beta1::LaneVerdict::Lanes } else { v1beta1::LaneVerdict::NoLanes };
    v1beta1::PlanLanesResponse {
        verdict: verdict.into(),
        lane_set: (!plan.lanes.is_empty()).then_some(lane_set),
        with_lanes: now.with_lanes.map(performance),
        without_lanes: Some(performance(now.without_lanes)),
        sensitivities: vec![sensitivity(less), sensitivity(more)],
        cutoffs: plan.cutoffs.iter().map(cutoff).collect(),
        slowdown_floor: Some(duration(plan.slowdown_floor)),
        mean_run_time: Some(duration(seconds(plan.mean_seconds))),
        utilization: plan.utilization,
        simulated_job_count: i32::try_from(plan.jobs).unwrap_or(i32::MAX),
    }
}

fn performance((found, stable): (Performance, bool)) -> v1beta1::LanePerformance {
    let micros = |micros: u64| duration(Span::from_nanos(micros.saturating_mul(1_000)));
    v1beta1::LanePerformance {
        mean_slowdown: found.mean_slowdown,
        p95_slowdown: found.p95_slowdown,
        mean_wait: Some(duration(seconds(found.mean_wait / 1e6))),
        p95_wait: Some(micros(found.p95_wait)),
        mean_sojourn: Some(duration(seconds(found.mean_sojourn / 1e6))),
        p95_sojourn: Some(micros(found.p95_sojourn)),
        wasted_ratio: found.wasted_ratio,
        stable,
    }
}

/// A mean, rounded to microseconds.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "rounded")]
fn seconds(seconds: f64) -> Span {
    Span::from_nanos(((seconds * 1e6 + 0.5) as u64).saturating_mul(1_000))
}
