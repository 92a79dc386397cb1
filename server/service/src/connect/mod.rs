//! Plain HTTP on the same port: the Connect protocol's unary form, and its streams in `stream`.
//!
//! `POST /package.Service/Method` with `content-type: application/json` and the message as
//! canonical proto JSON both ways, or with `application/proto` and the message's bytes. Errors are
//! JSON with code, message and details. The request becomes a gRPC request to the same handler.
//! Specification: <https://connectrpc.com/docs/protocol>.

pub(crate) mod error;
pub(crate) mod stream;

use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::response::Response;
use bytes::Buf as _;
use http::header::{ALLOW, CONTENT_LENGTH, CONTENT_TYPE, TRANSFER_ENCODING};
use http::{HeaderMap, HeaderName, HeaderValue, Method as HttpMethod, StatusCode};
use http_body_util::BodyExt as _;
use offbeat_proto::{json, status};
use prost_reflect::MethodDescriptor;
use tonic::{Code, Status};

use crate::message_frame::PREFIX;
use crate::method::Method;
pub(crate) use error::ConnectError;

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const PROTO: HeaderValue = HeaderValue::from_static("application/proto");
const GRPC: HeaderValue = HeaderValue::from_static("application/grpc");
const ACCEPT_POST: HeaderName = HeaderName::from_static("accept-post");

const STREAMS_ACCEPTED: &str = "application/grpc, application/connect+proto";
const ACCEPTED: &str = "application/json, application/proto, application/grpc";

/// Maximum number of characters of a caller's text that a refusal repeats.
const SHOWN: usize = 128;

/// Encoding of the request and the response of a unary call.
#[derive(Debug, Clone)]
pub(crate) struct Translation {
    content: Content,
    method: MethodDescriptor,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Content {
    Json,
    Proto,
}

impl Translation {
    /// The translation of a request, if it follows this protocol.
    pub(crate) fn of(request: &Request, method: &Method) -> Result<Self, ConnectError> {
        let Some(descriptor) = &method.descriptor else {
            return Err(unknown(request.uri().path()));
        };
        let content = content_of(request)?;
        if method.streaming {
            let message = "streaming methods take gRPC or application/connect+proto alone: use a \
                           client of either, or the unary bulk method";
            return Err(ConnectError::from(status::unknown_method(message.to_owned()))
                .with_http_status(StatusCode::UNSUPPORTED_MEDIA_TYPE)
                .with_header(ACCEPT_POST, HeaderValue::from_static(STREAMS_ACCEPTED)));
        }
        Ok(Self { content, method: descriptor.clone() })
    }

    /// Makes the headers those of a gRPC request.
    pub(crate) fn prepare(&self, headers: &mut HeaderMap) {
        strip_entity_headers(headers);
        headers.insert(CONTENT_TYPE, GRPC);
    }

    /// The protobuf bytes of a request message.
    pub(crate) fn message_of(&self, written: &Bytes) -> Result<Bytes, Status> {
        match self.content {
            Content::Json => json::to_protobuf(&self.method.input(), written).map(Bytes::from),
            Content::Proto => Ok(written.clone()),
        }
    }

    /// The answer in the caller's encoding.
    pub(crate) fn answer_of(&self, message: Bytes) -> Result<Bytes, Status> {
        match self.content {
            Content::Json => json::from_protobuf(self.method.output(), &message),
            Content::Proto => Ok(message),
        }
    }

    pub(crate) fn response(&self, headers: HeaderMap, body: Bytes) -> Response {
        let mut response = Response::new(Body::from(body));
        *response.headers_mut() = headers;
        let content_type = if self.content == Content::Json { JSON } else { PROTO };
        response.headers_mut().insert(CONTENT_TYPE, content_type);
        response
    }
}

/// The refusal of a path that is not a method.
pub(crate) fn unknown(path: &str) -> ConnectError {
    let shown: String = path.chars().take(SHOWN).collect();
    let refused = status::unknown_method(format!("there is no method {shown}"));
    ConnectError::from(refused).with_http_status(StatusCode::NOT_FOUND)
}

/// The refusal of a request that is not a POST.
pub(crate) fn not_posted(method: &HttpMethod) -> ConnectError {
    let shown: String = method.as_str().chars().take(SHOWN).collect();
    let refused = status::unknown_method(format!("{shown} is not allowed: POST a message"));
    ConnectError::from(refused)
        .with_http_status(StatusCode::METHOD_NOT_ALLOWED)
        .with_header(ALLOW, HeaderValue::from_static("POST"))
}

fn content_of(request: &Request) -> Result<Content, ConnectError> {
    let headers = request.headers();
    let content_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let Some(content) = content_type.and_then(Content::of) else {
        let shown: String = content_type.unwrap_or("nothing").chars().take(SHOWN).collect();
        let message = format!(
            "content-type: {shown} is refused: must be application/json, application/proto or \
             application/grpc, or application/connect+proto for streams"
        );
        return Err(ConnectError::from(status::unknown_method(message))
            .with_http_status(StatusCode::UNSUPPORTED_MEDIA_TYPE)
            .with_header(ACCEPT_POST, HeaderValue::from_static(ACCEPTED)));
    };
    let encoding = headers.get(http::header::CONTENT_ENCODING);
    if encoding.is_some_and(|encoding| encoding.as_bytes() != b"identity") {
        let message = "content-encoding is refused: must be identity".to_owned();
        return Err(ConnectError::from(status::unknown_method(message)));
    }
    Ok(content)
}

impl Content {
    /// The encoding that a content type names, if it is one of the two.
    fn of(content_type: &str) -> Option<Self> {
        let (essence, parameters) = content_type.split_once(';').unwrap_or((content_type, ""));
        let (essence, parameters) = (essence.trim(), parameters.trim());
        let utf8 = parameters.is_empty() || parameters.eq_ignore_ascii_case("charset=utf-8");
        if essence.eq_ignore_ascii_case("application/json") && utf8 {
            return Some(Self::Json);
        }
        let bytes = essence.eq_ignore_ascii_case("application/proto") && parameters.is_empty();
        bytes.then_some(Self::Proto)
    }
}

/// The headers to pass on and the message of a gRPC answer, or its error.
pub(crate) async fn unary_message(response: Response) -> Result<(HeaderMap, Bytes), Status> {
    let (head, body) = response.into_parts();
    let mut headers = head.headers;
    if let Some(status) = failure(&headers) {
        return Err(status); // a trailers-only answer
    }
    let broken = |_| status::internal("an answer has no end");
    let collected = body.collect().await.map_err(broken)?;
    if let Some(status) = collected.trailers().and_then(failure) {
        return Err(status);
    }
    let mut message = collected.to_bytes();
    if message.len() < PREFIX {
        return Err(status::internal("an answer has no message"));
    }
    message.advance(PREFIX);
    strip_entity_headers(&mut headers);
    headers.remove(Status::GRPC_STATUS);
    Ok((headers, message))
}

fn failure(headers: &HeaderMap) -> Option<Status> {
    Status::from_header_map(headers).filter(|status| status.code() != Code::Ok)
}

/// Removes the headers that describe the entity, not the call.
fn strip_entity_headers(headers: &mut HeaderMap) {
    for name in [CONTENT_TYPE, CONTENT_LENGTH, TRANSFER_ENCODING] {
        headers.remove(name);
    }
}
