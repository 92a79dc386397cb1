//! The outermost layer: each request is counted, timed and logged once, when its answer is
//! dropped, and a panic on its way is answered with INTERNAL.

use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use futures_util::FutureExt as _;
use http::{HeaderValue, header};
use http_body::{Body as HttpBody, Frame, SizeHint};
use offbeat_proto::status;
use tonic::Code;
use tracing::Instrument as _;

use super::{Call, Stack};
use crate::metrics::{Metrics, Record};
use crate::telemetry;

/// Marks the answer to a caller without valid credentials, who has little time to read it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RefusedCredentials;

pub(super) async fn observe(
    State(stack): State<Arc<Stack>>,
    mut request: Request,
    next: Next,
) -> Response {
    let call = Call::of(&request);
    let record = Record::begin(call.method, call.started, request.headers());
    let span = match stack.spans {
        true => telemetry::span(call.method, request.headers(), stack.spread_store),
        false => tracing::Span::none(),
    };
    let recorded =
        RecordOnDrop { record, metrics: Arc::clone(&stack.metrics), call: call.clone(), span };
    request.extensions_mut().insert(call.clone());
    let answered = AssertUnwindSafe(next.run(request).instrument(recorded.span.clone()));
    let mut response = match answered.catch_unwind().await {
        Ok(response) => response,
        Err(_) => {
            stack.metrics.panicked();
            call.refuse(status::internal("a bug: the server's log has more"))
        }
    };
    call.outcome.set_from(response.headers());
    if call.outcome.was_refused_credentials() {
        response.extensions_mut().insert(RefusedCredentials);
    }
    let headers = response.headers_mut();
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response.map(|body| Body::new(RecordedBody { body: Some(body), recorded }))
}

/// Records the request when dropped: with the body of its response, or with a call that has none.
struct RecordOnDrop {
    record: Record,
    metrics: Arc<Metrics>,
    call: Call,
    span: tracing::Span,
}

impl Drop for RecordOnDrop {
    fn drop(&mut self) {
        let ended = self.call.outcome.status();
        // Without a status, the caller left before the end.
        let code = ended.map_or(Code::Cancelled, |ended| ended.code);
        let reason = ended.and_then(|ended| ended.reason.as_deref());
        self.record.end(&self.metrics, code, reason, &self.span);
    }
}

/// The body of an answer, whose end is recorded.
struct RecordedBody {
    body: Option<Body>,
    recorded: RecordOnDrop,
}

impl HttpBody for RecordedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let this = &mut *self;
        let Some(body) = &mut this.body else { return Poll::Ready(None) };
        let polled = {
            let _entered = this.recorded.span.enter();
            let poll = AssertUnwindSafe(|| Pin::new(&mut *body).poll_frame(cx));
            std::panic::catch_unwind(poll)
        };
        let Ok(polled) = polled else {
            this.body = None;
            this.recorded.metrics.panicked();
            let status = status::internal("a bug: the server's log has more");
            this.recorded.call.outcome.set(&status);
            return Poll::Ready(Some(this.recorded.call.form.end(status)));
        };
        let frame = ready!(polled);
        if let Some(Ok(frame)) = &frame
            && let Some(trailers) = frame.trailers_ref()
        {
            this.recorded.call.outcome.set_from(trailers);
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(HttpBody::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body.as_ref().map_or_else(|| SizeHint::with_exact(0), HttpBody::size_hint)
    }
}
