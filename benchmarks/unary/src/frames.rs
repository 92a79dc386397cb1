//! The part of HTTP/2 (RFC 9113, RFC 7541) that the driver needs. A full client would use so much
//! processor time that the driver itself would be measured.

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const GOAWAY: u8 = 7;
const WINDOW_UPDATE: u8 = 8;
const END_STREAM: u8 = 1;
const ACK: u8 = 1;
const END_HEADERS: u8 = 4;
const HEADER: usize = 9;
/// The window for bytes of answers.
const WINDOW: u32 = 1 << 30;

/// One connection, without its socket.
pub struct Wire {
    out: Vec<u8>,
    inn: Vec<u8>,
    next_stream: u32,
    first: bool,
    /// The bytes of requests that the server's window still allows.
    room: i64,
    taken: u32,
    /// Streams whose answers already have a message.
    answered: Vec<u32>,
}

/// An event on the connection.
#[derive(Debug, PartialEq, Eq)]
pub enum Event {
    /// A stream has ended, with or without a message.
    Ended(u32, bool),
    /// The server closes the connection, or a stream.
    Broken,
}

fn frame(out: &mut Vec<u8>, kind: u8, flags: u8, stream: u32, payload: &[&[u8]]) {
    let length: usize = payload.iter().map(|part| part.len()).sum();
    out.extend(&(length as u32).to_be_bytes()[1..]);
    out.extend([kind, flags]);
    out.extend(stream.to_be_bytes());
    payload.iter().for_each(|part| out.extend(*part));
}

fn text(block: &mut Vec<u8>, text: &str) {
    block.push(text.len() as u8); // below 127, without Huffman
    block.extend(text.as_bytes());
}

impl Default for Wire {
    fn default() -> Self {
        let mut out = PREFACE.to_vec();
        // No server push; the largest window for each stream.
        let settings = [[0, 2, 0, 0, 0, 0], [0, 4, 0x3f, 0xff, 0xff, 0xff]].concat();
        frame(&mut out, SETTINGS, 0, 0, &[&settings]);
        frame(&mut out, WINDOW_UPDATE, 0, 0, &[&WINDOW.to_be_bytes()]);
        Self {
            out,
            inn: Vec::new(),
            next_stream: 1,
            first: true,
            room: 65_535,
            taken: 0,
            answered: Vec::new(),
        }
    }
}

impl Wire {
    /// Whether the window allows a request of this size now.
    pub fn has_room(&self, bytes: usize) -> bool {
        self.room >= bytes as i64
    }

    /// Begins a unary call with `message`, which includes gRPC's prefix, and returns its stream.
    pub fn call(&mut self, path: &str, timeout: Option<&str>, message: &[u8]) -> u32 {
        let mut block = vec![0x83, 0x86]; // POST, http
        if std::mem::take(&mut self.first) {
            // Added to the dynamic table; the last one has index 62.
            let fields = [
                (4, path),
                (1, "localhost"),
                (31, "application/grpc"),
                (58, "tonic/0.14.9"),
                (0, "trailers"),
            ];
            for (name, value) in fields {
                block.push(0x40 | name);
                if name == 0 {
                    text(&mut block, "te");
                }
                text(&mut block, value);
            }
        } else {
            block.extend([0x80 | 66, 0x80 | 65, 0x80 | 64, 0x80 | 63, 0x80 | 62]);
        }
        if let Some(timeout) = timeout {
            block.push(0); // not into the table
            text(&mut block, "grpc-timeout");
            text(&mut block, timeout);
        }
        let stream = self.next_stream;
        self.next_stream += 2;
        self.room -= message.len() as i64;
        frame(&mut self.out, HEADERS, END_HEADERS, stream, &[&block]);
        frame(&mut self.out, DATA, END_STREAM, stream, &[message]);
        stream
    }

    /// The bytes to write to the socket.
    pub fn take_out(&mut self, into: &mut Vec<u8>) {
        into.clear();
        std::mem::swap(&mut self.out, into);
    }

    /// The buffer for bytes read from the socket.
    pub fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.inn
    }

    /// Reads the events from the bytes received so far.
    pub fn events(&mut self, mut each: impl FnMut(Event)) {
        let bytes = std::mem::take(&mut self.inn);
        let mut rest = &bytes[..];
        while let [a, b, c, kind, flags, s0, s1, s2, s3, payload @ ..] = rest {
            let length = u32::from_be_bytes([0, *a, *b, *c]) as usize;
            if payload.len() < length {
                break;
            }
            let stream = u32::from_be_bytes([*s0, *s1, *s2, *s3]);
            let payload = &payload[..length];
            rest = &rest[HEADER + length..];
            match *kind {
                DATA => {
                    self.taken += length as u32;
                    if length > 0 {
                        self.answered.push(stream);
                    }
                    if flags & END_STREAM > 0 {
                        each(Event::Broken); // there must be trailers
                    }
                }
                HEADERS if flags & END_STREAM > 0 => {
                    let found = self.answered.iter().rposition(|known| *known == stream);
                    found.map(|at| self.answered.swap_remove(at));
                    each(Event::Ended(stream, found.is_some()));
                }
                SETTINGS if flags & ACK == 0 => frame(&mut self.out, SETTINGS, ACK, 0, &[]),
                PING if flags & ACK == 0 => frame(&mut self.out, PING, ACK, 0, &[payload]),
                WINDOW_UPDATE if stream == 0 => {
                    let bytes: [u8; 4] = payload.try_into().unwrap_or_default();
                    self.room += i64::from(u32::from_be_bytes(bytes));
                }
                RST_STREAM | GOAWAY => each(Event::Broken),
                _ => {}
            }
        }
        self.inn.extend(rest);
        if self.taken > WINDOW / 2 {
            frame(&mut self.out, WINDOW_UPDATE, 0, 0, &[&self.taken.to_be_bytes()]);
            self.taken = 0;
        }
    }
}
