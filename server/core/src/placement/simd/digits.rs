//! Hashes of UUIDs and integers: their texts are built as words of lanes, and never as bytes.

use fearless_simd::Simd;

use super::characters::{Decimals, END, INTEGER_ROWS, UUID_ROWS, decimal, hyphenated, join};
use super::lanes::{Aligned, LANES, Piece, vectorized};
use super::md5::{BLOCK, Block, K, Row, compress, fronts};
use super::places::Places;
use super::salt::Salt;
use crate::ids::Integer;

const UUID_LEN: usize = 36;
/// The last byte of a block at which an integer's text may begin: the text and its end must lie
/// before the length, which is in the last two words.
const LAST_INTEGER: usize = 35;
/// The first of the two words that hold the length of a message, in bits.
const LENGTH: usize = 14;

/// UUIDs that are hashed together.
pub(super) struct Uuids {
    messages: Messages,
    uuids: Aligned<[[Piece; LANES]; K]>,
    texts: Aligned<[Row; UUID_ROWS]>,
}

impl Uuids {
    pub(super) fn new(salt: &Salt) -> Self {
        let block_count = (salt.start + UUID_LEN + 1 + 8).div_ceil(BLOCK);
        let mut messages = Messages::new(salt, block_count);
        let bits = 8 * (salt.len + UUID_LEN) as u64;
        let length = messages.blocks.0.get_mut(block_count - 1);
        let length = length.and_then(|block| block.last_chunk_mut::<2>()).into_iter().flatten();
        for (row, word) in length.zip([bits, bits >> 32]) {
            *row = [[low(word); LANES]; K];
        }
        let mut texts = Aligned([[[0; LANES]; K]; UUID_ROWS]);
        texts.0[UUID_ROWS - 1] = [[END; LANES]; K];
        Self { messages, uuids: Aligned([[[0; 16]; LANES]; K]), texts }
    }

    /// Takes a UUID in, and returns whether the row is full.
    #[inline]
    pub(super) fn push(&mut self, uuid: u128, place: usize) -> bool {
        set(&mut self.uuids, self.messages.places.next(), uuid);
        self.messages.places.enter(place);
        self.messages.places.is_full()
    }

    /// Hashes them and writes the hashes to their places.
    pub(super) fn settle<S: Simd>(&mut self, simd: S, hashes: &mut [u64]) {
        if self.messages.places.is_empty() {
            return;
        }
        let Some(texts) = self.texts.0.first_chunk_mut() else { return };
        vectorized!(simd, hyphenated(simd, &self.uuids.0, texts));
        self.messages.settle(simd, &self.texts.0, hashes);
    }
}

/// An integer from 0 to 2^64 - 1, and how many groups of four decimal digits it needs.
pub(super) struct Digits {
    magnitude: u64,
    groups: usize,
}

impl Digits {
    /// `None` for other integers.
    #[inline(always)]
    pub(super) fn of(integer: Integer) -> Option<Self> {
        let magnitude =
            u64::try_from(integer.magnitude()).ok().filter(|_| !integer.is_negative())?;
        let further = [10_000, 100_000_000, 1_000_000_000_000, 10_000_000_000_000_000];
        let groups = further.map(|power| usize::from(magnitude >= power)).iter().sum::<usize>() + 1;
        Some(Self { magnitude, groups })
    }

    /// The row of the integer: all integers of a row need the same number of groups.
    #[inline(always)]
    pub(super) const fn row(&self) -> usize {
        self.groups - 1
    }

    /// Three numbers, in words from the lowest on: the first four digits, and twice the next eight.
    #[inline(always)]
    fn words(&self) -> u128 {
        const EIGHT: u64 = 100_000_000;
        let [front, last] = [self.magnitude / EIGHT, self.magnitude % EIGHT];
        let [first, middle] = [front / EIGHT, front % EIGHT];
        u128::from(last) << 64 | u128::from(middle << 32 | first)
    }
}

/// Integers that are hashed together: all need the same number of groups.
pub(super) struct Integers {
    messages: Messages,
    integers: Aligned<[[Piece; LANES]; K]>,
    texts: Aligned<[Row; INTEGER_ROWS]>,
    groups: usize,
    /// Bits of a message with all digits of the groups.
    bits: u32,
}

impl Integers {
    /// `None` if texts could reach into a second block.
    pub(super) fn new(salt: &Salt, digits: &Digits) -> Option<Self> {
        let bits = 8 * (salt.len + 4 * digits.groups);
        let bits = u32::try_from(bits).ok().filter(|_| salt.start <= LAST_INTEGER)?;
        Some(Self {
            messages: Messages::new(salt, 1),
            integers: Aligned([[[0; 16]; LANES]; K]),
            texts: Aligned([[[0; LANES]; K]; INTEGER_ROWS]),
            groups: digits.groups,
            bits,
        })
    }

    /// Takes an integer in, and returns whether the row is full.
    #[inline]
    pub(super) fn push(&mut self, digits: &Digits, place: usize) -> bool {
        set(&mut self.integers, self.messages.places.next(), digits.words());
        self.messages.places.enter(place);
        self.messages.places.is_full()
    }

    /// Hashes them and writes the hashes to their places.
    pub(super) fn settle<S: Simd>(&mut self, simd: S, hashes: &mut [u64]) {
        let Self { messages, integers, texts, groups, bits } = self;
        if messages.places.is_empty() {
            return;
        }
        let decimals = Decimals { integers: &integers.0, groups: *groups, bits: *bits };
        let length = &mut messages.blocks.0[0][LENGTH];
        vectorized!(simd, decimal(simd, decimals, &mut texts.0, length));
        messages.settle(simd, texts.0.get(..=*groups).unwrap_or_default(), hashes);
    }
}

/// The messages of a row: the salt's last bytes, a text, the end.
struct Messages {
    /// The MD5 state after the salt's whole blocks.
    state: [u32; 4],
    blocks: Aligned<[Block; 2]>,
    block_count: usize,
    /// The word in which texts begin, the bit of it at which they begin, and the four bytes before.
    first_row: usize,
    shift: u32,
    before: u32,
    places: Places,
}

impl Messages {
    fn new(salt: &Salt, block_count: usize) -> Self {
        let mut blocks = Aligned([[[[0; LANES]; K]; 16]; 2]);
        for (row, word) in blocks.0[0].iter_mut().zip(salt.block.as_chunks().0) {
            *row = [[u32::from_le_bytes(*word); LANES]; K];
        }
        let before = salt.block.get(..salt.start).unwrap_or_default();
        let before = before.iter().fold(0, |word, byte| word >> 8 | u32::from(*byte) << 24);
        Self {
            state: salt.state,
            blocks,
            block_count,
            first_row: salt.start / 4,
            shift: [0, 8, 16, 24].into_iter().nth(salt.start % 4).unwrap_or_default(),
            before,
            places: Places::new(),
        }
    }

    fn settle<S: Simd>(&mut self, simd: S, texts: &[Row], hashes: &mut [u64]) {
        let rows = self.blocks.0.as_flattened_mut().get_mut(self.first_row..).unwrap_or_default();
        vectorized!(simd, join(simd, self.before, texts, self.shift, rows));
        let mut state = Aligned(self.state.map(|word| [[word; LANES]; K]));
        for block in self.blocks.0.iter().take(self.block_count) {
            vectorized!(simd, compress(simd, &mut state.0, block));
        }
        let mut found = Aligned([[0; LANES]; K]);
        vectorized!(simd, fronts(&state.0, &mut found.0));
        self.places.leave(&found.0, hashes);
    }
}

#[inline(always)]
fn set(to: &mut Aligned<[[Piece; LANES]; K]>, at: usize, words: u128) {
    let piece = to.0.as_flattened_mut().get_mut(at);
    piece.into_iter().for_each(|piece| *piece = words.to_le_bytes());
}

#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "taken apart")]
const fn low(words: u64) -> u32 {
    words as u32
}
