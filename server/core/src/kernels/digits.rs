//! Hashes of UUIDs and integers: their texts are made as words of lanes, and never as bytes.

use super::characters::{Decimal, END, GROUPS, Hyphenated, INTEGER_ROWS, Join, UUID_ROWS};
use super::isa::{Aligned, Isa, Row};
use super::md5::{BLOCK, Block, Compress};
use super::salt::Salt;
use crate::id::Integer;

const UUID_LEN: usize = 36;
/// The last byte of a block at which an integer's text may begin: it ends before the length, which
/// is in the last two words.
const LAST_INTEGER: usize = 35;
/// The words that say how long a message was, in bits.
const LENGTH: usize = 14;

/// UUIDs that are hashed together.
pub(super) struct Uuids<const L: usize, const K: usize> {
    messages: Messages<L, K>,
    /// Their words, the highest first.
    words: Aligned<[Row<L, K>; 4]>,
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
        Self { messages, words: Aligned([[[0; L]; K]; 4]), texts }
    }

    /// Takes one in; whether there is no more room.
    #[inline]
    pub(super) fn push(&mut self, uuid: u128, place: usize) -> bool {
        let at = self.messages.enter(place);
        let bytes = uuid.to_be_bytes();
        for (row, word) in self.words.0.iter_mut().zip(bytes.as_chunks().0) {
            set(row, at, u32::from_be_bytes(*word));
        }
        self.messages.is_full()
    }

    /// Hashes them and writes the hashes to their places.
    pub(super) fn settle<I: Isa<L>>(&mut self, isa: I, hashes: &mut [u64]) {
        let Some(texts) = self.texts.0.first_chunk_mut() else { return };
        isa.run(Hyphenated { uuids: &self.words.0, texts });
        self.messages.settle(isa, &self.texts.0, hashes);
    }
}

/// Decimal digits, four by four.
pub(super) struct Digits {
    /// The last four are in the last one.
    groups: [u32; GROUPS],
    /// So many of them are the number's.
    count: usize,
    /// The zeros in front of the number in the first of these, which are not.
    zeros: u32,
}

impl Digits {
    /// Of an integer from 0 to 2^64 - 1.
    #[inline(always)]
    pub(super) fn of(integer: Integer) -> Option<Self> {
        let magnitude =
            u64::try_from(integer.magnitude()).ok().filter(|_| !integer.is_negative())?;
        let eights = low(magnitude / 100_000_000 % 100_000_000);
        let last = low(magnitude % 100_000_000);
        let first = low(magnitude / 10_000_000_000_000_000);
        let groups = [first, eights / 10_000, eights % 10_000, last / 10_000, last % 10_000];
        let leading = groups.iter().take(GROUPS - 1).take_while(|group| **group == 0).count();
        let first = groups.get(leading)?;
        let zeros = [10, 100, 1_000].map(|power| u32::from(*first < power)).iter().sum();
        Some(Self { groups, count: GROUPS - leading, zeros })
    }

    /// Which of the rows takes it in: all of one have as many groups.
    #[inline(always)]
    pub(super) const fn row(&self) -> usize {
        self.count - 1
    }
}

/// Integers of as many groups of digits that are hashed together.
pub(super) struct Integers<const L: usize, const K: usize> {
    messages: Messages<L, K>,
    groups: Aligned<[Row<L, K>; GROUPS]>,
    zeros: Aligned<Row<L, K>>,
    texts: Aligned<[Row<L, K>; INTEGER_ROWS]>,
    count: usize,
    /// Bits of the message of one without such zeros.
    bits: u32,
}

impl<const L: usize, const K: usize> Integers<L, K> {
    /// None if their texts could reach into a further block.
    pub(super) fn new(salt: &Salt, digits: &Digits) -> Option<Self> {
        let bits = 8 * (salt.len + 4 * digits.count);
        let bits = u32::try_from(bits).ok().filter(|_| salt.start <= LAST_INTEGER)?;
        Some(Self {
            messages: Messages::new(salt, 1),
            groups: Aligned([[[0; L]; K]; GROUPS]),
            zeros: Aligned([[0; L]; K]),
            texts: Aligned([[[0; L]; K]; INTEGER_ROWS]),
            count: digits.count,
            bits,
        })
    }

    /// Takes one in; whether there is no more room.
    #[inline]
    pub(super) fn push(&mut self, digits: &Digits, place: usize) -> bool {
        let at = self.messages.enter(place);
        for (row, group) in self.groups.0.iter_mut().zip(digits.groups) {
            set(row, at, group);
        }
        set(&mut self.zeros.0, at, digits.zeros);
        self.messages.is_full()
    }

    /// Hashes them and writes the hashes to their places.
    pub(super) fn settle<I: Isa<L>>(&mut self, isa: I, hashes: &mut [u64]) {
        let Self { messages, groups, zeros, texts, count, bits } = self;
        isa.run(Decimal {
            groups: groups.0.get(GROUPS - *count..).unwrap_or_default(),
            zeros: &zeros.0,
            bits: *bits,
            texts: &mut texts.0,
            length: &mut messages.blocks.0[0][LENGTH],
        });
        messages.settle(isa, texts.0.get(..=*count).unwrap_or_default(), hashes);
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
    places: [[usize; L]; K],
    count: usize,
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
            places: [[0; L]; K],
            count: 0,
        }
    }

    /// Where the next one goes.
    #[inline]
    fn enter(&mut self, place: usize) -> usize {
        let at = self.count;
        self.places.as_flattened_mut().get_mut(at).into_iter().for_each(|to| *to = place);
        self.count += 1;
        at
    }

    const fn is_full(&self) -> bool {
        self.count == L * K
    }

    fn settle<I: Isa<L>>(&mut self, isa: I, texts: &[Row<L, K>], hashes: &mut [u64]) {
        let rows = self.blocks.0.as_flattened_mut().get_mut(self.first_row..).unwrap_or_default();
        isa.run(Join { before: self.before, texts, shift: self.shift, rows });
        let mut state = Aligned(self.state.map(|word| [[word; L]; K]));
        for block in self.blocks.0.iter().take(self.block_count) {
            isa.run(Compress { state: &mut state.0, block });
        }
        let [front, back, ..] = &state.0;
        let lanes = front.as_flattened().iter().zip(back.as_flattened());
        for ((front, back), place) in lanes.zip(self.places.as_flattened()).take(self.count) {
            let hash = u64::from(front.swap_bytes()) << 32 | u64::from(back.swap_bytes());
            hashes.get_mut(*place).into_iter().for_each(|to| *to = hash);
        }
        self.count = 0;
    }
}

#[inline(always)]
fn set<const L: usize, const K: usize>(row: &mut Row<L, K>, at: usize, word: u32) {
    row.as_flattened_mut().get_mut(at).into_iter().for_each(|to| *to = word);
}

#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "taken apart")]
const fn low(words: u64) -> u32 {
    words as u32
}
