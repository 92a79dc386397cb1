//! Words of 32 bits, side by side: the vectors of `fearless_simd`, and what they are loaded from.

use fearless_simd::prelude::*;
use fearless_simd::{u32x4, u32x16};

/// Words of a vector. On machines with shorter vectors, it is made of several.
pub(super) const LANES: usize = 16;

/// Rows of lanes: `K` vectors.
pub(super) type Row<const K: usize> = [[u32; LANES]; K];

/// Four words of one lane, as they are written before they become lanes.
pub(super) type Piece = [u8; 16];

/// A value on the boundary of a cache line, so that no vector lies across one.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
pub(super) struct Aligned<T>(pub(super) T);

/// Runs `$work` where the compiler may use the instructions of `$simd`. The functions that it calls
/// must be `inline(always)`, or they are compiled without those instructions.
macro_rules! vectorized {
    ($simd:expr, $work:expr) => {
        $simd.vectorize(
            #[inline(always)]
            || $work,
        )
    };
}
pub(super) use vectorized;

#[inline(always)]
pub(super) fn load<S: Simd>(simd: S, words: &[u32; LANES]) -> u32x16<S> {
    u32x16::load_array_ref(simd, words)
}

/// Word i of each piece, little-endian, in vector i.
#[inline(always)]
pub(super) fn transpose<S: Simd>(simd: S, pieces: [&Piece; LANES]) -> [u32x16<S>; 4] {
    let words = |piece: &Piece| u32x4::simd_from(simd, words(piece));
    let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = pieces.map(words);
    let fours = |a: u32x4<S>, b, c, d| a.combine(b).combine(u32x4::combine(c, d));
    let (even, odd) = fours(a, b, c, d).deinterleave(fours(e, f, g, h));
    let (later_even, later_odd) = fours(i, j, k, l).deinterleave(fours(m, n, o, p));
    let ((first, third), (second, fourth)) =
        (even.deinterleave(later_even), odd.deinterleave(later_odd));
    [first, second, third, fourth]
}

#[inline(always)]
fn words(piece: &Piece) -> [u32; 4] {
    let mut words = [0; 4];
    for (word, bytes) in words.iter_mut().zip(piece.as_chunks().0) {
        *word = u32::from_le_bytes(*bytes);
    }
    words
}
