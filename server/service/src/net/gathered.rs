//! A socket to which the beginning of a long write goes together with what follows it.
//!
//! Of a socket that takes several buffers at once, h2 makes use for whatever is longer than 256
//! bytes, and then lets nothing follow in the same write: an answer and its trailers take two, and
//! 32 answers at once take 32. To one that does not, it copies what is shorter than 1,024 bytes,
//! and all of it goes in one write; but it begins what is longer with a piece of its own. So here
//! that piece waits for the rest, or for the end.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::AsyncWrite;

/// Shorter writes are not the beginning of a longer one.
const SHORTEST_BEGINNING: usize = 1_024;
/// Longer ones are not worth a copy: there is at most one in each frame of 16 KiB.
const LONGEST_BEGINNING: usize = 20 << 10;

/// Gathers what is written to `socket`. What it holds goes out with the next write, or the flush
/// that h2 ends with.
pub(super) struct Gathered<S> {
    pub(super) socket: S,
    held: Vec<u8>,
    /// Of `held`.
    sent: usize,
}

impl<S> Gathered<S> {
    pub(super) const fn new(socket: S) -> Self {
        Self { socket, held: Vec::new(), sent: 0 }
    }
}

impl<S: AsyncWrite + Unpin> Gathered<S> {
    /// Writes `bytes`, or keeps them for the next write.
    pub(super) fn poll_write(
        &mut self,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if self.held.is_empty() && (SHORTEST_BEGINNING..=LONGEST_BEGINNING).contains(&bytes.len()) {
            self.held.extend_from_slice(bytes);
            return Poll::Ready(Ok(bytes.len()));
        }
        self.poll_write_behind(cx, bytes)
    }

    /// Writes what is held.
    pub(super) fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if !self.held.is_empty() {
            ready!(self.poll_write_behind(cx, &[]))?;
        }
        Pin::new(&mut self.socket).poll_flush(cx)
    }

    /// Writes what is held, and some of `bytes`.
    fn poll_write_behind(
        &mut self,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        loop {
            let held = self.held.get(self.sent..).unwrap_or_default();
            let socket = Pin::new(&mut self.socket);
            if held.is_empty() {
                return socket.poll_write(cx, bytes);
            }
            let parts = [IoSlice::new(held), IoSlice::new(bytes)];
            let count = ready!(socket.poll_write_vectored(cx, &parts))?;
            if count == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.sent += count;
            let Some(of_bytes) = self.sent.checked_sub(self.held.len()) else {
                continue;
            };
            (self.held, self.sent) = (Vec::new(), 0); // the connection may be idle for long
            if of_bytes > 0 || bytes.is_empty() {
                return Poll::Ready(Ok(of_bytes));
            }
        }
    }
}
