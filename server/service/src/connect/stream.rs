//! The Connect protocol's streaming form, with the messages as bytes: for clients without gRPC,
//! also over HTTP/1.1.
//!
//! `POST` with `content-type: application/connect+proto`. Each message of the request and of the
//! answer has an envelope, which is the frame of gRPC: a byte of flags, 4 bytes of length
//! (big-endian), and the message. The last envelope of the answer has the flag 2 and holds JSON:
//! `{}`, or `{"error": {"code": …, "message": …, "details": […]}}`. The HTTP status is always 200.
//! Both directions flow at the same time, also over HTTP/1.1.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;
use http::HeaderValue;
use http_body::{Body as HttpBody, Frame};
use offbeat_proto::status;
use tonic::{Code, Status};

use super::error::error_value;
use super::{GRPC, strip_entity_headers};
use crate::message_frame::framed;
use crate::outcome::Outcome;

/// The content type of both directions.
pub(crate) const CONTENT_TYPE: &[u8] = b"application/connect+proto";

/// The flag of the last envelope.
const END_STREAM: u8 = 2;

/// Calls the handler, and puts its answer into envelopes.
pub(crate) async fn call(request: Request, next: Next, outcome: Outcome) -> Response {
    let (mut head, body) = request.into_parts();
    strip_entity_headers(&mut head.headers);
    head.headers.insert(http::header::CONTENT_TYPE, GRPC);
    let (mut head, body) = next.run(Request::from_parts(head, body)).await.into_parts();
    let body = match Status::from_header_map(&head.headers) {
        Some(status) => {
            outcome.set(&status); // no messages at all
            Body::from(end(&status))
        }
        None => Body::new(EnvelopedBody { body, outcome, ended: false }),
    };
    for name in ["grpc-status", "grpc-message", "grpc-status-details-bin"] {
        head.headers.remove(name);
    }
    strip_entity_headers(&mut head.headers);
    head.headers.insert(http::header::CONTENT_TYPE, content_type());
    Response::from_parts(head, body)
}

/// The response to a refused request.
pub(crate) fn refusal(status: &Status) -> Response {
    let mut response = Response::new(Body::from(end(status)));
    response.headers_mut().insert(http::header::CONTENT_TYPE, content_type());
    response
}

const fn content_type() -> HeaderValue {
    HeaderValue::from_static("application/connect+proto")
}

/// The last envelope.
pub(crate) fn end(status: &Status) -> Bytes {
    let end = match status.code() {
        Code::Ok => serde_json::json!({}),
        _ => serde_json::json!({ "error": error_value(status) }),
    };
    framed(END_STREAM, end.to_string().as_bytes())
}

/// A body whose trailers become the last envelope.
struct EnvelopedBody {
    body: Body,
    outcome: Outcome,
    ended: bool,
}

impl HttpBody for EnvelopedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if self.ended {
            return Poll::Ready(None);
        }
        let frame = ready!(Pin::new(&mut self.body).poll_frame(cx));
        let status = match frame {
            Some(Ok(frame)) => match frame.into_trailers() {
                Ok(trailers) => Status::from_header_map(&trailers),
                Err(data) => return Poll::Ready(Some(Ok(data))),
            },
            Some(Err(_)) | None => None,
        };
        self.ended = true;
        let status = status.unwrap_or_else(|| status::internal("an answer has no status"));
        self.outcome.set(&status);
        Poll::Ready(Some(Ok(Frame::data(end(&status)))))
    }
}
