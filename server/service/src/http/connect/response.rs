//! JSON out: the gRPC answer of a unary call to a text.

use bytes::{Buf as _, Bytes};
use http::{HeaderMap, HeaderName, Response};
use http_body_util::BodyExt as _;
use prost_reflect::{DynamicMessage, MessageDescriptor, SerializeOptions};
use serde::Serialize as _;
use tonic::body::Body;
use tonic::{Code, Status};

use super::strip_entity_headers;
use crate::http::answer::code_in;
use crate::rpc::codec::PREFIX;
use crate::rpc::status;

/// The headers to send on, and the bytes of the message, of a gRPC answer; or its status.
pub(super) async fn unary_message(response: Response<Body>) -> Result<(HeaderMap, Bytes), Status> {
    let (head, body) = response.into_parts();
    let mut headers = head.headers;
    if let Some(status) = failure(&headers) {
        return Err(status); // an answer of trailers alone
    }
    let collected = body.collect().await?;
    if let Some(trailers) = collected.trailers() {
        if let Some(status) = failure(trailers) {
            return Err(status);
        }
        for (name, value) in trailers {
            let renamed = HeaderName::try_from(format!("trailer-{name}"));
            if let (Ok(renamed), false) = (renamed, name.as_str().starts_with("grpc-")) {
                headers.append(renamed, value.clone());
            }
        }
    }
    let mut message = collected.to_bytes();
    if message.len() < PREFIX {
        return Err(status::internal("an answer has no message"));
    }
    message.advance(PREFIX);
    strip_entity_headers(&mut headers);
    Ok((headers, message))
}

fn failure(headers: &HeaderMap) -> Option<Status> {
    let code = code_in(headers).filter(|code| *code != Code::Ok);
    code.and_then(|_| Status::from_header_map(headers))
}

/// The canonical proto JSON of a message. Fields that hold their default are
/// written too, so that slot 0 can be seen.
pub(super) fn to_json(output: MessageDescriptor, message: &[u8]) -> Result<Bytes, Status> {
    let decoded = DynamicMessage::decode(output, message)
        .map_err(|_| status::internal("an answer is no message of its method"))?;
    let mut text = serde_json::Serializer::new(Vec::with_capacity(message.len() * 2));
    let options = SerializeOptions::new().skip_default_fields(false);
    decoded
        .serialize_with_options(&mut text, &options)
        .map_err(|_| status::internal("an answer has no JSON form"))?;
    let mut text = text.into_inner();
    text.push(b'\n'); // kind to terminals
    drop(decoded);
    Ok(text.into())
}

/// The same for people on the command line: fields are named as in the proto.
pub(super) fn to_text(descriptor: MessageDescriptor, message: &[u8]) -> Option<String> {
    let options = SerializeOptions::new().skip_default_fields(false).use_proto_field_name(true);
    let decoded = DynamicMessage::decode(descriptor, message).ok()?;
    let mut text = serde_json::Serializer::new(Vec::new());
    decoded.serialize_with_options(&mut text, &options).ok()?;
    String::from_utf8(text.into_inner()).ok()
}

/// The canonical proto JSON of a message as a value, if it is known and whole.
pub(super) fn to_value(descriptor: MessageDescriptor, message: &[u8]) -> Option<serde_json::Value> {
    DynamicMessage::decode(descriptor, message).ok()?.serialize(serde_json::value::Serializer).ok()
}
