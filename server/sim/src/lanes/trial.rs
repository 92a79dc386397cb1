//! Lanes and one queue with the same jobs, stream by stream.
//!
//! With a heavy tail, a single stream of jobs says little, however long it is: whether a job of an
//! hour comes at a bad moment decides its figures. So there are many streams, everything that is
//! compared gets the same ones, and each comparison has an interval.

use core::cell::OnceCell;

use offbeat_core::lanes::LaneSet;

use super::performance::{ClassPerformance, Performance};
use super::simulate::{Work, simulate_lanes, simulate_queue};
use crate::distribution::{Distribution, real};

/// Jobs of a stream.
pub(super) const STREAM_JOBS: usize = 100_000;

/// Streams that are kept. Others are made again each time they are needed.
const KEPT: usize = 4;

/// Streams of jobs that arrive at one rate.
#[derive(Debug)]
pub(super) struct Streams<'a> {
    run_times: &'a Distribution,
    rate: f64,
    floor: u64,
    seed: u64,
    kept: Vec<Work>,
}

impl<'a> Streams<'a> {
    pub(super) fn new(run_times: &'a Distribution, rate: f64, floor: u64, seed: u64) -> Self {
        // Streams of neighbouring seeds must differ. The step of the generator that seeds ours
        // (0x9E37…) must not be the factor, or their states would overlap.
        let seed = seed.wrapping_mul(0xD1B5_4A32_D192_ED03);
        let mut streams = Self { run_times, rate, floor, seed, kept: Vec::new() };
        streams.kept = (0..KEPT).map(|number| streams.make(number)).collect();
        streams
    }

    fn make(&self, number: usize) -> Work {
        let seed = self.seed.wrapping_add(number as u64);
        Work::new(self.run_times, self.rate, STREAM_JOBS, self.floor, seed)
    }

    /// Simulates the first `count` streams with each of the trials, except those that it has
    /// already simulated.
    pub(super) fn simulate(&self, trials: &mut [&mut Trial], count: usize) {
        for number in 0..count {
            let made = OnceCell::new();
            let work =
                || self.kept.get(number).unwrap_or_else(|| made.get_or_init(|| self.make(number)));
            for trial in trials.iter_mut().filter(|trial| trial.runs.len() == number) {
                trial.run(work());
            }
        }
    }
}

/// The arrangement of workers that a trial simulates.
#[derive(Debug, Clone)]
enum Arrangement {
    Lanes(LaneSet),
    /// The lane that jobs of each type begin in.
    ByType(LaneSet, Vec<usize>),
    /// One queue for this many workers.
    Queue(u32),
}

/// Lanes, or one queue, and how the jobs of the first streams fared with them.
#[derive(Debug, Clone)]
pub(super) struct Trial {
    arrangement: Arrangement,
    /// The bounds between the classes of jobs.
    bounds: Vec<u64>,
    runs: Vec<Performance>,
}

impl Trial {
    pub(super) const fn of_queue(workers: u32, bounds: Vec<u64>) -> Self {
        Self { arrangement: Arrangement::Queue(workers), bounds, runs: Vec::new() }
    }

    pub(super) const fn of_lanes(lanes: LaneSet, bounds: Vec<u64>) -> Self {
        Self { arrangement: Arrangement::Lanes(lanes), bounds, runs: Vec::new() }
    }

    pub(super) const fn by_type(lanes: LaneSet, entries: Vec<usize>) -> Self {
        let arrangement = Arrangement::ByType(lanes, entries);
        Self { arrangement, bounds: Vec::new(), runs: Vec::new() }
    }

    fn run(&mut self, work: &Work) {
        self.runs.push(match &self.arrangement {
            Arrangement::Lanes(lanes) => simulate_lanes(work, lanes, &[], &self.bounds),
            Arrangement::ByType(lanes, entries) => {
                simulate_lanes(work, lanes, entries, &self.bounds)
            }
            Arrangement::Queue(workers) => simulate_queue(work, *workers as usize, &self.bounds),
        });
    }

    /// How many streams were simulated.
    pub(super) fn count(&self) -> usize {
        self.runs.len()
    }

    /// The mean logarithm of a figure over the streams.
    #[expect(clippy::cast_precision_loss, reason = "a few dozen")]
    pub(super) fn mean_log(&self, figure: fn(&Performance) -> f64) -> f64 {
        let sum: f64 = self.runs.iter().map(|run| libm::log(figure(run))).sum();
        sum / self.runs.len().max(1) as f64
    }

    /// The ratio of a figure to that of another trial with the same streams.
    pub(super) fn against(&self, other: &Self, figure: fn(&Performance) -> f64) -> Ratio {
        let logs = self.runs.iter().zip(&other.runs);
        let logs = logs.map(|(one, other)| libm::log(figure(one) / figure(other)));
        Ratio::of_logs(&logs.collect::<Vec<_>>())
    }

    /// The median of each figure, and the ranges of mean slowdown and mean sojourn.
    pub(super) fn summary(&self, keeps_up: bool) -> Summary {
        let median = |figure: &dyn Fn(&Performance) -> f64| self.sorted(figure).at(0.5);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "of whole ones"
        )]
        let whole = |figure: fn(&Performance) -> u64| median(&|run| real(figure(run))) as u64;
        type Classes = fn(&Performance) -> &[ClassPerformance];
        let class = |classes: Classes, place: usize| {
            let of = |figure: fn(&ClassPerformance) -> f64| {
                median(&|run| classes(run).get(place).map_or(0.0, figure))
            };
            let jobs = self.runs.iter().filter_map(|run| classes(run).get(place));
            ClassPerformance {
                jobs: jobs.map(|class| class.jobs).sum(),
                mean_wait: of(|class| class.mean_wait),
                mean_sojourn: of(|class| class.mean_sojourn),
            }
        };
        let all = |classes: Classes| {
            let count = self.runs.first().map_or(0, |run| classes(run).len());
            (0..count).map(|place| class(classes, place)).collect()
        };
        let range = |figure: fn(&Performance) -> f64| {
            let sorted = self.sorted(&figure);
            [sorted.at(0.05), sorted.at(0.95)]
        };
        Summary {
            median: Performance {
                mean_slowdown: median(&|run| run.mean_slowdown),
                p95_slowdown: median(&|run| run.p95_slowdown),
                mean_wait: median(&|run| run.mean_wait),
                p95_wait: whole(|run| run.p95_wait),
                mean_sojourn: median(&|run| run.mean_sojourn),
                p95_sojourn: whole(|run| run.p95_sojourn),
                wasted_ratio: median(&|run| run.wasted_ratio),
                failed: whole(|run| run.failed),
                classes: all(|run| &run.classes),
                types: all(|run| &run.types),
            },
            slowdown_range: range(mean_slowdown),
            sojourn_range: range(mean_sojourn),
            keeps_up,
        }
    }

    fn sorted(&self, figure: &dyn Fn(&Performance) -> f64) -> SortedFigures {
        let mut figures: Vec<f64> = self.runs.iter().map(figure).collect();
        figures.sort_by(f64::total_cmp);
        SortedFigures(figures)
    }
}

/// Figures of streams, ascending.
struct SortedFigures(Vec<f64>);

impl SortedFigures {
    /// The figure that a share of the streams does not exceed.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "a place among a few dozen"
    )]
    fn at(&self, share: f64) -> f64 {
        let last = self.0.len().saturating_sub(1);
        let place = libm::round(share * last as f64) as usize;
        self.0.get(place).copied().unwrap_or_default()
    }
}

pub(super) fn mean_slowdown(run: &Performance) -> f64 {
    run.mean_slowdown
}

pub(super) fn mean_sojourn(run: &Performance) -> f64 {
    run.mean_sojourn
}

/// Slowdown times the fourth root of sojourn: of two plans, the one with the smaller product is
/// better. Short jobs come first, but not at any price for the long ones: lanes that make the mean
/// sojourn three times as long must lower the slowdown by at least a quarter.
pub(super) fn cost(run: &Performance) -> f64 {
    run.mean_slowdown * libm::sqrt(libm::sqrt(run.mean_sojourn))
}

/// How jobs fared in several streams.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// The median of each figure.
    pub median: Performance,
    /// The range that nine of ten streams lie within, for the mean slowdown.
    pub slowdown_range: [f64; 2],
    /// The same of the mean sojourn, in microseconds.
    pub sojourn_range: [f64; 2],
    /// Whether the workers keep up with the arrivals.
    pub keeps_up: bool,
}

/// A ratio of two figures: the geometric mean over the streams, with its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ratio {
    /// The estimate.
    pub estimate: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Ratio {
    /// Student's interval of the mean of logarithms.
    #[expect(clippy::cast_precision_loss, reason = "a few dozen")]
    fn of_logs(logs: &[f64]) -> Self {
        let count = logs.len().max(2) as f64;
        let mean = logs.iter().sum::<f64>() / count;
        let squares = logs.iter().map(|log| (log - mean) * (log - mean)).sum::<f64>();
        let error = libm::sqrt(squares / (count - 1.0) / count);
        let reach = student_975(count - 1.0) * error;
        Self {
            estimate: libm::exp(mean),
            low: libm::exp(mean - reach),
            high: libm::exp(mean + reach),
        }
    }
}

/// The 97.5th percentile of Student's distribution, by its expansion (Fisher and Cornish, 1960):
/// accurate to 1 % for 5 degrees of freedom or more.
fn student_975(freedom: f64) -> f64 {
    const Z: f64 = 1.959_963_984_540_054;
    let (z3, z5) = (Z * Z * Z, Z * Z * Z * Z * Z);
    let z7 = z5 * Z * Z;
    Z + (z3 + Z) / (4.0 * freedom)
        + (5.0 * z5 + 16.0 * z3 + 3.0 * Z) / (96.0 * freedom * freedom)
        + (3.0 * z7 + 19.0 * z5 + 17.0 * z3 - 15.0 * Z) / (384.0 * freedom * freedom * freedom)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_those_of_tables() {
        for (freedom, table) in [(5.0, 2.5706), (11.0, 2.2010), (23.0, 2.0687), (47.0, 2.0117)] {
            let found = student_975(freedom);
            assert!((found - table).abs() < 0.01 * table, "{freedom}: {found} for {table}");
        }
    }

    #[test]
    fn a_ratio_of_equals_is_one() {
        let ratio = Ratio::of_logs(&[0.0; 8]);
        assert_eq!((ratio.estimate, ratio.low, ratio.high), (1.0, 1.0, 1.0));
        let ratio = Ratio::of_logs(&[libm::log(2.0), libm::log(0.5)]);
        assert!(ratio.low < 1.0 && ratio.high > 1.0 && (ratio.estimate - 1.0).abs() < 1e-12);
    }
}
