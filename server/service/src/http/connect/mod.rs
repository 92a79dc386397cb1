//! Plain HTTP on the same port: the Connect protocol's unary form. (And its streams, in
//! `stream.rs`.)
//!
//! `POST /package.Service/Method` with `content-type: application/json` and the
//! message as canonical proto JSON both ways, or with `application/proto` and the
//! message's bytes; errors are JSON with code, message and details. One bridge
//! over the descriptors for all methods: the request becomes a gRPC request to
//! the same handler. Specification: <https://connectrpc.com/docs/protocol>.

mod blame;
mod codec;
mod descriptors;
mod error;
mod request;
mod response;
mod size;
pub(super) mod stream;
mod strict;

use http::header::{ALLOW, CONTENT_LENGTH, CONTENT_TYPE, TRANSFER_ENCODING};
use http::{
    HeaderMap, HeaderName, HeaderValue, Method as HttpMethod, Request, Response, StatusCode,
};
use http_body::Body as _;
use http_body_util::BodyExt as _;
use offbeat_core::limits::Limit;
use offbeat_core::{Reason, Rejection};
use tonic::body::Body;
use tonic::{Code, Status};

use self::codec::{Codec, Content, Written};
use self::descriptors::Descriptors;
use self::error::JsonError;
use super::Stack;
use crate::rpc::methods::Method;
use crate::rpc::status;
use crate::work::{Permit, off_loop};

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const GRPC: HeaderValue = HeaderValue::from_static("application/grpc");
const ACCEPT_POST: HeaderName = HeaderName::from_static("accept-post");

const STREAMS_ACCEPTED: &str = "application/grpc, application/connect+proto";
const ACCEPTED: &str = "application/json, application/proto, application/grpc";

/// Conversions of longer messages leave the event loop.
const INLINE_BYTES: usize = 16 << 10;

/// Of an announced length, room for so many bytes is made before they come: it would grow to it in
/// steps, each of which copies what is there.
const RESERVED_BYTES: usize = 512 << 10;

/// Reads a message from its canonical proto JSON, by its full name.
///
/// # Errors
/// When the text is no such message; the field is named.
pub fn read_json<M: prost::Message + Default>(message: &str, json: &[u8]) -> Result<M, Rejection> {
    let unknown = || Rejection::new(Reason::Malformed, "message", message, "must be a message");
    let descriptor = Descriptors::get().message(message).ok_or_else(unknown)?;
    request::from_json(&descriptor, json)?.transcode_to().map_err(|_| unknown())
}

/// Writes a message as proto JSON with the names of its proto, by its full name.
#[must_use]
pub fn write_json(message: &str, content: &impl prost::Message) -> Option<String> {
    let descriptor = Descriptors::get().message(message)?;
    response::to_text(descriptor, &content.encode_to_vec())
}

/// Answers a request that is not gRPC.
pub(super) async fn answer(
    stack: &Stack,
    request: Request<Body>,
    method: &Method,
) -> Response<Body> {
    call(stack, request, method).await.unwrap_or_else(JsonError::into_response)
}

/// A refusal in the words of this protocol.
pub(super) fn refusal(status: Status) -> Response<Body> {
    JsonError::from(status).into_response()
}

async fn call(
    stack: &Stack,
    request: Request<Body>,
    treatment: &Method,
) -> Result<Response<Body>, JsonError> {
    let (mut head, body) = request.into_parts();
    let path = head.uri.path();
    let unknown = || {
        let unknown = status::unknown_method(format!("there is no method {path}"));
        JsonError::from(unknown).with_http_status(StatusCode::NOT_FOUND)
    };
    if treatment == &Method::UNKNOWN {
        return Err(unknown());
    }
    let content = check_head(&head)?;
    if treatment.streaming {
        let message = "streaming methods take gRPC or application/connect+proto alone: use a client of \
             either, or the unary bulk method";
        let unsupported = JsonError::from(status::unknown_method(message.to_owned()));
        return Err(unsupported
            .with_http_status(StatusCode::UNSUPPORTED_MEDIA_TYPE)
            .with_header(ACCEPT_POST, HeaderValue::from_static(STREAMS_ACCEPTED)));
    }
    let codec = match content {
        Content::Json => Codec::Json(Descriptors::get().method(path).ok_or_else(unknown)?),
        Content::Proto => Codec::Proto,
    };
    let permit = head.extensions.get::<Permit>().cloned();
    let message = read_message(stack.largest(treatment), permit.as_ref(), body).await?;
    let (reading, long) = (codec.clone(), codec.is_long(message.len()));
    let grpc_body = off_loop(long, permit.clone(), move || reading.to_grpc(message));
    let grpc_body = grpc_body.await.map_err(Status::from)??;
    strip_entity_headers(&mut head.headers);
    head.headers.insert(CONTENT_TYPE, GRPC);
    let response = stack.call(Request::from_parts(head, grpc_body), treatment).await;
    let (head, message) = response::unary_message(response).await?;
    let long = codec.is_long(message.len());
    let body = off_loop(long, permit, move || codec.answer_of(message));
    let body = body.await.map_err(Status::from)??;
    let mut response = Response::new(Body::new(http_body_util::Full::from(body)));
    *response.headers_mut() = head;
    response.headers_mut().insert(CONTENT_TYPE, content.content_type());
    Ok(response)
}

fn check_head(head: &http::request::Parts) -> Result<Content, JsonError> {
    if head.method != HttpMethod::POST {
        let message = format!("{} is not allowed: POST a message", head.method);
        return Err(JsonError::from(status::unknown_method(message))
            .with_http_status(StatusCode::METHOD_NOT_ALLOWED)
            .with_header(ALLOW, HeaderValue::from_static("POST")));
    }
    let content_type = head.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let Some(content) = content_type.and_then(Content::of) else {
        let message = format!(
            "content-type: {} is refused: must be application/json, application/proto or application/grpc",
            content_type.unwrap_or("nothing")
        );
        return Err(JsonError::from(status::unknown_method(message))
            .with_http_status(StatusCode::UNSUPPORTED_MEDIA_TYPE)
            .with_header(ACCEPT_POST, HeaderValue::from_static(ACCEPTED)));
    };
    let encoding = head.headers.get(http::header::CONTENT_ENCODING);
    if encoding.is_some_and(|encoding| encoding.as_bytes() != b"identity") {
        let message = "content-encoding is refused: must be identity".to_owned();
        return Err(JsonError::from(status::unknown_method(message)));
    }
    Ok(content)
}

async fn read_message(
    limit: Limit,
    permit: Option<&Permit>,
    mut body: Body,
) -> Result<Written, JsonError> {
    let largest = limit.max_size();
    let announced = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
    if announced > largest {
        return Err(status::message_too_large(announced, limit).into());
    }
    let mut message = Written::with_capacity(announced.min(RESERVED_BYTES));
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame?.into_data() else {
            continue; // trailers
        };
        let length = message.len() + data.len();
        if length > largest {
            return Err(status::message_too_large(length, limit).into());
        }
        if !permit.is_none_or(|permit| permit.take_request(data.len())) {
            return Err(status::no_room().into());
        }
        message.extend(&data);
    }
    Ok(message)
}

/// Removes the headers that describe the entity, not the call.
fn strip_entity_headers(headers: &mut HeaderMap) {
    for name in [CONTENT_TYPE, CONTENT_LENGTH, TRANSFER_ENCODING] {
        headers.remove(name);
    }
}

/// The HTTP status of a gRPC code, as Connect maps them.
const fn http_status(code: Code) -> StatusCode {
    match code {
        Code::Ok => StatusCode::OK,
        Code::Cancelled => match StatusCode::from_u16(499) {
            Ok(status) => status,
            Err(_) => StatusCode::BAD_REQUEST,
        },
        Code::InvalidArgument | Code::FailedPrecondition | Code::OutOfRange => {
            StatusCode::BAD_REQUEST
        }
        Code::DeadlineExceeded => StatusCode::GATEWAY_TIMEOUT,
        Code::NotFound => StatusCode::NOT_FOUND,
        Code::AlreadyExists | Code::Aborted => StatusCode::CONFLICT,
        Code::PermissionDenied => StatusCode::FORBIDDEN,
        Code::ResourceExhausted => StatusCode::TOO_MANY_REQUESTS,
        Code::Unimplemented => StatusCode::NOT_IMPLEMENTED,
        Code::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        Code::Unauthenticated => StatusCode::UNAUTHORIZED,
        Code::Unknown | Code::Internal | Code::DataLoss => StatusCode::INTERNAL_SERVER_ERROR,
    }
}
