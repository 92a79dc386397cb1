//! The layers that every request passes on its way to a handler, from the outside in:
//!
//! 1. `observe`: counts, times and logs it, and answers a panic with INTERNAL
//! 2. `origin`: on loopback, refuses requests of web pages
//! 3. `credentials`: requires a token
//! 4. `admission` and `deadline`: a place, and the time until the answer must be complete; from here
//!    on, `body` counts the bytes that arrive
//! 5. `message`: reads a unary message whole, translates JSON, and decides large messages off the
//!    event loop
//!
//! After them come the generated services. On the way back, `answer` holds the response to its
//! limits until its last byte is sent, and `observe` records how it ends. `form` is the caller's
//! protocol, in which any of them refuses.

mod admission;
mod answer;
mod body;
mod credentials;
mod deadline;
mod form;
mod message;
mod observe;
mod origin;

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use http::HeaderMap;
use offbeat_core::limits::Limit;
use offbeat_proto::status;
use tokio::sync::{Semaphore, watch};
use tonic::Status;
use tower::ServiceBuilder;

use crate::config::Limits;
use crate::limits::PROBES;
use crate::method::Method;
use crate::metrics::Metrics;
use crate::outcome::Outcome;
use crate::work::Permit;
pub use admission::Admission;
pub use credentials::{Credentials, Tokens};
pub use origin::AllowedHosts;

pub(crate) use answer::HeldAnswer;
pub(crate) use observe::RefusedCredentials;

use answer::Terms;
use deadline::Deadline;
use form::Form;

/// A probe is answered within this, or not at all.
const PROBE_TIME: Duration = Duration::from_secs(2);

/// State that the layers share.
#[derive(Debug)]
pub struct Stack {
    /// The tokens that calls must carry.
    pub credentials: Credentials,
    /// Host names that callers on loopback may use.
    pub hosts: AllowedHosts,
    /// Places and bytes for requests in flight.
    pub admission: Admission,
    /// Counts requests.
    pub metrics: Arc<Metrics>,
    /// Whether each request has a span.
    pub spans: bool,
    /// The store of named spreads, as spans name it.
    pub spread_store: &'static str,
    /// Limits of the sizes of messages.
    pub limits: MessageLimits,
    /// Time for a unary call.
    pub unary_time: Duration,
    /// When open streams must end.
    pub ends: ShutdownSignals,
}

/// Limits of the sizes of messages.
#[derive(Debug, Clone)]
pub struct MessageLimits {
    request: Limit,
    bulk_request: Limit,
    answer: Limit,
}

impl MessageLimits {
    /// The limits of a configuration.
    #[must_use]
    pub fn new(limits: &Limits) -> Self {
        let (request, bulk_request) = (limits.message, limits.bulk_message);
        Self { request, bulk_request, answer: limits.answer }
    }

    /// The largest request message that `method` takes.
    fn of(&self, method: &Method) -> Limit {
        match (method.open, method.bulk) {
            (true, _) => crate::limits::PROBE_BYTES,
            (false, true) => self.bulk_request,
            (false, false) => self.request,
        }
    }
}

/// When open streams must end; each becomes true once.
#[derive(Debug, Clone)]
pub struct ShutdownSignals {
    /// The server begins to stop: ends the streams of methods with `ends_on_drain`.
    pub draining: watch::Receiver<bool>,
    /// The grace period is over: ends all other streams.
    pub terminating: watch::Receiver<bool>,
}

/// The peer of a connection.
#[derive(Debug, Clone)]
pub struct Peer {
    /// Whether the listener is plain TCP on loopback, which web pages can reach.
    pub on_loopback: bool,
    /// Whether the user at the other end of a Unix socket may call.
    pub allowed: bool,
    /// Places for health checks of this connection.
    pub probes: Arc<Semaphore>,
}

impl Peer {
    /// The peer of a new connection.
    #[must_use]
    pub fn new(on_loopback: bool, allowed: bool) -> Self {
        Self { on_loopback, allowed, probes: Arc::new(Semaphore::new(PROBES.max_size())) }
    }
}

/// Facts about a request that layers share; one of its extensions.
#[derive(Debug, Clone)]
struct Call {
    method: &'static Method,
    form: Form,
    started: tokio::time::Instant,
    outcome: Outcome,
    peer: Peer,
}

/// The services behind the layers: a server without its sockets.
pub fn layered(services: Router, stack: Arc<Stack>) -> Router {
    services.layer(
        ServiceBuilder::new()
            .layer(from_fn_with_state(Arc::clone(&stack), observe::observe))
            .layer(from_fn_with_state(stack, refuse_or_read)),
    )
}

/// Steps 2 to 5 in one layer of axum, which boxes a future and copies the services behind it for
/// each layer: with a layer for each step, a short call took an eighth more CPU time.
async fn refuse_or_read(State(stack): State<Arc<Stack>>, request: Request, next: Next) -> Response {
    let call = call_of(&request);
    if let Some(refused) = origin::refusal(&stack, &call, &request) {
        return refused;
    }
    if let Err(refused) = credentials::check(&stack, &call, request.headers()) {
        return call.refuse(refused);
    }
    admit_and_answer(&stack, call, request, next).await
}

/// Admits a request before its body is read, and ends its response in time.
async fn admit_and_answer(stack: &Stack, call: Call, mut request: Request, next: Next) -> Response {
    let (deadline, permit) = match admitted(stack, &call, request.headers()) {
        Ok(admitted) => admitted,
        Err(refused) => return call.refuse(refused),
    };
    request.extensions_mut().insert(permit.clone());
    let request = request.map(|body| body::counted(body, permit.clone(), stack.unary_time));
    let Some(response) = deadline.bound(message::read(stack, &call, request, next)).await else {
        return call.refuse(status::deadline_exceeded());
    };
    let ends = match (call.method.streaming, call.method.ends_on_drain) {
        (false, _) => None,
        (true, true) => Some(stack.ends.draining.clone()),
        (true, false) => Some(stack.ends.terminating.clone()),
    };
    let held = HeldAnswer { deadline: deadline.0, permit: permit.clone() };
    let terms = Terms { deadline, permit, largest: stack.limits.answer, ends };
    let mut response = answer::bound(response, terms, call);
    response.extensions_mut().insert(held);
    response
}

/// A deadline and a place for a request.
fn admitted(stack: &Stack, call: &Call, headers: &HeaderMap) -> Result<(Deadline, Permit), Status> {
    let time = if call.method.open { PROBE_TIME } else { stack.unary_time };
    let deadline =
        Deadline::of(headers, call.method, time, call.started).map_err(status::refused)?;
    Ok((deadline, stack.admission.admit(call.method, &call.peer)?))
}

/// The facts that [`observe`] found about a request. Every request has passed it.
fn call_of(request: &Request) -> Call {
    request.extensions().get().cloned().unwrap_or_else(|| Call::of(request))
}

impl Call {
    fn of(request: &Request) -> Self {
        let peer = request.extensions().get().cloned();
        Self {
            method: Method::at(request.uri().path()),
            form: Form::of(request),
            started: tokio::time::Instant::now(),
            outcome: Outcome::default(),
            peer: peer.unwrap_or_else(|| Peer::new(false, true)),
        }
    }

    /// A refusal in the form of the request's protocol.
    fn refuse(&self, status: Status) -> Response {
        self.outcome.set(&status);
        self.form.refusal(status)
    }
}
