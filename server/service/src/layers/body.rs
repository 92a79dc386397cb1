//! The body of a request, whose bytes are counted as they come.

use std::error::Error;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use axum::body::{Body, Bytes};
use http_body::{Body as HttpBody, Frame, SizeHint};
use offbeat_core::{Reason, Rejection};
use offbeat_proto::status;
use tonic::Status;

use crate::work::Permit;

/// `body`, whose bytes the permit counts until its messages have been dealt with.
pub(super) fn counted(body: Body, permit: Permit) -> Body {
    Body::new(CountedBody { body, permit })
}

struct CountedBody {
    body: Body,
    permit: Permit,
}

impl HttpBody for CountedBody {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(cx));
        Poll::Ready(frame.map(|frame| {
            let frame = frame.map_err(|error| broken(&error))?;
            let bytes = frame.data_ref().map_or(0, Bytes::len);
            if self.permit.take_request(bytes) { Ok(frame) } else { Err(status::no_room()) }
        }))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// What a body that cannot be read to its end says: INVALID_ARGUMENT if its framing is broken,
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
