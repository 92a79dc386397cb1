//! A socket with limits to its patience, where hyper has none: a peer must say
//! soon which protocol it speaks, and must take what is written to it.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep};

use super::frames::FrameMeter;
use super::gathered::Gathered;
use super::guests::Guest;
use super::pause::Pause;
use super::requests::Requests;
use crate::config::Limits;

/// Bytes that decide between HTTP/1.1 and HTTP/2: the preface of the latter (RFC 9113, 3.4).
const PREFACE_BYTES: usize = 24;

/// What is read before others have their turn, in bytes; each frame costs as much as so many.
/// Of large frames it is some microseconds, of a flood of the smallest ones a tenth of a
/// millisecond, of requests some twenty, or ten that are refused, a third of one.
const TURN: usize = 16 << 10;
const FRAME_COST: usize = 64;

/// What the frame that begins a request costs, in frames: it takes the time of some to answer, and
/// whoever waits behind a hundred on one connection waits for each.
const REQUEST_COST: usize = 10;

/// On a connection whose last answer came the long way: refusals do, and take twice the time.
const LONG_REQUEST_COST: usize = 20;

/// Of whom nothing has been read may send frames of a byte.
const FIRST_FRAME: usize = 10;

/// Less is never read at once.
const LEAST_READ: usize = 256;

/// Fails to read if the first bytes do not come in time, to write if the peer takes nothing for
/// too long, and either if the frames are a flood.
pub(super) struct PatientSocket<S> {
    socket: Gathered<S>,
    known: Arc<AtomicBool>,
    requests: Requests,
    meter: FrameMeter,
    /// What has been read in this turn.
    turn: usize,
    /// Bytes of the last read, and what they cost.
    last: (usize, usize),
    /// Until others have had theirs.
    pause: Pause,
    missing: usize,
    silent: Option<Pin<Box<Sleep>>>,
    write_patience: Duration,
    stalled: Option<Pin<Box<Sleep>>>,
}

impl<S> PatientSocket<S> {
    /// Of `guest`, who is known when the first bytes have come.
    pub(super) fn new(socket: S, guest: &Guest, limits: &Limits) -> Self {
        Self {
            socket: Gathered::new(socket),
            known: Arc::clone(&guest.known),
            requests: guest.requests.clone(),
            meter: FrameMeter::new(limits.error_resets),
            turn: 0,
            last: (FIRST_FRAME, FIRST_FRAME + FRAME_COST),
            pause: Pause::default(),
            missing: PREFACE_BYTES,
            silent: Some(Box::pin(tokio::time::sleep(limits.first_bytes))),
            write_patience: limits.write_stall,
            stalled: None,
        }
    }

    /// Reads no more than fits this turn, if what follows is like what was read last.
    fn read_some(&mut self, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>>
    where
        S: AsyncRead + Unpin,
    {
        let socket = Pin::new(&mut self.socket.socket);
        let (bytes, cost) = self.last;
        let most = ((TURN - self.turn) * bytes / cost.max(1)).max(LEAST_READ);
        // Frames of a kilobyte and more are cheap enough for any buffer.
        if buffer.remaining() <= most || cost < bytes + bytes / 16 {
            return socket.poll_read(cx, buffer);
        }
        let mut some = ReadBuf::new(buffer.initialize_unfilled_to(most));
        ready!(socket.poll_read(cx, &mut some))?;
        let count = some.filled().len();
        buffer.advance(count);
        Poll::Ready(Ok(()))
    }

    /// Passes on what a write came to; times those that come to nothing.
    fn time_write<T>(
        &mut self,
        cx: &mut Context<'_>,
        written: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
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
        if self.turn >= TURN {
            self.turn = 0;
            self.pause.begin();
        }
        ready!(self.pause.poll_end(cx));
        let before = buffer.filled().len();
        let read = self.read_some(cx, buffer);
        if read.is_ready() {
            let bytes = buffer.filled().get(before..).unwrap_or_default();
            self.missing = self.missing.saturating_sub(bytes.len());
            let of_request = match self.requests.last_was_long() {
                true => LONG_REQUEST_COST,
                false => REQUEST_COST,
            };
            let cost = bytes.len() + FRAME_COST * self.meter.pass_in(bytes, of_request)?;
            self.turn += cost;
            if cost > 0 {
                self.last = (bytes.len(), cost);
            }
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
        let written = match self.meter.is_http2() {
            true => self.socket.poll_write(cx, bytes),
            false => Pin::new(&mut self.socket.socket).poll_write(cx, bytes),
        };
        if let Poll::Ready(Ok(count)) = written {
            self.meter.pass_out(bytes.get(..count).unwrap_or_default())?;
        }
        self.time_write(cx, written)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = self.socket.poll_flush(cx);
        self.time_write(cx, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.as_mut().poll_flush(cx))?;
        Pin::new(&mut self.socket.socket).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        if !self.is_write_vectored() {
            let first = parts.iter().find(|part| !part.is_empty());
            return self.poll_write(cx, first.map_or(&[], |part| part));
        }
        let written = Pin::new(&mut self.socket.socket).poll_write_vectored(cx, parts);
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
        !self.meter.is_http2() && self.socket.socket.is_write_vectored()
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::task::Waker;

    use tonic::body::Body;

    use super::*;
    use crate::config::Config;
    use crate::net::requests::CountedBody;

    const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

    fn socket<'a>(sent: &'a [u8], guest: &Guest) -> PatientSocket<&'a [u8]> {
        let config = Config::from_flags::<&str>([]).unwrap();
        PatientSocket::new(sent, guest, &config.limits)
    }

    const DATA: u8 = 0;
    const HEADERS: u8 = 1;

    /// Frames with so many bytes each.
    fn frames(kind: u8, length: u32, count: usize) -> Vec<u8> {
        let [_, high, middle, low] = length.to_be_bytes();
        let mut frame = vec![high, middle, low, kind, 0, 0, 0, 0, 1];
        frame.resize(frame.len() + length as usize, b'd');
        [PREFACE, &frame.repeat(count)].concat()
    }

    /// The bytes that are read of `sent` in each turn, and the most at once.
    async fn turns(sent: &[u8], guest: &Guest) -> (Vec<usize>, usize) {
        let mut socket = socket(sent, guest);
        let (mut turns, mut largest, mut memory) = (vec![0], 0, vec![0; 16 << 10]);
        poll_fn(|cx| {
            loop {
                let mut buffer = ReadBuf::new(&mut memory);
                match Pin::new(&mut socket).poll_read(cx, &mut buffer) {
                    Poll::Pending => {
                        turns.push(0);
                        return Poll::Pending;
                    }
                    Poll::Ready(read) => read.unwrap(),
                }
                let bytes = buffer.filled().len();
                if bytes == 0 {
                    return Poll::Ready(());
                }
                largest = largest.max(bytes);
                *turns.last_mut().unwrap() += bytes;
            }
        })
        .await;
        assert_eq!(turns.iter().sum::<usize>(), sent.len(), "nothing is lost");
        (turns, largest)
    }

    #[tokio::test]
    async fn tiny_frames_are_read_some_hundred_in_a_turn() {
        let sent = frames(DATA, 1, 5_000);
        let (turns, _) = turns(&sent, &Guest::default()).await;
        let most = turns.iter().max().unwrap() / 10;
        assert!(most <= TURN / FRAME_COST + 30, "{most} frames in a turn");
        assert!(turns.len() < 5_000 / 100, "{} turns", turns.len());
    }

    #[tokio::test]
    async fn requests_are_read_some_twenty_in_a_turn() {
        let sent = frames(HEADERS, 100, 1_000);
        let (turns, _) = turns(&sent, &Guest::default()).await;
        let most = turns[1..].iter().max().unwrap() / 109; // what they are like is seen in the first
        assert!((18..=26).contains(&most), "{most} requests in a turn");
    }

    #[tokio::test]
    async fn requests_are_read_some_ten_in_a_turn_where_answers_come_the_long_way() {
        let sent = frames(HEADERS, 100, 1_000);
        let guest = Guest::default();
        drop(CountedBody::of(http::Response::new(Body::empty()), guest.begin()));
        let (turns, _) = turns(&sent, &guest).await;
        let most = turns[1..].iter().max().unwrap() / 109; // what they are like is seen in the first
        assert!((9..=15).contains(&most), "{most} requests in a turn");
    }

    #[tokio::test]
    async fn large_frames_are_read_as_they_come() {
        let sent = frames(DATA, 16_000, 20);
        let (turns, largest) = turns(&sent, &Guest::default()).await;
        assert_eq!(largest, 16 << 10);
        assert!(turns.len() <= 1 + sent.len() / TURN, "{turns:?}");
    }

    #[tokio::test]
    async fn who_is_polled_again_at_once_reads_nothing_until_the_next_turn() {
        let sent = frames(DATA, 16_000, 20);
        let mut socket = socket(&sent, &Guest::default());
        let (mut read, mut memory) = (0, vec![0; 16 << 10]);
        let mut context = Context::from_waker(Waker::noop());
        for _ in 0..100 {
            let mut buffer = ReadBuf::new(&mut memory);
            let _ = Pin::new(&mut socket).poll_read(&mut context, &mut buffer);
            read += buffer.filled().len();
        }
        assert!(read < TURN + (16 << 10), "{read} bytes in one turn");
    }
}
