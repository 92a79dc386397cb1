//! Counts the HTTP/2 frames (RFC 9113, 4.1) of a connection as its bytes pass, to end floods
//! that the protocol's library answers for ever: pings, settings, window updates, priorities
//! and the like, and requests so malformed that each is reset.

use std::io;

use tokio::time::Instant;

use crate::limits::{FRAME_CREDIT, FRAMES_PER_SECOND};

const PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const HEADER: usize = 9;

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const CONTINUATION: u8 = 9;

/// Resets with these codes tell of no fault of the peer: `NO_ERROR`, `INTERNAL_ERROR`,
/// `REFUSED_STREAM`, `CANCEL`.
const BLAMELESS: [u8; 4] = [0, 2, 7, 8];

/// Frames that a request earns, and each frame of data.
const EARNED_BY_REQUEST: u64 = 8;
const EARNED_BY_DATA: u64 = 2;
/// Shorter data hold no message that says anything: its prefix and a field. Pieces of a message
/// may be as short, at its ends, but not all. (The library minds them where nobody reads them.)
const TINY: usize = 7;
/// Bytes of answers that earn one: a reader tells of the room it has made.
const BYTES_PER_FRAME: u64 = 256;

/// What passes on one connection.
#[derive(Debug)]
pub struct FrameMeter {
    /// Bytes of the preface that have come; `None` if it is no HTTP/2.
    preface: Option<usize>,
    read: Frames,
    written: Frames,
    /// Frames of no use that may still come.
    credit: u64,
    refilled: Instant,
    bytes_written: u64,
    resets_left: usize,
}

impl FrameMeter {
    /// A connection on which errors of the peer may cause so many resets.
    #[must_use]
    pub fn new(resets: usize) -> Self {
        Self {
            preface: Some(0),
            read: Frames::default(),
            written: Frames::default(),
            credit: FRAME_CREDIT.maximum.unsigned_abs(),
            refilled: Instant::now(),
            bytes_written: 0,
            resets_left: resets,
        }
    }

    /// Whether its preface has come.
    #[must_use]
    pub fn is_http2(&self) -> bool {
        self.preface == Some(PREFACE.len())
    }

    /// Bytes of the peer; says what the frames that ended in them cost, in frames: each of those
    /// that begin requests `cost_of_request`.
    ///
    /// # Errors
    /// When they go on with frames that carry nothing.
    pub fn pass_in(&mut self, mut bytes: &[u8], cost_of_request: usize) -> io::Result<usize> {
        let Some(seen) = self.preface else {
            return Ok(0);
        };
        let rest = PREFACE.get(seen..).unwrap_or_default();
        let (now, later) = bytes.split_at(rest.len().min(bytes.len()));
        if !rest.starts_with(now) {
            self.preface = None; // HTTP/1.1, or nonsense
            return Ok(0);
        }
        self.preface = Some(seen + now.len());
        bytes = later;
        let mut cost = 0;
        while let Some(frame) = self.read.next(&mut bytes) {
            cost += if frame.kind == HEADERS { cost_of_request } else { 1 };
            match frame.kind {
                DATA if frame.length >= TINY => self.earn(EARNED_BY_DATA),
                HEADERS => self.earn(EARNED_BY_REQUEST),
                CONTINUATION => {}              // the library has limits for them,
                DATA if frame.length == 0 => {} // and for these
                _ => self.spend()?,
            }
        }
        Ok(cost)
    }

    /// Bytes to the peer.
    ///
    /// # Errors
    /// When they have reset too many streams, as the peer was wrong.
    pub fn pass_out(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        if self.preface.is_none() {
            return Ok(());
        }
        self.bytes_written += bytes.len() as u64;
        self.earn(self.bytes_written / BYTES_PER_FRAME);
        self.bytes_written %= BYTES_PER_FRAME;
        while let Some(frame) = self.written.next(&mut bytes) {
            if frame.kind == RST_STREAM && !BLAMELESS.contains(&frame.last_of_four) {
                let left = self.resets_left.checked_sub(1);
                self.resets_left = left.ok_or_else(|| flood("errors that reset streams"))?;
            }
        }
        Ok(())
    }

    fn earn(&mut self, frames: u64) {
        self.credit = (self.credit + frames).min(FRAME_CREDIT.maximum.unsigned_abs());
    }

    fn spend(&mut self) -> io::Result<()> {
        if self.credit == 0 {
            let millis = u64::try_from(self.refilled.elapsed().as_millis()).unwrap_or(u64::MAX);
            let rate = FRAMES_PER_SECOND.maximum.unsigned_abs();
            self.earn(millis.saturating_mul(rate) / 1_000);
            self.refilled = Instant::now();
        }
        let left = self.credit.checked_sub(1);
        self.credit = left.ok_or_else(|| flood("frames that carry nothing"))?;
        Ok(())
    }
}

fn flood(of: &str) -> io::Error {
    io::Error::new(io::ErrorKind::ConnectionAborted, format!("a flood of {of}"))
}

/// Finds the frames in a stream of bytes, cut anywhere.
#[derive(Debug, Default)]
struct Frames {
    header: [u8; HEADER],
    have: usize,
    /// Bytes of the payload that are still to come.
    left: usize,
    /// The payload's fourth byte: the low one of the code of a reset.
    last_of_four: u8,
    seen: usize,
}

#[derive(Debug)]
struct Frame {
    kind: u8,
    length: usize,
    last_of_four: u8,
}

impl Frames {
    /// The payload of the frame that the header tells of.
    fn begin(&mut self) {
        let [high, middle, low, ..] = self.header;
        self.have = HEADER;
        self.left = u32::from_be_bytes([0, high, middle, low]) as usize;
        (self.seen, self.last_of_four) = (0, 0);
    }

    /// The next frame that ends in `bytes`, which are taken.
    fn next(&mut self, bytes: &mut &[u8]) -> Option<Frame> {
        if self.have == 0
            && let Some((header, later)) = bytes.split_first_chunk()
        {
            // Nearly always it has come in one piece.
            self.header = *header;
            *bytes = later;
            self.begin();
        } else if self.have < HEADER {
            let missing = self.header.get_mut(self.have..).unwrap_or_default();
            let taken = missing.len().min(bytes.len());
            let (now, later) = bytes.split_at(taken);
            missing.iter_mut().zip(now).for_each(|(slot, byte)| *slot = *byte);
            *bytes = later;
            self.have += taken;
            if self.have < HEADER {
                return None;
            }
            self.begin();
        }
        let (now, later) = bytes.split_at(self.left.min(bytes.len()));
        if let Some(byte) = 3_usize.checked_sub(self.seen).and_then(|index| now.get(index)) {
            self.last_of_four = *byte;
        }
        self.seen += now.len();
        self.left -= now.len();
        *bytes = later;
        if self.left > 0 {
            return None;
        }
        self.have = 0;
        let [.., kind, _, _, _, _, _] = self.header;
        Some(Frame { kind, length: self.seen, last_of_four: self.last_of_four })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PING: u8 = 6;

    fn frame(kind: u8, payload: &[u8]) -> Vec<u8> {
        let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
        [&length[1..], &[kind, 0, 0, 0, 0, 1], payload].concat()
    }

    fn begun() -> FrameMeter {
        let mut meter = FrameMeter::new(3);
        meter.pass_in(PREFACE, 1).unwrap();
        meter
    }

    fn pings(count: i64) -> Vec<u8> {
        frame(PING, &[0; 8]).repeat(usize::try_from(count).unwrap())
    }

    #[test]
    fn frames_are_found_however_the_bytes_are_cut() {
        let kinds = [(DATA, 70_000), (PING, 8), (4, 0), (DATA, 0), (RST_STREAM, 4), (HEADERS, 3)];
        let bytes: Vec<u8> =
            kinds.iter().flat_map(|(kind, length)| frame(*kind, &vec![5; *length])).collect();
        for cut in [1, 2, 8, 9, 10, 13, 4_096, bytes.len()] {
            let mut frames = Frames::default();
            let mut found = Vec::new();
            for mut chunk in bytes.chunks(cut) {
                while let Some(frame) = frames.next(&mut chunk) {
                    assert!(frame.length < 4 || frame.last_of_four == 5);
                    found.push((frame.kind, frame.length));
                }
            }
            assert_eq!(found, kinds, "cut at {cut}");
        }
    }

    #[test]
    fn frames_that_carry_nothing_run_out() {
        let mut meter = begun();
        meter.pass_in(&pings(FRAME_CREDIT.maximum), 1).unwrap();
        assert!(meter.pass_in(&pings(FRAMES_PER_SECOND.maximum), 1).is_err(), "within a second");
    }

    #[test]
    fn so_do_tiny_pieces_of_a_message() {
        let tiny = |count: i64, length| {
            frame(DATA, &vec![0; length]).repeat(usize::try_from(count).unwrap())
        };
        let mut meter = begun();
        assert_eq!(meter.pass_in(&tiny(100, 5), 1).unwrap(), 100, "frames have ended");
        assert!(meter.pass_in(&tiny(FRAME_CREDIT.maximum * 2, TINY - 1), 1).is_err());
        let mut meter = begun();
        meter.pass_in(&tiny(FRAME_CREDIT.maximum * 2, TINY), 1).unwrap();
    }

    #[test]
    fn requests_data_and_answers_earn_frames() {
        let mut meter = begun();
        for _ in 0..FRAME_CREDIT.maximum {
            let request = [frame(HEADERS, b"h"), frame(DATA, &[0; TINY]), frame(DATA, b"d")];
            meter.pass_in(&[request.concat(), pings(8)].concat(), 1).unwrap();
        }
        for _ in 0..FRAME_CREDIT.maximum {
            meter.pass_out(&frame(DATA, &[0; 1_024])).unwrap();
            meter.pass_in(&pings(4), 1).unwrap();
        }
    }

    #[test]
    fn resets_that_the_peer_caused_run_out() {
        let mut meter = begun();
        let [other, short] = [frame(PING, &[1; 8]), frame(RST_STREAM, &[])];
        for _ in 0..10 {
            meter.pass_out(&[&other[..], &short].concat()).unwrap(); // says no code of its own
        }
        for code in BLAMELESS.repeat(10) {
            meter.pass_out(&frame(RST_STREAM, &[0, 0, 0, code])).unwrap();
        }
        let protocol_error = frame(RST_STREAM, &[0, 0, 0, 1]);
        assert!((0..3).all(|_| meter.pass_out(&protocol_error).is_ok()));
        assert!(meter.pass_out(&protocol_error).is_err());
    }

    #[test]
    fn other_protocols_are_let_through() {
        let mut meter = FrameMeter::new(0);
        meter.pass_in(b"PRI * HTTP/1.1\r\n", 1).unwrap();
        meter.pass_in(&pings(FRAME_CREDIT.maximum * 2), 1).unwrap();
        meter.pass_out(&frame(RST_STREAM, &[0, 0, 0, 1])).unwrap();
    }
}
