//! Between the connection and the handlers: what every request passes.
//!
//! A request is admitted and gets its deadline before anything of its body is
//! read. A plain HTTP request then becomes a gRPC request ([`connect`]); the
//! messages of a gRPC request are measured before the handler sees them.

mod admission;
pub mod connect;
mod deadline;
mod message_size;

use std::time::Duration;

use ::http::header::CONTENT_TYPE;
use ::http::{Request, Response};
use tokio::sync::watch;
use tonic::body::Body;
use tonic::service::Routes;
use tonic::{Code, Status};
use tower::ServiceExt as _;

use crate::rpc::methods::Method;
use crate::rpc::status;
use admission::Admission;
pub use deadline::Deadline;
use message_size::MeasuredBody;

/// The services behind what every request passes.
#[derive(Debug, Clone)]
pub struct Stack {
    routes: Routes,
    admission: Admission,
    unary_time: Duration,
    ends: Ends,
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
    /// Serves `routes`: so many requests at once, and unary calls that take so
    /// long at most.
    #[must_use]
    pub fn new(routes: Routes, max_requests: usize, unary_time: Duration, ends: Ends) -> Self {
        let admission = Admission::new(max_requests);
        Self { routes: routes.prepare(), admission, unary_time, ends }
    }

    /// Answers any HTTP request.
    pub async fn answer(&self, mut request: Request<Body>) -> Response<Body> {
        let form = Form::of(&request);
        let refusal = |status: Status| match form {
            Form::Grpc => status.into_http(),
            Form::ConnectStream => connect::stream::answer(status.into_http()),
            Form::Connect => connect::refusal(status),
        };
        let method = Method::at(request.uri().path());
        let permit = match self.admission.admit(method) {
            Ok(permit) => permit,
            Err(refused) => return refusal(refused),
        };
        let deadline = match Deadline::of(request.headers(), method, self.unary_time) {
            Ok(deadline) => deadline,
            Err(refused) => return refusal(refused),
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
            return refusal(status::deadline_exceeded());
        };
        response.extensions_mut().insert(deadline);
        let end = method.streaming.then(|| match method.observing {
            true => self.ends.stopping.clone(),
            false => self.ends.closing.clone(),
        });
        let response = response.map(|body| deadline.bound_body(body, permit, end));
        match form {
            Form::ConnectStream => connect::stream::answer(response),
            Form::Grpc | Form::Connect => response,
        }
    }

    /// Calls the handler of a gRPC request.
    async fn call(&self, request: Request<Body>, method: Method) -> Response<Body> {
        let path = request.uri().path().to_owned();
        let request = request.map(|body| Body::new(MeasuredBody::new(body, method.message_bytes)));
        match self.routes.clone().oneshot(request).await {
            Ok(response) => explained(response.map(Body::new), &path),
            Err(never) => match never {},
        }
    }
}

/// tonic refuses unknown methods and compression without saying why in details.
fn explained(response: Response<Body>, path: &str) -> Response<Body> {
    match Status::from_header_map(response.headers()) {
        Some(bare) if bare.code() == Code::Unimplemented && bare.details().is_empty() => {
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

fn is_grpc(request: &Request<Body>) -> bool {
    let content_type = request.headers().get(CONTENT_TYPE);
    content_type.is_some_and(|value| {
        let value = value.as_bytes();
        value == b"application/grpc"
            || value.starts_with(b"application/grpc+")
            || value.starts_with(b"application/grpc;")
    })
}
