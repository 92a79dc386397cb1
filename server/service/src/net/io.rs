//! A socket with timeouts that hyper does not have: for the bytes that decide the protocol, and for
//! writes that the peer does not read.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Sleep;

use super::frames::ControlFrames;

/// Bytes that decide between HTTP/1.1 and HTTP/2: the preface of the latter (RFC 9113, 3.4).
const PREFACE_BYTES: usize = 24;

/// Reading fails if the first bytes do not arrive in time, or after too many control frames.
/// Writing fails if the peer reads nothing for too long.
pub(super) struct TimeoutIo<S> {
    socket: S,
    frames: ControlFrames,
    /// Bytes of the preface that have not arrived.
    missing: usize,
    first_bytes: Option<Pin<Box<Sleep>>>,
    write_timeout: Duration,
    stalled: Option<Pin<Box<Sleep>>>,
}

impl<S> TimeoutIo<S> {
    pub(super) fn new(socket: S, first_bytes: Duration, write_timeout: Duration) -> Self {
        Self {
            socket,
            frames: ControlFrames::default(),
            missing: PREFACE_BYTES,
            first_bytes: Some(Box::pin(tokio::time::sleep(first_bytes))),
            write_timeout,
            stalled: None,
        }
    }

    /// Passes on the result of a write; a pending write starts the timer.
    fn time_write<T>(
        &mut self,
        cx: &mut Context<'_>,
        written: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.stalled = None;
            return written;
        }
        let timeout = self.write_timeout;
        let stalled = self.stalled.get_or_insert_with(|| Box::pin(tokio::time::sleep(timeout)));
        ready!(stalled.as_mut().poll(cx));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for TimeoutIo<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        let before = buffer.filled().len();
        match Pin::new(&mut this.socket).poll_read(cx, buffer) {
            Poll::Pending => {
                let Some(first_bytes) = &mut this.first_bytes else { return Poll::Pending };
                ready!(first_bytes.as_mut().poll(cx));
                Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
            }
            Poll::Ready(read) => {
                read?;
                let bytes = buffer.filled().get(before..).unwrap_or_default();
                this.missing = this.missing.saturating_sub(bytes.len());
                if this.missing == 0 {
                    this.first_bytes = None;
                }
                Poll::Ready(this.frames.read(bytes))
            }
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for TimeoutIo<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.socket).poll_write(cx, bytes);
        if let Poll::Ready(Ok(count)) = &written {
            self.frames.wrote(*count);
        }
        self.time_write(cx, written)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.socket).poll_flush(cx);
        self.time_write(cx, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let shut = Pin::new(&mut self.socket).poll_shutdown(cx);
        self.time_write(cx, shut)
    }

    // Copying small parts into one write is faster than a vectored write of them.
    fn is_write_vectored(&self) -> bool {
        false
    }
}
