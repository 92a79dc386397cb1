//! How jobs fare.

use crate::distribution::real;

/// How the jobs of a simulation fared. Times are in microseconds.
#[derive(Debug, Clone, PartialEq)]
pub struct Performance {
    /// Bounded slowdown, max(1, sojourn / max(run time, floor)): the mean over all jobs.
    pub mean_slowdown: f64,
    /// Nineteen of twenty jobs have no more.
    pub p95_slowdown: f64,
    /// From the arrival to the first start.
    pub mean_wait: f64,
    /// Nineteen of twenty jobs wait no longer.
    pub p95_wait: u64,
    /// From the arrival to the end.
    pub mean_sojourn: f64,
    /// Nineteen of twenty jobs are done within this.
    pub p95_sojourn: u64,
    /// The share of the workers' time that was lost to aborted attempts, 0 to 1.
    pub wasted_ratio: f64,
    /// Jobs that reached the timeout of the last lane. They count in the waste, and in no other
    /// figure above.
    pub failed: u64,
    /// The same for jobs by their length: one class more than there are bounds between classes.
    pub classes: Vec<ClassPerformance>,
    /// The same for jobs by their type; empty if types are not known.
    pub types: Vec<ClassPerformance>,
}

/// How jobs of about one length, or of one type, fared. Means, in microseconds; 0 if there were
/// none.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ClassPerformance {
    /// How many there were.
    pub jobs: u64,
    /// From the arrival to the first start.
    pub mean_wait: f64,
    /// From the arrival to the end.
    pub mean_sojourn: f64,
}

/// Sums over jobs of about one length, or of one type.
#[derive(Debug, Clone, Copy, Default)]
struct ClassSums {
    jobs: u64,
    wait: u128,
    sojourn: u128,
}

impl ClassSums {
    #[inline]
    fn add(&mut self, wait: u64, sojourn: u64) {
        self.jobs += 1;
        self.wait += u128::from(wait);
        self.sojourn += u128::from(sojourn);
    }

    fn performance(&self) -> ClassPerformance {
        ClassPerformance {
            jobs: self.jobs,
            mean_wait: mean(self.wait, self.jobs),
            mean_sojourn: mean(self.sojourn, self.jobs),
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "a mean")]
fn mean(sum: u128, jobs: u64) -> f64 {
    sum as f64 / real(jobs.max(1))
}

/// Counts jobs.
#[derive(Debug)]
pub(super) struct Tally<'a> {
    floor: u64,
    /// The longest run time of each class but the last.
    bounds: &'a [u64],
    classes: Vec<ClassSums>,
    types: Vec<ClassSums>,
    waits: Vec<u64>,
    sojourns: Vec<u64>,
    slowdowns: Vec<f64>,
}

impl<'a> Tally<'a> {
    pub(super) fn new(floor: u64, jobs: usize, bounds: &'a [u64], types: usize) -> Self {
        Self {
            floor: floor.max(1),
            bounds,
            classes: vec![ClassSums::default(); bounds.len() + 1],
            types: vec![ClassSums::default(); types],
            waits: Vec::with_capacity(jobs),
            sojourns: Vec::with_capacity(jobs),
            slowdowns: Vec::with_capacity(jobs),
        }
    }

    #[inline]
    pub(super) fn add(&mut self, arrival: u64, start: u64, end: u64, run_time: u64, kind: usize) {
        let (wait, sojourn) = (start - arrival, end - arrival);
        let class = self.bounds.iter().take_while(|bound| **bound < run_time).count();
        let both = [self.classes.get_mut(class), self.types.get_mut(kind)];
        both.into_iter().flatten().for_each(|sums| sums.add(wait, sojourn));
        self.waits.push(wait);
        self.sojourns.push(sojourn);
        self.slowdowns.push((real(sojourn) / real(run_time.max(self.floor))).max(1.0));
    }

    pub(super) fn performance(mut self, worked: u64, wasted: u64, failed: u64) -> Performance {
        let jobs = self.classes.iter().map(|sums| sums.jobs).sum();
        let mean_wait = mean(self.classes.iter().map(|sums| sums.wait).sum(), jobs);
        let mean_sojourn = mean(self.classes.iter().map(|sums| sums.sojourn).sum(), jobs);
        let mean_slowdown =
            self.slowdowns.iter().sum::<f64>() / real(self.slowdowns.len().max(1) as u64);
        Performance {
            mean_slowdown,
            p95_slowdown: p95(&mut self.slowdowns, f64::total_cmp).unwrap_or(1.0),
            mean_wait,
            p95_wait: p95(&mut self.waits, Ord::cmp).unwrap_or_default(),
            mean_sojourn,
            p95_sojourn: p95(&mut self.sojourns, Ord::cmp).unwrap_or_default(),
            wasted_ratio: real(wasted) / real(worked.max(1)),
            failed,
            classes: self.classes.iter().map(ClassSums::performance).collect(),
            types: self.types.iter().map(ClassSums::performance).collect(),
        }
    }
}

/// The smallest value that nineteen of twenty do not exceed.
fn p95<T: Copy>(values: &mut [T], order: impl FnMut(&T, &T) -> core::cmp::Ordering) -> Option<T> {
    let place = (values.len() * 19).div_ceil(20).checked_sub(1)?;
    let (_, value, _) = values.select_nth_unstable_by(place, order);
    Some(*value)
}
