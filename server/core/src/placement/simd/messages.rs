//! Hashes of texts: they are written as bytes, and turned into words of lanes.

use fearless_simd::prelude::*;

use super::lanes::{Aligned, LANES, Piece, transpose, vectorized};
use super::md5::{BLOCK, Block, K, compress, fronts};
use super::places::Places;
use super::salt::Salt;
use super::text;
use crate::ids::Id;

/// Blocks of the longest message that is hashed beside others; longer ones are hashed alone.
const BLOCKS: usize = 4;
const PIECE: usize = size_of::<Piece>();
/// Pieces of a block.
const PIECES: usize = BLOCK / PIECE;
/// Bytes after a text: the padding byte and the length of the message.
const END: usize = 9;

/// A message: the salt's last bytes, the text and the end; behind them zeros.
#[derive(Clone, Copy)]
struct Message {
    bytes: [u8; BLOCK * BLOCKS],
    block_count: usize,
}

impl Message {
    const EMPTY: Self = Self { bytes: [0; BLOCK * BLOCKS], block_count: 0 };

    #[inline(always)]
    fn piece(&self, number: usize) -> &Piece {
        const NONE: &Piece = &[0; PIECE];
        self.bytes.as_chunks().0.get(number).unwrap_or(NONE)
    }

    /// Writes the message of `id` over one of a single block, and returns where its text ends;
    /// `None` if it does not fit.
    #[inline]
    fn write(&mut self, salt: &Salt, id: &Id<'_>) -> Option<usize> {
        *self.bytes.first_chunk_mut()? = salt.block;
        let len = text::write(id, self.bytes.get_mut(salt.start..)?)?;
        let end = salt.start + len;
        *self.bytes.get_mut(end)? = 0x80;
        self.block_count = block_count(end);
        let bytes = self.bytes.get_mut(..self.block_count * BLOCK)?;
        *bytes.last_chunk_mut()? = (8 * (salt.len + len) as u64).to_le_bytes();
        Some(end)
    }
}

/// Blocks of a message whose text ends at `end`.
const fn block_count(end: usize) -> usize {
    (end + END).div_ceil(BLOCK)
}

/// Texts that are hashed together. They become words of lanes only when they are hashed: bytes that
/// were just written are slow to read as words.
pub(super) struct Texts<'a> {
    salt: &'a Salt,
    messages: [[Message; LANES]; K],
    places: Places,
    /// End of the longest text.
    longest: usize,
    words: Words,
}

impl<'a> Texts<'a> {
    pub(super) const fn new(salt: &'a Salt) -> Self {
        Self {
            salt,
            messages: [[Message::EMPTY; LANES]; K],
            places: Places::new(),
            longest: 0,
            words: Words { block: Aligned([[[0; LANES]; K]; 16]), used: 0 },
        }
    }

    /// Takes an ID in, and returns whether the row is full; `None` if its message does not fit.
    #[inline]
    pub(super) fn push(&mut self, id: &Id<'_>, place: usize) -> Option<bool> {
        let message = self.messages.as_flattened_mut().get_mut(self.places.next())?;
        let Some(end) = message.write(self.salt, id) else {
            *message = Message::EMPTY; // a part of it may be written
            return None;
        };
        self.longest = self.longest.max(end);
        self.places.enter(place);
        Some(self.places.is_full())
    }

    /// Hashes them and writes the hashes to their places.
    pub(super) fn settle<S: Simd>(&mut self, simd: S, hashes: &mut [u64]) {
        let Self { salt, messages, places, longest, words } = self;
        if places.is_empty() {
            return;
        }
        let block_count = block_count(*longest);
        let mut state = Aligned(salt.state.map(|word| [[word; LANES]; K]));
        let (mut current, mut found) = (Aligned([[0; LANES]; K]), [[0; LANES]; K]);
        for number in 0..block_count {
            let used = (*longest + 1).saturating_sub(number * BLOCK).div_ceil(PIECE).min(PIECES);
            vectorized!(simd, words.fill(simd, messages, number, used));
            vectorized!(simd, compress(simd, &mut state.0, &words.block.0));
            vectorized!(simd, fronts(&state.0, &mut current.0));
            if number == 0 {
                found = current.0;
                continue;
            }
            let current = current.0.as_flattened().iter();
            let found = found.as_flattened_mut().iter_mut().zip(messages.as_flattened());
            for ((found, message), front) in found.zip(current) {
                if number < message.block_count {
                    *found = *front;
                }
            }
        }
        places.leave(&found, hashes);
        if block_count > 1 {
            messages.as_flattened_mut().fill(Message::EMPTY);
        }
        *longest = 0;
    }
}

/// One block of each message, as words of lanes.
struct Words {
    block: Aligned<Block>,
    /// Pieces at the front that are not zero, not counting the last one.
    used: usize,
}

impl Words {
    /// Turns block `number` of each message into words of lanes; only `used` pieces at its front,
    /// and its last one, are not zero.
    #[inline(always)]
    fn fill<S: Simd>(
        &mut self,
        simd: S,
        messages: &[[Message; LANES]; K],
        number: usize,
        used: usize,
    ) {
        let (squares, _) = self.block.0.as_chunks_mut::<4>();
        for (at, rows) in squares.iter_mut().enumerate() {
            // The last piece holds the length of the message.
            if at < used || at == PIECES - 1 {
                for (vector, messages) in messages.iter().enumerate() {
                    let pieces = messages.each_ref();
                    let pieces = pieces.map(|message| message.piece(number * PIECES + at));
                    for (row, words) in rows.iter_mut().zip(transpose(simd, pieces)) {
                        row.get_mut(vector).into_iter().for_each(|to| words.store_array(to));
                    }
                }
            } else if at < self.used {
                *rows = [[[0; LANES]; K]; 4]; // not zero in the block before
            }
        }
        self.used = used;
    }
}
