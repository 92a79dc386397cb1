//! Metrics that are made for one answer: encoded once, then dropped.

use std::fmt;

use prometheus_client::encoding::{EncodeGaugeValue, EncodeMetric, MetricEncoder};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::Registry;

/// Registers a gauge with one series, which has no labels.
pub(super) fn set<N>(registry: &mut Registry, name: &str, help: &str, value: N)
where
    N: EncodeGaugeValue + Clone + fmt::Debug + Send + Sync + 'static,
{
    registry.register(name, help, ConstGauge::new(value));
}

/// The labels of a series.
pub(super) type Labels<const N: usize> = [(&'static str, String); N];

/// A gauge with a series for each set of labels.
#[derive(Debug)]
pub(super) struct Gauges<const N: usize, V>(pub(super) Vec<(Labels<N>, V)>);

impl<const N: usize, V> EncodeMetric for Gauges<N, V>
where
    V: EncodeGaugeValue,
{
    fn encode(&self, mut encoder: MetricEncoder<'_>) -> fmt::Result {
        self.0
            .iter()
            .try_for_each(|(labels, value)| encoder.encode_family(labels)?.encode_gauge(value))
    }

    fn metric_type(&self) -> MetricType {
        MetricType::Gauge
    }
}

/// An info metric: its labels are its content.
#[derive(Debug)]
pub(super) struct Infos<const N: usize>(pub(super) Vec<Labels<N>>);

impl<const N: usize> EncodeMetric for Infos<N> {
    fn encode(&self, mut encoder: MetricEncoder<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|labels| encoder.encode_info(labels))
    }

    fn metric_type(&self) -> MetricType {
        MetricType::Info
    }
}
