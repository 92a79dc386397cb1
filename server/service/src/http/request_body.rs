//! The body of a request: its messages are measured, the bytes they take together are counted, and
//! they have so long to arrive. Large ones are handed on where the event loop is not held up.

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
use super::meter::Meter;
use crate::rpc::methods::Method;
use crate::rpc::status;
use crate::work::{Permit, is_off_loop};

/// From so many bytes on messages are large.
const LARGE: usize = 16 << 10;

/// A request body whose messages are measured as they pass.
pub(super) struct RequestBody {
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

impl RequestBody {
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

impl HttpBody for RequestBody {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let this = &mut *self;
        if std::mem::take(&mut this.handed_on) && this.meter.takes_many() {
            this.permit.next_request(); // who asks for more has dealt with what came before
        }
        loop {
            // A method that takes one message begins when its caller has said that this is all.
            if this.held.is_some() && (this.meter.takes_many() || this.ended) {
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
