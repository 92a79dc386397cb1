//! The salt, which all messages begin with: hashed once for all, except its last bytes.

use fearless_simd::Simd;

use super::lanes::{LANES, vectorized};
use super::md5::{BLOCK, K, START, compress};

/// A salt whose whole blocks are hashed.
pub(super) struct Salt {
    pub(super) len: usize,
    /// The MD5 state after the salt's whole blocks.
    pub(super) state: [u32; 4],
    /// The first block of a message, up to its text, and the byte at which the text begins.
    pub(super) block: [u8; BLOCK],
    pub(super) start: usize,
}

impl Salt {
    pub(super) fn new<S: Simd>(simd: S, salt: &str) -> Self {
        let mut block = [0; BLOCK];
        let (_, rest) = salt.as_bytes().as_chunks::<BLOCK>();
        for (to, byte) in block.iter_mut().zip(rest) {
            *to = *byte;
        }
        Self { len: salt.len(), state: compress_salt(simd, salt), block, start: rest.len() }
    }
}

/// The state after the whole blocks of the salt, which all messages share.
fn compress_salt<S: Simd>(simd: S, salt: &str) -> [u32; 4] {
    let (blocks, _) = salt.as_bytes().as_chunks::<BLOCK>();
    blocks.iter().fold(START, |state, block| {
        let (words, _) = block.as_chunks::<4>();
        let mut rows = [[[0; LANES]; K]; 16];
        for (row, word) in rows.iter_mut().zip(words) {
            *row = [[u32::from_le_bytes(*word); LANES]; K];
        }
        let mut state = state.map(|word| [[word; LANES]; K]);
        vectorized!(simd, compress(simd, &mut state, &rows));
        state.map(|[[word, ..], ..]| word)
    })
}
