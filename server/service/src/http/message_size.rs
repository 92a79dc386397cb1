//! Request messages: their sizes, refused at their length prefix: before a byte of the message
//! is buffered, and as RESOURCE_EXHAUSTED (stock tonic says OUT_OF_RANGE); their number, where
//! there may be one alone (stock tonic answers the first, and reads on for ever);
//! the bytes they take together; and the time they take to arrive. Large ones are handed on where
//! the event loop is not held up.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body as HttpBody, Frame, SizeHint};
use offbeat_core::limits::Limit;
use tokio::time::Sleep;
use tonic::Status;
use tonic::body::Body;

use super::apart::Wish;
use crate::rpc::codec::PREFIX;
use crate::rpc::methods::Method;
use crate::rpc::status;
use crate::work::{Permit, is_off_loop};

/// From so many bytes on messages are large.
const LARGE: usize = 16 << 10;

/// A request body whose messages are measured as they pass.
pub(super) struct MeasuredBody {
    body: Body,
    meter: Meter,
    permit: Permit,
    patience: Duration,
    /// Runs while a message has begun and not ended.
    stalled: Option<Pin<Box<Sleep>>>,
    /// The last piece of a message that is large.
    held: Option<Frame<Bytes>>,
    /// From so many bytes on a message is large, if any is.
    large: Option<usize>,
    /// Whether a message has been handed on as a whole.
    handed_on: bool,
    ended: bool,
    wish: Wish,
}

impl MeasuredBody {
    /// Refuses messages above `limit`, those for whose bytes there is no room, those that
    /// take longer than `patience` to arrive, and more than one if the method takes one.
    pub(super) fn new(
        body: Body,
        method: &Method,
        limit: Limit,
        permit: Permit,
        patience: Duration,
    ) -> Self {
        permit.next_request(); // what it was converted from is gone
        Self {
            body,
            meter: Meter::new(limit, method.many),
            permit,
            patience,
            stalled: None,
            held: None,
            large: match (method.long, method.many && !method.bulk) {
                (true, _) => Some(0),
                (false, false) => Some(LARGE),
                (false, true) => None, // small ones that may be read by another task than the call's
            },
            handed_on: false,
            ended: false,
            wish: Wish::default(),
        }
    }

    /// What it asks for when a large message is complete.
    pub(super) fn wish(&self) -> Wish {
        self.wish.clone()
    }

    /// The next piece, when there is one.
    fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        if let Poll::Ready(piece) = Pin::new(&mut self.body).poll_frame(cx) {
            return Poll::Ready(piece);
        }
        if !self.meter.is_within_a_message() {
            return Poll::Pending;
        }
        let patience = self.patience;
        let stalled = self.stalled.get_or_insert_with(|| Box::pin(tokio::time::sleep(patience)));
        ready!(stalled.as_mut().poll(cx));
        Poll::Ready(Some(Err(status::deadline_exceeded())))
    }

    /// Measures a piece; keeps it if it ends a large message.
    fn pass(&mut self, piece: Frame<Bytes>) -> Result<Option<Frame<Bytes>>, Status> {
        let Some(data) = piece.data_ref() else {
            return Ok(Some(piece)); // trailers: requests of gRPC have none
        };
        let longest = self.meter.pass(data)?;
        if !self.permit.take_request(data.len()) {
            return Err(status::no_room());
        }
        let Some(longest) = longest else {
            return Ok(Some(piece));
        };
        self.stalled = None;
        if self.large.is_some_and(|large| large <= longest) {
            self.held = Some(piece);
            return Ok(None);
        }
        self.handed_on = true;
        Ok(Some(piece))
    }
}

/// Finds the length prefixes in a stream of bytes, cut anywhere.
struct Meter {
    limit: Limit,
    /// Whether there may be more than one message.
    many: bool,
    prefix: [u8; PREFIX],
    prefix_read: usize,
    /// The length of the last message that has begun.
    message: Option<usize>,
    message_left: usize,
}

impl Meter {
    const fn new(limit: Limit, many: bool) -> Self {
        let (prefix, prefix_read) = ([0; PREFIX], 0);
        Self { limit, many, prefix, prefix_read, message: None, message_left: 0 }
    }

    /// The length of the longest message that has ended in these bytes.
    fn pass(&mut self, mut bytes: &[u8]) -> Result<Option<usize>, Status> {
        let mut longest = None;
        while !bytes.is_empty() {
            if self.message_left == 0 {
                bytes = self.read_prefix(bytes)?;
            }
            let skipped = self.message_left.min(bytes.len());
            self.message_left -= skipped;
            bytes = bytes.get(skipped..).unwrap_or_default();
            if !self.is_within_a_message() {
                longest = longest.max(self.message);
            }
        }
        Ok(longest)
    }

    const fn is_within_a_message(&self) -> bool {
        self.message_left > 0 || self.prefix_read > 0
    }

    fn read_prefix<'a>(&mut self, bytes: &'a [u8]) -> Result<&'a [u8], Status> {
        if self.message.is_some() && !self.many {
            return Err(status::more_than_one_message());
        }
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
            self.message = Some(length);
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
        let this = &mut *self;
        if std::mem::take(&mut this.handed_on) && this.meter.many {
            this.permit.next_request(); // who asks for more has dealt with what came before
        }
        loop {
            // A method that takes one message begins when its caller has said that this is all.
            if this.held.is_some() && (this.meter.many || this.ended) {
                if !is_off_loop() {
                    this.wish.make();
                    return Poll::Pending;
                }
                this.handed_on = true;
                return Poll::Ready(this.held.take().map(Ok));
            }
            if this.ended {
                return Poll::Ready(None);
            }
            match ready!(this.poll_piece(cx)) {
                None => this.ended = true,
                Some(Err(failed)) => return Poll::Ready(Some(Err(failed))),
                Some(Ok(piece)) => match this.pass(piece) {
                    Ok(None) => {}
                    Ok(Some(_)) if this.held.is_some() => {} // an empty one, or trailers
                    Ok(Some(piece)) => return Poll::Ready(Some(Ok(piece))),
                    Err(refused) => return Poll::Ready(Some(Err(refused))),
                },
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.held.is_none() && (self.ended || self.body.is_end_stream())
    }

    fn size_hint(&self) -> SizeHint {
        if self.held.is_some() { SizeHint::default() } else { self.body.size_hint() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::MESSAGE_BYTES;

    fn meter() -> Meter {
        Meter::new(MESSAGE_BYTES, true)
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

    #[test]
    fn the_longest_message_that_ends_is_told_and_none_while_none_ends() {
        let mut meter = meter();
        let bytes = [3, 0, 700, 20].map(message).concat();
        let [first, begun, rest, nothing] = [0..4, 4..8 + PREFIX, 8 + PREFIX..bytes.len(), 0..0];
        assert_eq!(meter.pass(&bytes[first]).unwrap(), None);
        assert_eq!(meter.pass(&bytes[begun]).unwrap(), Some(3));
        assert_eq!(meter.pass(&bytes[rest]).unwrap(), Some(700));
        assert_eq!(meter.pass(&bytes[nothing]).unwrap(), None);
        assert_eq!(meter.pass(&message(0)).unwrap(), Some(0));
    }

    #[test]
    fn not_a_byte_may_follow_the_only_message() {
        for length in [0, 7] {
            let mut meter = Meter::new(MESSAGE_BYTES, false);
            assert_eq!(meter.pass(&message(length)).unwrap(), Some(length));
            assert_eq!(meter.pass(&[]).unwrap(), None);
            assert_eq!(meter.pass(&[0]).unwrap_err().code(), tonic::Code::InvalidArgument);
        }
    }
}
