//! MD5 (RFC 1321) of a block in each lane.

use fearless_simd::prelude::*;
use fearless_simd::u32x16;

use super::lanes::{self, LANES, load};

/// Bytes that are compressed at once.
pub(super) const BLOCK: usize = 64;
/// Initial state of the digest.
pub(super) const START: [u32; 4] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476];

/// ⌊2^32 · |sin(i + 1)|⌋, by rounds.
const SINES: [[u32; 16]; 4] = [
    [
        0xd76a_a478,
        0xe8c7_b756,
        0x2420_70db,
        0xc1bd_ceee,
        0xf57c_0faf,
        0x4787_c62a,
        0xa830_4613,
        0xfd46_9501,
        0x6980_98d8,
        0x8b44_f7af,
        0xffff_5bb1,
        0x895c_d7be,
        0x6b90_1122,
        0xfd98_7193,
        0xa679_438e,
        0x49b4_0821,
    ],
    [
        0xf61e_2562,
        0xc040_b340,
        0x265e_5a51,
        0xe9b6_c7aa,
        0xd62f_105d,
        0x0244_1453,
        0xd8a1_e681,
        0xe7d3_fbc8,
        0x21e1_cde6,
        0xc337_07d6,
        0xf4d5_0d87,
        0x455a_14ed,
        0xa9e3_e905,
        0xfcef_a3f8,
        0x676f_02d9,
        0x8d2a_4c8a,
    ],
    [
        0xfffa_3942,
        0x8771_f681,
        0x6d9d_6122,
        0xfde5_380c,
        0xa4be_ea44,
        0x4bde_cfa9,
        0xf6bb_4b60,
        0xbebf_bc70,
        0x289b_7ec6,
        0xeaa1_27fa,
        0xd4ef_3085,
        0x0488_1d05,
        0xd9d4_d039,
        0xe6db_99e5,
        0x1fa2_7cf8,
        0xc4ac_5665,
    ],
    [
        0xf429_2244,
        0x432a_ff97,
        0xab94_23a7,
        0xfc93_a039,
        0x655b_59c3,
        0x8f0c_cc92,
        0xffef_f47d,
        0x8584_5dd1,
        0x6fa8_7e4f,
        0xfe2c_e6e0,
        0xa301_4314,
        0x4e08_11a1,
        0xf753_7e82,
        0xbd3a_f235,
        0x2ad7_d2bb,
        0xeb86_d391,
    ],
];

/// Vectors of a row: enough of them that the steps of one need not wait for those of another.
pub(super) const K: usize = 5;
pub(super) type Row = lanes::Row<K>;
/// The 16 words of a block, in each lane.
pub(super) type Block = [Row; 16];

/// Takes one more block into the state of each lane.
#[inline(always)]
pub(super) fn compress<S: Simd>(simd: S, state: &mut [Row; 4], block: &Block) {
    let mut work = state.each_ref().map(|row| row.each_ref().map(|words| load(simd, words)));
    let [first, second, third, fourth] = &SINES;
    round(0, &mut work, block, first, [7, 12, 17, 22], [0, 1]);
    round(1, &mut work, block, second, [5, 9, 14, 20], [1, 5]);
    round(2, &mut work, block, third, [4, 11, 16, 23], [5, 3]);
    round(3, &mut work, block, fourth, [6, 10, 15, 21], [0, 7]);
    for (row, work) in state.iter_mut().zip(work) {
        for (words, work) in row.iter_mut().zip(work) {
            (load(simd, words) + work).store_array(words);
        }
    }
}

/// The first 8 bytes of digests, as big-endian numbers.
#[inline(always)]
pub(super) fn fronts(state: &[Row; 4], fronts: &mut [[u64; LANES]; K]) {
    let [low, high, ..] = state;
    for ((low, high), fronts) in low.iter().zip(high).zip(fronts) {
        for ((low, high), front) in low.iter().zip(high).zip(fronts) {
            *front = u64::from(low.swap_bytes()) << 32 | u64::from(high.swap_bytes());
        }
    }
}

/// The function of a round (RFC 1321, 3.4). It is chosen by number: calls through `Fn` are not
/// always inlined, and are then compiled without the instructions.
#[inline(always)]
fn mix<S: Simd>(number: usize, b: u32x16<S>, c: u32x16<S>, d: u32x16<S>) -> u32x16<S> {
    match number {
        0 => d ^ (b & (c ^ d)),
        1 => c ^ (d & (b ^ c)),
        2 => b ^ (c ^ d),
        _ => c ^ (b | !d),
    }
}

/// 16 steps, four by four: step i takes word (start + i·stride) mod 16 of the block.
#[inline(always)]
fn round<S: Simd>(
    number: usize,
    [a, b, c, d]: &mut [[u32x16<S>; K]; 4],
    block: &Block,
    sines: &[u32; 16],
    lefts: [u32; 4],
    [start, stride]: [usize; 2],
) {
    for (turn, sines) in sines.as_chunks::<4>().0.iter().enumerate() {
        let words = |step: usize| block.get((start + stride * (4 * turn + step)) % 16);
        step(number, lefts[0], a, [b, c, d], words(0), sines[0]);
        step(number, lefts[1], d, [a, b, c], words(1), sines[1]);
        step(number, lefts[2], c, [d, a, b], words(2), sines[2]);
        step(number, lefts[3], b, [c, d, a], words(3), sines[3]);
    }
}

#[inline(always)]
fn step<S: Simd>(
    number: usize,
    left: u32,
    a: &mut [u32x16<S>; K],
    [b, c, d]: [&[u32x16<S>; K]; 3],
    words: Option<&Row>,
    sine: u32,
) {
    let Some(words) = words else { return };
    for ((((a, b), c), d), words) in a.iter_mut().zip(b).zip(c).zip(d).zip(words) {
        let sum = *a + mix(number, *b, *c, *d) + (load(a.simd, words) + sine);
        *a = *b + (sum << left | sum >> (32 - left));
    }
}
