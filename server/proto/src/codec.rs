//! The codec of the generated services: prost's, with two differences. The memory of a message is
//! estimated before anything is built of it, and malformed bytes are the caller's mistake (stock
//! tonic says INTERNAL).

use std::marker::PhantomData;

use bytes::{Buf as _, Bytes};
use prost::{Message, Name};
use tokio::runtime::{Handle, RuntimeFlavor};
use tonic::Status;
use tonic::codec::{self, BufferSettings, DecodeBuf, EncodeBuf};

use crate::{elements, status};

/// While larger messages are decoded, other tasks of the thread move to another one. That is for
/// streams: large unary messages come here off the event loop.
const BLOCKING_BYTES: usize = 64 << 10;

/// Each stream has two buffers, which grow with its messages. tonic starts with 8 KiB each, which
/// is 160 MB for 10,000 idle streams.
fn buffers() -> BufferSettings {
    BufferSettings::new(512, 32 << 10)
}

/// Encodes `T` and decodes `U`.
#[derive(Debug, Clone)]
pub struct Codec<T, U>(PhantomData<(T, U)>);

impl<T, U> Default for Codec<T, U> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

impl<T, U> codec::Codec for Codec<T, U>
where
    T: Message + Send + 'static,
    U: Message + Name + Default + Send + 'static,
{
    type Encode = T;
    type Decode = U;
    type Encoder = Encoder<T>;
    type Decoder = Decoder<U>;

    fn encoder(&mut self) -> Encoder<T> {
        Encoder(PhantomData)
    }

    fn decoder(&mut self) -> Decoder<U> {
        Decoder(PhantomData)
    }
}

/// Decodes messages of a method.
#[derive(Debug, Clone)]
pub struct Decoder<U>(PhantomData<U>);

impl<U: Message + Name + Default> codec::Decoder for Decoder<U> {
    type Item = U;
    type Error = Status;

    fn buffer_settings(&self) -> BufferSettings {
        buffers()
    }

    fn decode(&mut self, buffer: &mut DecodeBuf<'_>) -> Result<Option<U>, Status> {
        let message = buffer.copy_to_bytes(buffer.remaining()); // shares the buffer, copies nothing
        if message.len() > BLOCKING_BYTES && on_serving_thread() {
            return tokio::task::block_in_place(|| decode(message)).map(Some);
        }
        decode(message).map(Some)
    }
}

/// Whether this thread has other tasks, and can hand them over to another thread.
fn on_serving_thread() -> bool {
    Handle::try_current()
        .is_ok_and(|runtime| runtime.runtime_flavor() == RuntimeFlavor::MultiThread)
}

fn decode<U: Message + Name + Default>(message: Bytes) -> Result<U, Status> {
    elements::check(&U::full_name(), &message)?;
    U::decode(message).map_err(|error| status::malformed_message(&error))
}

/// Encodes the answers of a method.
#[derive(Debug, Clone)]
pub struct Encoder<T>(PhantomData<T>);

impl<T: Message> codec::Encoder for Encoder<T> {
    type Item = T;
    type Error = Status;

    fn buffer_settings(&self) -> BufferSettings {
        buffers()
    }

    fn encode(&mut self, answer: T, buffer: &mut EncodeBuf<'_>) -> Result<(), Status> {
        buffer.reserve(answer.encoded_len()); // by doubling, it would take up to twice as much
        answer.encode(buffer).map_err(|error| status::internal(&error.to_string()))
    }
}
