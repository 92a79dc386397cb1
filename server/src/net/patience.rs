//! A socket with limits to its patience, where hyper has none: a peer must say
//! soon which protocol it speaks, and must take what is written to it.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::Notify;
use tokio::time::{Instant, Sleep};

/// Bytes that decide between HTTP/1.1 and HTTP/2: the preface of the latter (RFC 9113, 3.4).
const PREFACE_BYTES: usize = 24;

/// A connection that has not said what it speaks.
#[derive(Debug, Default)]
pub(super) struct Stranger {
    known: AtomicBool,
    leave: Notify,
}

impl Stranger {
    /// Tells it to leave, unless it is known by now; whether it goes.
    pub(super) fn evict(&self) -> bool {
        let is_stranger = !self.known.load(Ordering::Relaxed);
        if is_stranger {
            self.leave.notify_one();
        }
        is_stranger
    }

    /// Ready when it must leave.
    pub(super) async fn evicted(&self) {
        self.leave.notified().await;
    }
}

/// Fails to read if the first bytes do not come in time, and to write if the
/// peer takes nothing for too long.
pub(super) struct PatientSocket<S> {
    socket: S,
    stranger: Arc<Stranger>,
    missing: usize,
    silent: Option<Pin<Box<Sleep>>>,
    write_patience: Duration,
    stalled: Option<Pin<Box<Sleep>>>,
}

impl<S> PatientSocket<S> {
    /// Tells `stranger` when the first bytes have come.
    pub(super) fn new(
        socket: S,
        stranger: Arc<Stranger>,
        first_bytes: Duration,
        write_patience: Duration,
    ) -> Self {
        let silent = Some(Box::pin(tokio::time::sleep(first_bytes)));
        Self { socket, stranger, missing: PREFACE_BYTES, silent, write_patience, stalled: None }
    }

    /// Passes on what a write came to; times those that come to nothing.
    fn time_write(
        &mut self,
        cx: &mut Context<'_>,
        written: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        if written.is_ready() {
            self.stalled = None;
            return written;
        }
        let until = Instant::now() + self.write_patience;
        let stalled = self.stalled.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(until)));
        ready!(stalled.as_mut().poll(cx));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for PatientSocket<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.socket).poll_read(cx, buffer);
        if read.is_ready() {
            self.missing = self.missing.saturating_sub(buffer.filled().len() - before);
            if self.missing == 0 && self.silent.take().is_some() {
                self.stranger.known.store(true, Ordering::Relaxed);
            }
            return read;
        }
        if let Some(silent) = &mut self.silent {
            ready!(silent.as_mut().poll(cx));
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        Poll::Pending
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for PatientSocket<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.socket).poll_write(cx, bytes);
        self.time_write(cx, written)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_flush(cx) // a socket has nothing to flush
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.socket).poll_write_vectored(cx, parts);
        self.time_write(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }
}
