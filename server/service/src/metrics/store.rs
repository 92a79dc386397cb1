//! Metrics of an external store of named spreads: durations and failures of its steps.

use std::time::Duration;

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

use super::durations::{Durations, durations};

/// Why a step failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepFailure {
    /// There was no answer in time; the step may have been taken.
    Timeout,
    /// There was no connection, or it broke.
    Connection,
    /// The memory of the store is full.
    Full,
    /// The store refused the step, or its answer was invalid.
    Other,
}

impl StepFailure {
    const ALL: [Self; 4] = [Self::Timeout, Self::Connection, Self::Full, Self::Other];

    /// Its label.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Timeout => "timeout",
            Self::Connection => "connection",
            Self::Full => "full",
            Self::Other => "other",
        }
    }
}

/// A label with its value.
type Label = [(&'static str, &'static str); 1];

/// Metrics of a store; clones share them.
#[derive(Debug, Clone)]
pub struct StoreMetrics {
    durations: Durations<Label>,
    failures: Family<Label, Counter>,
    is_up: Gauge,
}

impl Default for StoreMetrics {
    fn default() -> Self {
        let failures: Family<Label, Counter> = Family::default();
        for failure in StepFailure::ALL {
            drop(failures.get_or_create(&[("reason", failure.name())]));
        }
        Self { durations: durations(), failures, is_up: Gauge::default() }
    }
}

impl StoreMetrics {
    /// Records a step that has ended. A store that is full counts as up: it was reached.
    pub fn record(&self, step: &'static str, took: Duration, failure: Option<StepFailure>) {
        self.durations.get_or_create(&[("step", step)]).observe(took.as_secs_f64());
        if let Some(failure) = failure {
            self.failures.get_or_create(&[("reason", failure.name())]).inc();
        }
        self.is_up.set(i64::from(matches!(failure, None | Some(StepFailure::Full))));
    }

    pub(super) fn register(&self, registry: &mut Registry) {
        let help = "Time that the steps of the store of named spreads take";
        registry.register("spread_store_step_duration_seconds", help, self.durations.clone());
        let help = "Steps of the store of named spreads that failed, by reason";
        registry.register("spread_store_failures", help, self.failures.clone());
        let help = "Whether the last step of the store of named spreads succeeded, or the store was full: 1 or 0";
        registry.register("spread_store_up", help, self.is_up.clone());
    }
}

#[cfg(test)]
mod tests {
    use prometheus_client::encoding::text::encode;

    use super::*;

    #[test]
    fn the_last_step_says_whether_the_store_is_up() {
        let (metrics, mut registry) = (StoreMetrics::default(), Registry::default());
        metrics.register(&mut registry);
        let text = |failure| {
            metrics.clone().record("call", Duration::from_millis(3), failure);
            let mut text = String::new();
            encode(&mut text, &registry).unwrap();
            text
        };
        assert!(text(None).contains("\nspread_store_up 1\n"));
        assert!(text(Some(StepFailure::Timeout)).contains("\nspread_store_up 0\n"));
        let full = text(Some(StepFailure::Full));
        assert!(full.contains("\nspread_store_up 1\n"), "{full}");
        for (reason, count) in [("timeout", 1), ("full", 1), ("connection", 0), ("other", 0)] {
            let series = format!("spread_store_failures_total{{reason=\"{reason}\"}} {count}\n");
            assert!(full.contains(&series), "{full}");
        }
        let series = "spread_store_step_duration_seconds_bucket{le=\"0.005\",step=\"call\"} 3\n";
        assert!(full.contains(series), "{full}");
    }
}
