//! The codec of the services: prost's, but bytes that are no message are the
//! caller's mistake (stock tonic says INTERNAL).
//!
//! Not generic in what is answered: an answer writes itself. So what frames answers is compiled
//! once, and not for each method.

use std::any::Any;

use bytes::Buf as _;
use prost::Message;
use tonic::Status;
use tonic::codec::{self, BufferSettings, DecodeBuf, EncodeBuf};

use super::{elements, packed, status};

/// In front of a message: whether it is compressed, and its length, four bytes, big-endian.
pub(crate) const PREFIX: usize = 5;

/// Each stream has two buffers, which grow with its messages: tonic begins with 8 KiB, which
/// would be 160 MB for 10,000 idle streams.
fn buffers() -> BufferSettings {
    BufferSettings::new(512, 32 << 10)
}

/// A message of a type that its handler knows.
pub(super) struct AnyMessage(Box<dyn Any + Send>);

impl AnyMessage {
    /// The message, if it is of this type.
    pub(super) fn downcast<Q: 'static>(self) -> Option<Q> {
        self.0.downcast().ok().map(|message| *message)
    }
}

/// An answer of any method.
pub(super) struct AnyAnswer(Box<dyn Answer>);

impl AnyAnswer {
    pub(super) fn new(answer: impl Message + 'static) -> Self {
        Self(Box::new(answer))
    }
}

/// Reads a message of one type from a buffer that holds it, and nothing else.
type Decode<Q> = fn(&mut DecodeBuf<'_>) -> Result<Q, Status>;

/// Decodes `Q`, and encodes any answer.
pub(super) struct Codec<Q>(Decode<Q>);

impl<Q> Clone for Codec<Q> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<Q> Copy for Codec<Q> {}

impl<Q: Message + Default + 'static> Codec<Q> {
    pub(super) const fn new() -> Self {
        Self(decode::<Q>)
    }

    /// The same codec, of the same type for every `Q`.
    pub(super) const fn of_any(self) -> Codec<AnyMessage> {
        Codec(|buffer| decode::<Q>(buffer).map(|message| AnyMessage(Box::new(message))))
    }
}

impl<Q: Send + 'static> codec::Codec for Codec<Q> {
    type Encode = AnyAnswer;
    type Decode = Q;
    type Encoder = Encoder;
    type Decoder = Self;

    fn encoder(&mut self) -> Encoder {
        Encoder
    }

    fn decoder(&mut self) -> Self {
        *self
    }
}

impl<Q> codec::Decoder for Codec<Q> {
    type Item = Q;
    type Error = Status;

    fn buffer_settings(&self) -> BufferSettings {
        buffers()
    }

    fn decode(&mut self, buffer: &mut DecodeBuf<'_>) -> Result<Option<Q>, Status> {
        self.0(buffer).map(Some)
    }
}

fn decode<Q: Message + Default + 'static>(buffer: &mut DecodeBuf<'_>) -> Result<Q, Status> {
    let message = buffer.copy_to_bytes(buffer.remaining()); // which copies nothing
    elements::check::<Q>(&message).map_err(|rejection| status::refused(&rejection))?;
    Q::decode(message).map_err(|error| status::malformed_message(&error))
}

/// Encodes answers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Encoder;

impl codec::Encoder for Encoder {
    type Item = AnyAnswer;
    type Error = Status;

    fn buffer_settings(&self) -> BufferSettings {
        buffers()
    }

    fn encode(&mut self, mut answer: AnyAnswer, buffer: &mut EncodeBuf<'_>) -> Result<(), Status> {
        answer.0.write(buffer)
    }
}

/// What writes itself, once.
trait Answer: Send {
    fn write(&mut self, buffer: &mut EncodeBuf<'_>) -> Result<(), Status>;
}

impl<A: Message + 'static> Answer for A {
    fn write(&mut self, buffer: &mut EncodeBuf<'_>) -> Result<(), Status> {
        if packed::writes::<A>() {
            buffer.reserve(self.encoded_len());
            packed::encode(self, buffer);
            return Ok(());
        }
        self.encode(buffer).map_err(|error| status::internal(&error.to_string()))
    }
}
