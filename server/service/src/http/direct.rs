//! The short way of a plain `AssignSlot` over gRPC: one message in one piece, and its answer.
//!
//! The same is checked as on the long way, by the same parts, and the same bytes are answered;
//! what is missing is what such a call has no use for: routes, codecs for streams, bodies in
//! boxes. Whatever is not plain, or will be refused, goes the long way from its beginning, with
//! what has been read of it.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::{Buf as _, Bytes};
use http::{Request, Version};
use http_body::{Body as HttpBody, Frame, SizeHint};
use hyper::body::Incoming;
use tokio::sync::OwnedSemaphorePermit;
use tonic::body::Body;

use super::deadline::Deadline;
use super::{Stack, is_grpc};
use crate::metrics::Record;
use crate::rpc::codec::PREFIX;
use crate::rpc::methods::{ASSIGN_SLOT, Method};
use crate::rpc::single::Assigner;
use crate::rpc::turn::Seat;

/// Longer messages take from the budget of bytes, on the long way.
const MOST_BYTES: usize = 16 << 10;

const ENCODING: &str = "grpc-encoding";

/// How a plain call goes on.
#[derive(Debug)]
pub(crate) enum Reply {
    /// With this answer.
    Told(Told),
    /// The long way.
    Long(Box<Long>),
}

/// An answer that is whole.
#[derive(Debug)]
pub(crate) struct Told {
    /// As gRPC frames it.
    pub(crate) message: Vec<u8>,
    pub(crate) deadline: Deadline,
    /// Among the requests under way.
    pub(crate) place: OwnedSemaphorePermit,
    pub(crate) record: Record,
}

/// A request that has been begun, as if it had not.
#[derive(Debug)]
pub(crate) struct Long {
    request: Request<Body>,
    record: Record,
}

impl Long {
    fn reply(request: Request<Body>, record: Record) -> Reply {
        Reply::Long(Box::new(Self { request, record }))
    }

    pub(crate) fn into_parts(self) -> (Request<Body>, Record) {
        (self.request, self.record)
    }
}

impl Stack {
    /// Whether a request may be a plain one; it is then one of those that will ask in this turn.
    pub(crate) fn is_plain(&self, request: &Request<Incoming>) -> Option<(Arc<Assigner>, Seat)> {
        let assigner = self.shared.assigner.as_ref()?;
        let is_plain = request.uri().path() == ASSIGN_SLOT.path
            && request.version() == Version::HTTP_2
            && !self.shared.spans
            && is_grpc(request)
            && request.headers().keys().all(|name| name.as_str() != ENCODING);
        is_plain.then(|| (Arc::clone(assigner), Seat::new(assigner.turn())))
    }

    /// Answers a plain request, or hands it back.
    pub(crate) async fn answer_plain(
        &self,
        request: Request<Incoming>,
        (assigner, mut seat): (Arc<Assigner>, Seat),
    ) -> Reply {
        let method: &'static Method = ASSIGN_SLOT;
        let record = Record::begin(self.shared.metrics.clone(), method, request.headers());
        let Some((deadline, place)) = self.admit_plain(&request, &record) else {
            return Long::reply(request.map(Body::new), record);
        };
        let (head, mut body) = request.into_parts();
        let largest = self.shared.message.max_size().min(MOST_BYTES);
        let mut read = Read::default();
        let reading = poll_fn(|cx| read.poll(&mut body, largest, &mut seat, cx));
        let _ = deadline.bound(reading).await; // if it has passed, the long way says so
        let answered = async {
            let question = assigner.read(read.payload()?)?;
            let place = assigner.place(&question, seat).await?;
            let answer = assigner.answer(&question, &place)?;
            (answer.len() <= self.shared.answer.max_size().min(MOST_BYTES)).then_some(answer)
        };
        match answered.await {
            Some(message) => Reply::Told(Told { message, deadline, place, record }),
            None => {
                drop(place);
                let body = Body::new(Replayed { read, rest: body });
                Long::reply(Request::from_parts(head, body), record)
            }
        }
    }

    /// What [`admit`](Self::admit) says; nothing where it refuses.
    fn admit_plain<B>(
        &self,
        request: &Request<B>,
        record: &Record,
    ) -> Option<(Deadline, OwnedSemaphorePermit)> {
        let headers = request.headers();
        if !self.shared.credentials.allow(headers) {
            return None;
        }
        let unary_time = self.shared.unary_time;
        let deadline = Deadline::of(headers, ASSIGN_SLOT, unary_time, record.started()).ok()?;
        Some((deadline, self.shared.admission.take_place()?))
    }
}

/// What has come of a body.
#[derive(Debug, Default)]
struct Read {
    message: Option<Bytes>,
    /// What there should not be.
    more: Option<Bytes>,
    is_whole: bool,
}

impl Read {
    /// The message, if it was one, short enough and not compressed.
    fn payload(&self) -> Option<Bytes> {
        self.message.as_ref().filter(|_| self.is_whole).map(|message| message.slice(PREFIX..))
    }

    /// Ready at the end of the body, or when it is clear that it is not what we want. `seat` is
    /// told when it takes longer.
    fn poll(
        &mut self,
        body: &mut Incoming,
        largest: usize,
        seat: &mut Seat,
        cx: &mut Context<'_>,
    ) -> Poll<()> {
        while !body.is_end_stream() {
            let Poll::Ready(frame) = Pin::new(&mut *body).poll_frame(cx) else {
                seat.arrive();
                return Poll::Pending;
            };
            let Some(frame) = frame else { break };
            let Ok(frame) = frame else { return Poll::Ready(()) }; // who asked has gone
            match frame.into_data() {
                Ok(data) if data.is_empty() => {}
                Ok(data) if self.message.is_none() => {
                    let is_wanted = is_one_message(&data, largest);
                    self.message = Some(data);
                    if !is_wanted {
                        return Poll::Ready(());
                    }
                }
                Ok(data) => {
                    self.more = Some(data);
                    return Poll::Ready(());
                }
                Err(_trailers) => {}
            }
        }
        self.is_whole = self.message.is_some();
        Poll::Ready(())
    }
}

fn is_one_message(mut data: &[u8], largest: usize) -> bool {
    let (Ok(0), Ok(length)) = (data.try_get_u8(), data.try_get_u32()) else { return false };
    data.len() <= largest && usize::try_from(length).is_ok_and(|length| length == data.len())
}

/// A body of which some has been read.
struct Replayed {
    read: Read,
    rest: Incoming,
}

impl HttpBody for Replayed {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let Read { message, more, .. } = &mut self.read;
        match message.take().or_else(|| more.take()) {
            Some(data) => Poll::Ready(Some(Ok(Frame::data(data)))),
            None => Pin::new(&mut self.rest).poll_frame(cx),
        }
    }

    fn is_end_stream(&self) -> bool {
        let Read { message, more, .. } = &self.read;
        message.is_none() && more.is_none() && self.rest.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_message_is_a_flag_its_length_and_as_many_bytes() {
        assert!(is_one_message(&[0, 0, 0, 0, 2, 7, 7], 2));
        assert!(is_one_message(&[0, 0, 0, 0, 0], 2));
        for other in [
            &[0, 0, 0, 0, 3, 7, 7, 7][..], // too long
            &[1, 0, 0, 0, 2, 7, 7],        // compressed
            &[0, 0, 0, 0, 2, 7],
            &[0, 0, 0, 0, 2, 7, 7, 0], // another begins
            &[0, 0, 0, 0],
            &[],
        ] {
            assert!(!is_one_message(other, 2), "{other:?}");
        }
    }
}
