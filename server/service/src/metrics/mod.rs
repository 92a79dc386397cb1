//! Metrics: counters of requests, and gauges of what the process holds, in the OpenMetrics text
//! format that Prometheus reads.
//!
//! Labels take few values: methods that exist, codes and reasons of the contract, and, of the names
//! that callers choose, at most a hundred schedules, pairs of schedule and kind, and spreads.

mod durations;
mod lateness;
mod limits;
mod process;
mod record;
mod reloads;
mod series;
mod snapshot;
mod spreads;
pub(crate) mod store;

use std::fmt;
use std::time::Duration;

use offbeat_core::Moment;
use offbeat_proto::ErrorReason;
use prometheus_client::encoding::text::{encode_eof, encode_registry};
use prometheus_client::encoding::{EncodeLabelSet, LabelSetEncoder};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::registry::Registry;
use tonic::Code;

use crate::clock;
use crate::config::Config;
use crate::method::Method;
use crate::spreads::SpreadStore;
use durations::{Durations, durations};
use lateness::Lateness;
pub use record::Record;
use reloads::Reloads;
pub use reloads::{CERTIFICATES, RELOADED, SCHEDULES, TOKENS};
pub use snapshot::Snapshot;
pub use store::{StepFailure, StoreMetrics};

/// The content type of [`Metrics::render`].
pub const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Prefix of the names of reasons in the contract; labels leave it out.
const REASON_PREFIX: &str = "ERROR_REASON_";

/// Prefix of our metrics.
const PREFIX: &str = "offbeat";

/// Label of names without a series of their own.
const OTHER: &str = "other";

/// The counters of a server.
#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
    requests: Family<RequestLabels, Counter>,
    durations: Durations<MethodLabel>,
    refusals: Family<ReasonLabel, Counter>,
    connections: Counter,
    panics: Counter,
    reloads: Reloads,
    lateness: Lateness,
    start: Moment,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct RequestLabels {
    method: &'static str,
    code: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct MethodLabel(&'static str);

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct ReasonLabel(String);

fn encode(encoder: &mut LabelSetEncoder<'_>, labels: &[(&str, &str)]) -> fmt::Result {
    use prometheus_client::encoding::EncodeLabel as _;
    labels.iter().try_for_each(|label| label.encode(encoder.encode_label()))
}

impl EncodeLabelSet for RequestLabels {
    fn encode(&self, encoder: &mut LabelSetEncoder<'_>) -> fmt::Result {
        encode(encoder, &[("method", self.method), ("code", self.code)])
    }
}

impl EncodeLabelSet for MethodLabel {
    fn encode(&self, encoder: &mut LabelSetEncoder<'_>) -> fmt::Result {
        encode(encoder, &[("method", self.0)])
    }
}

impl EncodeLabelSet for ReasonLabel {
    fn encode(&self, encoder: &mut LabelSetEncoder<'_>) -> fmt::Result {
        encode(encoder, &[("reason", &self.0)])
    }
}

impl Default for Metrics {
    fn default() -> Self {
        let mut registry = Registry::with_prefix(PREFIX);
        let (requests, durations) = (Family::default(), durations());
        let (connections, panics) = (Counter::default(), Counter::default());
        let refusals: Family<ReasonLabel, Counter> = Family::default();
        for reason in (1..).map_while(|number| ErrorReason::try_from(number).ok()) {
            // All series exist from the start: in one that begins at 1, Prometheus sees no
            // increase.
            let reason = reason.as_str_name().trim_start_matches(REASON_PREFIX).to_owned();
            drop(refusals.get_or_create(&ReasonLabel(reason)));
        }
        registry.register("requests", "Requests ended, by method and code", requests.clone());
        let help = "Time from the head of a request to the end of its answer, of unary methods";
        registry.register("request_duration_seconds", help, durations.clone());
        registry.register("connections_accepted", "Connections accepted", connections.clone());
        registry.register("panics", "Requests that ended by a bug of the server", panics.clone());
        registry.register(
            "refusals",
            "Refusals sent, by their documented reason",
            refusals.clone(),
        );
        let reloads = Reloads::new(&mut registry);
        let lateness = Lateness::new(&mut registry);
        let start = clock::now();
        Self {
            registry,
            requests,
            durations,
            refusals,
            connections,
            panics,
            reloads,
            lateness,
            start,
        }
    }
}

impl Metrics {
    /// The metrics of a server, with its limits and the metrics of its store.
    #[must_use]
    pub fn new(config: &Config, store: &dyn SpreadStore) -> Self {
        let mut metrics = Self::default();
        limits::register(&mut metrics.registry, config);
        if let Some(measured) = store.metrics() {
            measured.register(&mut metrics.registry);
        }
        metrics
    }

    /// Counts an accepted connection.
    pub fn connected(&self) {
        self.connections.inc();
    }

    /// Counts a request that ended in a panic.
    pub fn panicked(&self) {
        self.panics.inc();
    }

    /// Records that files were read at the start; `accepted` is when, or `None` if they were
    /// refused.
    pub fn loaded(&self, what: &'static str, accepted: Option<Moment>) {
        self.reloads.record(what, false, accepted);
    }

    /// Records that files were read again; `accepted` is when, or `None` if they were refused.
    pub fn reloaded(&self, what: &'static str, accepted: Option<Moment>) {
        self.reloads.record(what, true, accepted);
    }

    /// Records the lateness of runs, in milliseconds. Returns whether the schedule and kind have a
    /// series of their own.
    #[must_use]
    pub fn record_lateness(&self, schedule: &str, kind: &str, millis: &[i64]) -> bool {
        self.lateness.record(schedule, kind, millis)
    }

    fn request(&self, method: &'static Method, code: Code, reason: Option<&str>, took: Duration) {
        let labels = RequestLabels { method: &method.name, code: code_name(code) };
        self.requests.get_or_create(&labels).inc();
        if let Some(reason) = reason {
            let reason = reason.trim_start_matches(REASON_PREFIX).to_owned();
            self.refusals.get_or_create(&ReasonLabel(reason)).inc();
        }
        if !method.streaming {
            self.durations.get_or_create(&MethodLabel(&method.name)).observe(took.as_secs_f64());
        }
    }

    /// All metrics as text.
    ///
    /// # Errors
    /// Never: a `String` takes everything.
    pub fn render(&self, snapshot: Snapshot) -> Result<String, fmt::Error> {
        let mut text = String::with_capacity(16 << 10);
        encode_registry(&mut text, &self.registry)?;
        encode_registry(&mut text, &snapshot.registry())?;
        encode_registry(&mut text, &process::registry(self.start))?;
        encode_eof(&mut text)?;
        Ok(text)
    }
}

/// The name of a code in the specification of gRPC.
pub(crate) const fn code_name(code: Code) -> &'static str {
    match code {
        Code::Ok => "OK",
        Code::Cancelled => "CANCELLED",
        Code::Unknown => "UNKNOWN",
        Code::InvalidArgument => "INVALID_ARGUMENT",
        Code::DeadlineExceeded => "DEADLINE_EXCEEDED",
        Code::NotFound => "NOT_FOUND",
        Code::AlreadyExists => "ALREADY_EXISTS",
        Code::PermissionDenied => "PERMISSION_DENIED",
        Code::ResourceExhausted => "RESOURCE_EXHAUSTED",
        Code::FailedPrecondition => "FAILED_PRECONDITION",
        Code::Aborted => "ABORTED",
        Code::OutOfRange => "OUT_OF_RANGE",
        Code::Unimplemented => "UNIMPLEMENTED",
        Code::Internal => "INTERNAL",
        Code::Unavailable => "UNAVAILABLE",
        Code::DataLoss => "DATA_LOSS",
        Code::Unauthenticated => "UNAUTHENTICATED",
    }
}
