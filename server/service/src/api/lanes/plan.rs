//! `PlanLanes`: convert in, plan, convert out.

use offbeat_core::lanes::OnTimeout;
use offbeat_core::{Rejection, Span};
use offbeat_sim::distribution::Distribution;
use offbeat_sim::lanes::{
    ClassPerformance, CutoffFigures, Plan, PlanSpec, Ratio, RunTimeClass, Sensitivity, Summary,
    Verdict,
};

use super::lane_set::on_timeout_of;
use super::sentences::sentences;
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
        run_times: run_times_of(&given)?,
        arrival_rate,
        worker_count: worker_count.into(),
        tolerated_wait: optional("tolerated_wait", tolerated_wait)?,
        slowdown_floor: optional("slowdown_floor", slowdown_floor)?,
        on_timeout: on_timeout_of(on_timeout)?,
        max_lane_count: max_lane_count.map(i64::from),
        seed,
    };
    let plan = spec.plan()?;
    let samples = match &given {
        Given::Samples(samples) => samples_by_class(&plan.classes, &samples.run_time_micros),
        Given::Histogram(_) | Given::Percentiles(_) => Vec::new(),
    };
    Ok(answer(&plan, spec.on_timeout, &samples))
}

/// How many run times are in each class.
fn samples_by_class(classes: &[RunTimeClass], samples: &[i64]) -> Vec<usize> {
    let mut counts = vec![0; classes.len()];
    let bounds = classes.iter().filter_map(|class| class.longest);
    let bounds: Vec<i128> = bounds.map(|longest| longest.nanos() / 1_000).collect();
    for sample in samples {
        let class = bounds.iter().take_while(|bound| **bound < i128::from(*sample)).count();
        counts.get_mut(class).into_iter().for_each(|count| *count += 1);
    }
    counts
}

fn run_times_of(given: &Given) -> Result<Distribution, Rejection> {
    match given {
        Given::Samples(v1beta1::RunTimeSamples { run_time_micros }) => {
            Distribution::of_samples(run_time_micros).map_err(|refused| refused.under("samples"))
        }
        Given::Histogram(v1beta1::RunTimeHistogram { buckets }) => {
            let buckets = buckets.iter().enumerate().map(|(place, bucket)| {
                let v1beta1::RunTimeBucket { upper_bound, job_count } = *bucket;
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
            let given = optional("p50", *p50)
                .and_then(|p50| Ok((p50, optional("p90", *p90)?, optional("mean", *mean)?)));
            given
                .and_then(|(p50, p90, mean)| Distribution::of_percentiles(p50, p90, mean))
                .map_err(|refused| refused.under("percentiles"))
        }
    }
}

fn answer(plan: &Plan, on_timeout: OnTimeout, samples: &[usize]) -> v1beta1::PlanLanesResponse {
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
        with_lanes: at.with_lanes.as_ref().map(performance),
        without_lanes: Some(performance(&at.without_lanes)),
    };
    let cutoff = |point: &CutoffFigures| v1beta1::CutoffFigures {
        cutoff: Some(duration(point.cutoff)),
        express_worker_count: i32::try_from(point.express_workers).unwrap_or(i32::MAX),
        mean_slowdown: point.mean_slowdown,
        mean_sojourn: point.mean_sojourn.map(mean),
        stable: point.mean_slowdown.is_some(),
        stable_with_more_arrivals: point.has_room,
    };
    let ratio = |ratio: Ratio| {
        let Ratio { estimate, low, high } = ratio;
        v1beta1::RatioInterval { estimate, low, high }
    };
    let verdict = match plan.verdict {
        Verdict::Lanes => v1beta1::LaneVerdict::Lanes,
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
        run_time_classes: classes(plan, samples),
        messages: sentences(plan, on_timeout, samples),
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
    let Summary { median: found, slowdown_range: [low, high], sojourn_range, keeps_up } = found;
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
        mean_slowdown_range: Some(v1beta1::FigureRange { low: *low, high: *high }),
        mean_sojourn_range: Some(v1beta1::DurationRange { low: low_sojourn, high: high_sojourn }),
    }
}

/// A mean of microseconds.
fn mean(micros: f64) -> prost_types::Duration {
    duration(seconds(micros / 1e6))
}

/// A mean, rounded to microseconds.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "rounded")]
fn seconds(seconds: f64) -> Span {
    Span::from_nanos(((seconds * 1e6 + 0.5) as u64).saturating_mul(1_000))
}
