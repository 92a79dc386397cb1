//! Counts the HTTP/2 frames (RFC 9113, 4.1) that a peer sends outside of requests. hyper and h2
//! bound how many of them they store, not how many they answer: a flood of pings,
//! settings, window updates or priorities would keep a core at work forever.

use std::io;

use tokio::time::Instant;

use crate::limits::{CONTROL_FRAMES, CONTROL_FRAMES_PER_SECOND};

const PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const HEADER: usize = 9;

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const CONTINUATION: u8 = 9;

/// Control frames that one HEADERS or DATA frame allows for.
const EARNED_BY_REQUEST: f64 = 4.0;

/// Bytes of responses that allow for one control frame.
const WRITTEN_BYTES_PER_FRAME: f64 = 32.0;

/// The control frames of one connection.
#[derive(Debug)]
pub struct ControlFrames {
    /// Bytes of the preface that have arrived; `None` if the peer does not speak HTTP/2.
    preface: Option<usize>,
    header: [u8; HEADER],
    header_len: usize,
    /// Bytes of the frame's payload that are still to come.
    payload: usize,
    /// Control frames that may still come.
    credit: f64,
    refilled: Instant,
}

impl Default for ControlFrames {
    fn default() -> Self {
        Self {
            preface: Some(0),
            header: [0; HEADER],
            header_len: 0,
            payload: 0,
            credit: f64::from(most()),
            refilled: Instant::now(),
        }
    }
}

fn most() -> u32 {
    u32::try_from(CONTROL_FRAMES.maximum).unwrap_or(u32::MAX)
}

impl ControlFrames {
    /// Counts the frames in bytes that were read.
    ///
    /// # Errors
    /// When there have been too many control frames: the connection must end.
    pub fn read(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut rest = bytes;
        while let Some(seen) = self.preface.filter(|seen| *seen < PREFACE.len()) {
            let Some((byte, after)) = rest.split_first() else { return Ok(()) };
            self.preface = (PREFACE.get(seen) == Some(byte)).then_some(seen + 1);
            rest = after;
        }
        if self.preface.is_none() {
            return Ok(());
        }
        while !rest.is_empty() {
            let skipped = rest.len().min(self.payload);
            self.payload -= skipped;
            rest = rest.get(skipped..).unwrap_or_default();
            let wanted = rest.len().min(HEADER - self.header_len);
            let (head, after) = rest.split_at(wanted);
            if let Some(room) = self.header.get_mut(self.header_len..self.header_len + wanted) {
                room.copy_from_slice(head);
            }
            self.header_len += wanted;
            rest = after;
            if self.header_len == HEADER {
                self.begin_frame()?;
            }
        }
        Ok(())
    }

    fn begin_frame(&mut self) -> io::Result<()> {
        let [high, middle, low, kind, ..] = self.header;
        self.payload = usize::from(high) << 16 | usize::from(middle) << 8 | usize::from(low);
        self.header_len = 0;
        if matches!(kind, DATA | HEADERS | CONTINUATION) {
            self.earn(EARNED_BY_REQUEST);
            return Ok(());
        }
        let now = Instant::now();
        self.earn((now - self.refilled).as_secs_f64() * f64::from(per_second()));
        self.refilled = now;
        self.credit -= 1.0;
        match self.credit < 0.0 {
            true => Err(io::Error::other("a flood of HTTP/2 control frames")),
            false => Ok(()),
        }
    }
}

impl ControlFrames {
    /// Counts bytes that were written: the peer acknowledges them with window updates.
    pub fn wrote(&mut self, bytes: usize) {
        self.earn(f64::from(u32::try_from(bytes).unwrap_or(u32::MAX)) / WRITTEN_BYTES_PER_FRAME);
    }

    fn earn(&mut self, frames: f64) {
        self.credit = (self.credit + frames).min(f64::from(most()));
    }
}

fn per_second() -> u32 {
    u32::try_from(CONTROL_FRAMES_PER_SECOND.maximum).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PING: [u8; 17] = [0, 0, 8, 6, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8];
    const DATA_FRAME: [u8; 12] = [0, 0, 3, 0, 0, 0, 0, 0, 1, 7, 7, 7];

    #[tokio::test(start_paused = true)]
    async fn a_flood_ends_the_connection_however_it_is_cut() {
        for piece in [1, 5, 17, 1_000] {
            let mut frames = ControlFrames::default();
            let (mut bytes, most) = (PREFACE.to_vec(), usize::try_from(most()).unwrap());
            bytes.extend(PING.repeat(most));
            assert!(bytes.chunks(piece).all(|piece| frames.read(piece).is_ok()));
            assert!(frames.read(&PING).is_err());
        }
    }

    #[tokio::test(start_paused = true)]
    async fn credit_comes_back_with_time() {
        let mut frames = ControlFrames::default();
        frames.read(PREFACE).unwrap();
        for _ in 0..60 {
            let a_second = usize::try_from(per_second()).unwrap();
            assert!(frames.read(&PING.repeat(a_second)).is_ok());
            tokio::time::advance(std::time::Duration::from_secs(1)).await;
        }
    }

    #[tokio::test(start_paused = true)]
    async fn data_and_other_protocols_are_free() {
        let most = usize::try_from(most()).unwrap();
        let mut frames = ControlFrames::default();
        frames.read(PREFACE).unwrap();
        assert!(frames.read(&DATA_FRAME.repeat(2 * most)).is_ok());
        let mut frames = ControlFrames::default();
        frames.read(b"GET / HTTP/1.1\r\n").unwrap();
        assert!(frames.read(&PING.repeat(2 * most)).is_ok());
    }
}
