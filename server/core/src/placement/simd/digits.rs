//! Hashes of UUIDs and integers: their texts are made as words of lanes, and never as bytes.

use super::characters::{Decimal, END, Hyphenated, INTEGER_ROWS, Join, UUID_ROWS};
use super::isa::{Aligned, Isa, Piece, Row};
use super::md5::{BLOCK, Block, Compress, Fronts};
use super::places::Places;
use super::salt::Salt;
use crate::ids::Integer;

const UUID_LEN: usize = 36;
/// The last byte of a block at which an integer's text may begin: it ends before the length, which
/// is in the last two words.
const LAST_INTEGER: usize = 35;
/// The words that say how long a message was, in bits.
const LENGTH: usize = 14;

/// UUIDs that are hashed together.
pub(super) struct Uuids<const L: usize, const K: usize> {
    messages: Messages<L, K>,
    uuids: Aligned<[[Piece; L]; K]>,
    texts: Aligned<[Row<L, K>; UUID_ROWS]>,
}

impl<const L: usize, const K: usize> Uuids<L, K> {
    pub(super) fn new(salt: &Salt) -> Self {
        let block_count = (salt.start + UUID_LEN + 1 + 8).div_ceil(BLOCK);
        let mut messages = Messages::new(salt, block_count);
        let bits = 8 * (salt.len + UUID_LEN) as u64;
        let length = messages.blocks.0.get_mut(block_count - 1);
        let length = length.and_then(|block| block.last_chunk_mut::<2>()).into_iter().flatten();
        for (row, word) in length.zip([bits, bits >> 32]) {
            *row = [[low(word); L]; K];
        }
        let mut texts = Aligned([[[0; L]; K]; UUID_ROWS]);
        texts.0[UUID_ROWS - 1] = [[END; L]; K];
        Self { messages, uuids: Aligned([[[0; 16]; L]; K]), texts }
    }

    /// Takes one in; whether there is no more room.
    #[inline]
    pub(super) fn push(&mut self, uuid: u128, place: usize) -> bool {
        set(&mut self.uuids, self.messages.places.next(), uuid);
        self.messages.places.enter(place);
        self.messages.places.is_full()
    }

    /// Hashes them and writes the hashes to their places.
    pub(super) fn settle<I: Isa<L>>(&mut self, isa: I, hashes: &mut [u64]) {
        if self.messages.places.is_empty() {
            return;
        }
        let Some(texts) = self.texts.0.first_chunk_mut() else { return };
        isa.run(Hyphenated { uuids: &self.uuids.0, texts });
        self.messages.settle(isa, &self.texts.0, hashes);
    }
}

/// An integer from 0 to 2^64 - 1, and so many groups of four decimal digits as it needs.
pub(super) struct Digits {
    magnitude: u64,
    groups: usize,
}

impl Digits {
    /// None of other integers.
    #[inline(always)]
    pub(super) fn of(integer: Integer) -> Option<Self> {
        let magnitude =
            u64::try_from(integer.magnitude()).ok().filter(|_| !integer.is_negative())?;
        let further = [10_000, 100_000_000, 1_000_000_000_000, 10_000_000_000_000_000];
        let groups = further.map(|power| usize::from(magnitude >= power)).iter().sum::<usize>() + 1;
        Some(Self { magnitude, groups })
    }

    /// Which of the rows takes it in: all of one have as many groups.
    #[inline(always)]
    pub(super) const fn row(&self) -> usize {
        self.groups - 1
    }

    /// As numbers, in words from the lowest on: four digits, eight and eight.
    #[inline(always)]
    fn words(&self) -> u128 {
        const EIGHT: u64 = 100_000_000;
        let [front, last] = [self.magnitude / EIGHT, self.magnitude % EIGHT];
        let [first, middle] = [front / EIGHT, front % EIGHT];
        u128::from(last) << 64 | u128::from(middle << 32 | first)
    }
}

/// Integers of as many groups of digits that are hashed together.
pub(super) struct Integers<const L: usize, const K: usize> {
    messages: Messages<L, K>,
    integers: Aligned<[[Piece; L]; K]>,
    texts: Aligned<[Row<L, K>; INTEGER_ROWS]>,
    groups: usize,
    /// Bits of a message with all digits of the groups.
    bits: u32,
}

impl<const L: usize, const K: usize> Integers<L, K> {
    /// None if their texts could reach into a further block.
    pub(super) fn new(salt: &Salt, digits: &Digits) -> Option<Self> {
        let bits = 8 * (salt.len + 4 * digits.groups);
        let bits = u32::try_from(bits).ok().filter(|_| salt.start <= LAST_INTEGER)?;
        Some(Self {
            messages: Messages::new(salt, 1),
            integers: Aligned([[[0; 16]; L]; K]),
            texts: Aligned([[[0; L]; K]; INTEGER_ROWS]),
            groups: digits.groups,
            bits,
        })
    }

    /// Takes one in; whether there is no more room.
    #[inline]
    pub(super) fn push(&mut self, digits: &Digits, place: usize) -> bool {
        set(&mut self.integers, self.messages.places.next(), digits.words());
        self.messages.places.enter(place);
        self.messages.places.is_full()
    }

    /// Hashes them and writes the hashes to their places.
    pub(super) fn settle<I: Isa<L>>(&mut self, isa: I, hashes: &mut [u64]) {
        let Self { messages, integers, texts, groups, bits } = self;
        if messages.places.is_empty() {
            return;
        }
        isa.run(Decimal {
            integers: &integers.0,
            groups: *groups,
            bits: *bits,
            texts: &mut texts.0,
            length: &mut messages.blocks.0[0][LENGTH],
        });
        messages.settle(isa, texts.0.get(..=*groups).unwrap_or_default(), hashes);
    }
}

/// The messages of a row: the salt's last bytes, a text, the end.
struct Messages<const L: usize, const K: usize> {
    /// After the salt's whole blocks.
    state: [u32; 4],
    blocks: Aligned<[Block<L, K>; 2]>,
    block_count: usize,
    /// The word in which texts begin, at which of its bits, and the four bytes before them.
    first_row: usize,
    shift: u32,
    before: u32,
    places: Places<L, K>,
}

impl<const L: usize, const K: usize> Messages<L, K> {
    fn new(salt: &Salt, block_count: usize) -> Self {
        let mut blocks = Aligned([[[[0; L]; K]; 16]; 2]);
        for (row, word) in blocks.0[0].iter_mut().zip(salt.block.as_chunks().0) {
            *row = [[u32::from_le_bytes(*word); L]; K];
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

    fn settle<I: Isa<L>>(&mut self, isa: I, texts: &[Row<L, K>], hashes: &mut [u64]) {
        let rows = self.blocks.0.as_flattened_mut().get_mut(self.first_row..).unwrap_or_default();
        isa.run(Join { before: self.before, texts, shift: self.shift, rows });
        let mut state = Aligned(self.state.map(|word| [[word; L]; K]));
        for block in self.blocks.0.iter().take(self.block_count) {
            isa.run(Compress { state: &mut state.0, block });
        }
        let mut fronts = Aligned([[0; L]; K]);
        isa.run(Fronts { state: &state.0, fronts: &mut fronts.0 });
        self.places.leave(&fronts.0, hashes);
    }
}

#[inline(always)]
fn set<const L: usize, const K: usize>(to: &mut Aligned<[[Piece; L]; K]>, at: usize, words: u128) {
    let piece = to.0.as_flattened_mut().get_mut(at);
    piece.into_iter().for_each(|piece| *piece = words.to_le_bytes());
}

#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "taken apart")]
const fn low(words: u64) -> u32 {
    words as u32
}
