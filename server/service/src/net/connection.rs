//! One connection: HTTP/1.1 or HTTP/2, from its first byte to its last.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::Router;
use http::Request;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{Semaphore, watch};
use tower::ServiceExt as _;

use super::activity::Activity;
use super::io::TimeoutIo;
use super::listener::{AcceptedConnection, Listener};
use super::tls::Tls;
use super::uids::Uids;
use crate::layers::Peer;
use crate::limits::{
    CONNECTION_WINDOW_BYTES, EARLY_RESETS, ERROR_RESETS, HEADER_BYTES, KEEPALIVE_SECONDS,
    SEND_BUFFER_BYTES, STREAM_WINDOW_BYTES, STREAMS_PER_CONNECTION,
};
use crate::metrics::Metrics;

/// A connection is closed if a ping has no response within this time.
const KEEPALIVE_TIMEOUT: Duration = Duration::from_secs(10);

/// A connection that was asked to end is dropped after this time without requests in flight.
const DRAIN_IDLE_TIMEOUT: Duration = Duration::from_millis(500);

/// Time for a user who may not call to get the refusal.
const REFUSED_USER_TIME: Duration = Duration::from_secs(1);

/// Concurrent connections of users who may not call.
const REFUSED_USERS: usize = 16;

/// Upper bound of the random part of its age by which a connection ends earlier, in thousandths.
const AGE_JITTER: u64 = 100;

/// Settings of the connections of a listener.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    /// Maximum number of open connections.
    pub(crate) max_connections: usize,
    /// Time for the first bytes to arrive; with TLS, once for the handshake and once after it.
    pub(crate) first_bytes: Duration,
    /// Time for the first request to begin, and on HTTP/1.1 for each further one.
    pub(crate) idle: Duration,
    /// Time for which a peer may read nothing of the data written to it.
    pub(crate) write_stall: Duration,
    /// Age at which a connection is asked to end.
    pub(crate) max_age: Option<Duration>,
}

/// Serves the connections of one listener.
#[derive(Debug)]
pub(crate) struct Connections {
    router: Router,
    settings: Settings,
    tls: Option<Tls>,
    uids: Uids,
    free: Arc<Semaphore>,
    open: Arc<AtomicUsize>,
    metrics: Arc<Metrics>,
    draining: watch::Receiver<bool>,
    /// Becomes true when all connections must be dropped; dropping it has the same effect.
    cut: watch::Sender<bool>,
}

impl Connections {
    pub(crate) fn new(
        router: Router,
        settings: Settings,
        tls: Option<Tls>,
        uids: &[u32],
        metrics: Arc<Metrics>,
        draining: watch::Receiver<bool>,
    ) -> Self {
        let free = Arc::new(Semaphore::new(settings.max_connections));
        let (uids, cut) = (Uids::new(uids), watch::Sender::new(false));
        let open = Arc::default();
        Self { router, settings, tls, uids, free, open, metrics, draining, cut }
    }

    /// Number of open connections.
    pub(crate) fn count(&self) -> usize {
        self.open.load(Ordering::Relaxed)
    }

    /// Ready when none is open.
    pub(crate) async fn drained(&self) {
        while self.count() > 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Drops every open connection.
    pub(crate) fn cut(&self) {
        self.cut.send_replace(true);
    }

    /// Accepts connections while it is polled. Connections beyond the limit wait in the listen
    /// queue.
    pub(crate) async fn accept(self: Arc<Self>, listener: Listener) {
        // A page cannot reach a listener with TLS under a name that its certificate does not have.
        let on_loopback = listener.is_on_loopback() && self.tls.is_none();
        let refused_users = Arc::new(Semaphore::new(REFUSED_USERS));
        while let Ok(place) = Arc::clone(&self.free).acquire_owned().await {
            let accepted = listener.accept().await;
            self.metrics.connected();
            let (connections, mut cut) = (Arc::clone(&self), self.cut.subscribe());
            let is_allowed = match &accepted {
                AcceptedConnection::Unix(socket) => self.uids.allow(socket),
                AcceptedConnection::Tcp(_) => true,
            };
            let peer = Peer::new(on_loopback, is_allowed);
            if is_allowed {
                let open = OpenConnection::new(&self.open);
                tokio::spawn(async move {
                    tokio::select! {
                        () = connections.serve(accepted, peer) => {}
                        _ = cut.wait_for(|cut| *cut) => {}
                    }
                    drop((open, place));
                });
            } else if let Ok(place) = Arc::clone(&refused_users).try_acquire_owned() {
                tokio::spawn(async move {
                    let told = connections.serve(accepted, peer);
                    let _ = tokio::time::timeout(REFUSED_USER_TIME, told).await;
                    drop(place);
                });
            }
        }
    }

    async fn serve(&self, accepted: AcceptedConnection, peer: Peer) {
        match (accepted, &self.tls) {
            (AcceptedConnection::Unix(socket), _) => self.speak(socket, peer).await,
            (AcceptedConnection::Tcp(socket), None) => self.speak(socket, peer).await,
            (AcceptedConnection::Tcp(socket), Some(tls)) => {
                let handshake = tls.acceptor().accept(socket);
                match tokio::time::timeout(self.settings.first_bytes, handshake).await {
                    Ok(Ok(socket)) => self.speak(socket, peer).await,
                    Ok(Err(error)) => tracing::debug!(%error, "a TLS handshake failed"),
                    Err(_) => {}
                }
            }
        }
    }

    async fn speak<S>(&self, socket: S, peer: Peer)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let Settings { first_bytes, idle, write_stall, max_age, .. } = self.settings;
        let activity = Activity::default();
        let requests = activity.clone();
        let router = self.router.clone();
        let service = service_fn(move |request: Request<Incoming>| {
            let in_flight = requests.begin();
            let mut request = super::drain::body(request);
            request.extensions_mut().insert(peer.clone());
            let router = router.clone();
            async move {
                let response = router.oneshot(request).await?;
                Ok::<_, std::convert::Infallible>(in_flight.answered(response, write_stall))
            }
        });
        let socket = TokioIo::new(TimeoutIo::new(socket, first_bytes, write_stall));
        let builder = builder(idle);
        let connection = builder.serve_connection(socket, service);
        tokio::pin!(connection);
        let mut draining = self.draining.clone();
        let ended = tokio::select! {
            ended = connection.as_mut() => Some(ended),
            _ = draining.wait_for(|draining| *draining) => None,
            () = aged(max_age) => None,
            () = activity.no_request_within(idle) => None,
            () = activity.stalled() => return,
        };
        let ended = match ended {
            Some(ended) => ended,
            None => {
                connection.as_mut().graceful_shutdown();
                tokio::select! {
                    ended = connection => ended,
                    () = activity.idle_for(DRAIN_IDLE_TIMEOUT) => return, // the peer does not close
                    () = activity.stalled() => return,
                }
            }
        };
        if let Err(error) = ended {
            tracing::debug!(%error, "a connection ended badly");
        }
    }
}

/// Counts a connection until it is dropped.
struct OpenConnection(Arc<AtomicUsize>);

impl OpenConnection {
    fn new(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(count))
    }
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Ready when a connection has reached its maximum age, if there is one. The age varies a little,
/// so that connections that began together do not end together.
async fn aged(max_age: Option<Duration>) {
    match max_age {
        None => std::future::pending().await,
        Some(age) => {
            let earlier = RandomState::new().hash_one(()) % AGE_JITTER;
            let thousandths = u32::try_from(1_000 - earlier).unwrap_or(1_000);
            tokio::time::sleep(age * thousandths / 1_000).await;
        }
    }
}

fn builder(idle: Duration) -> Builder<TokioExecutor> {
    let mut builder = Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(idle)
        .max_buf_size(HEADER_BYTES.max_size())
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(number(STREAMS_PER_CONNECTION.maximum))
        .max_header_list_size(number(HEADER_BYTES.maximum))
        .max_local_error_reset_streams(ERROR_RESETS.max_size())
        .max_pending_accept_reset_streams(EARLY_RESETS.max_size())
        .initial_stream_window_size(number(STREAM_WINDOW_BYTES.maximum))
        .initial_connection_window_size(number(CONNECTION_WINDOW_BYTES.maximum))
        .max_send_buf_size(SEND_BUFFER_BYTES.max_size())
        .keep_alive_interval(Duration::from_secs(KEEPALIVE_SECONDS.maximum.unsigned_abs()))
        .keep_alive_timeout(KEEPALIVE_TIMEOUT);
    builder
}

fn number(value: i64) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use tokio::time::Instant;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn ages_differ_by_a_tenth_at_most_so_that_not_all_end_at_once() {
        let age = Duration::from_secs(1_000);
        let mut ages = Vec::new();
        for _ in 0..200 {
            let begun = Instant::now();
            aged(Some(age)).await;
            ages.push(begun.elapsed());
        }
        ages.sort_unstable();
        let rounded = Duration::from_millis(1); // what the timer rounds up to
        assert!(ages[0] >= age * 9 / 10 && ages[199] <= age + rounded, "{ages:?}");
        assert!(ages[199] - ages[0] > age / 20, "they spread over most of the tenth: {ages:?}");
        ages.dedup();
        assert!(ages.len() > 40, "{ages:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn without_a_limit_of_age_no_connection_is_asked_to_end() {
        let limits = crate::config::Config::from_flags(["--listen", "127.0.0.1:0"]).unwrap().limits;
        let week = Duration::from_secs(7 * 86_400);
        assert!(tokio::time::timeout(week, aged(limits.connection_age)).await.is_err());
    }
}
