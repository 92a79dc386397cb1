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
    ids: impl Iterator<Item = &'a Id<'b>>,
    hashes: &mut Vec<u64>,
) {
    let mut message = Message::new(salt);
    let mut row = Waiting::<L, K>::new(compress_salt(salt));
    for id in ids {
        match message.write(id) {
            Some(blocks) => row.push(&message.bytes, blocks, hashes.len()),
            None => {
                hashes.push(hash(salt, id));
                continue;
            }
        }
        hashes.push(0);
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

/// The blocks of a message that follow the salt's whole ones.
struct Message {
    bytes: [u8; BLOCK * BLOCKS],
    salt_len: usize,
    /// Bytes of the salt in these blocks.
    start: usize,
}

impl Message {
    fn new(salt: &str) -> Self {
        let mut bytes = [0; BLOCK * BLOCKS];
        let (_, rest) = salt.as_bytes().as_chunks::<BLOCK>();
        for (to, byte) in bytes.iter_mut().zip(rest) {
            *to = *byte;
        }
        Self { bytes, salt_len: salt.len(), start: rest.len() }
    }

    /// Writes the text of `id` behind the salt, and the end of the message; how many blocks it
    /// has, if it fits.
    #[inline]
    fn write(&mut self, id: &Id<'_>) -> Option<usize> {
        let len = text::write(id, self.bytes.get_mut(self.start..)?)?;
        let end = self.start + len;
        let blocks = (end + END).div_ceil(BLOCK);
        let (front, back) = self.bytes.get_mut(end..blocks * BLOCK)?.split_last_chunk_mut::<8>()?;
        front.fill(0);
        *front.first_mut()? = 0x80;
        *back = (8 * (self.salt_len + len) as u64).to_le_bytes();
        Some(blocks)
    }
}

/// Messages that wait until they fill a row.
struct Waiting<const L: usize, const K: usize> {
    start: [u32; 4],
    blocks: Aligned<[Block<L, K>; BLOCKS]>,
    counts: [[usize; L]; K],
    places: [[usize; L]; K],
    count: usize,
}

impl<const L: usize, const K: usize> Waiting<L, K> {
    const fn new(start: [u32; 4]) -> Self {
        let blocks = Aligned([[[[0; L]; K]; 16]; BLOCKS]);
        Self { start, blocks, counts: [[0; L]; K], places: [[0; L]; K], count: 0 }
    }

    #[inline]
    fn push(&mut self, message: &[u8; BLOCK * BLOCKS], blocks: usize, place: usize) {
        let words = message.as_chunks::<4>().0.iter();
        let rows = self.blocks.0.as_flattened_mut().iter_mut();
        for (row, word) in rows.zip(words).take(16 * blocks) {
            let lane = row.as_flattened_mut().get_mut(self.count);
            lane.into_iter().for_each(|lane| *lane = u32::from_le_bytes(*word));
        }
        set(&mut self.counts, self.count, blocks);
        set(&mut self.places, self.count, place);
        self.count += 1;
    }

    /// Hashes a row and writes the hashes to their places.
    fn settle<I: Isa<L>>(&mut self, isa: I, hashes: &mut [u64]) {
        let counts = self.counts.as_flattened().iter().take(self.count);
        let longest = counts.clone().max().copied().unwrap_or_default();
        let mut state = Aligned(self.start.map(|word| [[word; L]; K]));
        for (block, number) in self.blocks.0.iter().zip(1..=longest) {
            isa.run(Compress { state: &mut state.0, block });
            let [low, high, ..] = &state.0;
            let state = low.as_flattened().iter().zip(high.as_flattened());
            let places = self.places.as_flattened().iter();
            for (((low, high), place), count) in state.zip(places).zip(counts.clone()) {
                if *count == number {
                    let hash = u64::from(low.swap_bytes()) << 32 | u64::from(high.swap_bytes());
                    hashes.get_mut(*place).into_iter().for_each(|to| *to = hash);
                }
            }
        }
        self.count = 0;
    }
}

#[inline]
fn set<const L: usize, const K: usize>(lanes: &mut [[usize; L]; K], lane: usize, value: usize) {
    lanes.as_flattened_mut().get_mut(lane).into_iter().for_each(|lane| *lane = value);
}
