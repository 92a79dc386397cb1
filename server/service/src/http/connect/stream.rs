//! The Connect protocol's streaming form, with the messages as bytes: for clients that have
//! no gRPC, over HTTP/1.1 too.
//!
//! `POST` with `content-type: application/connect+proto`. Each message of the request and of
//! the answer stands in an envelope: a byte of flags, 4 bytes of length (big-endian), the
//! message; which is the frame of gRPC. The last envelope of the answer has the flag 2 and
//! holds JSON: `{}`, or `{"error": {"code": …, "message": …, "details": […]}}`. The HTTP
//! status is always 200. Over HTTP/1.1 both directions flow at the same time, too.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::{BufMut as _, Bytes, BytesMut};
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Request, Response};
use http_body::{Body as HttpBody, Frame};
use http_body_util::Full;
use tonic::body::Body;
use tonic::{Code, Status};

use super::error::error_value;
use super::{GRPC, Stack, strip_entity_headers};
use crate::rpc::methods::Method;
use crate::rpc::status;

const CONTENT: HeaderValue = HeaderValue::from_static("application/connect+proto");

/// The flag of the last envelope.
const END_STREAM: u8 = 2;

/// Whether a request is of this form.
pub(in crate::http) fn is_stream(request: &Request<Body>) -> bool {
    request.headers().get(CONTENT_TYPE) == Some(&CONTENT)
}

/// Calls the handler. Its answer is still gRPC's: [`answer`] comes last, behind whatever else
/// may end it.
pub(in crate::http) async fn call(
    stack: &Stack,
    request: Request<Body>,
    treatment: &Method,
) -> Response<Body> {
    let (mut head, body) = request.into_parts();
    let path = head.uri.path();
    if !treatment.streaming {
        let message = format!("{path} is no method that streams: post it as application/proto");
        return status::unknown_method(message).into_http();
    }
    strip_entity_headers(&mut head.headers);
    head.headers.insert(CONTENT_TYPE, GRPC);
    stack.call(Request::from_parts(head, body), treatment).await
}

/// A gRPC answer in this form.
pub(in crate::http) fn answer(response: Response<Body>) -> Response<Body> {
    let (mut head, body) = response.into_parts();
    let body = match Status::from_header_map(&head.headers) {
        Some(status) => Body::new(Full::from(end_of_stream(&status))), // no messages at all
        None => Body::new(Enveloped { body, ended: false }),
    };
    for name in ["grpc-status", "grpc-message", "grpc-status-details-bin"] {
        head.headers.remove(name);
    }
    strip_entity_headers(&mut head.headers);
    head.headers.insert(CONTENT_TYPE, CONTENT);
    Response::from_parts(head, body)
}

fn end_of_stream(status: &Status) -> Bytes {
    let end = match status.code() {
        Code::Ok => serde_json::json!({}),
        _ => serde_json::json!({ "error": error_value(status) }),
    };
    let text = end.to_string();
    let mut envelope = BytesMut::with_capacity(text.len() + 5);
    envelope.put_u8(END_STREAM);
    envelope.put_u32(u32::try_from(text.len()).unwrap_or_default()); // some hundred bytes
    envelope.put(text.as_bytes());
    envelope.freeze()
}

/// A body whose trailers become the last envelope.
struct Enveloped {
    body: Body,
    ended: bool,
}

impl HttpBody for Enveloped {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        if self.ended {
            return Poll::Ready(None);
        }
        let frame = std::task::ready!(Pin::new(&mut self.body).poll_frame(cx));
        let status = match frame {
            Some(Ok(frame)) => match frame.into_trailers() {
                Ok(trailers) => Status::from_header_map(&trailers),
                Err(data) => return Poll::Ready(Some(Ok(data))),
            },
            Some(Err(status)) => Some(status),
            None => None,
        };
        self.ended = true;
        let status = status.unwrap_or_else(|| status::internal("an answer has no status"));
        Poll::Ready(Some(Ok(Frame::data(end_of_stream(&status)))))
    }
}
