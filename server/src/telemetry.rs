//! Logs on standard error and, if asked for, a span of each request to a collector.

use std::io::IsTerminal as _;

use http::HeaderMap;
use opentelemetry::propagation::Extractor;
use opentelemetry::trace::TracerProvider as _;
use opentelemetry_otlp::{SpanExporter, WithExportConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tracing::Span;
use tracing_opentelemetry::OpenTelemetrySpanExt as _;
use tracing_subscriber::Layer as _;
use tracing_subscriber::filter::FilterFn;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::config::{LogFormat, ServeArgs, log_filter};
use crate::rpc::methods::Method;

/// What the spans of requests are made under; logs leave them out.
const SPANS: &str = "offbeat::span";

/// What must be flushed before the process ends.
#[derive(Debug)]
pub(crate) struct Telemetry(Option<SdkTracerProvider>);

impl Telemetry {
    /// Starts to log, and to export if there is a collector. Within a runtime.
    pub(crate) fn start(args: &ServeArgs) -> Result<Self, String> {
        let filter = log_filter(&args.log)?;
        let logs = tracing_subscriber::fmt::layer()
            .with_ansi(std::io::stderr().is_terminal())
            .with_writer(std::io::stderr);
        let logs = match args.log_format {
            LogFormat::Text => logs.boxed(),
            LogFormat::Json => logs.json().flatten_event(true).boxed(),
        };
        let provider = args.otlp_endpoint.as_deref().map(exporter).transpose()?;
        let spans = provider.as_ref().map(|provider| {
            let layer = tracing_opentelemetry::layer().with_tracer(provider.tracer("offbeat"));
            layer.with_filter(FilterFn::new(|metadata| metadata.target() == SPANS))
        });
        tracing_subscriber::registry().with(logs.with_filter(filter)).with(spans).init();
        Ok(Self(provider))
    }

    /// Whether requests have spans.
    pub(crate) const fn has_spans(&self) -> bool {
        self.0.is_some()
    }

    /// Exports what is left.
    pub(crate) async fn flush(self) {
        let Some(provider) = self.0 else {
            return;
        };
        // It waits for its exporter, which needs this thread.
        let flushed = tokio::task::spawn_blocking(move || provider.shutdown()).await;
        if let Ok(Err(error)) = flushed {
            tracing::warn!(%error, "the last spans were not exported");
        }
    }
}

fn exporter(endpoint: &str) -> Result<SdkTracerProvider, String> {
    let refused = |why: &dyn std::fmt::Display| {
        format!("--otlp-endpoint: {endpoint:?} is refused: {why}; must be http://HOST:PORT")
    };
    if !endpoint.starts_with("http://") {
        return Err(refused(&"it is no URL of plain HTTP"));
    }
    let exporter = SpanExporter::builder().with_tonic().with_endpoint(endpoint).build();
    let exporter = exporter.map_err(|error| refused(&error))?;
    let resource = Resource::builder().with_service_name("offbeat").build();
    opentelemetry::global::set_text_map_propagator(TraceContextPropagator::new());
    Ok(SdkTracerProvider::builder().with_resource(resource).with_batch_exporter(exporter).build())
}

/// The span of a request, in the trace of its caller.
pub(crate) fn span(method: &Method, headers: &HeaderMap) -> Span {
    let name = method.name();
    let (service, method) = name.split_once('/').unwrap_or(("", name));
    let span = tracing::info_span!(
        target: SPANS,
        "request",
        otel.name = name,
        otel.kind = "server",
        rpc.system = "grpc",
        rpc.service = service,
        rpc.method = method,
        rpc.grpc.status_code = tracing::field::Empty,
    );
    let caller = opentelemetry::global::get_text_map_propagator(|propagator| {
        propagator.extract(&Headers(headers))
    });
    let _ = span.set_parent(caller); // a span that is not exported has no parent either
    span
}

/// Headers, as the propagator reads them.
struct Headers<'a>(&'a HeaderMap);

impl Extractor for Headers<'_> {
    fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key)?.to_str().ok()
    }

    fn keys(&self) -> Vec<&str> {
        self.0.keys().map(http::HeaderName::as_str).collect()
    }
}
