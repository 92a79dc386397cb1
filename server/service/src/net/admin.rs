//! The admin port: `/metrics` for Prometheus, `/healthz` and `/readyz` for probes. It says
//! nothing of callers or jobs, and stays apart from the port of the services.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use http::header::{ALLOW, CONTENT_TYPE};
use http::{HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper_util::rt::TokioTimer;
use offbeat_wire::{Body, Failure, Socket};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::Listener;
use super::connection::Connections;
use crate::http::Admission;
use crate::limits::ADMIN_CONNECTIONS;
use crate::metrics::{self, Metrics, Snapshot};
use crate::spreads::MemoryStore;

/// How long a connection may take, from its first byte to its last.
const PATIENCE: Duration = Duration::from_secs(5);

/// After a failed accept, so long a pause.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Bytes of the headers of a request.
const HEADER_BYTES: usize = 8 << 10;

/// What the admin port sees of a server.
#[derive(Debug)]
pub(super) struct Insight {
    pub(super) ready: AtomicBool,
    pub(super) metrics: Arc<Metrics>,
    pub(super) connections: Arc<Connections>,
    pub(super) admission: Admission,
    pub(super) store: Arc<MemoryStore>,
}

/// Answers for as long as the server runs, until the end of its grace period.
pub(super) async fn serve(listener: Listener, insight: Arc<Insight>) {
    let free = Arc::new(Semaphore::new(ADMIN_CONNECTIONS.max_size()));
    let mut open = JoinSet::new();
    while let Ok(place) = Arc::clone(&free).acquire_owned().await {
        while open.try_join_next().is_some() {} // forget those that have ended
        let insight = Arc::clone(&insight);
        let accepted = match &listener {
            Listener::Tcp(tcp) => tcp.accept().await.map(|(socket, _)| {
                open.spawn(async move {
                    answer(Box::new(socket), insight).await;
                    drop(place);
                });
            }),
            Listener::Unix(_, unix) => unix.accept().await.map(|(socket, _)| {
                open.spawn(async move {
                    answer(Box::new(socket), insight).await;
                    drop(place);
                });
            }),
        };
        if accepted.is_err() {
            tokio::time::sleep(ACCEPT_PAUSE).await;
        }
    }
}

async fn answer(socket: Box<dyn Socket>, insight: Arc<Insight>) {
    let handler = |request: Request<Incoming>| -> offbeat_wire::Answering {
        let response = respond(request.method(), request.uri().path(), &insight);
        Box::pin(async { response.map(|text| Body::new(text.map_err(Failure::from))) })
    };
    let mut builder = offbeat_wire::builder().http1_only();
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(PATIENCE)
        .max_buf_size(HEADER_BYTES)
        .keep_alive(false);
    let connection = offbeat_wire::serve(&builder, socket, Box::new(handler));
    let _ = tokio::time::timeout(PATIENCE, connection).await; // a bad peer is not our concern
}

fn respond(method: &Method, path: &str, insight: &Insight) -> Response<Full<Bytes>> {
    let ready = insight.ready.load(Ordering::Relaxed);
    let (status, kind, text) = match path {
        "/metrics" | "/healthz" | "/readyz" if method != Method::GET && method != Method::HEAD => {
            (StatusCode::METHOD_NOT_ALLOWED, PLAIN, "GET alone is allowed\n".to_owned())
        }
        "/metrics" => match insight.metrics.render(&insight.look(ready)) {
            Ok(text) => (StatusCode::OK, metrics::CONTENT_TYPE, text),
            Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, PLAIN, format!("{error}\n")),
        },
        "/healthz" => (StatusCode::OK, PLAIN, "alive\n".to_owned()),
        "/readyz" if ready => (StatusCode::OK, PLAIN, "ready\n".to_owned()),
        "/readyz" => (StatusCode::SERVICE_UNAVAILABLE, PLAIN, "not ready\n".to_owned()),
        _ => {
            let known = "must be /metrics, /healthz or /readyz\n";
            (StatusCode::NOT_FOUND, PLAIN, known.to_owned())
        }
    };
    let mut response = Response::new(Full::from(text));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    if status == StatusCode::METHOD_NOT_ALLOWED {
        response.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
    }
    response
}

const PLAIN: &str = "text/plain; charset=utf-8";

impl Insight {
    fn look(&self, ready: bool) -> Snapshot {
        Snapshot {
            ready,
            connections: self.connections.count(),
            requests: self.admission.requests(),
            message_bytes: self.admission.bytes(),
            spreads: self.store.totals(),
        }
    }
}
