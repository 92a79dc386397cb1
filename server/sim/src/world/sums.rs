//! Rows by second, summed up as they come: a scenario of weeks has millions of them.

use std::sync::Arc;

use super::metrics::Row;

/// The most steps of a series.
const STEPS: u64 = 1_200;
/// The lengths of a step in seconds: units in which people count time.
const STEP_SECONDS: [u32; 21] = [
    1, 2, 5, 10, 15, 20, 30, 60, 120, 300, 600, 900, 1_200, 1_800, 3_600, 7_200, 10_800, 14_400,
    21_600, 43_200, 86_400,
];
const MINUTE: u32 = 60;

/// Sums of rows.
#[derive(Debug, Clone, Default)]
pub struct Sums {
    /// Rows of a step.
    pub step: u32,
    /// How many rows there were.
    pub rows: u64,
    /// Jobs that were done, by minute.
    pub finished_by_minute: Vec<u64>,
    /// Sums by step of the series.
    pub steps: Vec<Step>,
    /// Attempts that found their lock held.
    pub lock_conflicts: u64,
}

/// Rows that are combined in a series.
#[derive(Debug, Clone, Copy, Default)]
pub struct Step {
    /// Number of rows.
    pub rows: u32,
    /// The most jobs that wait.
    pub queue_depth: u32,
    /// The most that are enqueued in a second.
    pub enqueued: u32,
    /// Maximum number of workers.
    pub workers: u32,
    /// Jobs that were done.
    pub finished: u64,
    /// Workers with a job, summed over the seconds.
    pub busy_workers: u64,
}

/// The shortest step that is long enough for a run of this many seconds.
fn step_of(seconds: u64) -> u32 {
    let is_enough = |step: &&u32| seconds.div_ceil(u64::from(**step)) <= STEPS;
    let [.., longest] = STEP_SECONDS;
    STEP_SECONDS.iter().find(is_enough).copied().unwrap_or(longest)
}

impl Sums {
    /// The jobs that were done in each whole minute. A part of a minute at the end does not count
    /// as a minute with less work.
    pub fn whole_minutes(&self) -> &[u64] {
        let whole = usize::try_from(self.rows / u64::from(MINUTE)).unwrap_or(usize::MAX);
        self.finished_by_minute.get(..whole).unwrap_or(&self.finished_by_minute)
    }

    /// The maximum of a figure over all steps.
    pub fn most(&self, of: fn(&Step) -> u32) -> u32 {
        self.steps.iter().map(of).max().unwrap_or(0)
    }
}

/// The rows of a run in progress.
pub(super) struct Rows {
    kept: Option<Vec<Row>>,
    sums: Sums,
    /// The current step and minute, and how many rows each still needs. They are counted down,
    /// since a division would take longer than everything else.
    step: Step,
    step_left: u32,
    finished: u64,
    minute_left: u32,
}

impl Rows {
    /// Rows for this many seconds. If `keep` is not set, only their sums are kept.
    pub(super) fn new(seconds: u64, keep: bool) -> Self {
        let step = step_of(seconds);
        let capacity = usize::try_from(seconds).unwrap_or_default();
        let kept = keep.then(|| Vec::with_capacity(capacity));
        let sums = Sums { step, ..Sums::default() };
        let (step_left, minute_left) = (step, MINUTE);
        Self { kept, sums, step: Step::default(), step_left, finished: 0, minute_left }
    }

    #[inline]
    pub(super) fn push(&mut self, row: Row) {
        self.sums.rows += 1;
        self.sums.lock_conflicts += u64::from(row.lock_conflicts);
        self.finished += u64::from(row.finished);
        self.minute_left -= 1;
        if self.minute_left == 0 {
            self.end_minute();
        }
        let step = &mut self.step;
        step.rows += 1;
        step.queue_depth = step.queue_depth.max(row.queue_depth);
        step.enqueued = step.enqueued.max(row.enqueued);
        step.workers = step.workers.max(row.workers);
        step.finished += u64::from(row.finished);
        step.busy_workers += u64::from(row.busy_workers);
        self.step_left -= 1;
        if self.step_left == 0 {
            self.end_step();
        }
        if let Some(kept) = &mut self.kept {
            kept.push(row);
        }
    }

    fn end_minute(&mut self) {
        self.sums.finished_by_minute.push(std::mem::take(&mut self.finished));
        self.minute_left = MINUTE;
    }

    fn end_step(&mut self) {
        self.sums.steps.push(std::mem::take(&mut self.step));
        self.step_left = self.sums.step.max(1);
    }

    /// How many rows make a step.
    pub(super) const fn step(&self) -> u32 {
        self.sums.step
    }

    /// How many rows there are.
    pub(super) const fn len(&self) -> u64 {
        self.sums.rows
    }

    /// The rows of the run, if they were kept, and their sums.
    pub(super) fn close(&mut self) -> (Arc<Vec<Row>>, Sums) {
        if self.minute_left < MINUTE {
            self.end_minute();
        }
        if self.step.rows > 0 {
            self.end_step();
        }
        (Arc::new(self.kept.take().unwrap_or_default()), std::mem::take(&mut self.sums))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_round_and_no_more_than_fit_into_a_chart() {
        let day = 86_400;
        let steps = [1, 1_200, 1_201, 5_001, day, 7 * day, 14 * day, 366 * day].map(step_of);
        assert_eq!(steps, [1, 1, 2, 5, 120, 600, 1_200, 43_200]);
    }
}
