//! Hashes of many IDs.

use super::characters::GROUPS;
use super::digits::{Digits, Integers, Uuids};
use super::isa::{Aligned, Baseline, Isa};
use super::md5::{BLOCK, Block, Compress};
use super::salt::Salt;
use super::{Kernel, Level, text};
use crate::id::Id;
use crate::placement::hash;

/// Blocks of the longest message that is hashed beside others; longer ones are hashed alone.
const BLOCKS: usize = 4;
/// Bytes of four words.
const SQUARE: usize = 16;
/// Bytes behind a text: a bit, and how long the message was.
const END: usize = 9;

/// The first 8 bytes, big-endian, of MD5(salt ‖ canonical text) of each ID, appended to `hashes`
/// in order: what [`hash`] says of each.
pub fn hashes<'a, 'b: 'a>(
    kernel: Kernel,
    salt: &str,
    ids: impl ExactSizeIterator<Item = &'a Id<'b>>,
    hashes: &mut Vec<u64>,
) {
    match (kernel.0, ids.len()) {
        (Level::Plain, _) | (_, ..2) => hashes.extend(ids.map(|id| hash(salt, id))),
        (Level::Baseline, _) => hash_rows::<_, 4, 2>(Baseline, salt, ids, hashes),
        #[cfg(target_arch = "x86_64")]
        (Level::Avx2(isa), _) => hash_rows::<_, 8, 3>(isa, salt, ids, hashes),
        #[cfg(target_arch = "x86_64")]
        (Level::Avx512(isa), _) => hash_rows::<_, 16, 4>(isa, salt, ids, hashes),
    }
}

fn hash_rows<'a, 'b: 'a, I: Isa<L>, const L: usize, const K: usize>(
    isa: I,
    salt: &str,
    ids: impl ExactSizeIterator<Item = &'a Id<'b>>,
    hashes: &mut Vec<u64>,
) {
    let first = hashes.len();
    hashes.resize(first + ids.len(), 0);
    let Some(hashes) = hashes.get_mut(first..) else { return };
    let start = Salt::new(salt);
    let mut texts = Row::<L, K>::new(&start);
    let (mut uuids, mut integers) = (None, [const { None }; GROUPS]);
    for (place, id) in ids.enumerate() {
        match id {
            Id::Uuid(uuid) => {
                let uuids = uuids.get_or_insert_with(|| Uuids::<L, K>::new(&start));
                if uuids.push(*uuid, place) {
                    uuids.settle(isa, hashes);
                }
                continue;
            }
            Id::Integer(integer) => {
                if let Some(digits) = Digits::of(*integer) {
                    let row = integers.get_mut(digits.row());
                    let row = row.map(|row| {
                        row.get_or_insert_with(|| Integers::<L, K>::new(&start, &digits))
                    });
                    if let Some(Some(row)) = row {
                        if row.push(&digits, place) {
                            row.settle(isa, hashes);
                        }
                        continue;
                    }
                }
            }
            Id::Text(_) | Id::Fraction(_) => {}
        }
        if texts.push(id, place).is_none() {
            hashes.get_mut(place).into_iter().for_each(|to| *to = hash(salt, id));
        }
        if texts.count == L * K {
            texts.settle(isa, hashes);
        }
    }
    texts.settle(isa, hashes);
    uuids.into_iter().for_each(|mut uuids| uuids.settle(isa, hashes));
    integers.into_iter().flatten().flatten().for_each(|mut row| row.settle(isa, hashes));
}

/// A message: the salt's last bytes, the text and the end, and where its hash belongs.
#[derive(Clone, Copy)]
struct Message {
    bytes: [u8; BLOCK * BLOCKS],
    block_count: usize,
    place: usize,
}

impl Message {
    const EMPTY: Self = Self { bytes: [0; BLOCK * BLOCKS], block_count: BLOCKS, place: 0 };

    /// Four words, from that byte on.
    #[inline]
    fn words(&self, start: usize) -> [u32; 4] {
        let bytes = self.bytes.get(start..).and_then(|bytes| bytes.first_chunk::<SQUARE>());
        let mut words = [0; 4];
        let fours = bytes.into_iter().flat_map(|bytes| bytes.as_chunks().0);
        for (word, bytes) in words.iter_mut().zip(fours) {
            *word = u32::from_le_bytes(*bytes);
        }
        words
    }

    /// Writes the message of `id`, if it fits; says where its text has ended.
    #[inline]
    fn write(&mut self, salt: &Salt, id: &Id<'_>) -> Option<usize> {
        let (front, back) = self.bytes.split_first_chunk_mut::<BLOCK>()?;
        *front = salt.block;
        if self.block_count > 1 {
            back.fill(0);
        }
        self.block_count = BLOCKS; // until it is known
        let len = text::write(id, self.bytes.get_mut(salt.start..)?)?;
        let end = salt.start + len;
        *self.bytes.get_mut(end)? = 0x80;
        let block_count = (end + END).div_ceil(BLOCK);
        let bytes = self.bytes.get_mut(..block_count * BLOCK)?;
        *bytes.last_chunk_mut()? = (8 * (salt.len + len) as u64).to_le_bytes();
        self.block_count = block_count;
        Some(end)
    }
}

/// Messages that are hashed together. They become words of lanes only then: what was just written
/// by bytes is slow to read by words.
struct Row<'a, const L: usize, const K: usize> {
    salt: &'a Salt,
    messages: [[Message; L]; K],
    count: usize,
    /// Where the longest text has ended.
    longest: usize,
    words: Words<L, K>,
}

impl<'a, const L: usize, const K: usize> Row<'a, L, K> {
    const fn new(salt: &'a Salt) -> Self {
        let words = Words { block: Aligned([[[0; L]; K]; 16]), used: 0 };
        Self { salt, messages: [[Message::EMPTY; L]; K], count: 0, longest: 0, words }
    }

    /// Takes an ID in, if its message fits.
    #[inline]
    fn push(&mut self, id: &Id<'_>, place: usize) -> Option<()> {
        let message = self.messages.as_flattened_mut().get_mut(self.count)?;
        let end = message.write(self.salt, id)?;
        message.place = place;
        self.longest = self.longest.max(end + 1);
        self.count += 1;
        Some(())
    }

    /// Hashes the row and writes the hashes to their places.
    fn settle<I: Isa<L>>(&mut self, isa: I, hashes: &mut [u64]) {
        let messages = self.messages.as_flattened().iter().take(self.count);
        let longest = messages.clone().map(|message| message.block_count).max().unwrap_or_default();
        let mut state = Aligned(self.salt.state.map(|word| [[word; L]; K]));
        for number in 0..longest {
            self.words.fill(&self.messages, number, self.longest);
            isa.run(Compress { state: &mut state.0, block: &self.words.block.0 });
            let [low, high, ..] = &state.0;
            let state = low.as_flattened().iter().zip(high.as_flattened());
            for ((low, high), message) in state.zip(messages.clone()) {
                if message.block_count == number + 1 {
                    let hash = u64::from(low.swap_bytes()) << 32 | u64::from(high.swap_bytes());
                    hashes.get_mut(message.place).into_iter().for_each(|to| *to = hash);
                }
            }
        }
        (self.count, self.longest) = (0, 0);
    }
}

/// One block of each message, as words of lanes.
struct Words<const L: usize, const K: usize> {
    block: Aligned<Block<L, K>>,
    /// So many of its squares are not zero, beside the last one.
    used: usize,
}

impl<const L: usize, const K: usize> Words<L, K> {
    /// Turns that block of each message into words of lanes, four of four messages at a time: such
    /// squares are turned in registers.
    #[inline]
    fn fill(&mut self, messages: &[[Message; L]; K], number: usize, longest: usize) {
        const SQUARES: usize = BLOCK / SQUARE;
        let used = longest.saturating_sub(number * BLOCK).div_ceil(SQUARE).min(SQUARES);
        let (squares, _) = self.block.0.as_chunks_mut::<4>();
        for (at, rows) in squares.iter_mut().enumerate() {
            // The last one tells how long the message is.
            if at < used || at == SQUARES - 1 {
                turn(rows, messages, number * BLOCK + at * SQUARE);
            } else if at < self.used {
                *rows = [[[0; L]; K]; 4]; // texts end before it, and those of another block did not
            }
        }
        self.used = used;
    }
}

/// Turns four words of each message, from that byte on, into lanes.
#[inline]
fn turn<const L: usize, const K: usize>(
    rows: &mut [[[u32; L]; K]; 4],
    messages: &[[Message; L]; K],
    start: usize,
) {
    for (vector, messages) in messages.iter().enumerate() {
        for (four, messages) in messages.as_chunks::<4>().0.iter().enumerate() {
            let [a, b, c, d] = messages.each_ref().map(|message| message.words(start));
            let lanes = a.into_iter().zip(b).zip(c.into_iter().zip(d));
            for (row, ((a, b), (c, d))) in rows.iter_mut().zip(lanes) {
                let to = row.get_mut(vector).map(|lanes| lanes.as_chunks_mut().0);
                to.and_then(|fours| fours.get_mut(four))
                    .into_iter()
                    .for_each(|to| *to = [a, b, c, d]);
            }
        }
    }
}
