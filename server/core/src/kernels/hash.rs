//! Hashes of many IDs.

use super::isa::{Aligned, Baseline, Isa};
use super::md5::{Block, Compress, START};
use super::{Kernel, Level, text};
use crate::id::Id;
use crate::placement::hash;

/// Bytes of an MD5 block.
const BLOCK: usize = 64;
/// Blocks of the longest message that is hashed beside others; longer ones are hashed alone.
const BLOCKS: usize = 4;
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
    let mut row = Row::<L, K>::new(Salt::new(salt));
    for (place, id) in ids.enumerate() {
        if row.push(id, place).is_none() {
            hashes.get_mut(place).into_iter().for_each(|to| *to = hash(salt, id));
        }
        if row.count == L * K {
            row.settle(isa, hashes);
        }
    }
    row.settle(isa, hashes);
}

/// The state after the whole blocks of the salt, which all messages share.
fn compress_salt(salt: &str) -> [u32; 4] {
    let (blocks, _) = salt.as_bytes().as_chunks::<BLOCK>();
    blocks.iter().fold(START, |state, block| {
        let (words, _) = block.as_chunks::<4>();
        let mut rows = [[[0; 4]; 1]; 16];
        for (row, word) in rows.iter_mut().zip(words) {
            *row = [[u32::from_le_bytes(*word); 4]];
        }
        let mut state = state.map(|word| [[word; 4]]);
        Baseline.run(Compress { state: &mut state, block: &rows });
        state.map(|[[word, ..]]| word)
    })
}

/// What all messages begin with.
struct Salt {
    len: usize,
    /// After the salt's whole blocks.
    state: [u32; 4],
    /// The first block of a message, up to its text; how long that is.
    block: [u8; BLOCK],
    start: usize,
}

impl Salt {
    fn new(salt: &str) -> Self {
        let mut block = [0; BLOCK];
        let (_, rest) = salt.as_bytes().as_chunks::<BLOCK>();
        for (to, byte) in block.iter_mut().zip(rest) {
            *to = *byte;
        }
        Self { len: salt.len(), state: compress_salt(salt), block, start: rest.len() }
    }
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

    /// Writes the message of `id`, if it fits.
    #[inline]
    fn write(&mut self, salt: &Salt, id: &Id<'_>) -> Option<()> {
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
        Some(())
    }
}

/// Messages that are hashed together. They become words of lanes only then: what was just written
/// by bytes is slow to read by words.
struct Row<const L: usize, const K: usize> {
    salt: Salt,
    messages: [[Message; L]; K],
    count: usize,
}

impl<const L: usize, const K: usize> Row<L, K> {
    const fn new(salt: Salt) -> Self {
        Self { salt, messages: [[Message::EMPTY; L]; K], count: 0 }
    }

    /// Takes an ID in, if its message fits.
    #[inline]
    fn push(&mut self, id: &Id<'_>, place: usize) -> Option<()> {
        let message = self.messages.as_flattened_mut().get_mut(self.count)?;
        message.write(&self.salt, id)?;
        message.place = place;
        self.count += 1;
        Some(())
    }

    /// Hashes the row and writes the hashes to their places.
    fn settle<I: Isa<L>>(&mut self, isa: I, hashes: &mut [u64]) {
        let messages = self.messages.as_flattened().iter().take(self.count);
        let longest = messages.clone().map(|message| message.block_count).max().unwrap_or_default();
        let mut state = Aligned(self.salt.state.map(|word| [[word; L]; K]));
        let mut block = Aligned([[[0; L]; K]; 16]);
        for number in 0..longest {
            fill(&mut block.0, &self.messages, number);
            isa.run(Compress { state: &mut state.0, block: &block.0 });
            let [low, high, ..] = &state.0;
            let state = low.as_flattened().iter().zip(high.as_flattened());
            for ((low, high), message) in state.zip(messages.clone()) {
                if message.block_count == number + 1 {
                    let hash = u64::from(low.swap_bytes()) << 32 | u64::from(high.swap_bytes());
                    hashes.get_mut(message.place).into_iter().for_each(|to| *to = hash);
                }
            }
        }
        self.count = 0;
    }
}

/// Turns one block of each message into words of lanes.
#[inline]
fn fill<const L: usize, const K: usize>(
    block: &mut Block<L, K>,
    messages: &[[Message; L]; K],
    number: usize,
) {
    for (vector, messages) in messages.iter().enumerate() {
        for (lane, message) in messages.iter().enumerate() {
            let (blocks, _) = message.bytes.as_chunks::<BLOCK>();
            let words = blocks.get(number).into_iter().flat_map(|bytes| bytes.as_chunks::<4>().0);
            for (row, word) in block.iter_mut().zip(words) {
                let to = row.get_mut(vector).and_then(|vector| vector.get_mut(lane));
                to.into_iter().for_each(|to| *to = u32::from_le_bytes(*word));
            }
        }
    }
}
