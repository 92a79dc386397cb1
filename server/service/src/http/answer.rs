//! The body of an answer: ended in time, its bytes counted until they are taken, and its end
//! recorded.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{HeaderMap, Response};
use http_body::{Body as HttpBody, Frame, SizeHint};
use offbeat_core::limits::Limit;
use tokio::sync::watch;
use tokio::time::Sleep;
use tonic::body::Body;
use tonic::{Code, Status};

use super::deadline::Deadline;
use crate::metrics::Record;
use crate::rpc::status;
use crate::work::Permit;

/// Longer frames are handed on in pieces of so many bytes: what a slow reader has not taken
/// stays here, and is counted. (A column of an offset for each of 20,000 IDs is one piece, and
/// over HTTP/1.1 one write.)
const PIECE: usize = 256 << 10;

/// Becomes true when answers that are still open must end.
pub(super) type Closing = watch::Receiver<bool>;
type Closed = Pin<Box<dyn Future<Output = ()> + Send>>;

/// What an answer is held to.
pub(super) struct Terms {
    pub(super) deadline: Deadline,
    pub(super) permit: Permit,
    pub(super) largest: Limit,
    pub(super) closing: Option<Closing>,
}

impl Terms {
    /// Whether a body of known length fits; counted, if it does.
    pub(super) fn take(&self, body: &Body) -> Result<(), Status> {
        match body.size_hint().exact() {
            Some(length) => self.admit(usize::try_from(length).unwrap_or(usize::MAX)),
            None => Ok(()),
        }
    }

    fn admit(&self, length: usize) -> Result<(), Status> {
        if length > self.largest.max_size() {
            return Err(status::answer_too_large(length, self.largest));
        }
        if self.permit.take_answer(length) { Ok(()) } else { Err(status::no_room()) }
    }
}

/// The code of a status among headers or trailers. (`Status::from_header_map` would copy them
/// all, and decode the details, which nobody asks for here.)
pub(super) fn code_in(headers: &HeaderMap) -> Option<Code> {
    headers.get(Status::GRPC_STATUS).map(|code| Code::from_bytes(code.as_bytes()))
}

/// `response`, whose body ends with DEADLINE_EXCEEDED if it is not complete in time, with
/// UNAVAILABLE once `closing` says so, and with RESOURCE_EXHAUSTED if it does not fit; it holds
/// the permit until then, and tells `record` how it ended.
pub(super) fn bound(response: Response<Body>, terms: Terms, mut record: Record) -> Response<Body> {
    let late = terms.deadline.sleep();
    let closed = terms.closing.clone().map(|mut closing| {
        let closed: Closed = Box::pin(async move {
            if closing.wait_for(|closed| *closed).await.is_err() {
                std::future::pending::<()>().await; // nobody is left who could close
            }
        });
        closed
    });
    let counted = response.body().size_hint().exact().is_some();
    if let Some(code) = code_in(response.headers()) {
        record.ends_with(code);
    } else if counted {
        // No trailers will say it.
        record.ends_with(response.extensions().get().copied().unwrap_or(Code::Ok));
    }
    let mut response = response;
    response.extensions_mut().insert(terms.permit.clone()); // for as long as bytes wait to be sent
    response.map(|body| {
        let rest = Bytes::new();
        Body::new(AnswerBody {
            state: State::Open { body, late, closed, rest, terms, counted },
            record,
        })
    })
}

struct AnswerBody {
    state: State,
    record: Record,
}

enum State {
    Open {
        body: Body,
        late: Option<Pin<Box<Sleep>>>,
        closed: Option<Closed>,
        /// What is left of a long frame.
        rest: Bytes,
        terms: Terms,
        /// Whether the whole body has been counted.
        counted: bool,
    },
    Ended,
}

fn is_ready<F: Future + ?Sized>(future: &mut Option<Pin<Box<F>>>, cx: &mut Context<'_>) -> bool {
    future.as_mut().is_some_and(|future| future.as_mut().poll(cx).is_ready())
}

impl AnswerBody {
    /// Ends with `status` instead of what was to come; drops the handler's stream, and the place.
    fn end(&mut self, status: &Status) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        self.state = State::Ended;
        self.record.ends_with(status.code());
        let mut trailers = HeaderMap::new();
        let written = status.add_header(&mut trailers);
        Poll::Ready(Some(written.map(|()| Frame::trailers(trailers))))
    }
}

impl HttpBody for AnswerBody {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let this = &mut *self;
        let State::Open { body, late, closed, rest, terms, counted } = &mut this.state else {
            return Poll::Ready(None);
        };
        if is_ready(late, cx) {
            return this.end(&status::deadline_exceeded()); // also where there is always more to say
        }
        if rest.is_empty() {
            let frame = match Pin::new(body).poll_frame(cx) {
                Poll::Ready(frame) => frame,
                Poll::Pending if is_ready(closed, cx) => return this.end(&status::shutting_down()),
                Poll::Pending => return Poll::Pending,
            };
            match frame.map(|frame| frame.map(Frame::into_data)) {
                Some(Ok(Ok(data))) => {
                    if !*counted && let Err(refused) = terms.admit(data.len()) {
                        return this.end(&refused);
                    }
                    *rest = data;
                }
                Some(Ok(Err(frame))) => {
                    if let Some(trailers) = frame.trailers_ref()
                        && let Some(code) = code_in(trailers)
                    {
                        this.record.ends_with(code);
                    }
                    return Poll::Ready(Some(Ok(frame)));
                }
                Some(Err(status)) => {
                    this.record.ends_with(status.code());
                    return Poll::Ready(Some(Err(status)));
                }
                None => {
                    this.state = State::Ended;
                    return Poll::Ready(None);
                }
            }
        }
        let piece = rest.split_to(rest.len().min(PIECE));
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        match &self.state {
            State::Open { body, rest, .. } => rest.is_empty() && body.is_end_stream(),
            State::Ended => true,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.state {
            // Of a body that has been begun, nobody asks.
            State::Open { body, .. } => body.size_hint(),
            State::Ended => SizeHint::with_exact(0),
        }
    }
}
