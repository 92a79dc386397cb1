//! The requests in flight on one connection, and responses that the peer does not read.
//!
//! hyper takes a piece of a response before the peer makes room for it, and the next piece, or the
//! end, as soon as there is room for a byte. A taken piece is not sent yet: the request is in
//! flight, and holds its place, until the last piece is sent. A peer that stops reading would hold it
//! forever, so its connection is closed.

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

use crate::layers::{HeldAnswer, RefusedCredentials};
use crate::work::Permit;

/// Time for a caller without credentials to read its refusal.
const REFUSAL_TIME: Duration = Duration::from_millis(250);

/// Time after the deadline for a peer to read the end of a response.
const AFTER_DEADLINE: Duration = Duration::from_secs(1);

/// Interval of checks while responses are in flight.
const CHECK_INTERVAL: Duration = Duration::from_millis(250);

/// Requests in flight on one connection.
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
    waiting: BTreeMap<u64, UnreadResponse>,
}

/// The part of a response that its peer has not read.
#[derive(Debug, Default)]
struct UnreadResponse {
    pieces: usize,
    /// When the peer must have read a piece; `None` while none waits for it.
    until: Option<Instant>,
}

impl Activity {
    /// Counts a new request.
    pub(super) fn begin(&self) -> InFlight {
        let mut answers = self.lock();
        let number = answers.next;
        answers.next += 1;
        answers.waiting.insert(number, UnreadResponse::default());
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

    /// Ready when the peer has not read a response in time.
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
            let is_late = |unread: &UnreadResponse| unread.until.is_some_and(|until| until < now);
            if self.lock().waiting.values().any(is_late) {
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
    /// The response, which is in flight until its body and all of its pieces are dropped. The peer
    /// may stop reading for at most `time`.
    pub(super) fn answered(self, response: Response, time: Duration) -> Response {
        let refused = response.extensions().get::<RefusedCredentials>().is_some();
        let time = if refused { time.min(REFUSAL_TIME) } else { time };
        let (mut head, body) = response.into_parts();
        let held = head.extensions.remove::<HeldAnswer>();
        let deadline = held.as_ref().and_then(|held| held.deadline);
        let timeout = ReadTimeout { time, end: deadline.map(|deadline| deadline + AFTER_DEADLINE) };
        self.update(|unread| unread.until = Some(timeout.until()));
        let permit = held.map(|held| held.permit);
        let answer = Arc::new(Answer { in_flight: self, timeout, permit });
        Response::from_parts(head, Body::new(TrackedBody { body, answer }))
    }

    fn update(&self, change: impl FnOnce(&mut UnreadResponse)) {
        if let Some(unread) = self.activity.lock().waiting.get_mut(&self.number) {
            change(unread);
        }
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.activity.lock().waiting.remove(&self.number);
        self.activity.0.changed.notify_waiters();
    }
}

/// How long a peer may read nothing of a response.
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

/// State that the body of a response shares with its pieces.
struct Answer {
    in_flight: InFlight,
    timeout: ReadTimeout,
    #[expect(dead_code, reason = "held, never read")]
    permit: Option<Permit>,
}

impl Answer {
    /// Wraps a piece before it is sent.
    fn piece(self: &Arc<Self>, bytes: Bytes) -> Bytes {
        self.update(|pieces| pieces + 1);
        Bytes::from_owner(Piece { bytes, answer: Arc::clone(self) })
    }

    /// Counts the pieces that the peer has not read. Each change restarts its time.
    fn update(&self, count: impl FnOnce(usize) -> usize) {
        self.in_flight.update(|unread| {
            let pieces = count(unread.pieces);
            if pieces == 0 {
                unread.until = None;
            } else if pieces != unread.pieces {
                unread.until = Some(self.timeout.until());
            }
            unread.pieces = pieces;
        });
    }
}

/// A piece of a response, dropped when it has been sent.
struct Piece {
    bytes: Bytes,
    answer: Arc<Answer>,
}

impl AsRef<[u8]> for Piece {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Piece {
    fn drop(&mut self) {
        self.answer.update(|pieces| pieces.saturating_sub(1));
    }
}

struct TrackedBody {
    body: Body,
    answer: Arc<Answer>,
}

impl HttpBody for TrackedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(cx);
        if let Poll::Ready(Some(Ok(frame))) = polled {
            return Poll::Ready(Some(Ok(frame.map_data(|bytes| self.answer.piece(bytes)))));
        }
        self.answer.update(|pieces| pieces); // there is nothing more to take
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
    use tokio::sync::Semaphore;

    use super::*;
    use crate::work::SharedResources;

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
    async fn an_answer_is_in_flight_until_its_last_piece_is_sent() {
        let activity = Activity::default();
        let mut response = Response::new(Body::from("text"));
        let (places, shared) = (Arc::new(Semaphore::new(1)), SharedResources::new(0));
        let permit = Permit::new(vec![Arc::clone(&places).try_acquire_owned().unwrap()], shared);
        let deadline = Some(Instant::now() + 20 * SECOND);
        response.extensions_mut().insert(HeldAnswer { deadline, permit });
        let mut body = activity.begin().answered(response, 60 * SECOND).into_body();
        let piece = body.frame().await.unwrap().unwrap();
        assert!(body.frame().await.is_none());
        drop(body); // as hyper does when the piece waits in h2
        assert!(tokio::time::timeout(19 * SECOND, activity.stalled()).await.is_err());
        assert!(tokio::time::timeout(3 * SECOND, activity.stalled()).await.is_ok());
        assert_eq!(places.available_permits(), 0);
        drop(piece);
        assert_eq!(places.available_permits(), 1);
        assert!(tokio::time::timeout(2 * SECOND, activity.idle_for(SECOND)).await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn a_reader_that_takes_a_piece_has_time_for_the_next() {
        let activity = Activity::default();
        let chunks = ["one", "two", "three"].map(|text| Ok::<_, std::io::Error>(Bytes::from(text)));
        let chunks = futures_util::stream::iter(chunks);
        let response = Response::new(Body::from_stream(chunks));
        let mut body = activity.begin().answered(response, 10 * SECOND).into_body();
        let mut taken = body.frame().await;
        while let Some(Ok(next)) = body.frame().await {
            assert!(tokio::time::timeout(8 * SECOND, activity.stalled()).await.is_err());
            taken = Some(Ok(next)); // drops the piece before
        }
        assert!(tokio::time::timeout(8 * SECOND, activity.stalled()).await.is_err());
        assert!(tokio::time::timeout(5 * SECOND, activity.stalled()).await.is_ok());
        drop(taken);
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
