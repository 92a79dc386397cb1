//! The requests of a connection, until the last byte of their answers is taken.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body as HttpBody, Frame, SizeHint};
use tokio::time::Instant;
use tonic::Status;
use tonic::body::Body;

use crate::http::Deadline;
use crate::work::Permit;

/// A connection with an answer that is not taken so long after its deadline is dropped.
const READER_PATIENCE: Duration = Duration::from_secs(1);

/// The requests of a connection.
#[derive(Debug, Default, Clone)]
pub(super) struct Requests(Arc<Mutex<Ledger>>);

#[derive(Debug)]
struct Ledger {
    next: u64,
    under_way: BTreeMap<u64, Progress>,
    /// When the last one ended, or the connection began.
    idle_since: Instant,
}

impl Default for Ledger {
    fn default() -> Self {
        Self { next: 0, under_way: BTreeMap::new(), idle_since: Instant::now() }
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
        let number = ledger.next;
        ledger.next += 1;
        ledger.under_way.insert(number, Progress::default());
        UnderWay { requests: self.clone(), number }
    }

    fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Since when there has been none; `None` if there are some.
    pub(super) fn idle_since(&self) -> Option<Instant> {
        let ledger = self.ledger();
        ledger.under_way.is_empty().then_some(ledger.idle_since)
    }

    /// Ready when there has been none for `patience`.
    pub(super) async fn none_for(&self, patience: Duration) {
        let mut quiet = false;
        loop {
            let none = self.ledger().under_way.is_empty();
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
            if self.ledger().under_way.values().any(is_late) {
                return;
            }
        }
    }
}

/// An entry of the ledger; struck out when dropped.
#[derive(Debug)]
pub(super) struct UnderWay {
    requests: Requests,
    number: u64,
}

impl UnderWay {
    fn note(&self, change: impl FnOnce(&mut Progress)) {
        if let Some(progress) = self.requests.ledger().under_way.get_mut(&self.number) {
            change(progress);
        }
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
        ledger.under_way.remove(&self.number);
        if ledger.under_way.is_empty() {
            ledger.idle_since = Instant::now();
        }
    }
}

/// A body that counts as under way until each of its bytes has left, not only been handed on:
/// what waits in HTTP/2's queues holds its place too.
pub(super) struct CountedBody {
    body: Body,
    hold: Arc<Hold>,
}

#[derive(Debug)]
struct Hold {
    under_way: UnderWay,
    #[expect(dead_code, reason = "held, never read")]
    permit: Option<Permit>,
}

impl CountedBody {
    pub(super) fn new(response: http::Response<Body>, under_way: UnderWay) -> http::Response<Self> {
        let deadline: Option<Deadline> = response.extensions().get().copied();
        under_way.note(|progress| progress.deadline = deadline);
        under_way.waits_for_its_reader();
        let permit: Option<Permit> = response.extensions().get().cloned();
        let hold = Arc::new(Hold { under_way, permit });
        response.map(|body| Self { body, hold })
    }
}

impl Drop for CountedBody {
    fn drop(&mut self) {
        self.hold.under_way.waits_for_its_reader(); // if anything is left of it
    }
}

/// Bytes on their way.
struct Sent {
    bytes: Bytes,
    _hold: Arc<Hold>,
}

impl AsRef<[u8]> for Sent {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl HttpBody for CountedBody {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(cx) else {
            self.hold.under_way.waits_for_its_handler();
            return Poll::Pending;
        };
        self.hold.under_way.waits_for_its_reader();
        let hold = || Arc::clone(&self.hold);
        let held = |bytes| Bytes::from_owner(Sent { bytes, _hold: hold() });
        Poll::Ready(frame.map(|frame| frame.map(|frame| frame.map_data(held))))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
