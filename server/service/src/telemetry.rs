//! Logs on standard error and, if asked for, a span of each request to a collector.

use std::env;
use std::error::Error;
use std::fmt;
use std::io::IsTerminal as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use http::{HeaderMap, Uri};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use opentelemetry::propagation::TextMapPropagator as _;
use opentelemetry::trace::TracerProvider as _;
use opentelemetry_http::hyper::HyperClient;
use opentelemetry_http::{Bytes, HeaderExtractor, HttpClient, HttpError, Request, Response};
use opentelemetry_otlp::{SpanExporter, WithExportConfig as _, WithHttpConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::SdkTracerProvider;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};
use tokio::runtime::Handle;
use tracing::Span;
use tracing_opentelemetry::OpenTelemetrySpanExt as _;
use tracing_subscriber::Layer as _;
use tracing_subscriber::filter::FilterFn;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::config::{LogFormat, ServeArgs, log_filter};
use crate::method::Method;

/// Target of the spans of requests; logs leave them out.
const SPANS: &str = "offbeat::span";

/// The standard variables that name a collector.
const ENDPOINT_VARIABLES: [&str; 2] =
    ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"];

/// The standard variables that name a file of authorities.
const CERTIFICATE_VARIABLES: [&str; 2] =
    ["OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE", "OTEL_EXPORTER_OTLP_CERTIFICATE"];

/// The exporter of spans, if there is one; it must be flushed before the process ends.
#[derive(Debug)]
pub struct Telemetry(Option<SdkTracerProvider>);

impl Telemetry {
    /// Starts to log, panics included, and to export spans if a collector is named. Must be called
    /// within a runtime.
    ///
    /// # Errors
    /// When the filter of the log, the collector's URL or a file of authorities is invalid.
    pub fn start(args: &ServeArgs) -> Result<Self, String> {
        let filter = log_filter(&args.log)?;
        let logs = tracing_subscriber::fmt::layer()
            .with_ansi(std::io::stderr().is_terminal())
            .with_writer(std::io::stderr);
        let logs = match args.log_format {
            LogFormat::Text => logs.boxed(),
            LogFormat::Json => logs.json().flatten_event(true).boxed(),
        };
        let by_variables = ENDPOINT_VARIABLES.iter().any(|name| env::var_os(name).is_some());
        let provider = match (&args.otlp_endpoint, by_variables) {
            (None, false) => None,
            (endpoint, _) => Some(exporter(endpoint.as_deref())?),
        };
        let spans = provider.as_ref().map(|provider| {
            let layer = tracing_opentelemetry::layer().with_tracer(provider.tracer("offbeat"));
            layer.with_filter(FilterFn::new(|metadata| metadata.target() == SPANS))
        });
        tracing_subscriber::registry().with(logs.with_filter(filter)).with(spans).init();
        // Logs a panic as one line, in the format of the log.
        std::panic::set_hook(Box::new(|panic| tracing::error!("{panic}")));
        Ok(Self(provider))
    }

    /// Whether requests have spans.
    #[must_use]
    pub const fn has_spans(&self) -> bool {
        self.0.is_some()
    }

    /// Exports the remaining spans.
    pub async fn flush(self) {
        let Some(provider) = self.0 else {
            return;
        };
        // The shutdown blocks until the exporter is done, which needs this thread.
        let flushed = tokio::task::spawn_blocking(move || provider.shutdown()).await;
        if let Ok(Err(error)) = flushed {
            tracing::warn!(%error, "the last spans were not exported");
        }
    }
}

/// An exporter to `endpoint`, or else to the collector that the standard variables name. Headers
/// and timeouts always come from those variables.
fn exporter(endpoint: Option<&str>) -> Result<SdkTracerProvider, String> {
    let mut exporter = SpanExporter::builder().with_http().with_http_client(Collector::new()?);
    if let Some(endpoint) = endpoint {
        let refused = |why: &dyn fmt::Display| {
            format!(
                "--otlp-endpoint: {endpoint:?} is refused: {why}; must be http://HOST:PORT or \
                 https://HOST:PORT"
            )
        };
        check_url(endpoint).map_err(|why| refused(&why))?;
        // As every OTLP exporter does: appends the path of the signal to the URL.
        exporter = exporter.with_endpoint(format!("{}/v1/traces", endpoint.trim_end_matches('/')));
    }
    let exporter = exporter.build().map_err(|error| format!("OTEL_EXPORTER_OTLP: {error}"))?;
    let resource = Resource::builder().with_service_name("offbeat").build();
    opentelemetry::global::set_text_map_propagator(TraceContextPropagator::new());
    Ok(SdkTracerProvider::builder().with_resource(resource).with_batch_exporter(exporter).build())
}

fn check_url(endpoint: &str) -> Result<(), &'static str> {
    let url: Uri = endpoint.parse().map_err(|_| "it is not a URL")?;
    if !matches!(url.scheme_str(), Some("http" | "https")) {
        return Err("its scheme is neither http nor https");
    }
    if url.query().is_some() {
        return Err("it has a query");
    }
    match url.authority() {
        Some(authority) if !authority.as_str().contains('@') => Ok(()),
        _ => Err("it has no host, or a user: credentials go into OTEL_EXPORTER_OTLP_HEADERS"),
    }
}

/// Sends spans to a collector. The exporter's thread has no runtime, so it borrows the server's.
#[derive(Debug)]
struct Collector {
    client: HyperClient<HttpsConnector<HttpConnector>>,
    runtime: Handle,
    /// Whether the last export failed.
    is_failing: AtomicBool,
}

impl Collector {
    /// The default of OTLP.
    const TIMEOUT: Duration = Duration::from_secs(10);

    fn new() -> Result<Self, String> {
        let connector = HttpsConnectorBuilder::new()
            .with_tls_config(tls()?)
            .https_or_http()
            .enable_http1()
            .build();
        let client = HyperClient::new(connector, Self::TIMEOUT, None);
        Ok(Self { client, runtime: Handle::current(), is_failing: AtomicBool::new(false) })
    }

    /// Logs the first export that fails, and the first one that succeeds again: a collector may be
    /// away for hours, and exports are tried every few seconds.
    fn log(&self, sent: &Result<Response<Bytes>, HttpError>) {
        let failure = match sent {
            Ok(response) if response.status().is_success() => None,
            Ok(response) => Some(format!("the collector answers {}", response.status())),
            Err(error) => Some(causes(&**error)),
        };
        let was_failing = self.is_failing.swap(failure.is_some(), Ordering::Relaxed);
        match (failure, was_failing) {
            (Some(error), false) => {
                tracing::warn!(
                    error,
                    "spans are not exported, and lost until the collector answers"
                );
            }
            (None, true) => tracing::info!("spans are exported again"),
            _ => {}
        }
    }
}

/// Trusts the authorities of `OTEL_EXPORTER_OTLP_CERTIFICATE`, or else those of the system.
fn tls() -> Result<ClientConfig, String> {
    let mut roots = RootCertStore::empty();
    match CERTIFICATE_VARIABLES.iter().find_map(env::var_os) {
        Some(path) => {
            let refused = |why: &dyn fmt::Display| {
                format!("OTEL_EXPORTER_OTLP_CERTIFICATE: {}: {why}", path.display())
            };
            let read = CertificateDer::pem_file_iter(&path).map_err(|error| refused(&error))?;
            for certificate in read {
                let certificate = certificate.map_err(|error| refused(&error))?;
                roots.add(certificate).map_err(|error| refused(&error))?;
            }
        }
        None => {
            // Without any authority, only https:// fails, with an error of its own.
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        }
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder =
        ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let builder = builder.map_err(|error| error.to_string())?;
    Ok(builder.with_root_certificates(roots).with_no_client_auth())
}

#[tonic::async_trait]
impl HttpClient for Collector {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let client = self.client.clone();
        let sent = self.runtime.spawn(async move { client.send_bytes(request).await }).await?;
        self.log(&sent);
        sent
    }
}

/// An error with its causes: that a connection failed says little without them.
fn causes(error: &(dyn Error + 'static)) -> String {
    let causes = std::iter::successors(Some(error), |error| (*error).source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

/// The service whose calls a store of named spreads answers.
const NAMED_SPREADS: &str = "NamedSpreadService";

/// The span of a request, in the trace of its caller. The span of a call about a named spread also
/// names the store.
pub(crate) fn span(method: &Method, headers: &HeaderMap, store: &'static str) -> Span {
    let name = method.name.as_str();
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
        offbeat.spread_store = (service == NAMED_SPREADS).then_some(store),
    );
    let _ = span.set_parent(caller(headers)); // a span that is not exported has no parent either
    span
}

/// The database that a span names.
#[derive(Debug)]
pub(crate) struct Database {
    pub(crate) system: &'static str,
    /// A host, or the path of a socket.
    pub(crate) address: String,
    pub(crate) port: Option<u16>,
    pub(crate) namespace: String,
}

/// The span of a database command, by OpenTelemetry's conventions for database clients. It lies
/// within the span of a request; without one, there is none. `step` is the purpose of the command.
pub(crate) fn database_span(database: &Database, command: &'static str, step: &str) -> Span {
    if Span::current().is_none() {
        return Span::none();
    }
    let Database { system, address, port, namespace } = database;
    tracing::info_span!(
        target: SPANS,
        "step",
        otel.name = format!("{command} {step}"),
        otel.kind = "client",
        otel.status_code = tracing::field::Empty,
        db.system.name = system,
        db.namespace = namespace,
        db.operation.name = command,
        db.response.status_code = tracing::field::Empty,
        server.address = address,
        server.port = port,
        error.type = tracing::field::Empty,
    )
}

/// The trace of a caller (W3C Trace Context); a malformed one counts as none.
pub(crate) fn caller(headers: &HeaderMap) -> opentelemetry::Context {
    TraceContextPropagator::new().extract(&HeaderExtractor(headers))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_collector_has_a_url_of_http_without_credentials() {
        for good in ["http://collector:4318", "https://[::1]:4318/base/", "http://collector"] {
            assert_eq!(check_url(good), Ok(()), "{good}");
        }
        for bad in [
            "",
            "collector:4318",
            "/v1/traces",
            "grpc://collector:4317",
            "http://user:secret@collector:4318",
            "http://collector:4318?token=secret",
        ] {
            assert!(check_url(bad).is_err(), "{bad}");
        }
    }

    #[tokio::test]
    async fn a_refused_collector_is_named() {
        let said = exporter(Some("collector:4318")).unwrap_err();
        assert!(said.starts_with("--otlp-endpoint: \"collector:4318\" is refused"), "{said}");
    }
}
