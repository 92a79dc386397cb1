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
    fn poll_write_behind(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
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

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::convert::Infallible;
    use std::future::poll_fn;
    use std::sync::{Arc, Mutex};

    use bytes::Bytes;
    use http::{HeaderMap, Response};
    use http_body::Frame;
    use http_body_util::StreamBody;
    use tokio::io::{AsyncRead, ReadBuf};

    use super::*;
    use crate::config::Config;
    use crate::net::guests::Guest;
    use crate::net::patience::PatientSocket;

    /// The other end: says what it has to say, and keeps every write to it, of each as many bytes as
    /// it takes in turn, none for 0; then all.
    #[derive(Default)]
    struct Peer {
        says: VecDeque<u8>,
        takes: VecDeque<usize>,
        hears: Arc<Mutex<Vec<Vec<u8>>>>,
    }

    impl AsyncRead for Peer {
        fn poll_read(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
            buffer: &mut ReadBuf<'_>,
        ) -> Poll<io::Result<()>> {
            let count = self.says.len().min(buffer.remaining());
            let says: Vec<u8> = self.says.drain(..count).collect();
            buffer.put_slice(&says);
            if says.is_empty() { Poll::Pending } else { Poll::Ready(Ok(())) }
        }
    }

    impl AsyncWrite for Peer {
        fn poll_write(
            mut self: Pin<&mut Self>,
            cx: &mut Context<'_>,
            bytes: &[u8],
        ) -> Poll<io::Result<usize>> {
            let count = self.takes.pop_front().unwrap_or(usize::MAX).min(bytes.len());
            if count == 0 && !bytes.is_empty() {
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            self.hears.lock().unwrap().push(bytes[..count].to_vec());
            Poll::Ready(Ok(count))
        }

        fn poll_write_vectored(
            self: Pin<&mut Self>,
            cx: &mut Context<'_>,
            parts: &[IoSlice<'_>],
        ) -> Poll<io::Result<usize>> {
            let all = parts.iter().flat_map(|part| part.iter().copied()).collect::<Vec<_>>();
            self.poll_write(cx, &all)
        }

        fn is_write_vectored(&self) -> bool {
            true
        }

        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }

        fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }
    }

    /// Writes pieces of these lengths, and flushes; what the socket was given.
    async fn written(takes: &[usize], lengths: &[usize]) -> Vec<Vec<u8>> {
        let takes = takes.iter().copied().collect();
        let mut gathered = Gathered::new(Peer { takes, ..Peer::default() });
        let sent: Vec<u8> = (0..251).cycle().take(lengths.iter().sum()).collect();
        let mut left = &sent[..];
        for length in lengths {
            let (mut piece, later) = left.split_at(*length);
            while !piece.is_empty() {
                let count = poll_fn(|cx| gathered.poll_write(cx, piece)).await.unwrap();
                assert!(count > 0, "{lengths:?}");
                piece = &piece[count..];
            }
            left = later;
        }
        poll_fn(|cx| gathered.poll_flush(cx)).await.unwrap();
        let writes = std::mem::take(&mut *gathered.socket.hears.lock().unwrap());
        assert!(writes.concat() == sent, "{lengths:?}");
        assert_eq!(gathered.held.capacity(), 0, "an idle connection keeps nothing");
        writes
    }

    #[tokio::test]
    async fn the_beginning_of_a_long_write_goes_with_the_rest() {
        assert_eq!(written(&[], &[1_033, 15_000]).await.len(), 1);
        assert_eq!(written(&[], &[1_033, 15_000, 1_033, 15_000]).await.len(), 2);
        assert_eq!(written(&[], &[1_033]).await.len(), 1, "without a rest, at the flush");
        assert_eq!(written(&[], &[200]).await.len(), 1);
        assert_eq!(written(&[], &[200, 9, 1_023]).await.len(), 3, "short ones go at once");
    }

    #[tokio::test]
    async fn nothing_is_lost_or_changes_places_however_slow_the_socket() {
        let lengths = [1_033, 2_000, 400, 1_024, 1_024, 1_100, 1, 900];
        for take in [1, 7, 1_032, 1_033, 1_034, 2_500] {
            for pending in [&[][..], &[0], &[0, 0]] {
                let takes = [pending, &[take]].concat().repeat(9_000 / take);
                written(&takes, &lengths).await;
            }
        }
    }

    /// How many writes answers of so many bytes take, to so many requests that come at once.
    async fn writes_of_answers(bytes: usize, requests: u8) -> usize {
        let mut says = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0".to_vec();
        for at in 0..requests {
            // HEADERS with END_STREAM and END_HEADERS: GET / of http, from HPACK's static table.
            says.extend([0, 0, 3, 1, 5, 0, 0, 0, 2 * at + 1, 0x82, 0x84, 0x86]);
        }
        let hears = Arc::<Mutex<Vec<Vec<u8>>>>::default();
        let client = Peer { says: says.into(), hears: Arc::clone(&hears), ..Peer::default() };
        let limits = Config::from_flags::<&str>([]).unwrap().limits;
        let socket = PatientSocket::new(client, &Guest::default(), &limits);
        let answer = move |_| -> offbeat_wire::Answering {
            let mut trailers = HeaderMap::new();
            trailers.insert("grpc-status", http::HeaderValue::from_static("0"));
            let frames = [Frame::data(Bytes::from(vec![b'a'; bytes])), Frame::trailers(trailers)];
            let frames = futures_util::stream::iter(frames.map(Ok::<_, Infallible>));
            let body = http_body_util::BodyExt::map_err(StreamBody::new(frames), |no| match no {});
            Box::pin(async { Response::new(offbeat_wire::Body::new(body)) })
        };
        let builder = offbeat_wire::builder();
        let mut connection = offbeat_wire::serve(&builder, Box::new(socket), Box::new(answer));
        for _ in 0..100 {
            tokio::select! {
                biased;
                _ = &mut connection => panic!("the connection has ended"),
                () = tokio::task::yield_now() => {}
            }
        }
        let heard = hears.lock().unwrap();
        let trailers = heard.concat().windows(9).filter(|head| head[3..5] == [1, 5]).count();
        assert!(trailers >= usize::from(requests), "{trailers} trailers");
        heard.iter().skip_while(|write| !write.contains(&b'a')).count()
    }

    #[tokio::test]
    async fn short_answers_and_their_trailers_take_one_write() {
        assert_eq!(writes_of_answers(300, 1).await, 1);
        assert_eq!(writes_of_answers(300, 20).await, 1, "all that are there at once");
        assert_eq!(writes_of_answers(900, 1).await, 1);
        assert_eq!(writes_of_answers(9_000, 1).await, 2, "long ones are not copied");
    }
}
