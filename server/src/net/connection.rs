//! One connection: HTTP/1.1 or HTTP/2, from its first byte to its last.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body as HttpBody, Frame, SizeHint};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use offbeat_core::limits::Limit;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{OwnedSemaphorePermit, watch};
use tokio::task::JoinSet;
use tonic::Status;
use tonic::body::Body;

use super::patience::PatientSocket;
use crate::http::{Deadline, Stack};
use crate::limits::{
    CONNECTION_WINDOW_BYTES, FIRST_BYTE_SECONDS, HTTP1_IDLE_SECONDS, KEEPALIVE_SECONDS,
    LOCAL_ERROR_RESETS, SEND_BUFFER_BYTES, STREAM_WINDOW_BYTES, STREAMS_PER_CONNECTION,
    WRITE_STALL_SECONDS,
};

/// No answer to a ping within this closes the connection.
const KEEPALIVE_TIMEOUT: Duration = Duration::from_secs(10);

/// A connection that is told to end, and has no request under way for so long, is dropped.
const DRAIN_PATIENCE: Duration = Duration::from_millis(500);

/// A connection with an answer that is not taken so long after its deadline is dropped.
const READER_PATIENCE: Duration = Duration::from_secs(1);

/// Serves connections; knows those that are open.
#[derive(Debug)]
pub(super) struct Connections {
    stack: Stack,
    builder: auto::Builder<TokioExecutor>,
    stopping: watch::Receiver<bool>,
    open: Mutex<JoinSet<()>>,
}

/// What a listener accepts.
pub(super) trait Socket: AsyncRead + AsyncWrite + Unpin + Send + 'static {}
impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> Socket for S {}

impl Connections {
    pub(super) fn new(stack: Stack, stopping: watch::Receiver<bool>) -> Self {
        Self { stack, builder: builder(), stopping, open: Mutex::default() }
    }

    /// Serves `socket` until it ends; holds `place` as long.
    pub(super) fn serve(&self, socket: impl Socket, place: OwnedSemaphorePermit) {
        let stack = self.stack.clone();
        let builder = self.builder.clone();
        let stopping = self.stopping.clone();
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        while open.try_join_next().is_some() {} // forget those that have ended
        open.spawn(async move {
            serve(socket, builder, stack, stopping).await;
            drop(place);
        });
    }

    /// Drops every open connection.
    pub(super) fn cut(&self) {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).abort_all();
    }
}

async fn serve(
    socket: impl Socket,
    builder: auto::Builder<TokioExecutor>,
    stack: Stack,
    mut stopping: watch::Receiver<bool>,
) {
    let socket =
        PatientSocket::new(socket, seconds(FIRST_BYTE_SECONDS), seconds(WRITE_STALL_SECONDS));
    let requests = Requests::default();
    let service = service_fn(|request: http::Request<Incoming>| {
        let stack = stack.clone();
        let under_way = requests.begin();
        async move {
            let response = stack.answer(request.map(Body::new)).await;
            under_way.must_end_by(response.extensions().get().copied());
            Ok::<_, Infallible>(response.map(|body| CountedBody { body, _under_way: under_way }))
        }
    });
    let connection = builder.serve_connection(TokioIo::new(socket), service);
    tokio::pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => Some(ended),
        _ = stopping.wait_for(|stop| *stop) => None,
        () = requests.overdue() => return,
    };
    let ended = match ended {
        Some(ended) => ended,
        None => {
            connection.as_mut().graceful_shutdown();
            tokio::select! {
                ended = connection.as_mut() => ended,
                () = requests.none_for(DRAIN_PATIENCE) => return, // it does not say goodbye
                () = requests.overdue() => return,
            }
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended badly");
    }
}

/// The requests of a connection, until the last byte of their answers is taken.
#[derive(Debug, Default, Clone)]
struct Requests(Arc<Mutex<Ledger>>);

#[derive(Debug, Default)]
struct Ledger {
    next: u64,
    under_way: BTreeMap<u64, Option<Deadline>>,
}

impl Requests {
    fn begin(&self) -> UnderWay {
        let mut ledger = self.ledger();
        let number = ledger.next;
        ledger.next += 1;
        ledger.under_way.insert(number, None);
        UnderWay { requests: self.clone(), number }
    }

    fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ready when there has been none for `patience`.
    async fn none_for(&self, patience: Duration) {
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

    /// Ready when an answer is still not taken well after its deadline. hyper asks
    /// an answer for more only when its reader makes room, so a reader who makes
    /// none would never be told that it is late, and would hold its place for ever.
    async fn overdue(&self) {
        let late = |deadline: &Option<Deadline>| {
            deadline.is_some_and(|deadline| deadline.passed_since(READER_PATIENCE))
        };
        loop {
            tokio::time::sleep(READER_PATIENCE).await;
            if self.ledger().under_way.values().any(late) {
                return;
            }
        }
    }
}

/// An entry of the ledger; struck out when dropped.
#[derive(Debug)]
struct UnderWay {
    requests: Requests,
    number: u64,
}

impl UnderWay {
    fn must_end_by(&self, deadline: Option<Deadline>) {
        self.requests.ledger().under_way.insert(self.number, deadline);
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.requests.ledger().under_way.remove(&self.number);
    }
}

struct CountedBody {
    body: Body,
    _under_way: UnderWay,
}

impl HttpBody for CountedBody {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

fn builder() -> auto::Builder<TokioExecutor> {
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(seconds(HTTP1_IDLE_SECONDS))
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(bound(STREAMS_PER_CONNECTION))
        .max_local_error_reset_streams(LOCAL_ERROR_RESETS.max_size())
        .initial_stream_window_size(bound(STREAM_WINDOW_BYTES))
        .initial_connection_window_size(bound(CONNECTION_WINDOW_BYTES))
        .max_send_buf_size(SEND_BUFFER_BYTES.max_size())
        .keep_alive_interval(seconds(KEEPALIVE_SECONDS))
        .keep_alive_timeout(KEEPALIVE_TIMEOUT);
    builder
}

fn bound(limit: Limit) -> u32 {
    u32::try_from(limit.maximum).unwrap_or(u32::MAX)
}

fn seconds(limit: Limit) -> Duration {
    Duration::from_secs(limit.maximum.unsigned_abs())
}
