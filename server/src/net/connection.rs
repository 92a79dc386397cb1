//! One connection: HTTP/1.1 or HTTP/2, from its first byte to its last.

use std::convert::Infallible;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use offbeat_core::limits::Limit;
use tokio::io::{AsyncRead, AsyncWrite, Interest};
use tokio::net::{TcpStream, UnixStream};
use tokio::sync::{OwnedSemaphorePermit, watch};
use tokio::task::JoinSet;
use tonic::body::Body;

use crate::http::Stack;
use crate::limits::{
    CONNECTION_WINDOW_BYTES, FIRST_BYTE_SECONDS, KEEPALIVE_SECONDS, LOCAL_ERROR_RESETS,
    SEND_BUFFER_BYTES, STREAM_WINDOW_BYTES, STREAMS_PER_CONNECTION,
};

/// No answer to a ping within this closes the connection.
const KEEPALIVE_TIMEOUT: Duration = Duration::from_secs(10);

/// Serves connections; knows those that are open.
#[derive(Debug)]
pub(super) struct Connections {
    stack: Stack,
    builder: auto::Builder<TokioExecutor>,
    stopping: watch::Receiver<bool>,
    open: Mutex<JoinSet<()>>,
}

/// A stream that can wait for its first byte without taking it.
pub(super) trait Socket: AsyncRead + AsyncWrite + Unpin + Send + 'static {
    fn first_byte(&self) -> impl Future<Output = std::io::Result<tokio::io::Ready>> + Send;
}

impl Socket for TcpStream {
    fn first_byte(&self) -> impl Future<Output = std::io::Result<tokio::io::Ready>> + Send {
        self.ready(Interest::READABLE)
    }
}

impl Socket for UnixStream {
    fn first_byte(&self) -> impl Future<Output = std::io::Result<tokio::io::Ready>> + Send {
        self.ready(Interest::READABLE)
    }
}

impl Connections {
    pub(super) fn new(stack: Stack, stopping: watch::Receiver<bool>) -> Self {
        Self {
            stack,
            builder: builder(),
            stopping,
            open: Mutex::default(),
        }
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
        self.open
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .abort_all();
    }
}

async fn serve(
    socket: impl Socket,
    builder: auto::Builder<TokioExecutor>,
    stack: Stack,
    mut stopping: watch::Receiver<bool>,
) {
    let patience = seconds(FIRST_BYTE_SECONDS);
    tokio::select! {
        first = tokio::time::timeout(patience, socket.first_byte()) => {
            if !matches!(first, Ok(Ok(_))) {
                return; // silent, or gone
            }
        }
        _ = stopping.wait_for(|stop| *stop) => return,
    }
    let service = service_fn(move |request: http::Request<Incoming>| {
        let stack = stack.clone();
        async move { Ok::<_, Infallible>(stack.answer(request.map(Body::new)).await) }
    });
    let connection = builder.serve_connection(TokioIo::new(socket), service);
    tokio::pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => Some(ended),
        _ = stopping.wait_for(|stop| *stop) => None,
    };
    let ended = match ended {
        Some(ended) => ended,
        None => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended badly");
    }
}

fn builder() -> auto::Builder<TokioExecutor> {
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(seconds(FIRST_BYTE_SECONDS))
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
