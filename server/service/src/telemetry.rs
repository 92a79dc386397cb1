//! Logs on standard error and, if asked for, a span of each request to a collector.

use std::io::IsTerminal as _;
use std::time::Duration;

use http::{HeaderMap, HeaderValue, Uri};
use opentelemetry::trace::TracerProvider as _;
use opentelemetry_http::{Bytes, HeaderExtractor, HttpClient, HttpError, Request, Response};
use opentelemetry_otlp::{SpanExporter, WithExportConfig as _, WithHttpConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tokio::runtime::Handle;
use tracing::Span;
use tracing_opentelemetry::OpenTelemetrySpanExt as _;
use tracing_subscriber::Layer as _;
use tracing_subscriber::filter::FilterFn;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::config::{LogFormat, ServeArgs, log_filter};
use crate::post::{Peer, post};
use crate::rpc::methods::Method;

/// What the spans of requests are made under; logs leave them out.
const SPANS: &str = "offbeat::span";

/// What must be flushed before the process ends.
#[derive(Debug)]
pub struct Telemetry(Option<SdkTracerProvider>);

impl Telemetry {
    /// Starts to log, and to export if there is a collector. Within a runtime.
    ///
    /// # Errors
    /// When the filter of the log, or the collector's URL, is none.
    pub fn start(args: &ServeArgs) -> Result<Self, String> {
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
    #[must_use]
    pub const fn has_spans(&self) -> bool {
        self.0.is_some()
    }

    /// Exports what is left.
    pub async fn flush(self) {
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
    let collector =
        Collector::at(endpoint).ok_or_else(|| refused(&"it is no URL of plain HTTP"))?;
    // As every exporter does: the signal's path behind what the URL has.
    let traces = format!("{}/v1/traces", endpoint.trim_end_matches('/'));
    let exporter = SpanExporter::builder().with_http().with_http_client(collector);
    let exporter = exporter.with_endpoint(traces).build().map_err(|error| refused(&error))?;
    let resource = Resource::builder().with_service_name("offbeat").build();
    opentelemetry::global::set_text_map_propagator(TraceContextPropagator::new());
    Ok(SdkTracerProvider::builder().with_resource(resource).with_batch_exporter(exporter).build())
}

/// Who is sent the spans, by a thread of the exporter's that has no runtime.
#[derive(Debug)]
struct Collector {
    peer: Peer,
    host: HeaderValue,
    runtime: Handle,
}

impl Collector {
    /// As OTLP has it, if nobody says otherwise.
    const PATIENCE: Duration = Duration::from_secs(10);

    fn at(endpoint: &str) -> Option<Self> {
        let url: Uri = endpoint.parse().ok()?;
        let plain = url.scheme_str() == Some("http") && url.query().is_none();
        let authority =
            url.authority().filter(|authority| plain && !authority.as_str().contains('@'))?;
        let address = match authority.port_u16() {
            Some(_) => authority.to_string(),
            None => format!("{}:80", authority.host()),
        };
        let host = HeaderValue::from_str(authority.as_str()).ok()?;
        Some(Self { peer: Peer::Tcp(address), host, runtime: Handle::current() })
    }
}

#[tonic::async_trait]
impl HttpClient for Collector {
    async fn send_bytes(&self, mut request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let path = request.uri().path_and_query().map(|path| Uri::from(path.clone()));
        *request.uri_mut() = path.unwrap_or_default();
        request.headers_mut().insert(http::header::HOST, self.host.clone());
        let peer = self.peer.clone();
        self.runtime.spawn(async move { post(&peer, request, Self::PATIENCE).await }).await?
    }
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
        propagator.extract(&HeaderExtractor(headers))
    });
    let _ = span.set_parent(caller); // a span that is not exported has no parent either
    span
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_collector_is_asked_by_plain_http_at_its_own_port() {
        for (endpoint, asked) in [
            ("http://collector:4318", "collector:4318"),
            ("http://[::1]:4318/base/", "[::1]:4318"),
            ("http://collector", "collector:80"),
        ] {
            let Peer::Tcp(address) = Collector::at(endpoint).unwrap().peer else {
                panic!("{endpoint} is not asked over TCP");
            };
            assert_eq!(address, asked);
        }
        let refused = [
            "",
            "collector:4318",
            "/v1/traces",
            "https://collector:4318",
            "grpc://collector:4317",
            "http://user:secret@collector:4318",
            "http://collector:4318?token=secret",
        ];
        for endpoint in refused {
            let said = exporter(endpoint).unwrap_err();
            assert!(said.starts_with("--otlp-endpoint: "), "{said}");
            assert!(said.contains("must be http://HOST:PORT"), "{said}");
        }
    }
}
