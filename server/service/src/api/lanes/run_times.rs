//! Reads the run times of a request.

use offbeat_core::Rejection;
use offbeat_core::ids::check_names;
use offbeat_sim::distribution::Distribution;
use offbeat_sim::lanes::RunTimeClass;

use crate::api::convert::{required, span};
use offbeat_proto::v1beta1::{self, plan_lanes_request::RunTimes};

/// Run times, and the names of their types, if these are known.
pub(super) struct RunTimeInput {
    pub(super) run_times: Distribution,
    pub(super) type_names: Vec<String>,
}

pub(super) fn run_times_of(given: &RunTimes) -> Result<RunTimeInput, Rejection> {
    let run_times = match given {
        RunTimes::Samples(v1beta1::RunTimeSamples { run_time_micros }) => {
            Distribution::of_samples(run_time_micros).map_err(|refused| refused.under("samples"))
        }
        RunTimes::SamplesByType(samples) => {
            return by_type(samples).map_err(|refused| refused.under("samples_by_type"));
        }
        RunTimes::Histogram(histogram) => {
            of_histogram(histogram).map_err(|refused| refused.under("histogram"))
        }
        RunTimes::Percentiles(percentiles) => {
            of_percentiles(percentiles).map_err(|refused| refused.under("percentiles"))
        }
    };
    Ok(RunTimeInput { run_times: run_times?, type_names: Vec::new() })
}

fn by_type(samples: &v1beta1::RunTimeSamplesByType) -> Result<RunTimeInput, Rejection> {
    let v1beta1::RunTimeSamplesByType { types } = samples;
    let micros: Vec<&[i64]> = types.iter().map(|kind| kind.run_time_micros.as_slice()).collect();
    let run_times = Distribution::of_samples_by_type(&micros)?;
    check_names(types.iter().map(|kind| kind.name.as_str()))
        .map_err(|refused| refused.under("types"))?;
    let type_names = types.iter().map(|kind| kind.name.clone()).collect();
    Ok(RunTimeInput { run_times, type_names })
}

fn of_histogram(histogram: &v1beta1::RunTimeHistogram) -> Result<Distribution, Rejection> {
    let v1beta1::RunTimeHistogram { buckets } = histogram;
    let buckets = buckets.iter().enumerate().map(|(place, bucket)| {
        let v1beta1::RunTimeBucket { upper_bound, job_count } = *bucket;
        let field = format!("buckets[{place}].upper_bound");
        let bound = span(&field, required(&field, upper_bound, "must be set")?)?;
        Ok((bound, job_count))
    });
    Distribution::of_histogram(&buckets.collect::<Result<Vec<_>, Rejection>>()?)
}

fn of_percentiles(percentiles: &v1beta1::RunTimePercentiles) -> Result<Distribution, Rejection> {
    let v1beta1::RunTimePercentiles { p50, p90, mean } = *percentiles;
    let optional = |field: &str, time: Option<prost_types::Duration>| {
        time.map(|time| span(field, time)).transpose()
    };
    let (p50, p90, mean) = (optional("p50", p50)?, optional("p90", p90)?, optional("mean", mean)?);
    Distribution::of_percentiles(p50, p90, mean)
}

/// The number of samples in each class; empty if the request gives no samples.
pub(super) fn samples_by_class(classes: &[RunTimeClass], given: &RunTimes) -> Vec<usize> {
    let samples: Vec<&[i64]> = match given {
        RunTimes::Samples(samples) => vec![&samples.run_time_micros],
        RunTimes::SamplesByType(samples) => {
            samples.types.iter().map(|kind| kind.run_time_micros.as_slice()).collect()
        }
        RunTimes::Histogram(_) | RunTimes::Percentiles(_) => return Vec::new(),
    };
    let mut counts = vec![0; classes.len()];
    let bounds = classes.iter().filter_map(|class| class.longest);
    let bounds: Vec<i128> = bounds.map(|longest| longest.nanos() / 1_000).collect();
    for sample in samples.into_iter().flatten() {
        let class = bounds.iter().take_while(|bound| **bound < i128::from(*sample)).count();
        counts.get_mut(class).into_iter().for_each(|count| *count += 1);
    }
    counts
}
