//! A socket with limits to its patience, where hyper has none: a peer must say
//! soon which protocol it speaks, and must take what is written to it.

use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep};

use super::frames::FrameMeter;
use crate::config::Limits;

/// Bytes that decide between HTTP/1.1 and HTTP/2: the preface of the latter (RFC 9113, 3.4).
const PREFACE_BYTES: usize = 24;

/// Bytes that are read before others have their turn: of a flood of the smallest frames, some
/// hundreds of microseconds.
const TURN_BYTES: usize = 16 << 10;

/// Fails to read if the first bytes do not come in time, to write if the peer takes nothing for
/// too long, and either if the frames are a flood.
pub(super) struct PatientSocket<S> {
    socket: S,
    known: Arc<AtomicBool>,
    meter: FrameMeter,
    /// Bytes read in this turn.
    turn: usize,
    missing: usize,
    silent: Option<Pin<Box<Sleep>>>,
    write_patience: Duration,
    stalled: Option<Pin<Box<Sleep>>>,
}

impl<S> PatientSocket<S> {
    /// `known` becomes true when the first bytes have come.
    pub(super) fn new(socket: S, known: Arc<AtomicBool>, limits: &Limits) -> Self {
        Self {
            socket,
            known,
            meter: FrameMeter::new(limits.error_resets),
            turn: 0,
            missing: PREFACE_BYTES,
            silent: Some(Box::pin(tokio::time::sleep(limits.first_bytes))),
            write_patience: limits.write_stall,
            stalled: None,
        }
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
        if self.turn >= TURN_BYTES {
            self.turn = 0;
            // Unlike a waker that is woken at once, this looks for what has come to others first.
            let _ = pin!(tokio::task::yield_now()).poll(cx);
            return Poll::Pending;
        }
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.socket).poll_read(cx, buffer);
        if read.is_ready() {
            let bytes = buffer.filled().get(before..).unwrap_or_default();
            self.turn += bytes.len();
            self.missing = self.missing.saturating_sub(bytes.len());
            self.meter.pass_in(bytes)?;
            if self.missing == 0 && self.silent.take().is_some() {
                self.known.store(true, Ordering::Relaxed);
            }
            return read;
        }
        self.turn = 0;
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
        if let Poll::Ready(Ok(count)) = written {
            self.meter.pass_out(bytes.get(..count).unwrap_or_default())?;
        }
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
        if let Poll::Ready(Ok(mut left)) = written {
            for part in parts {
                let count = part.len().min(left);
                self.meter.pass_out(part.get(..count).unwrap_or_default())?;
                left -= count;
            }
        }
        self.time_write(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }
}
