//! One connection: HTTP/1.1 or HTTP/2, from its first byte to its last.

use std::collections::{BTreeMap, VecDeque};
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body as HttpBody, Frame, SizeHint};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, UnixStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::JoinSet;
use tonic::Status;
use tonic::body::Body;

use super::patience::{PatientSocket, Stranger};
use super::tls::Tls;
use crate::config::{Config, Limits};
use crate::http::{Deadline, Stack};
use crate::metrics::Metrics;

/// No answer to a ping within this closes the connection.
const KEEPALIVE_TIMEOUT: Duration = Duration::from_secs(10);

/// A connection that is told to end, and has no request under way for so long, is dropped.
const DRAIN_PATIENCE: Duration = Duration::from_millis(500);

/// A connection with an answer that is not taken so long after its deadline is dropped.
const READER_PATIENCE: Duration = Duration::from_secs(1);

/// Serves connections; knows those that are open.
#[derive(Debug)]
pub(super) struct Connections {
    free: Arc<Semaphore>,
    serving: Serving,
    uids: Vec<u32>,
    metrics: Arc<Metrics>,
    open: Mutex<JoinSet<()>>,
    /// Those that had not said what they speak when they came, in the order of their coming.
    strangers: Mutex<VecDeque<Weak<Stranger>>>,
    most: usize,
}

/// What serving a connection takes.
#[derive(Debug, Clone)]
struct Serving {
    stack: Stack,
    builder: auto::Builder<TokioExecutor>,
    tls: Option<Tls>,
    first_bytes: Duration,
    write_stall: Duration,
    stopping: watch::Receiver<bool>,
}

/// Who was accepted.
pub(super) enum Peer {
    Tcp(TcpStream),
    Unix(UnixStream),
}

/// What bytes are exchanged over.
trait Socket: AsyncRead + AsyncWrite + Unpin + Send {}
impl<S: AsyncRead + AsyncWrite + Unpin + Send> Socket for S {}

impl Connections {
    pub(super) fn new(
        stack: Stack,
        config: &Config,
        tls: Option<Tls>,
        metrics: Arc<Metrics>,
        stopping: watch::Receiver<bool>,
    ) -> Self {
        let Limits { connections, first_bytes, write_stall, .. } = config.limits;
        let builder = builder(&config.limits);
        Self {
            free: Arc::new(Semaphore::new(connections)),
            serving: Serving { stack, builder, tls, first_bytes, write_stall, stopping },
            uids: config.socket_uids.clone(),
            metrics,
            open: Mutex::default(),
            strangers: Mutex::default(),
            most: connections,
        }
    }

    /// How many are open.
    pub(super) fn count(&self) -> usize {
        self.most - self.free.available_permits()
    }

    /// Ready when none is open.
    pub(super) async fn drained(&self) {
        let all = u32::try_from(self.most).unwrap_or(u32::MAX);
        let _ = self.free.acquire_many(all).await;
    }

    /// Serves a peer as soon as there is a place.
    pub(super) async fn admit(&self, peer: Peer) {
        if let Peer::Unix(socket) = &peer
            && !self.may_call(socket)
        {
            return;
        }
        let place = match Arc::clone(&self.free).try_acquire_owned() {
            Ok(place) => place,
            Err(_) => {
                self.evict_a_stranger();
                match Arc::clone(&self.free).acquire_owned().await {
                    Ok(place) => place,
                    Err(_) => return, // the semaphore is never closed
                }
            }
        };
        self.metrics.connected();
        self.serve(peer, place);
    }

    /// Whether the user at the other end of a Unix socket is one of those named, if any are.
    fn may_call(&self, socket: &UnixStream) -> bool {
        if self.uids.is_empty() {
            return true;
        }
        let uid = socket.peer_cred().map(|peer| peer.uid());
        let may = uid.as_ref().is_ok_and(|uid| self.uids.contains(uid));
        if !may {
            tracing::warn!(
                uid = uid.ok(),
                "a user who may not call over the Unix socket was refused"
            );
        }
        may
    }

    /// Closes the connection that has been silent longest since it came, if any is.
    fn evict_a_stranger(&self) {
        let mut strangers = self.strangers.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some(stranger) = strangers.pop_front() {
            if stranger.upgrade().is_some_and(|stranger| stranger.evict()) {
                self.metrics.evicted();
                return;
            }
        }
    }

    /// Notes a stranger; forgets those that are gone or known, when there are many.
    fn note(&self, stranger: &Arc<Stranger>) {
        let mut strangers = self.strangers.lock().unwrap_or_else(PoisonError::into_inner);
        if strangers.len() >= 2 * self.most {
            strangers.retain(|stranger| stranger.strong_count() > 0);
        }
        strangers.push_back(Arc::downgrade(stranger));
    }

    /// Serves `peer` until it ends; holds `place` as long.
    fn serve(&self, peer: Peer, place: OwnedSemaphorePermit) {
        let stranger = Arc::new(Stranger::default());
        self.note(&stranger);
        let serving = self.serving.clone();
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        while open.try_join_next().is_some() {} // forget those that have ended
        open.spawn(async move {
            tokio::select! {
                () = serve(peer, serving, Arc::clone(&stranger)) => {}
                () = stranger.evicted() => {}
            }
            drop(place);
        });
    }

    /// Drops every open connection.
    pub(super) fn cut(&self) {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).abort_all();
    }
}

/// The bytes of a peer, decrypted if they must be.
async fn open(peer: Peer, serving: &Serving) -> Option<Box<dyn Socket>> {
    match (peer, &serving.tls) {
        (Peer::Unix(socket), _) => Some(Box::new(socket)),
        (Peer::Tcp(socket), None) => Some(Box::new(socket)),
        (Peer::Tcp(socket), Some(tls)) => {
            let handshake = tls.acceptor().accept(socket);
            match tokio::time::timeout(serving.first_bytes, handshake).await {
                Ok(Ok(socket)) => Some(Box::new(socket)),
                Ok(Err(error)) => {
                    tracing::debug!(%error, "a TLS handshake failed");
                    None
                }
                Err(_) => None,
            }
        }
    }
}

async fn serve(peer: Peer, serving: Serving, stranger: Arc<Stranger>) {
    let Some(socket) = open(peer, &serving).await else {
        return;
    };
    let Serving { stack, builder, first_bytes, write_stall, mut stopping, .. } = serving;
    let socket = PatientSocket::new(socket, stranger, first_bytes, write_stall);
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

fn builder(limits: &Limits) -> auto::Builder<TokioExecutor> {
    let header_bytes = usize::try_from(limits.header_bytes).unwrap_or(usize::MAX);
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.http1_idle)
        .max_buf_size(header_bytes)
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(limits.streams)
        .max_header_list_size(limits.header_bytes)
        .max_local_error_reset_streams(limits.error_resets)
        .max_pending_accept_reset_streams(limits.early_resets)
        .initial_stream_window_size(limits.stream_window)
        .initial_connection_window_size(limits.connection_window)
        .max_send_buf_size(limits.send_buffer)
        .keep_alive_interval(limits.keepalive)
        .keep_alive_timeout(KEEPALIVE_TIMEOUT);
    builder
}
