//! The frame of a message of gRPC, which is also the envelope of the Connect protocol's streams: a
//! byte of flags, the length in four bytes (big-endian), and the message.

use bytes::{BufMut as _, Bytes, BytesMut};

/// Bytes before the message. gRPC's only flag says that it is compressed.
pub(crate) const PREFIX: usize = 5;

/// The flags of a plain message.
pub(crate) const NO_FLAGS: u8 = 0;

/// A message in its frame.
pub(crate) fn framed(flags: u8, message: &[u8]) -> Bytes {
    let mut framed = BytesMut::with_capacity(PREFIX + message.len());
    framed.put_u8(flags);
    framed.put_u32(u32::try_from(message.len()).unwrap_or(u32::MAX)); // limits are far below 4 GiB
    framed.put_slice(message);
    framed.freeze()
}

/// The flags and the length of a message, once they have arrived.
pub(crate) fn read_prefix(frame: &[u8]) -> Option<(u8, usize)> {
    let [flags, length @ ..] = frame.first_chunk::<PREFIX>()?;
    Some((*flags, usize::try_from(u32::from_be_bytes(*length)).ok()?))
}
