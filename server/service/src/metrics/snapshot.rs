//! Gauges of a server's contents.

use std::sync::Arc;

use offbeat_core::Catalog;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::Registry;

use super::series::{Gauges, Infos, set};
use super::{PREFIX, process, spreads};
use crate::limits::SCHEDULE_SERIES;
use crate::spreads::SpreadFigures;

/// Contents of a server at one moment.
#[derive(Debug, Clone, Default)]
pub struct Snapshot {
    /// Whether it takes requests: as `/readyz` says.
    pub ready: bool,
    /// Open connections of each listener.
    pub connections: Vec<(String, usize)>,
    /// Requests in flight.
    pub requests: usize,
    /// Bytes of larger messages in flight.
    pub message_bytes: usize,
    /// The schedules that callers may name.
    pub schedules: Arc<Catalog>,
    /// The store of named spreads.
    pub store: &'static str,
    /// Contents of each named spread.
    pub spreads: Vec<SpreadFigures>,
}

impl Snapshot {
    pub(super) fn registry(self) -> Registry {
        let mut registry = Registry::with_prefix(PREFIX);
        let build = Info::new([("version", env!("CARGO_PKG_VERSION"))]);
        registry.register("build", "The version of the server", build);
        let Self { ready, connections, requests, message_bytes, schedules, store, spreads } = self;
        let mut gauge = |name: &str, help: &str, value: u64| set(&mut registry, name, help, value);
        gauge("ready", "Whether the server takes requests: 1 or 0", u64::from(ready));
        gauge("requests_in_flight", "Requests in flight, streams included", requests as u64);
        let help = "Bytes of larger messages in flight";
        gauge("message_bytes_in_flight", help, message_bytes as u64);
        gauge("schedules", "Schedules that callers may name", schedules.len() as u64);
        if let Some(bytes) = process::memory_limit_bytes() {
            gauge("memory_limit_bytes", "Memory that the server's control group allows", bytes);
        }
        let connections = connections.into_iter();
        let connections =
            connections.map(|(listener, open)| ([("listener", listener)], open as u64));
        let help = "Open connections of each listener";
        registry.register("connections", help, Gauges(connections.collect()));
        let help = "What each schedule means: its fingerprint; of the first ones";
        registry.register("schedule", help, infos(&schedules));
        spreads::register(&mut registry, store, spreads);
        registry
    }
}

fn infos(schedules: &Catalog) -> Infos<3> {
    let shown = schedules.iter().take(SCHEDULE_SERIES.max_size());
    let labels = shown.map(|(name, schedule)| {
        [
            ("name", name.name().to_owned()),
            ("version", name.version().to_string()),
            ("fingerprint", schedule.fingerprint()),
        ]
    });
    Infos(labels.collect())
}
