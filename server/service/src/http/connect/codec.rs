//! The two forms of a message: canonical proto JSON, and its bytes.

use bytes::{BufMut as _, Bytes, BytesMut};
use http::HeaderValue;
use http_body_util::Full;
use prost::Message as _;
use prost_reflect::MethodDescriptor;
use tonic::Status;
use tonic::body::Body;

use super::{INLINE_BYTES, JSON, request, response, size};
use crate::rpc::codec::PREFIX;
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
    /// Whether it takes long to convert a message of so many bytes.
    pub(super) const fn is_long(&self, length: usize) -> bool {
        matches!(self, Self::Json(_)) && length > INLINE_BYTES
    }

    /// The gRPC body of the message that a caller wrote.
    pub(super) fn to_grpc(&self, written: Written) -> Result<Body, Status> {
        let framed = match self {
            Self::Json(method) => {
                let text = written.message();
                size::check(&text)?;
                let message = request::from_json(&method.input(), &text)
                    .map_err(|rejection| status::refused(&rejection))?;
                drop(text);
                let mut framed = Written::with_capacity(message.encoded_len());
                // The buffer grows: encoding cannot fail.
                let _ = message.encode(&mut framed.0);
                framed.into_frame()?
            }
            // What the bytes say is the handler's to read, and to refuse.
            Self::Proto => written.into_frame()?,
        };
        Ok(Body::new(Full::<Bytes>::from(framed)))
    }

    /// What the caller gets of the bytes of an answer.
    pub(super) fn answer_of(&self, message: Bytes) -> Result<Bytes, Status> {
        match self {
            Self::Json(method) => response::to_json(method.output(), &message),
            Self::Proto => Ok(message),
        }
    }
}

/// A message as it comes, behind room for what gRPC puts in front of it.
#[derive(Debug)]
pub(super) struct Written(BytesMut);

impl Written {
    /// Nothing, with room for so many bytes.
    pub(super) fn with_capacity(length: usize) -> Self {
        let mut bytes = BytesMut::with_capacity(PREFIX + length);
        bytes.put_bytes(0, PREFIX);
        Self(bytes)
    }

    pub(super) fn extend(&mut self, data: &[u8]) {
        self.0.extend_from_slice(data);
    }

    /// Of the message.
    pub(super) fn len(&self) -> usize {
        self.0.len() - PREFIX
    }

    fn message(self) -> Bytes {
        self.0.freeze().slice(PREFIX..)
    }

    /// A gRPC frame: not compressed, the length, the message.
    fn into_frame(mut self) -> Result<Bytes, Status> {
        let length = u32::try_from(self.len())
            .map_err(|_| status::internal("a message grew beyond 4 GiB"))?;
        if let Some([_, prefix @ ..]) = self.0.first_chunk_mut::<PREFIX>() {
            *prefix = length.to_be_bytes();
        }
        Ok(self.0.freeze())
    }
}
