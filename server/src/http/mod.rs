//! Between the connection and the handlers: what every request passes.
//!
//! A gRPC request is admitted, gets its deadline, and has its messages
//! measured before the handler sees it. A plain HTTP request becomes a gRPC
//! request ([`connect`]) and passes the same way.

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
use tower::ServiceExt as _;

use crate::rpc::methods::Method;
use crate::rpc::status;
use admission::Admission;
use deadline::Deadline;
use message_size::MeasuredBody;

/// The services behind what every request passes.
#[derive(Debug, Clone)]
pub struct Stack {
    routes: Routes,
    admission: Admission,
    unary_time: Duration,
    closing: watch::Receiver<bool>,
}

impl Stack {
    /// Serves `routes`: so many requests at once, unary calls that take so
    /// long at most, and streams until `closing` becomes true.
    #[must_use]
    pub fn new(
        routes: Routes,
        max_requests: usize,
        unary_time: Duration,
        closing: watch::Receiver<bool>,
    ) -> Self {
        let admission = Admission::new(max_requests);
        Self { routes: routes.prepare(), admission, unary_time, closing }
    }

    /// Answers any HTTP request.
    pub async fn answer(&self, request: Request<Body>) -> Response<Body> {
        if is_grpc(&request) {
            self.grpc(request).await
        } else {
            connect::answer(self, request).await
        }
    }

    /// Answers a gRPC request.
    async fn grpc(&self, request: Request<Body>) -> Response<Body> {
        let method = Method::at(request.uri().path());
        let permit = match self.admission.admit(method) {
            Ok(permit) => permit,
            Err(refused) => return refused.into_http(),
        };
        let deadline = match Deadline::of(request.headers(), method, self.unary_time) {
            Ok(deadline) => deadline,
            Err(refused) => return refused.into_http(),
        };
        let request = request.map(|body| Body::new(MeasuredBody::new(body, method.message_bytes)));
        let Some(response) = deadline.bound(self.routes.clone().oneshot(request)).await else {
            return status::deadline_exceeded().into_http();
        };
        match response {
            Ok(response) => {
                let closing = method.streaming.then(|| self.closing.clone());
                response.map(|body| deadline.bound_body(Body::new(body), permit, closing))
            }
            Err(never) => match never {},
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
