//! How a request ended: counted, timed and logged once, when its answer is dropped.

use std::sync::Arc;

use http::HeaderMap;
use tokio::time::Instant;
use tonic::Code;
use tracing::Span;
use tracing::level_filters::LevelFilter;

use super::{Metrics, code_name};
use crate::rpc::methods::Method;

/// What log lines of requests are filtered by.
const TARGET: &str = "offbeat::request";

/// A request under way; writes itself down when dropped.
#[derive(Debug)]
pub struct Record {
    metrics: Arc<Metrics>,
    method: &'static Method,
    started: Instant,
    /// None: the caller left before the end.
    code: Option<Code>,
    trace: Option<Trace>,
    span: Span,
}

impl Record {
    /// A request of `method` begins now.
    #[must_use]
    pub fn begin(metrics: Arc<Metrics>, method: &'static Method, headers: &HeaderMap) -> Self {
        let trace = may_be_logged().then(|| Trace::of(headers)).flatten();
        Self { metrics, method, started: Instant::now(), code: None, trace, span: Span::none() }
    }

    /// When it began.
    #[must_use]
    pub const fn started(&self) -> Instant {
        self.started
    }

    /// The request's span, which ends with it.
    #[must_use]
    pub fn within(mut self, span: Span) -> Self {
        self.span = span;
        self
    }

    /// It ends with this code; the first word stands.
    pub fn ends_with(&mut self, code: Code) {
        self.code.get_or_insert(code);
    }
}

/// Whether anybody listens at the level of request lines. (`tracing::enabled!` would be exact, and
/// leaves behind it, for the next span, what filters of single layers said.)
fn may_be_logged() -> bool {
    LevelFilter::current() >= LevelFilter::DEBUG
}

impl Drop for Record {
    fn drop(&mut self) {
        let code = self.code.unwrap_or(Code::Cancelled);
        let took = self.started.elapsed();
        self.metrics.request(self.method, code, took);
        self.span.record("rpc.grpc.status_code", i64::from(code as i32));
        if !may_be_logged() {
            return;
        }
        let (method, code_name, trace) = (self.method.name(), code_name(code), &self.trace);
        let (trace_id, parent_id) = (
            trace.as_ref().map(|trace| tracing::field::display(&trace.trace_id)),
            trace.as_ref().map(|trace| tracing::field::display(&trace.parent_id)),
        );
        let ms = took.as_secs_f64() * 1e3;
        // Never louder: peers could fill the log with what they break off. A bug tells of itself
        // where it happens, and the counter of INTERNAL tells how often.
        tracing::debug!(target: TARGET, method, code = code_name, ms, trace_id, parent_id, "answered");
    }
}

/// Where a request stands in its caller's trace (W3C Trace Context).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trace {
    /// 32 hexadecimal digits.
    pub trace_id: String,
    /// 16 hexadecimal digits: the caller's span.
    pub parent_id: String,
}

impl Trace {
    /// Reads `traceparent`; one that is malformed is as none, as the standard says.
    #[must_use]
    pub fn of(headers: &HeaderMap) -> Option<Self> {
        let value = headers.get("traceparent")?.to_str().ok()?;
        let mut parts = value.split('-');
        let (version, trace_id, parent_id, flags) =
            (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
        let is_hex = |text: &str, length: usize| {
            text.len() == length
                && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
        };
        let is_zero = |text: &str| text.bytes().all(|byte| byte == b'0');
        let known = is_hex(version, 2) && version != "ff" && is_hex(flags, 2);
        let whole = version != "00" || parts.next().is_none();
        let ids = is_hex(trace_id, 32) && is_hex(parent_id, 16);
        let named = ids && !is_zero(trace_id) && !is_zero(parent_id);
        (known && whole && named)
            .then(|| Self { trace_id: trace_id.to_owned(), parent_id: parent_id.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn traceparent_is_read_as_the_standard_says() {
        let read = |value: &str| {
            let mut headers = HeaderMap::new();
            headers.insert("traceparent", value.parse().unwrap());
            Trace::of(&headers).map(|trace| (trace.trace_id, trace.parent_id))
        };
        let (trace, parent) = ("4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7");
        let known = Some((trace.to_owned(), parent.to_owned()));
        assert_eq!(read(&format!("00-{trace}-{parent}-01")), known);
        assert_eq!(read(&format!("cc-{trace}-{parent}-01-what-comes-later")), known);
        for bad in [
            format!("ff-{trace}-{parent}-01"),
            format!("00-{trace}-{parent}-01-more"),
            format!("00-{}-{parent}-01", trace.to_uppercase()),
            format!("00-{}-{parent}-01", "0".repeat(32)),
            format!("00-{trace}-{}-01", "0".repeat(16)),
            format!("00-{trace}-{parent}"),
            format!("00-{parent}-{trace}-01"),
            "nonsense".to_owned(),
        ] {
            assert_eq!(read(&bad), None, "{bad}");
        }
    }
}
