//! Lateness of runs, as callers report it.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Mutex, PoisonError};

use prometheus_client::encoding::{EncodeLabelSet, LabelSetEncoder};
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

use super::{OTHER, encode};
use crate::limits::LATENESS_SERIES;

/// Upper bounds of the histogram, in seconds.
const LATENESSES: [f64; 12] =
    [0.1, 0.5, 1.0, 5.0, 15.0, 60.0, 300.0, 900.0, 3_600.0, 14_400.0, 43_200.0, 86_400.0];

/// The histograms of schedules and kinds.
#[derive(Debug)]
pub(super) struct Lateness {
    series: Family<Labels, Histogram, fn() -> Histogram>,
    /// The pairs that have a series of their own: callers choose the names, so their number is
    /// limited.
    own: Mutex<BTreeSet<Labels>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Labels {
    schedule: String,
    kind: String,
}

impl EncodeLabelSet for Labels {
    fn encode(&self, encoder: &mut LabelSetEncoder<'_>) -> fmt::Result {
        encode(encoder, &[("schedule", &self.schedule), ("kind", &self.kind)])
    }
}

impl Lateness {
    pub(super) fn new(registry: &mut Registry) -> Self {
        let series: Family<_, _, fn() -> Histogram> =
            Family::new_with_constructor(|| Histogram::new(LATENESSES));
        let help = "From the scheduled to the real start of runs, as callers recorded it";
        registry.register("run_lateness_seconds", help, series.clone());
        Self { series, own: Mutex::default() }
    }

    /// Records the lateness of runs, in milliseconds; a run that started early counts as on time.
    /// Returns whether the schedule and kind have a series of their own.
    pub(super) fn record(&self, schedule: &str, kind: &str, millis: &[i64]) -> bool {
        let labels = Labels { schedule: schedule.to_owned(), kind: kind.to_owned() };
        let own = self.takes(&labels);
        let other = || Labels { schedule: OTHER.to_owned(), kind: OTHER.to_owned() };
        let series = self.series.get_or_create_owned(&if own { labels } else { other() });
        for late in millis {
            #[expect(clippy::cast_precision_loss, reason = "below 2^53: it is limited")]
            series.observe((*late).max(0) as f64 / 1e3);
        }
        own
    }

    fn takes(&self, labels: &Labels) -> bool {
        if labels.schedule == OTHER && labels.kind == OTHER {
            return false;
        }
        let mut own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        if own.contains(labels) {
            return true;
        }
        let room = own.len() < LATENESS_SERIES.max_size();
        if room {
            own.insert(labels.clone());
        }
        room
    }
}

#[cfg(test)]
mod tests {
    use prometheus_client::encoding::text::encode;

    use super::*;

    #[test]
    fn after_the_first_hundred_pairs_all_are_others() {
        let mut registry = Registry::default();
        let lateness = Lateness::new(&mut registry);
        for number in 0..100 {
            assert!(lateness.record("bank-sync", &format!("kind-{number}"), &[1]));
        }
        assert!(!lateness.record("bank-sync", "kind-100", &[1, 2]));
        assert!(!lateness.record("mail", "kind-100", &[3]));
        assert!(lateness.record("bank-sync", "kind-7", &[-5, 400, 400_000]), "it has one");
        let mut text = String::new();
        encode(&mut text, &registry).unwrap();
        assert_eq!(text.matches("_count{").count(), 101);
        assert!(text.contains("run_lateness_seconds_count{schedule=\"other\",kind=\"other\"} 3"));
        let seven = "{schedule=\"bank-sync\",kind=\"kind-7\"}";
        assert!(text.contains(&format!("run_lateness_seconds_count{seven} 4")));
        assert!(text.contains(&format!("run_lateness_seconds_sum{seven} 400.401")));
    }

    #[test]
    fn a_schedule_named_other_is_counted_with_the_others() {
        let lateness = Lateness::new(&mut Registry::default());
        assert!(!lateness.record(OTHER, OTHER, &[1]));
        assert!(lateness.record(OTHER, "mail", &[1]));
    }
}
