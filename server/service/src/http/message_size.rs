//! Request messages: their sizes, refused at their length prefix: before a byte of the message
//! is buffered, and as RESOURCE_EXHAUSTED (stock tonic says OUT_OF_RANGE);
//! the bytes they take together; and the time they take to arrive.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body as HttpBody, Frame, SizeHint};
use offbeat_core::limits::Limit;
use tokio::time::Sleep;
use tonic::Status;
use tonic::body::Body;

use crate::rpc::single::PREFIX;
use crate::rpc::status;
use crate::work::Permit;

/// A request body whose messages are measured as they pass.
pub(super) struct MeasuredBody {
    body: Body,
    meter: Meter,
    permit: Permit,
    patience: Duration,
    /// Runs while a message has begun and not ended.
    stalled: Option<Pin<Box<Sleep>>>,
}

impl MeasuredBody {
    /// Refuses messages above `limit`, those for whose bytes there is no room, and those that
    /// take longer than `patience` to arrive.
    pub(super) fn new(body: Body, limit: Limit, permit: Permit, patience: Duration) -> Self {
        let meter = Meter { limit, prefix: [0; PREFIX], prefix_read: 0, message_left: 0 };
        Self { body, meter, permit, patience, stalled: None }
    }

    fn pass(&mut self, data: &[u8]) -> Result<(), Status> {
        if self.meter.pass(data)? {
            self.permit.next_request();
            self.stalled = None;
        }
        match self.permit.take_request(data.len()) {
            true => Ok(()),
            false => Err(status::no_room()),
        }
    }
}

/// Finds the length prefixes in a stream of bytes, cut anywhere.
struct Meter {
    limit: Limit,
    prefix: [u8; PREFIX],
    prefix_read: usize,
    message_left: usize,
}

impl Meter {
    /// Whether a message has ended in these bytes.
    fn pass(&mut self, mut bytes: &[u8]) -> Result<bool, Status> {
        let mut ended = false;
        while !bytes.is_empty() {
            let skipped = self.message_left.min(bytes.len());
            self.message_left -= skipped;
            bytes = bytes.get(skipped..).unwrap_or_default();
            if self.message_left == 0 {
                ended |= self.prefix_read == 0;
                bytes = self.read_prefix(bytes)?;
            }
        }
        Ok(ended)
    }

    const fn is_within_a_message(&self) -> bool {
        self.message_left > 0 || self.prefix_read > 0
    }

    fn read_prefix<'a>(&mut self, bytes: &'a [u8]) -> Result<&'a [u8], Status> {
        let missing = self.prefix.get_mut(self.prefix_read..).unwrap_or_default();
        let taken = missing.len().min(bytes.len());
        let (now, later) = bytes.split_at(taken);
        for (slot, byte) in missing.iter_mut().zip(now) {
            *slot = *byte;
        }
        self.prefix_read += taken;
        if self.prefix_read == PREFIX {
            self.prefix_read = 0;
            let [_, length @ ..] = self.prefix;
            let length = usize::try_from(u32::from_be_bytes(length)).unwrap_or(usize::MAX);
            if length > self.limit.max_size() {
                return Err(status::message_too_large(length, self.limit));
            }
            self.message_left = length;
        }
        Ok(later)
    }
}

impl HttpBody for MeasuredBody {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(cx) else {
            if !self.meter.is_within_a_message() {
                return Poll::Pending;
            }
            let patience = self.patience;
            let stalled =
                self.stalled.get_or_insert_with(|| Box::pin(tokio::time::sleep(patience)));
            ready!(stalled.as_mut().poll(cx));
            return Poll::Ready(Some(Err(status::deadline_exceeded())));
        };
        if let Some(Ok(frame)) = &frame
            && let Some(data) = frame.data_ref()
            && let Err(refused) = self.pass(data)
        {
            return Poll::Ready(Some(Err(refused)));
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::MESSAGE_BYTES;

    fn meter() -> Meter {
        Meter { limit: MESSAGE_BYTES, prefix: [0; PREFIX], prefix_read: 0, message_left: 0 }
    }

    fn message(length: usize) -> Vec<u8> {
        let mut bytes = vec![0];
        bytes.extend(u32::try_from(length).unwrap().to_be_bytes());
        bytes.extend(vec![0xff; length]);
        bytes
    }

    #[test]
    fn prefixes_are_found_however_the_bytes_are_cut() {
        let largest = MESSAGE_BYTES.max_size();
        let bytes: Vec<u8> = [0, 1, 7, largest, 0, 3].map(message).concat();
        for cut in [1, 2, 3, 4, 5, 6, 1_000, bytes.len()] {
            let mut meter = meter();
            assert!(bytes.chunks(cut).all(|chunk| meter.pass(chunk).is_ok()), "cut at {cut}");
            let too_large = &message(largest + 1)[..PREFIX];
            assert!(meter.pass(&too_large[..4]).is_ok());
            let status = meter.pass(&too_large[4..]).unwrap_err();
            assert_eq!(status.code(), tonic::Code::ResourceExhausted);
        }
    }
}
