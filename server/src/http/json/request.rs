//! JSON in: a text to the one gRPC frame of a unary call.

use bytes::{BufMut as _, Bytes, BytesMut};
use http_body_util::Full;
use offbeat_core::{Reason, Rejection};
use prost::Message as _;
use prost_reflect::{DeserializeOptions, DynamicMessage, MessageDescriptor};
use serde_path_to_error::Track;
use tonic::Status;
use tonic::body::Body;

use super::blame;
use crate::rpc::status;

/// The gRPC body of the message that `json` describes.
pub(super) fn to_grpc(input: &MessageDescriptor, json: &[u8]) -> Result<Body, Status> {
    let message = read(input, json).map_err(|rejection| status::refused(&rejection))?;
    let length = u32::try_from(message.encoded_len())
        .map_err(|_| status::internal("a JSON message grew beyond 4 GiB"))?;
    let mut frame = BytesMut::with_capacity(message.encoded_len() + 5);
    frame.put_u8(0); // not compressed
    frame.put_u32(length);
    message.encode(&mut frame).map_err(|_| status::internal("a message outgrew its buffer"))?;
    Ok(Body::new(Full::<Bytes>::from(frame.freeze())))
}

/// Reads canonical proto JSON; unknown fields and enum values are refused.
fn read(input: &MessageDescriptor, json: &[u8]) -> Result<DynamicMessage, Rejection> {
    let mut text = serde_json::Deserializer::from_slice(json);
    let mut track = Track::new();
    let tracked = serde_path_to_error::Deserializer::new(&mut text, &mut track);
    let options = DeserializeOptions::new().deny_unknown_fields(true);
    let read = DynamicMessage::deserialize_with_options(input.clone(), tracked, &options);
    match read {
        Ok(message) => text.end().map(|()| message).map_err(|error| not_json(&error)),
        Err(error) => match serde_json::from_slice(json) {
            Ok(value) => Err(blame::field(input, &track.path(), &value, &error)),
            Err(error) => Err(not_json(&error)),
        },
    }
}

fn not_json(error: &serde_json::Error) -> Rejection {
    let allowed = format!("must be one JSON object ({error})");
    Rejection::new(Reason::Malformed, "message", "text that is no JSON", allowed)
}
