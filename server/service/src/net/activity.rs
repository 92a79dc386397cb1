//! The requests of one connection that are in flight, and the answers that their reader does not
//! take.
//!
//! hyper asks an answer for more only when its reader makes room. A reader who makes none would
//! hold its place for ever, and be told of nothing, so its connection is closed.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::response::Response;
use http_body::{Body as HttpBody, Frame, SizeHint};
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::layers::{AnswerDeadline, RefusedCredentials};

/// A caller without credentials takes its refusal within this.
const REFUSAL_TIME: Duration = Duration::from_millis(250);

/// A reader may take the end of an answer so long after its deadline.
const AFTER_DEADLINE: Duration = Duration::from_secs(1);

/// How often answers are looked at while some are in flight.
const CHECK_INTERVAL: Duration = Duration::from_millis(250);

/// What is in flight on one connection.
#[derive(Debug, Clone, Default)]
pub(super) struct Activity(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    answers: Mutex<Answers>,
    has_begun: AtomicBool,
    changed: Notify,
}

#[derive(Debug, Default)]
struct Answers {
    next: u64,
    /// Until when each must have been asked for more; `None` while its handler has nothing.
    waiting: BTreeMap<u64, Option<Instant>>,
}

impl Activity {
    /// A request begins.
    pub(super) fn begin(&self) -> InFlight {
        let mut answers = self.lock();
        let number = answers.next;
        answers.next += 1;
        answers.waiting.insert(number, None);
        drop(answers);
        self.0.has_begun.store(true, Ordering::Relaxed);
        self.0.changed.notify_waiters();
        InFlight { activity: self.clone(), number }
    }

    /// Ready when the first request has not begun within `time`.
    pub(super) async fn no_request_within(&self, time: Duration) {
        tokio::time::sleep(time).await;
        if self.0.has_begun.load(Ordering::Relaxed) {
            std::future::pending::<()>().await;
        }
    }

    /// Ready when nothing has been in flight for `time`.
    pub(super) async fn idle_for(&self, time: Duration) {
        loop {
            let changed = self.0.changed.notified();
            if !self.lock().waiting.is_empty() {
                changed.await;
                continue;
            }
            if tokio::time::timeout(time, changed).await.is_err() {
                return;
            }
        }
    }

    /// Ready when the reader of an answer has made no room for it in time.
    pub(super) async fn stalled(&self) {
        loop {
            let changed = self.0.changed.notified();
            let is_empty = self.lock().waiting.is_empty();
            if is_empty {
                changed.await;
                continue;
            }
            tokio::time::sleep(CHECK_INTERVAL).await;
            let now = Instant::now();
            if self.lock().waiting.values().flatten().any(|until| *until < now) {
                return;
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Answers> {
        self.0.answers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request in flight; it ends when this is dropped.
#[derive(Debug)]
pub(super) struct InFlight {
    activity: Activity,
    number: u64,
}

impl InFlight {
    /// The answer, which is in flight until its body is dropped. Its reader may make no room for
    /// `time` at most.
    pub(super) fn answered(self, response: Response, time: Duration) -> Response {
        let refused = response.extensions().get::<RefusedCredentials>().is_some();
        let time = if refused { time.min(REFUSAL_TIME) } else { time };
        let deadline =
            response.extensions().get::<AnswerDeadline>().and_then(|deadline| deadline.0);
        let timeout = ReadTimeout { time, end: deadline.map(|deadline| deadline + AFTER_DEADLINE) };
        self.waits_for_reader(Some(timeout.until()));
        response.map(|body| Body::new(TrackedBody { body, in_flight: self, timeout }))
    }

    fn waits_for_reader(&self, until: Option<Instant>) {
        self.activity.lock().waiting.insert(self.number, until);
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.activity.lock().waiting.remove(&self.number);
        self.activity.0.changed.notify_waiters();
    }
}

/// How long the reader of an answer may make no room.
#[derive(Debug, Clone, Copy)]
struct ReadTimeout {
    time: Duration,
    end: Option<Instant>,
}

impl ReadTimeout {
    fn until(&self) -> Instant {
        let until = Instant::now() + self.time;
        self.end.map_or(until, |end| until.min(end))
    }
}

struct TrackedBody {
    body: Body,
    in_flight: InFlight,
    timeout: ReadTimeout,
}

impl HttpBody for TrackedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let this = &mut *self;
        let polled = Pin::new(&mut this.body).poll_frame(cx);
        let until = polled.is_ready().then(|| this.timeout.until());
        this.in_flight.waits_for_reader(until);
        polled
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
    use http_body_util::BodyExt as _;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[tokio::test(start_paused = true)]
    async fn an_answer_that_is_not_taken_stalls_its_connection() {
        let activity = Activity::default();
        let answer = activity.begin().answered(Response::new(Body::from("text")), 10 * SECOND);
        assert!(tokio::time::timeout(9 * SECOND, activity.stalled()).await.is_err());
        assert!(tokio::time::timeout(3 * SECOND, activity.stalled()).await.is_ok());
        answer.into_body().collect().await.unwrap();
        assert!(tokio::time::timeout(60 * SECOND, activity.stalled()).await.is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn a_handler_may_take_its_time() {
        let activity = Activity::default();
        let silent = futures_util::stream::pending::<Result<Bytes, std::io::Error>>();
        let silent = Response::new(Body::from_stream(silent));
        let mut body = activity.begin().answered(silent, SECOND).into_body();
        assert!(tokio::time::timeout(SECOND / 2, body.frame()).await.is_err());
        assert!(tokio::time::timeout(60 * SECOND, activity.stalled()).await.is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_is_idle_when_nothing_is_in_flight() {
        let activity = Activity::default();
        let request = activity.begin();
        assert!(tokio::time::timeout(9 * SECOND, activity.idle_for(SECOND)).await.is_err());
        drop(request);
        assert!(tokio::time::timeout(2 * SECOND, activity.idle_for(SECOND)).await.is_ok());
    }
}
