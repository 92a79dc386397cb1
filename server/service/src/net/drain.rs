//! The rest of a request that was refused before it was read.
//!
//! Over HTTP/1.1, if a server closes while the client still sends, the client's system discards the
//! response. So the rest of the body is read and dropped, within bounds.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::{Body, Bytes};
use http::{Request, Version, header};
use http_body::{Body as HttpBody, Frame, SizeHint};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;

use crate::limits::DRAINED_BYTES;

/// How long the rest of a request is read.
const DRAIN_TIME: Duration = Duration::from_secs(2);

/// The body of a request; the rest is read if it is dropped before its end. HTTP/2 does not need
/// that, and a client that waits for "100 Continue" has not begun to send.
pub(super) fn body(request: Request<Incoming>) -> Request<Body> {
    let is_sending =
        request.version() < Version::HTTP_2 && !request.headers().contains_key(header::EXPECT);
    request.map(|incoming| match is_sending && !incoming.is_end_stream() {
        true => Body::new(DrainedBody(Some(incoming))),
        false => Body::new(incoming),
    })
}

/// `None` once the body has ended.
struct DrainedBody(Option<Incoming>);

impl HttpBody for DrainedBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let Some(incoming) = &mut self.0 else { return Poll::Ready(None) };
        let frame = ready!(Pin::new(incoming).poll_frame(cx));
        if !matches!(frame, Some(Ok(_))) {
            self.0 = None;
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.0.as_ref().is_none_or(HttpBody::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.0.as_ref().map_or_else(|| SizeHint::with_exact(0), HttpBody::size_hint)
    }
}

impl Drop for DrainedBody {
    fn drop(&mut self) {
        let Some(incoming) = self.0.take().filter(|incoming| !incoming.is_end_stream()) else {
            return;
        };
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(tokio::time::timeout(DRAIN_TIME, drain(incoming)));
        }
    }
}

async fn drain(mut incoming: Incoming) {
    let mut left = DRAINED_BYTES.max_size();
    while let Some(Ok(frame)) = incoming.frame().await {
        let bytes = frame.data_ref().map_or(0, Bytes::len);
        let Some(rest) = left.checked_sub(bytes) else { return };
        left = rest;
    }
}
