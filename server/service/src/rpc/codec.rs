//! The codec of the services: prost's, but bytes that are no message are the
//! caller's mistake (stock tonic says INTERNAL).

use std::marker::PhantomData;

use bytes::Buf as _;
use prost::Message;
use tonic::Status;
use tonic::codec::{self, BufferSettings, DecodeBuf, EncodeBuf};
use tonic_prost::ProstEncoder;

use super::{elements, packed, status};

/// In front of a message: whether it is compressed, and its length, four bytes, big-endian.
pub(crate) const PREFIX: usize = 5;

/// Each stream has two buffers, which grow with its messages: tonic begins with 8 KiB, which
/// would be 160 MB for 10,000 idle streams.
fn buffers() -> BufferSettings {
    BufferSettings::new(512, 32 << 10)
}

/// Encodes `T` and decodes `U`.
#[derive(Debug)]
pub struct Codec<T, U>(PhantomData<(T, U)>);

impl<T, U> Default for Codec<T, U> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

impl<T, U> codec::Codec for Codec<T, U>
where
    T: Message + Send + 'static,
    U: Message + Default + Send + 'static,
{
    type Encode = T;
    type Decode = U;
    type Encoder = Encoder<T>;
    type Decoder = Decoder<U>;

    fn encoder(&mut self) -> Self::Encoder {
        Encoder(ProstEncoder::new(buffers()))
    }

    fn decoder(&mut self) -> Self::Decoder {
        Decoder(PhantomData)
    }
}

/// Encodes `T`.
#[derive(Debug)]
pub struct Encoder<T>(ProstEncoder<T>);

impl<T: Message + 'static> codec::Encoder for Encoder<T> {
    type Item = T;
    type Error = Status;

    fn buffer_settings(&self) -> BufferSettings {
        buffers()
    }

    fn encode(&mut self, mut message: T, buffer: &mut EncodeBuf<'_>) -> Result<(), Status> {
        if !packed::writes::<T>() {
            return self.0.encode(message, buffer);
        }
        buffer.reserve(message.encoded_len());
        packed::encode(&mut message, buffer);
        Ok(())
    }
}

/// Decodes `U`.
#[derive(Debug)]
pub struct Decoder<U>(PhantomData<U>);

impl<U: Message + Default + 'static> codec::Decoder for Decoder<U> {
    type Item = U;
    type Error = Status;

    fn buffer_settings(&self) -> BufferSettings {
        buffers()
    }

    fn decode(&mut self, buffer: &mut DecodeBuf<'_>) -> Result<Option<U>, Status> {
        let message = buffer.chunk();
        if message.len() == buffer.remaining() {
            // It is one piece, as tonic collects it.
            elements::check::<U>(message).map_err(|rejection| status::refused(&rejection))?;
        }
        U::decode(buffer).map(Some).map_err(|error| status::malformed_message(&error))
    }
}
