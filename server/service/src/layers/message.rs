//! Unary calls: reads the whole message, and translates it if it is not gRPC's. Large messages are
//! decoded and decided off the event loop.
//!
//! Streams pass on: their messages arrive one by one.

use std::task::{Context, Poll, Waker};

use axum::body::Body;
use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;
use bytes::{Bytes, BytesMut};
use http::{HeaderMap, HeaderValue, Method as HttpMethod};
use http_body_util::BodyExt as _;
use offbeat_core::limits::Limit;
use offbeat_proto::status;
use prost_reflect::DynamicMessage;
use tonic::Status;

use super::body::status_of;
use super::form::Form;
use super::{Call, Stack};
use crate::connect::{self, ConnectError, Translation};
use crate::message_frame::{NO_FLAGS, PREFIX, framed, read_prefix};
use crate::method::Method;
use crate::work::{Permit, offload};

/// Larger messages are decoded and decided off the event loop.
const LARGE_BYTES: usize = 16 << 10;

/// Maximum initial capacity of the buffer for a message, in bytes, for any announced length.
const RESERVED_BYTES: usize = 512 << 10;

pub(super) async fn read(stack: &Stack, call: &Call, request: Request, next: Next) -> Response {
    let request_method = request.method().clone();
    let answered = match (call.form, call.method.streaming) {
        _ if !call.method.is_known() => Err(connect::unknown(request.uri().path())),
        _ if request_method != HttpMethod::POST => Err(connect::not_posted(&request_method)),
        (Form::Grpc | Form::ConnectStream, true) => stream(call, request, next).await,
        (Form::ConnectStream, false) => {
            let name = &call.method.name;
            let message = format!("{name} is not a streaming method: post it as application/proto");
            Err(status::unknown_method(message).into())
        }
        (Form::Grpc, false) => unary(stack, call.method, request, next, None).await,
        (Form::Connect, _) => match Translation::of(&request, call.method) {
            Ok(translation) => unary(stack, call.method, request, next, Some(translation)).await,
            Err(refused) => Err(refused),
        },
    };
    match answered {
        Ok(response) => {
            if call.form == Form::Connect {
                call.outcome.set_ok();
            }
            response
        }
        Err(refused) => {
            call.outcome.set(refused.status());
            match call.form {
                Form::Connect => refused.into_response(),
                Form::Grpc if request_method != HttpMethod::POST => refused.into_response(),
                Form::Grpc | Form::ConnectStream => call.form.refusal(refused.into_status()),
            }
        }
    }
}

async fn stream(call: &Call, request: Request, next: Next) -> Result<Response, ConnectError> {
    check_encoding(request.headers())?;
    match call.form {
        Form::ConnectStream => Ok(connect::stream::call(request, next, call.outcome.clone()).await),
        Form::Grpc | Form::Connect => Ok(next.run(request).await),
    }
}

/// A unary call, translated from and to JSON or bare protobuf if it is not gRPC.
async fn unary(
    stack: &Stack,
    method: &Method,
    request: Request,
    next: Next,
    translation: Option<Translation>,
) -> Result<Response, ConnectError> {
    let permit = request.extensions().get::<Permit>().cloned();
    let (mut head, body) = request.into_parts();
    check_encoding(&head.headers)?;
    let message = collect(body, stack.limits.of(method), translation.is_none()).await?;
    if method.open && translation.is_none() {
        check_probe(method, &message)?;
    }
    if let Some(translation) = &translation {
        translation.prepare(&mut head.headers);
    }
    let large = message.len() > LARGE_BYTES;
    let reading = translation.clone();
    let begin = move || {
        let framed = match reading {
            Some(translation) => framed(NO_FLAGS, &translation.message_of(&message)?),
            None => message,
        };
        let mut call = Box::pin(next.run(Request::from_parts(head, Body::from(framed))));
        // The first poll decodes and decides. A call that is then still pending is awaited below.
        let polled = match large {
            true => call.as_mut().poll(&mut Context::from_waker(Waker::noop())),
            false => Poll::Pending,
        };
        Ok::<_, Status>((call, polled))
    };
    let (call, polled) = offload(large, permit.clone(), begin).await.map_err(Status::from)??;
    let response = match polled {
        Poll::Ready(response) => response,
        Poll::Pending => call.await,
    };
    match translation {
        Some(translation) => translate(response, translation, permit).await,
        None => Ok(response),
    }
}

/// Refuses compression, which is not offered.
fn check_encoding(headers: &HeaderMap) -> Result<(), Status> {
    match headers.get("grpc-encoding").map(HeaderValue::as_bytes) {
        None | Some(b"identity") => Ok(()),
        Some(_) => {
            let message = "grpc-encoding is refused: must be identity, messages are not compressed";
            Err(status::unknown_method(message.to_owned()))
        }
    }
}

/// Refuses a malformed probe: the health service, which is not ours, would answer INTERNAL.
fn check_probe(method: &Method, message: &Bytes) -> Result<(), Status> {
    let Some(descriptor) = &method.descriptor else { return Ok(()) };
    let message = message.get(PREFIX..).unwrap_or_default();
    let decoded = DynamicMessage::decode(descriptor.input(), message);
    decoded.map(drop).map_err(|error| status::malformed_message(&error))
}

/// A gRPC answer as JSON or bare protobuf.
async fn translate(
    response: Response,
    translation: Translation,
    permit: Option<Permit>,
) -> Result<Response, ConnectError> {
    let (head, message) = connect::unary_message(response).await?;
    let large = message.len() > LARGE_BYTES;
    let writing = translation.clone();
    let body = offload(large, permit, move || writing.answer_of(message)).await;
    Ok(translation.response(head, body.map_err(Status::from)??))
}

/// Reads the whole body; for gRPC, exactly one message.
async fn collect(mut body: Body, limit: Limit, is_grpc: bool) -> Result<Bytes, Status> {
    let prefix = if is_grpc { PREFIX } else { 0 };
    let largest = limit.max_size() + prefix;
    let announced = usize::try_from(http_body::Body::size_hint(&body).lower());
    let announced = announced.unwrap_or(usize::MAX);
    if announced > largest {
        return Err(status::message_too_large(announced - prefix, limit));
    }
    let mut message = BytesMut::with_capacity(announced.min(RESERVED_BYTES));
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(|error| status_of(&error))?.into_data() else {
            continue; // trailers
        };
        message.extend_from_slice(&data);
        if is_grpc && let Some((flag, length)) = read_prefix(&message) {
            if flag != 0 {
                return Err(status::flagged(flag));
            }
            if length > limit.max_size() {
                return Err(status::message_too_large(length, limit));
            }
            if message.len() > PREFIX + length {
                return Err(status::not_one_message());
            }
        }
        if message.len() > largest {
            return Err(status::message_too_large(message.len() - prefix, limit));
        }
    }
    let is_whole = |(_, length)| PREFIX + length == message.len();
    match is_grpc && !read_prefix(&message).is_some_and(is_whole) {
        true => Err(status::not_one_message()),
        false => Ok(message.freeze()),
    }
}
