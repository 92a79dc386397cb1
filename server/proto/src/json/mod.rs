//! Canonical proto JSON for any message, by its descriptor.
//!
//! Reading refuses JSON that has no exact form in protobuf, and names the field that is wrong.
//! Writing includes fields that hold their default, so that slot 0 can be seen.

mod path;
mod read;
mod size;
mod strict;

use bytes::Bytes;
use offbeat_core::{Reason, Rejection};
use prost_reflect::{DynamicMessage, MessageDescriptor, SerializeOptions};
use serde::Serialize as _;
use tonic::Status;

use crate::{descriptors, status};

/// The bytes of a message that a caller wrote as JSON.
///
/// # Errors
/// When the text is no such message, or holds more than any method takes.
pub fn to_protobuf(descriptor: &MessageDescriptor, json: &[u8]) -> Result<Vec<u8>, Status> {
    size::check(json)?;
    let message = read::message(descriptor, json).map_err(status::refused)?;
    Ok(prost::Message::encode_to_vec(&message))
}

/// The JSON of a message, on one line.
///
/// # Errors
/// When the bytes are no such message: a bug.
pub fn from_protobuf(descriptor: MessageDescriptor, bytes: &[u8]) -> Result<Bytes, Status> {
    let broken = |_| status::internal("an answer is no message of its method");
    let message = DynamicMessage::decode(descriptor, bytes).map_err(broken)?;
    let mut text = serde_json::Serializer::new(Vec::with_capacity(bytes.len() * 2));
    message
        .serialize_with_options(&mut text, &SerializeOptions::new().skip_default_fields(false))
        .map_err(|_| status::internal("an answer has no JSON form"))?;
    let mut text = text.into_inner();
    text.push(b'\n');
    Ok(text.into())
}

/// The JSON of a message as a value, if the message is known and whole. Defaults are left out.
#[must_use]
pub fn to_value(descriptor: MessageDescriptor, bytes: &[u8]) -> Option<serde_json::Value> {
    DynamicMessage::decode(descriptor, bytes).ok()?.serialize(serde_json::value::Serializer).ok()
}

/// Reads a message from its JSON, by its full name.
///
/// # Errors
/// When the text is not such a message; the error names the field.
pub fn read_json<M: prost::Message + Default>(message: &str, json: &[u8]) -> Result<M, Rejection> {
    let unknown = || Rejection::new(Reason::Malformed, "message", message, "must be a message");
    let descriptor = descriptors::message(message).ok_or_else(unknown)?;
    read::message(&descriptor, json)?.transcode_to().map_err(|_| unknown())
}

/// Writes a message as JSON with the names of its proto, by its full name.
#[must_use]
pub fn write_json(message: &str, content: &impl prost::Message) -> Option<String> {
    let descriptor = descriptors::message(message)?;
    let options = SerializeOptions::new().skip_default_fields(false).use_proto_field_name(true);
    let decoded = DynamicMessage::decode(descriptor, &*content.encode_to_vec()).ok()?;
    let mut text = serde_json::Serializer::new(Vec::new());
    decoded.serialize_with_options(&mut text, &options).ok()?;
    String::from_utf8(text.into_inner()).ok()
}
