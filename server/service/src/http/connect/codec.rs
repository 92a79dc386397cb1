//! The two forms of a message: canonical proto JSON, and its bytes.

use bytes::{BufMut as _, Bytes, BytesMut};
use http::HeaderValue;
use http_body_util::Full;
use prost::Message as _;
use prost_reflect::MethodDescriptor;
use tonic::Status;
use tonic::body::Body;

use super::{JSON, request, response, size};
use crate::rpc::status;

const PROTO: HeaderValue = HeaderValue::from_static("application/proto");

/// The two content types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Content {
    Json,
    Proto,
}

impl Content {
    /// The content of a type, if it is one of the two.
    pub(super) fn of(content_type: &str) -> Option<Self> {
        let (essence, parameters) = content_type.split_once(';').unwrap_or((content_type, ""));
        let (essence, parameters) = (essence.trim(), parameters.trim());
        let utf8 = parameters.is_empty() || parameters.eq_ignore_ascii_case("charset=utf-8");
        if essence.eq_ignore_ascii_case("application/json") && utf8 {
            return Some(Self::Json);
        }
        let bytes = essence.eq_ignore_ascii_case("application/proto") && parameters.is_empty();
        bytes.then_some(Self::Proto)
    }

    pub(super) const fn content_type(self) -> HeaderValue {
        match self {
            Self::Json => JSON,
            Self::Proto => PROTO,
        }
    }
}

/// How a caller of a method writes its message and wants its answer.
#[derive(Debug, Clone)]
pub(super) enum Codec {
    /// By the descriptors of the method.
    Json(MethodDescriptor),
    /// The handler's own bytes: no descriptors, which take memory, are built for them.
    Proto,
}

impl Codec {
    /// The gRPC body of the message that a caller wrote.
    pub(super) fn to_grpc(&self, message: Bytes) -> Result<Body, Status> {
        let frame = match self {
            Self::Json(method) => {
                size::check(&message)?;
                let message = request::from_json(&method.input(), &message)
                    .map_err(|rejection| status::refused(&rejection))?;
                frame(message.encoded_len(), |buffer| {
                    // The buffer grows: encoding cannot fail.
                    let _ = message.encode(buffer);
                })?
            }
            // What the bytes say is the handler's to read, and to refuse.
            Self::Proto => frame(message.len(), |buffer| buffer.put(message))?,
        };
        Ok(Body::new(Full::<Bytes>::from(frame)))
    }

    /// What the caller gets of the bytes of an answer.
    pub(super) fn answer_of(&self, message: Bytes) -> Result<Bytes, Status> {
        match self {
            Self::Json(method) => response::to_json(method.output(), &message),
            Self::Proto => Ok(message),
        }
    }
}

/// A gRPC frame: not compressed, the length, the message.
fn frame(length: usize, write: impl FnOnce(&mut BytesMut)) -> Result<Bytes, Status> {
    let prefix =
        u32::try_from(length).map_err(|_| status::internal("a message grew beyond 4 GiB"))?;
    let mut frame = BytesMut::with_capacity(length + 5);
    frame.put_u8(0);
    frame.put_u32(prefix);
    write(&mut frame);
    Ok(frame.freeze())
}
