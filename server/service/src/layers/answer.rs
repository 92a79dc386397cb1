//! The body of a response: ended in time, and its bytes counted until the peer reads them.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use axum::body::{Body, Bytes};
use axum::response::Response;
use http_body::{Body as HttpBody, Frame, SizeHint};
use offbeat_core::limits::Limit;
use offbeat_proto::status;
use tokio::sync::watch;
use tokio::time::{Instant, Sleep};
use tonic::Status;

use super::Call;
use super::deadline::Deadline;
use crate::work::Permit;

/// Longer frames are passed on in pieces of this size, in bytes: the rest, which a slow peer has
/// not read, stays here and is counted.
const PIECE: usize = 64 << 10;

/// Limits of a response.
pub(super) struct Terms {
    pub(super) deadline: Deadline,
    pub(super) permit: Permit,
    pub(super) largest: Limit,
    /// Becomes true when a stream that is still open must end.
    pub(super) ends: Option<watch::Receiver<bool>>,
}

impl Terms {
    fn take_room(&self, length: usize) -> Result<(), Status> {
        if length > self.largest.max_size() {
            return Err(status::answer_too_large(length, self.largest));
        }
        if self.permit.take_answer(length) { Ok(()) } else { Err(status::no_room()) }
    }
}

/// State of a response that its connection needs until the last piece is sent.
#[derive(Debug, Clone)]
pub(crate) struct HeldAnswer {
    /// Deadline of its last piece.
    pub(crate) deadline: Option<Instant>,
    /// The place, and the bytes, that the pieces hold.
    pub(crate) permit: Permit,
}

/// `response`, whose body ends with DEADLINE_EXCEEDED if it is not complete in time, with
/// UNAVAILABLE once the server ends, and with RESOURCE_EXHAUSTED if it does not fit. It holds the
/// request's place until then; unsent pieces continue to hold it, as [`HeldAnswer`] says.
pub(super) fn bound(response: Response, terms: Terms, call: Call) -> Response {
    let length = response.body().size_hint().exact();
    if let Some(length) = length
        && let Err(refused) = terms.take_room(usize::try_from(length).unwrap_or(usize::MAX))
    {
        return call.refuse(refused);
    }
    let late = terms.deadline.sleep();
    let end_signal = terms.ends.clone().map(|mut ends| {
        let end_signal: EndSignal = Box::pin(async move {
            if ends.wait_for(|end| *end).await.is_err() {
                std::future::pending::<()>().await; // the server is gone: nothing ends the stream
            }
        });
        end_signal
    });
    let rest = Bytes::new();
    let open = OpenBody { late, end_signal, rest, terms, call, is_counted: length.is_some() };
    response.map(|body| Body::new(BoundBody(Some((body, open)))))
}

type EndSignal = Pin<Box<dyn Future<Output = ()> + Send>>;

/// `None` once it has ended.
struct BoundBody(Option<(Body, OpenBody)>);

struct OpenBody {
    late: Option<Pin<Box<Sleep>>>,
    end_signal: Option<EndSignal>,
    /// Remaining bytes of a long frame.
    rest: Bytes,
    terms: Terms,
    call: Call,
    /// Whether the whole body has been counted.
    is_counted: bool,
}

fn is_ready<F: Future + ?Sized>(future: &mut Option<Pin<Box<F>>>, cx: &mut Context<'_>) -> bool {
    future.as_mut().is_some_and(|future| future.as_mut().poll(cx).is_ready())
}

impl BoundBody {
    /// Ends with `status` instead of the rest; drops the handler's stream, and the place.
    fn end(&mut self, status: Status) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Poll::Ready(self.0.take().map(|(_, open)| {
            open.call.outcome.set(&status);
            open.call.form.end(status)
        }))
    }
}

impl HttpBody for BoundBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let this = &mut *self;
        let Some((body, open)) = &mut this.0 else { return Poll::Ready(None) };
        if is_ready(&mut open.late, cx) {
            return this.end(status::deadline_exceeded()); // even if more is ready to be sent
        }
        if open.rest.is_empty() {
            let polled = Pin::new(body).poll_frame(cx);
            if polled.is_pending() && is_ready(&mut open.end_signal, cx) {
                return this.end(status::shutting_down());
            }
            match ready!(polled).map(|frame| frame.map(Frame::into_data)) {
                Some(Ok(Ok(data))) => {
                    if !open.is_counted
                        && let Err(refused) = open.terms.take_room(data.len())
                    {
                        return this.end(refused);
                    }
                    open.rest = data;
                }
                Some(Ok(Err(frame))) => return Poll::Ready(Some(Ok(frame))),
                Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                None => {
                    this.0 = None;
                    return Poll::Ready(None);
                }
            }
        }
        let piece = open.rest.split_to(open.rest.len().min(PIECE));
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.0.as_ref().is_none_or(|(body, open)| open.rest.is_empty() && body.is_end_stream())
    }

    fn size_hint(&self) -> SizeHint {
        // Not called for a body that has begun.
        self.0.as_ref().map_or_else(|| SizeHint::with_exact(0), |(body, _)| body.size_hint())
    }
}
