//! Which differences a plan speaks of, and how certain its figures are.

use offbeat_sim::lanes::Ratio;
use offbeat_text::figures::figure;

/// With fewer samples of long jobs, a plan warns that its figures are uncertain.
pub(super) const FEW_SAMPLES: usize = 30;

/// Above this ratio to the time with one queue, jobs are said to take longer.
pub(super) const LONGER: f64 = 1.05;

/// Above this ratio, a mean slowdown is said to be worse.
pub(super) const WORSE: f64 = 1.02;

pub(super) fn interval(ratio: Ratio) -> String {
    format!("95 % interval: {} to {}", figure(ratio.low), figure(ratio.high))
}
