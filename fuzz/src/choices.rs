//! Reads bytes as a sequence of choices, so that a mutation of one byte changes one choice.

/// The remaining bytes. When they run out, every choice is the first one.
#[derive(Debug, Clone)]
pub struct Choices<'a>(&'a [u8]);

/// Numbers near which behaviour changes.
const EDGES: [i64; 24] = [
    0,
    1,
    2,
    3,
    7,
    10,
    60,
    128,
    256,
    999,
    1_000,
    1_024,
    3_600,
    4_096,
    28_800,
    65_535,
    65_536,
    86_400,
    1_000_000,
    316_224_000,
    999_999_999,
    1_000_000_000,
    253_402_300_799,
    62_135_596_800,
];

impl<'a> Choices<'a> {
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }

    /// A number below `limit`.
    pub fn below(&mut self, limit: usize) -> usize {
        let high = if limit > 256 { usize::from(self.byte()) << 8 } else { 0 };
        (high | usize::from(self.byte())) % limit.max(1)
    }

    pub fn flip(&mut self) -> bool {
        self.byte() % 2 == 1
    }

    pub fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    pub fn maybe<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> Option<T> {
        self.flip().then(|| make(self))
    }

    /// An integer; small ones and edges are likely.
    pub fn integer(&mut self) -> i64 {
        match self.byte() % 8 {
            0 | 1 => self.byte().into(),
            2 => i64::from(self.byte()) - 128,
            3 => i16::from_le_bytes(self.bytes()).into(),
            4 => i32::from_le_bytes(self.bytes()).into(),
            5 => i64::from_le_bytes(self.bytes()),
            _ => {
                let edge = self.one_of(&EDGES);
                let near = edge + i64::from(self.byte() % 3) - 1;
                if self.byte() < 32 { -near } else { near }
            }
        }
    }

    pub fn narrow(&mut self) -> i32 {
        let integer = self.integer();
        i32::try_from(integer).unwrap_or(if integer < 0 { i32::MIN } else { i32::MAX })
    }

    pub fn bytes<const N: usize>(&mut self) -> [u8; N] {
        std::array::from_fn(|_| self.byte())
    }

    /// A length-prefixed run of bytes: one byte for lengths up to 254, three bytes beyond.
    pub fn piece(&mut self) -> &'a [u8] {
        let length = match self.byte() {
            255 => usize::from(u16::from_le_bytes(self.bytes())),
            short => short.into(),
        };
        let (piece, rest) = self.0.split_at(length.min(self.0.len()));
        self.0 = rest;
        piece
    }

    pub fn text(&mut self) -> String {
        String::from_utf8_lossy(self.piece()).into_owned()
    }

    pub fn rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.0)
    }
}

/// Encodes bytes the way [`Choices::piece`] reads them.
pub fn piece(bytes: &[u8]) -> Vec<u8> {
    let short = u8::try_from(bytes.len()).ok().filter(|length| *length < 255);
    let mut piece = match short {
        Some(length) => vec![length],
        None => {
            let length = u16::try_from(bytes.len()).unwrap_or(u16::MAX).to_le_bytes();
            [&[255], &length[..]].concat()
        }
    };
    piece.extend(&bytes[..bytes.len().min(65_535)]);
    piece
}
