//! Counts, times and logs a request when it ends.

use http::HeaderMap;
use opentelemetry::trace::TraceContextExt as _;
use tokio::time::Instant;
use tonic::Code;
use tracing::Span;
use tracing::level_filters::LevelFilter;

use super::{Metrics, code_name};
use crate::method::Method;
use crate::telemetry;

/// Target of the log lines of requests.
const TARGET: &str = "offbeat::request";

/// A request in flight.
#[derive(Debug)]
pub struct Record {
    method: &'static Method,
    started: Instant,
    /// The caller's trace, if it may be logged.
    trace: Option<opentelemetry::Context>,
}

impl Record {
    /// A request of `method` that began at `started`.
    #[must_use]
    pub fn begin(method: &'static Method, started: Instant, headers: &HeaderMap) -> Self {
        let trace = may_be_logged().then(|| telemetry::caller(headers));
        Self { method, started, trace }
    }

    /// Counts the request, and logs it at `debug`.
    pub fn end(&self, metrics: &Metrics, code: Code, reason: Option<&str>, span: &Span) {
        let took = self.started.elapsed();
        metrics.request(self.method, code, reason, took);
        span.record("rpc.grpc.status_code", i64::from(code as i32));
        if !may_be_logged() {
            return;
        }
        let caller = self.trace.as_ref().map(|trace| trace.span().span_context().clone());
        let caller = caller.filter(opentelemetry::trace::SpanContext::is_valid);
        let trace_id = caller.as_ref().map(|caller| caller.trace_id().to_string());
        let parent_id = caller.as_ref().map(|caller| caller.span_id().to_string());
        let (method, code, ms) = (&self.method.name, code_name(code), took.as_secs_f64() * 1e3);
        // At debug, errors too: peers could fill the log with calls that they break off. A bug is
        // logged where it happens, and the counter of INTERNAL shows how often.
        tracing::debug!(target: TARGET, method, code, ms, trace_id, parent_id, "answered");
    }
}

/// Whether any log or filter takes the level of request lines. (`tracing::enabled!` would be exact,
/// but leaves per-layer filter state behind for the next span.)
fn may_be_logged() -> bool {
    LevelFilter::current() >= LevelFilter::DEBUG
}
