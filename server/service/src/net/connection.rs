//! One connection: HTTP/1.1 or HTTP/2, from its first byte to its last.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use http::Request;
use hyper::body::Incoming;
use hyper_util::rt::TokioTimer;
use offbeat_wire::{Answering, Socket};
use tokio::net::{TcpStream, UnixStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tonic::body::Body;

use super::guests::{Guest, Guests};
use super::patience::PatientSocket;
use super::requests::{CountedBody, UnderWay};
use super::tls::Tls;
use super::turnstile::Turnstile;
use crate::config::{Config, Limits};
use crate::http::{Reply, Stack};
use crate::metrics::Metrics;

/// No answer to a ping within this closes the connection.
const KEEPALIVE_TIMEOUT: Duration = Duration::from_secs(10);

/// A connection that is told to end, and has no request under way for so long, is dropped.
const DRAIN_PATIENCE: Duration = Duration::from_millis(500);

/// So long a user who may not call is told so.
const STRANGER_PATIENCE: Duration = Duration::from_secs(1);

/// How often somebody is looked for who may go, while a newcomer waits.
const ROOM_PATIENCE: Duration = Duration::from_millis(100);

/// Serves connections; knows those that are open.
#[derive(Debug)]
pub(super) struct Connections {
    free: Arc<Semaphore>,
    serving: Arc<Serving>,
    /// Of users who may not call.
    refusing: Arc<Serving>,
    uids: Vec<u32>,
    metrics: Arc<Metrics>,
    /// Becomes true when every connection is to be dropped; so is each, when this is.
    cut: watch::Sender<bool>,
    guests: Guests,
    turnstile: Arc<Turnstile>,
    most: usize,
}

/// What serving connections takes, for all of them.
#[derive(Debug)]
struct Serving {
    stack: Arc<Stack>,
    builder: offbeat_wire::Builder,
    tls: Option<Tls>,
    limits: Limits,
    stopping: watch::Receiver<bool>,
    /// How long a connection may last; for ever, if nothing is said.
    patience: Option<Duration>,
}

/// Who was accepted.
pub(super) enum Peer {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Connections {
    pub(super) fn new(
        stack: Stack,
        config: &Config,
        tls: Option<&Tls>,
        metrics: Arc<Metrics>,
        stopping: &watch::Receiver<bool>,
    ) -> Self {
        let limits = &config.limits;
        let most = limits.connections;
        let serving = |stack, patience| {
            let (builder, tls, stopping) = (builder(limits), tls.cloned(), stopping.clone());
            let stack = Arc::new(stack);
            Arc::new(Serving { stack, builder, tls, limits: limits.clone(), stopping, patience })
        };
        Self {
            free: Arc::new(Semaphore::new(most)),
            // They hear why, once, and go.
            refusing: serving(stack.for_strangers(), Some(STRANGER_PATIENCE)),
            serving: serving(stack, None),
            uids: config.socket_uids.clone(),
            metrics,
            cut: watch::Sender::new(false),
            guests: Guests::default(),
            turnstile: Arc::default(),
            most,
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
        let may_call = match &peer {
            Peer::Unix(socket) => self.may_call(socket),
            Peer::Tcp(_) => true,
        };
        let Some(place) = self.place().await else {
            return; // the semaphore is never closed
        };
        self.metrics.connected();
        self.serve(peer, may_call, place);
    }

    /// A place, which one that says nothing, or is idle, gives up if there is none.
    async fn place(&self) -> Option<OwnedSemaphorePermit> {
        let mut patience = Duration::ZERO;
        loop {
            let free = Arc::clone(&self.free).acquire_owned();
            if let Ok(place) = tokio::time::timeout(patience, free).await {
                return place.ok();
            }
            if self.guests.make_room() {
                self.metrics.evicted();
            }
            patience = ROOM_PATIENCE;
        }
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

    /// Serves `peer` until it ends; holds `place` as long.
    fn serve(&self, peer: Peer, may_call: bool, place: OwnedSemaphorePermit) {
        let entry = self.guests.enter();
        let serving = Arc::clone(if may_call { &self.serving } else { &self.refusing });
        let mut cut = self.cut.subscribe();
        let turnstile = Arc::clone(&self.turnstile);
        // Nothing holds the task of a connection that has ended, else its memory would stay.
        tokio::spawn(async move {
            {
                let served = pin!(serve(peer, &serving, &entry.guest));
                let served = turnstile.pass(|| entry.guest.is_stranger(), served);
                tokio::select! {
                    () = served => {}
                    _ = cut.wait_for(|cut| *cut) => {}
                }
            }
            drop((entry, place));
        });
    }

    /// Lets strangers go on while others are served, for as long as the server runs.
    pub(super) async fn usher(&self) {
        self.turnstile.usher().await;
    }

    /// Drops every open connection.
    pub(super) fn cut(&self) {
        self.cut.send_replace(true);
    }
}

/// The bytes of a peer, decrypted if they must be.
async fn open(peer: Peer, serving: &Serving) -> Option<Box<dyn Socket>> {
    match (peer, &serving.tls) {
        (Peer::Unix(socket), _) => Some(Box::new(socket)),
        (Peer::Tcp(socket), None) => Some(Box::new(socket)),
        (Peer::Tcp(socket), Some(tls)) => {
            let handshake = tls.acceptor().accept(socket);
            match tokio::time::timeout(serving.limits.first_bytes, handshake).await {
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

async fn serve(peer: Peer, serving: &Serving, guest: &Guest) {
    let opened = tokio::select! {
        opened = open(peer, serving) => opened,
        () = guest.told_to_leave() => None,
    };
    let Some(socket) = opened else {
        return;
    };
    let Serving { stack, builder, limits, patience, .. } = serving;
    let mut stopping = serving.stopping.clone();
    let socket = PatientSocket::new(socket, guest, limits);
    let handler = |request: Request<Incoming>| answer(Arc::clone(stack), request, guest.begin());
    let mut connection = offbeat_wire::serve(builder, Box::new(socket), Box::new(handler));
    let overdue = guest.requests.overdue(limits.write_stall);
    tokio::pin!(overdue);
    let ended = tokio::select! {
        ended = &mut connection => Some(ended),
        _ = stopping.wait_for(|stop| *stop) => None,
        () = over(*patience) => None,
        () = guest.told_to_leave() => match guest.is_known() {
            true => None,
            false => return,
        },
        () = overdue.as_mut() => return,
    };
    let ended = match ended {
        Some(ended) => ended,
        None => {
            connection.graceful_shutdown();
            tokio::select! {
                ended = &mut connection => ended,
                () = guest.requests.none_for(DRAIN_PATIENCE) => return, // it does not say goodbye
                () = overdue.as_mut() => return,
            }
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended badly");
    }
}

/// Boxed, so that it is gone when the answer begins: hyper has room for it in the task of a stream
/// until the stream ends, and it takes 5 kB, or a tenth of it the short way.
fn answer(stack: Arc<Stack>, request: Request<Incoming>, under_way: UnderWay) -> Answering {
    let Some(plain) = stack.is_plain(&request) else {
        return Box::pin(async move {
            let response = stack.answer(request.map(Body::new)).await;
            CountedBody::of(response, under_way)
        });
    };
    Box::pin(async move {
        match stack.answer_plain(request, plain).await {
            Reply::Told(told) => CountedBody::told(told, under_way),
            Reply::Long(long) => {
                let response = Box::pin(stack.answer_long(*long)).await;
                CountedBody::of(response, under_way)
            }
        }
    })
}

/// Ready after so long, if there is an end.
async fn over(patience: Option<Duration>) {
    match patience {
        Some(patience) => tokio::time::sleep(patience).await,
        None => std::future::pending().await,
    }
}

fn builder(limits: &Limits) -> offbeat_wire::Builder {
    let header_bytes = usize::try_from(limits.header_bytes).unwrap_or(usize::MAX);
    let mut builder = offbeat_wire::builder();
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.http1_idle)
        .max_buf_size(header_bytes)
        .half_close(true)
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
