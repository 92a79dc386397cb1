//! The body of a request, whose bytes are counted as they arrive.

use std::error::Error;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::{Body, Bytes};
use http_body::{Body as HttpBody, Frame, SizeHint};
use offbeat_core::{Reason, Rejection};
use offbeat_proto::status;
use tokio::time::Sleep;
use tonic::Status;

use crate::work::Permit;

/// `body`, whose bytes the permit counts until its messages are processed. A message that has
/// begun must continue within `time`, because it takes bytes from others.
pub(super) fn counted(body: Body, permit: Permit, time: Duration) -> Body {
    Body::new(CountedBody { body, permit, time, begun: None, stalled: None })
}

struct CountedBody {
    body: Body,
    permit: Permit,
    time: Duration,
    /// How often the permit had been released when the last bytes came.
    begun: Option<u64>,
    stalled: Option<Pin<Box<Sleep>>>,
}

impl HttpBody for CountedBody {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let this = &mut *self;
        let Poll::Ready(frame) = Pin::new(&mut this.body).poll_frame(cx) else {
            let is_idle = this.begun.is_none_or(|then| then != this.permit.released());
            if is_idle {
                this.stalled = None;
                return Poll::Pending;
            }
            let time = this.time;
            let stalled = this.stalled.get_or_insert_with(|| Box::pin(tokio::time::sleep(time)));
            ready!(stalled.as_mut().poll(cx));
            return Poll::Ready(Some(Err(status::deadline_exceeded())));
        };
        this.stalled = None;
        this.begun = Some(this.permit.released());
        Poll::Ready(frame.map(|frame| {
            let frame = frame.map_err(|error| broken(&error))?;
            let bytes = frame.data_ref().map_or(0, Bytes::len);
            if this.permit.take_request(bytes) { Ok(frame) } else { Err(status::no_room()) }
        }))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// The status of a body that cannot be read to its end: INVALID_ARGUMENT if its framing is broken,
/// and CANCELLED if its sender has gone.
fn broken(error: &axum::Error) -> Status {
    let mut cause: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(error) = cause {
        let kind = error.downcast_ref::<io::Error>().map(io::Error::kind);
        if matches!(kind, Some(io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData)) {
            let allowed = "must be framed as HTTP/1.1 has it";
            return status::refused(Rejection::new(Reason::Malformed, "body", error, allowed));
        }
        cause = error.source();
    }
    Status::cancelled("the request ended in the middle of its body")
}

/// The status of a body's error, as [`counted`] gives it.
pub(super) fn status_of(error: &axum::Error) -> Status {
    let mut cause: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(error) = cause {
        if let Some(status) = error.downcast_ref::<Status>() {
            return status.clone();
        }
        cause = error.source();
    }
    status::internal("a body has failed without a status")
}
