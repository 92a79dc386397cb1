//! Between the connection and the handlers: what every request passes.
//!
//! A request is admitted and gets its deadline before anything of its body is
//! read. A plain HTTP request then becomes a gRPC request ([`connect`]); the
//! messages of a gRPC request are measured before the handler sees them.

mod admission;
mod answer;
mod apart;
pub mod connect;
mod credentials;
mod deadline;
mod direct;
mod meter;
mod request_body;

use std::sync::Arc;
use std::time::Duration;

use ::http::header::CONTENT_TYPE;
use ::http::{HeaderMap, Request, Response};
use offbeat_core::limits::Limit;
use tokio::sync::watch;
use tokio::time::Instant;
use tonic::body::Body;
use tonic::{Code, Status};
use tracing::Instrument as _;

use crate::config::Limits;
use crate::metrics::{Metrics, Record};
use crate::rpc::methods::{ASSIGN_SLOT, Method};
use crate::rpc::router::Router;
use crate::rpc::single::Assigner;
use crate::rpc::status;
use crate::telemetry;
use crate::work::Permit;
pub use admission::Admission;
use answer::Terms;
pub use credentials::{Credentials, Tokens};
pub use deadline::Deadline;
pub(crate) use direct::{Long, Reply, Told};
use request_body::RequestBody;

/// The services behind what every request passes.
#[derive(Debug, Clone)]
pub struct Stack {
    router: Arc<Router>,
    shared: Arc<Shared>,
    ends: Ends,
}

#[derive(Debug, Clone)]
struct Shared {
    /// Of plain calls, if they have a short way.
    assigner: Option<Arc<Assigner>>,
    credentials: Credentials,
    admission: Admission,
    metrics: Arc<Metrics>,
    spans: bool,
    message: Limit,
    bulk_message: Limit,
    answer: Limit,
    unary_time: Duration,
}

/// When open streams must end; each becomes true once.
#[derive(Debug, Clone)]
pub struct Ends {
    /// For streams that only watch: the server begins to stop.
    pub stopping: watch::Receiver<bool>,
    /// For streams that work: the grace period is over.
    pub closing: watch::Receiver<bool>,
}

impl Stack {
    /// Serves what `router` does within `limits`.
    #[must_use]
    pub fn new(
        router: Router,
        limits: &Limits,
        credentials: Credentials,
        metrics: Arc<Metrics>,
        ends: Ends,
        spans: bool,
    ) -> Self {
        let shared = Shared {
            assigner: None,
            credentials,
            admission: Admission::new(limits.requests, limits.bytes_under_way),
            metrics,
            spans,
            message: limits.message,
            bulk_message: limits.bulk_message,
            answer: limits.answer,
            unary_time: limits.unary_time,
        };
        Self { router: Arc::new(router), shared: Arc::new(shared), ends }
    }

    /// The same, with a short way for plain calls.
    pub(crate) fn with_short_way(self, assigner: Assigner) -> Self {
        let assigner = Some(Arc::new(assigner));
        Self { shared: Arc::new(Shared { assigner, ..(*self.shared).clone() }), ..self }
    }

    /// The same for those whose user may not call: every call that needs a right is refused.
    pub(crate) fn for_strangers(&self) -> Self {
        let shared = Shared { credentials: Credentials::of_a_stranger(), ..(*self.shared).clone() };
        Self { shared: Arc::new(shared), ..self.clone() }
    }

    /// Who counts the requests under way.
    #[must_use]
    pub fn admission(&self) -> Admission {
        self.shared.admission.clone()
    }

    /// Answers any HTTP request.
    pub async fn answer(&self, request: Request<Body>) -> Response<Body> {
        let method = Method::at(request.uri().path());
        let record = Record::begin(Arc::clone(&self.shared.metrics), method, request.headers());
        if !self.shared.spans {
            return self.answer_recorded(request, method, record).await;
        }
        let span = telemetry::span(method, request.headers());
        let record = record.within(span.clone());
        self.answer_recorded(request, method, record).instrument(span).await
    }

    /// The long way of what could be a plain call and was not.
    pub(crate) async fn answer_long(&self, long: Long) -> Response<Body> {
        let (request, record) = long.into_parts();
        self.answer_recorded(request, ASSIGN_SLOT, record).await
    }

    async fn answer_recorded(
        &self,
        mut request: Request<Body>,
        method: &'static Method,
        record: Record,
    ) -> Response<Body> {
        let form = Form::of(&request);
        let (deadline, permit) = match self.admit(method, request.headers(), record.started()) {
            Ok(admitted) => admitted,
            Err(refused) => return form.refuse(refused, record),
        };
        // Work that goes on elsewhere holds its place too.
        request.extensions_mut().insert(permit.clone());
        let answered = async {
            match form {
                Form::Grpc => self.call(request, method).await,
                Form::ConnectStream => connect::stream::call(self, request, method).await,
                Form::Connect => connect::answer(self, request, method).await,
            }
        };
        let Some(mut response) = deadline.bound(answered).await else {
            return form.refuse(status::deadline_exceeded(), record);
        };
        let closing = method.streaming.then(|| match method.observing {
            true => self.ends.stopping.clone(),
            false => self.ends.closing.clone(),
        });
        let terms = Terms { deadline, permit, largest: self.shared.answer, closing };
        if let Err(refused) = terms.take(response.body()) {
            return form.refuse(refused, record);
        }
        response.extensions_mut().insert(deadline);
        let response = answer::bound(response, terms, record);
        match form {
            Form::ConnectStream => connect::stream::answer(response),
            Form::Grpc | Form::Connect => response,
        }
    }

    /// Before anything of the body is read.
    fn admit(
        &self,
        method: &Method,
        headers: &HeaderMap,
        started: Instant,
    ) -> Result<(Deadline, Permit), Status> {
        let Shared { credentials, admission, unary_time, .. } = &*self.shared;
        if !method.exempt {
            credentials.check(headers)?;
        }
        let deadline = Deadline::of(headers, method, *unary_time, started)
            .map_err(|rejection| status::refused(&rejection))?;
        Ok((deadline, admission.admit(method)?))
    }

    /// The largest message that `method` takes.
    fn largest(&self, method: &Method) -> Limit {
        if method.bulk { self.shared.bulk_message } else { self.shared.message }
    }

    /// Calls the handler of a gRPC request.
    async fn call(&self, request: Request<Body>, method: &Method) -> Response<Body> {
        let path = request.uri().path().to_owned();
        let Some(permit) = request.extensions().get::<Permit>().cloned() else {
            return status::internal("a request has no place").into_http(); // it was given one
        };
        let largest = self.largest(method);
        let patience = self.shared.unary_time;
        let request =
            request.map(|body| RequestBody::new(body, method, largest, permit.clone(), patience));
        explained(apart::call(Arc::clone(&self.router), request, method, permit).await, &path)
    }
}

/// tonic refuses unknown methods and compression without saying why in details.
fn explained(response: Response<Body>, path: &str) -> Response<Body> {
    if answer::code_in(response.headers()) != Some(Code::Unimplemented) {
        return response;
    }
    match Status::from_header_map(response.headers()) {
        Some(bare) if bare.details().is_empty() => {
            let message = match bare.message() {
                "" => format!("there is no method {path}"),
                said => said.to_owned(),
            };
            status::unknown_method(message).into_http()
        }
        _ => response,
    }
}

/// How a request is written, and its answer.
#[derive(Debug, Clone, Copy)]
enum Form {
    Grpc,
    Connect,
    ConnectStream,
}

impl Form {
    /// A refusal in the words of its protocol.
    fn refuse(self, status: Status, mut record: Record) -> Response<Body> {
        record.ends_with(status.code());
        match self {
            Self::Grpc => status.into_http(),
            Self::ConnectStream => connect::stream::answer(status.into_http()),
            Self::Connect => connect::refusal(status),
        }
    }

    fn of(request: &Request<Body>) -> Self {
        if is_grpc(request) {
            Self::Grpc
        } else if connect::stream::is_stream(request) {
            Self::ConnectStream
        } else {
            Self::Connect
        }
    }
}

fn is_grpc<B>(request: &Request<B>) -> bool {
    let content_type = request.headers().get(CONTENT_TYPE);
    content_type.is_some_and(|value| {
        let value = value.as_bytes();
        value == b"application/grpc"
            || value.starts_with(b"application/grpc+")
            || value.starts_with(b"application/grpc;")
    })
}
