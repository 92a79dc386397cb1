//! The admin port: `/metrics` for Prometheus, `/healthz`, `/livez` and `/readyz` for probes, and the
//! console. Of callers and jobs, metrics and probes show only the names of schedules and
//! spreads. Its connections are separate from those of the services.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::Router;
use axum::extract::{Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use http::{HeaderValue, StatusCode, header};

use super::connection::Connections;
use crate::console::{self, Console};
use crate::layers::{Admission, AllowedHosts, Credentials, Peer};
use crate::metrics::{self, Metrics, Snapshot};
use crate::schedules::LoadedSchedules;
use crate::spreads::SpreadStore;

/// State of a server that the admin port shows.
#[derive(Debug)]
pub(crate) struct AdminState {
    pub(crate) ready: AtomicBool,
    pub(crate) metrics: Arc<Metrics>,
    /// The connections of each listener, under its address.
    pub(crate) connections: Vec<(String, Arc<Connections>)>,
    pub(crate) admission: Admission,
    pub(crate) schedules: LoadedSchedules,
    pub(crate) store: Arc<dyn SpreadStore>,
    pub(crate) hosts: AllowedHosts,
    /// The tokens of those who may read metrics and settings.
    pub(crate) readers: Credentials,
}

/// What needs a token if the port has TLS and the services ask for tokens. Calls of the console
/// pass the layers of the services, which ask for one, too.
const READ_WITH_TOKEN: [&str; 2] = ["/metrics", "/console/settings"];

/// The response in place of the console, if there is none.
const NO_CONSOLE: &str = "there is no console here: beyond loopback it needs --admin-tls and \
                          --token-file, and on a server that knows its callers by certificates or \
                          users of a socket it needs --token-file\n";

/// Handlers of the admin port.
pub(crate) fn router(state: Arc<AdminState>, console: Option<&Console>) -> Router {
    let console = match console {
        Some(console) => console::router(console),
        None => Router::new().route("/", get((StatusCode::NOT_FOUND, NO_CONSOLE))),
    };
    Router::new()
        .route("/metrics", get(render))
        .route("/healthz", get("alive\n"))
        .route("/livez", get("alive\n"))
        .route("/readyz", get(readiness))
        .with_state(Arc::clone(&state))
        .merge(console)
        .fallback((StatusCode::NOT_FOUND, "must be /metrics, /healthz, /livez, /readyz or /\n"))
        .layer(from_fn_with_state(state, guard))
}

/// Refuses users who may not call, and web pages; closes the connection after each response.
async fn guard(State(state): State<Arc<AdminState>>, request: Request, next: Next) -> Response {
    let mut response = match check(&state, &request) {
        Ok(()) => next.run(request).await,
        Err(refused) => refused.into_response(),
    };
    let headers = response.headers_mut();
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
    response
}

fn check(state: &AdminState, request: &Request) -> Result<(), (StatusCode, &'static str)> {
    if READ_WITH_TOKEN.contains(&request.uri().path()) && !state.readers.allow(request.headers()) {
        return Err((
            StatusCode::UNAUTHORIZED,
            "authorization: must be Bearer and a valid token\n",
        ));
    }
    let peer: Option<&Peer> = request.extensions().get();
    match peer {
        Some(peer) if !peer.allowed => {
            Err((StatusCode::FORBIDDEN, "the user must be one of --socket-uids\n"))
        }
        Some(peer) if peer.on_loopback => state.hosts.check(request),
        _ => Ok(()),
    }
}

async fn render(State(state): State<Arc<AdminState>>) -> Response {
    match state.metrics.render(state.snapshot()) {
        Ok(text) => ([(header::CONTENT_TYPE, metrics::CONTENT_TYPE)], text).into_response(),
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, format!("{error}\n")).into_response(),
    }
}

async fn readiness(State(state): State<Arc<AdminState>>) -> (StatusCode, &'static str) {
    match state.ready.load(Ordering::Relaxed) {
        true => (StatusCode::OK, "ready\n"),
        false => (StatusCode::SERVICE_UNAVAILABLE, "not ready\n"),
    }
}

impl AdminState {
    fn snapshot(&self) -> Snapshot {
        let connections = self.connections.iter();
        Snapshot {
            ready: self.ready.load(Ordering::Relaxed),
            connections: connections.map(|(at, open)| (at.clone(), open.count())).collect(),
            requests: self.admission.requests(),
            message_bytes: self.admission.bytes(),
            schedules: self.schedules.snapshot(),
            store: self.store.kind(),
            spreads: self.store.figures(),
        }
    }
}
