//! Histograms of the durations of requests, and of the steps of a store.

use std::hash::Hash;

use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::Histogram;

/// Upper bounds of the histograms, in seconds.
const LATENCIES: [f64; 12] =
    [0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 10.0];

/// A histogram of durations for each set of labels.
pub(super) type Durations<L> = Family<L, Histogram, fn() -> Histogram>;

pub(super) fn durations<L: Clone + Eq + Hash>() -> Durations<L> {
    Family::new_with_constructor(|| Histogram::new(LATENCIES))
}
