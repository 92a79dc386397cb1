//! The requests of a connection, until the last byte of their answers is taken.

use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue};
use http_body::{Body as HttpBody, Frame, SizeHint};
use offbeat_wire::Failure;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::Instant;
use tonic::body::Body;
use tonic::{Code, Status};

use crate::http::{Deadline, Told};
use crate::metrics::Record;
use crate::work::Permit;

/// A connection with an answer that is not taken so long after its deadline is dropped.
const READER_PATIENCE: Duration = Duration::from_secs(1);

/// A connection without requests keeps memory for so many.
const KEPT: usize = 16;

const GRPC: &str = "application/grpc";

/// The requests of a connection.
#[derive(Debug, Default, Clone)]
pub(super) struct Requests(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    ledger: Mutex<Ledger>,
    /// Whether the last answer came the long way, through the whole stack.
    last_was_long: AtomicBool,
}

#[derive(Debug)]
struct Ledger {
    /// By number; those of requests that have ended are given again.
    under_way: Vec<Option<Progress>>,
    free: Vec<usize>,
    /// When the last one ended, or the connection began.
    idle_since: Instant,
}

impl Default for Ledger {
    fn default() -> Self {
        Self { under_way: Vec::new(), free: Vec::new(), idle_since: Instant::now() }
    }
}

impl Ledger {
    fn is_empty(&self) -> bool {
        self.free.len() == self.under_way.len()
    }
}

/// How far an answer is.
#[derive(Debug, Clone, Copy, Default)]
struct Progress {
    deadline: Option<Deadline>,
    /// Since when its reader has made no room for more of it; `None` while the handler has
    /// nothing to say.
    untaken_since: Option<Instant>,
}

impl Requests {
    pub(super) fn begin(&self) -> UnderWay {
        let mut ledger = self.ledger();
        let begun = Some(Progress::default());
        let number = ledger.free.pop().unwrap_or(ledger.under_way.len());
        match ledger.under_way.get_mut(number) {
            Some(place) => *place = begun,
            None => ledger.under_way.push(begun),
        }
        drop(ledger);
        UnderWay { requests: self.clone(), number }
    }

    fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.0.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the last answer came the long way: refusals do, and take twice the time.
    pub(super) fn last_was_long(&self) -> bool {
        self.0.last_was_long.load(Ordering::Relaxed)
    }

    /// Since when there has been none; `None` if there are some.
    pub(super) fn idle_since(&self) -> Option<Instant> {
        let ledger = self.ledger();
        ledger.is_empty().then_some(ledger.idle_since)
    }

    /// Ready when there has been none for `patience`.
    pub(super) async fn none_for(&self, patience: Duration) {
        let mut quiet = false;
        loop {
            let none = self.ledger().is_empty();
            if none && quiet {
                return;
            }
            quiet = none;
            tokio::time::sleep(patience).await;
        }
    }

    /// Ready when an answer is still not taken well after its deadline, or its reader has made
    /// no room for `patience`. hyper asks an answer for more only when its reader makes room,
    /// so a reader who makes none would never be told that it is late, and would hold its place
    /// for ever.
    pub(super) async fn overdue(&self, patience: Duration) {
        let is_late = |progress: &Progress| {
            let late = progress.deadline.is_some_and(|end| end.passed_since(READER_PATIENCE));
            late || progress.untaken_since.is_some_and(|since| since.elapsed() > patience)
        };
        loop {
            tokio::time::sleep(READER_PATIENCE).await;
            if self.ledger().under_way.iter().flatten().any(is_late) {
                return;
            }
        }
    }
}

/// An entry of the ledger; struck out when dropped.
#[derive(Debug)]
pub(super) struct UnderWay {
    requests: Requests,
    number: usize,
}

impl UnderWay {
    fn note(&self, change: impl FnOnce(&mut Progress)) {
        let mut ledger = self.requests.ledger();
        if let Some(Some(progress)) = ledger.under_way.get_mut(self.number) {
            change(progress);
        }
    }

    /// Its answer begins.
    fn came_the_long_way(&self, long: bool) {
        self.requests.0.last_was_long.store(long, Ordering::Relaxed);
    }

    fn waits_for_its_reader_until(&self, deadline: Option<Deadline>) {
        let untaken_since = Some(Instant::now());
        self.note(|progress| *progress = Progress { deadline, untaken_since });
    }

    fn waits_for_its_reader(&self) {
        self.note(|progress| progress.untaken_since = Some(Instant::now()));
    }

    fn waits_for_its_handler(&self) {
        self.note(|progress| progress.untaken_since = None);
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        let mut ledger = self.requests.ledger();
        if let Some(place) = ledger.under_way.get_mut(self.number) {
            *place = None;
            ledger.free.push(self.number);
        }
        if ledger.is_empty() {
            ledger.under_way.clear();
            ledger.free.clear();
            if ledger.under_way.capacity() > KEPT {
                ledger.under_way = Vec::new();
                ledger.free = Vec::new();
            }
            ledger.idle_since = Instant::now();
        }
    }
}

type Response = http::Response<offbeat_wire::Body>;

/// A body that counts as under way until each of its bytes has left, not only been handed on:
/// what waits in HTTP/2's queues holds its place too.
pub(super) struct CountedBody(Kind);

enum Kind {
    Body {
        body: Body,
        hold: Arc<Hold>,
    },
    /// To be handed on whole.
    Message {
        bytes: Vec<u8>,
        hold: WholeHold,
        record: Record,
    },
    /// Which say that all is well.
    Trailers(Record),
    Ended,
}

#[derive(Debug)]
struct Hold {
    under_way: UnderWay,
    #[expect(dead_code, reason = "held, never read")]
    permit: Option<Permit>,
}

#[derive(Debug)]
#[expect(dead_code, reason = "held, never read")]
struct WholeHold(UnderWay, OwnedSemaphorePermit);

impl CountedBody {
    pub(super) fn of(response: http::Response<Body>, under_way: UnderWay) -> Response {
        under_way.came_the_long_way(true);
        let deadline: Option<Deadline> = response.extensions().get().copied();
        under_way.waits_for_its_reader_until(deadline);
        let permit: Option<Permit> = response.extensions().get().cloned();
        let hold = Arc::new(Hold { under_way, permit });
        response.map(|body| offbeat_wire::Body::new(Self(Kind::Body { body, hold })))
    }

    /// An answer that is whole, and waits for its reader from its beginning to its end.
    pub(super) fn told(told: Told, under_way: UnderWay) -> Response {
        under_way.came_the_long_way(false);
        let Told { message, deadline, place, record } = told;
        under_way.waits_for_its_reader_until(Some(deadline));
        let hold = WholeHold(under_way, place);
        let body = Self(Kind::Message { bytes: message, hold, record });
        let mut response = http::Response::new(offbeat_wire::Body::new(body));
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(GRPC));
        response
    }
}

impl Drop for CountedBody {
    fn drop(&mut self) {
        if let Kind::Body { hold, .. } = &self.0 {
            hold.under_way.waits_for_its_reader(); // if anything is left of it
        }
    }
}

/// Bytes on their way.
struct Sent<B, H> {
    bytes: B,
    _hold: H,
}

impl<B: AsRef<[u8]>, H> AsRef<[u8]> for Sent<B, H> {
    fn as_ref(&self) -> &[u8] {
        self.bytes.as_ref()
    }
}

impl HttpBody for CountedBody {
    type Data = Bytes;
    type Error = Failure;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Failure>>> {
        if let Kind::Body { body, hold } = &mut self.0 {
            let Poll::Ready(frame) = Pin::new(body).poll_frame(cx) else {
                hold.under_way.waits_for_its_handler();
                return Poll::Pending;
            };
            hold.under_way.waits_for_its_reader();
            let hold = || Arc::clone(hold);
            let held = |bytes| Bytes::from_owner(Sent { bytes, _hold: hold() });
            let frame = frame.map(|frame| frame.map(|frame| frame.map_data(held)));
            return Poll::Ready(frame.map(|frame| frame.map_err(Failure::from)));
        }
        let (next, frame) = match std::mem::replace(&mut self.0, Kind::Ended) {
            Kind::Message { bytes, hold, record } => {
                let bytes = Bytes::from_owner(Sent { bytes, _hold: hold });
                (Kind::Trailers(record), Frame::data(bytes))
            }
            Kind::Trailers(mut record) => {
                record.ends_with(Code::Ok);
                let mut trailers = HeaderMap::with_capacity(1);
                trailers.insert(Status::GRPC_STATUS, HeaderValue::from_static("0"));
                (Kind::Ended, Frame::trailers(trailers))
            }
            Kind::Body { .. } | Kind::Ended => return Poll::Ready(None),
        };
        self.0 = next;
        Poll::Ready(Some(Ok(frame)))
    }

    fn is_end_stream(&self) -> bool {
        match &self.0 {
            Kind::Body { body, .. } => body.is_end_stream(),
            Kind::Message { .. } | Kind::Trailers(_) => false,
            Kind::Ended => true,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            Kind::Body { body, .. } => body.size_hint(),
            _ => SizeHint::default(),
        }
    }
}
