//! What a run did over time.

use serde::Serialize;

use crate::distribution::real;
use crate::world::{Step, Sums, Trace};

/// Time series, in steps.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Series {
    /// Seconds in a step.
    pub step: u32,
    /// The largest queue in each step.
    pub queue_depth: Vec<u32>,
    /// The mean in each step.
    pub finished_per_second: Vec<f64>,
    /// The most in a second of each step.
    pub enqueued_per_second: Vec<u32>,
    /// The mean in each step.
    pub busy_workers: Vec<f64>,
    /// The most in each step.
    pub workers: Vec<u32>,
}

impl Series {
    pub(super) fn of(trace: &Trace, duration: u64) -> Self {
        let Sums { step, rows, steps, .. } = &trace.sums;
        // The last second may be a part of one.
        let end = if trace.is_cut { rows * 1_000_000 } else { duration };
        let seconds = |place: usize, part: &Step| {
            let begin = place as u64 * u64::from(*step) * 1_000_000;
            let whole = u64::from(part.rows) * 1_000_000;
            real(end.saturating_sub(begin).min(whole).max(1)) / 1e6
        };
        let rates = steps.iter().enumerate();
        Self {
            step: *step,
            queue_depth: steps.iter().map(|part| part.queue_depth).collect(),
            finished_per_second: rates
                .map(|(place, part)| real(part.finished) / seconds(place, part))
                .collect(),
            enqueued_per_second: steps.iter().map(|part| part.enqueued).collect(),
            busy_workers: steps
                .iter()
                .map(|part| real(part.busy_workers) / f64::from(part.rows))
                .collect(),
            workers: steps.iter().map(|part| part.workers).collect(),
        }
    }
}
