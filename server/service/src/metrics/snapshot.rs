//! What a server holds at a moment, as gauges.

use prometheus_client::encoding::EncodeGaugeValue;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::{ConstGauge, Gauge};
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::Registry;

use super::PREFIX;
use crate::spreads::Totals;

/// What a server holds at a moment.
#[derive(Debug, Clone, Copy)]
pub struct Snapshot {
    /// Whether it takes requests.
    pub ready: bool,
    /// Open connections.
    pub connections: usize,
    /// Requests in flight.
    pub requests: usize,
    /// Bytes of larger messages in flight.
    pub message_bytes: usize,
    /// What all named spreads hold.
    pub spreads: Totals,
}

impl Snapshot {
    pub(super) fn registry(&self) -> Registry {
        let mut registry = Registry::with_prefix(PREFIX);
        let build = Info::new([("version", env!("CARGO_PKG_VERSION"))]);
        registry.register("build", "The version of the server", build);
        let Self { ready, connections, requests, message_bytes, spreads } = *self;
        let mut gauge = |name: &str, help: &str, value: u64| set(&mut registry, name, help, value);
        gauge("ready", "Whether the server takes requests: 1 or 0", u64::from(ready));
        gauge("connections", "Open connections", connections as u64);
        gauge("requests_in_flight", "Requests under way, streams included", requests as u64);
        let help = "Bytes of larger messages under way";
        gauge("message_bytes_in_flight", help, message_bytes as u64);
        gauge("spreads", "Named spreads that are not discarded", spreads.spreads);
        gauge("spread_groups", "Groups that are not settled", spreads.groups);
        gauge("spread_consumers", "Consumers that hold jobs", spreads.consumers);
        gauge("spread_bytes", "Bytes of the jobs of all named spreads", spreads.bytes);
        #[expect(clippy::cast_precision_loss, reason = "an age in milliseconds is below 2^53")]
        let oldest = spreads.oldest_millis as f64 / 1e3;
        let help = "Age of the oldest group that is not settled, in seconds";
        set(&mut registry, "spread_oldest_group_age_seconds", help, oldest);
        let jobs: Family<[(&str, &str); 1], Gauge> = Family::default();
        for (state, count) in [
            ("ready", spreads.ready_jobs),
            ("leased", spreads.leased_jobs),
            ("settled", spreads.settled_jobs),
            ("dead", spreads.dead_letters),
        ] {
            let count = i64::try_from(count).unwrap_or(i64::MAX);
            jobs.get_or_create(&[("state", state)]).set(count);
        }
        registry.register("spread_jobs", "Jobs of named spreads, by state", jobs);
        registry
    }
}

pub(super) fn set<N>(registry: &mut Registry, name: &str, help: &str, value: N)
where
    N: EncodeGaugeValue + Clone + std::fmt::Debug + Send + Sync + 'static,
{
    registry.register(name, help, ConstGauge::new(value));
}
