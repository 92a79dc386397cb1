//! Types of job, by how long their jobs run.

use offbeat_core::Span;

use super::span::micros;
use crate::distribution::{Distribution, real};

/// How long the jobs of a type run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TypeFigures {
    /// Its place among the types, as they were given.
    pub place: usize,
    /// How many run times of it are known.
    pub samples: usize,
    /// Its share of all jobs.
    pub share: f64,
    /// Its share of all work.
    pub work_share: f64,
    /// Its mean run time, in seconds.
    pub mean_seconds: f64,
    /// The median run time.
    pub p50: Span,
    /// The 99th percentile of the run times.
    pub p99: Span,
    /// The longest run time.
    pub longest: Span,
    /// ∫x over its jobs, in seconds; over all types, these add up to the mean run time.
    pub(super) first: f64,
    /// ∫x², in seconds².
    pub(super) second: f64,
    /// ∫1/max(x, floor), in 1/s.
    pub(super) inverse: f64,
}

/// The types of the run times, those with the longest mean first; empty if types are not known.
pub(super) fn ranked(run_times: &Distribution, floor: u64) -> Vec<TypeFigures> {
    let (total, work) = (real(run_times.micros().len() as u64), run_times.all().first);
    let mut types: Vec<Vec<u64>> = Vec::new();
    for (micros, kind) in run_times.micros().iter().zip(run_times.types()) {
        let kind = usize::from(*kind);
        if types.len() <= kind {
            types.resize(kind + 1, Vec::new());
        }
        types.get_mut(kind).into_iter().for_each(|samples| samples.push(*micros));
    }
    let figures = types.iter().enumerate().map(|(place, samples)| {
        let count = real(samples.len() as u64).max(1.0);
        let sum = |of: &dyn Fn(f64) -> f64| {
            samples.iter().map(|micros| of(real(*micros) / 1e6)).sum::<f64>()
        };
        let first = sum(&|seconds| seconds);
        let floor = real(floor) / 1e6;
        TypeFigures {
            place,
            samples: samples.len(),
            share: count / total,
            work_share: first / total / work,
            mean_seconds: first / count,
            p50: at(samples, 50),
            p99: at(samples, 99),
            longest: at(samples, 100),
            first: first / total,
            second: sum(&|seconds| seconds * seconds) / total,
            inverse: sum(&|seconds| 1.0 / seconds.max(floor)) / total,
        }
    });
    let mut figures: Vec<TypeFigures> = figures.collect();
    figures.sort_by(|one, other| other.mean_seconds.total_cmp(&one.mean_seconds));
    figures
}

/// The smallest of ascending values that covers this percentage of them.
fn at(samples: &[u64], percent: usize) -> Span {
    let place = (samples.len() * percent).div_ceil(100).saturating_sub(1);
    micros(samples.get(place).copied().unwrap_or_default())
}

/// By type, the share of its jobs that run longer than a bound in microseconds.
pub(super) fn longer(run_times: &Distribution, bound: u64, count: usize) -> Vec<f64> {
    let mut counts = vec![(0_u64, 0_u64); count];
    for (micros, kind) in run_times.micros().iter().zip(run_times.types()) {
        if let Some((over, all)) = counts.get_mut(usize::from(*kind)) {
            *over += u64::from(*micros > bound);
            *all += 1;
        }
    }
    counts.into_iter().map(|(over, all)| real(over) / real(all.max(1))).collect()
}
