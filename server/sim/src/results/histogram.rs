//! Histograms of the intervals between a user's runs.

use serde::Serialize;

use crate::distribution::real;

const BINS: u32 = 60;

/// Counts between edges.
#[derive(Debug, Clone, Serialize)]
pub struct Histogram {
    /// Edges in seconds; one more than there are counts.
    pub edges: Vec<f64>,
    /// Counts between the edges; values beyond the outer edges count at the ends.
    pub counts: Vec<u64>,
}

impl Histogram {
    /// The edges of bins between two intervals in microseconds, over whole seconds.
    pub(super) fn edges(low: u64, high: u64) -> Vec<f64> {
        let (low, high) = (real(low) / 1e6, real(high) / 1e6);
        let (low, high) = (low.floor(), high.ceil().max(low.floor() + 1.0));
        let step = (high - low) / f64::from(BINS);
        (0..=BINS).map(|edge| step.mul_add(f64::from(edge), low)).collect()
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "of counts")]
    pub(super) fn of(edges: &[f64], intervals: &[u64]) -> Self {
        let bins = edges.len().saturating_sub(1);
        let mut counts = vec![0; bins];
        let (low, high) = (edges.first().copied(), edges.last().copied());
        let (low, high) = (low.unwrap_or_default(), high.unwrap_or_default());
        let bins_per_second = real(bins as u64) / (high - low);
        let is_above =
            |edge: usize, seconds: f64| edges.get(edge).is_some_and(|edge| *edge > seconds);
        for interval in intervals {
            let seconds = real(*interval) / 1e6;
            // Rounding may put the estimate one bin off; the edges decide.
            let mut bin =
                (((seconds - low) * bins_per_second) as usize).min(bins.saturating_sub(1));
            while bin > 0 && is_above(bin, seconds) {
                bin -= 1;
            }
            while bin + 1 < bins && !is_above(bin + 1, seconds) {
                bin += 1;
            }
            counts.get_mut(bin).into_iter().for_each(|count| *count += 1);
        }
        Self { edges: edges.to_vec(), counts }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_histogram_counts_between_its_edges() {
        let edges: Vec<f64> = (0..=60).map(|edge| 0.1_f64.mul_add(f64::from(edge), 3.0)).collect();
        let intervals: Vec<u64> = (2_900_000..9_200_000).step_by(50_000).collect();
        let mut expected = vec![0; 60];
        for interval in &intervals {
            let seconds = real(*interval) / 1e6;
            let bin = edges.iter().rposition(|edge| *edge <= seconds).unwrap_or(0).min(59);
            expected[bin] += 1;
        }
        let found = Histogram::of(&edges, &intervals);
        assert_eq!(found.counts, expected);
        assert_eq!(found.counts.iter().sum::<u64>(), intervals.len() as u64);
    }
}
