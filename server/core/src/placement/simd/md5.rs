//! MD5 (RFC 1321) of a block in each lane.

use super::isa::{Isa, Row, Task};

/// Bytes that are compressed at once.
pub(super) const BLOCK: usize = 64;
/// What the digest of nothing starts from.
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

/// The 16 words of a block, in each lane.
pub(super) type Block<const L: usize, const K: usize> = [Row<L, K>; 16];

/// Takes one more block into the state of each lane.
#[derive(Debug)]
pub(super) struct Compress<'a, const L: usize, const K: usize> {
    pub(super) state: &'a mut [Row<L, K>; 4],
    pub(super) block: &'a Block<L, K>,
}

impl<const L: usize, const K: usize> Task<L> for Compress<'_, L, K> {
    #[inline(always)]
    fn run<I: Isa<L>>(self, isa: I) {
        let Self { state, block } = self;
        let load = |row: &Row<L, K>| row.each_ref().map(|words| isa.load(words));
        let mut work = state.each_ref().map(load);
        let [first, second, third, fourth] = &SINES;
        let ones = isa.splat(u32::MAX);
        round(isa, &mut work, block, first, [7, 12, 17, 22], [0, 1], |b, c, d| {
            isa.xor(d, isa.and(b, isa.xor(c, d)))
        });
        round(isa, &mut work, block, second, [5, 9, 14, 20], [1, 5], |b, c, d| {
            isa.xor(c, isa.and(d, isa.xor(b, c)))
        });
        round(isa, &mut work, block, third, [4, 11, 16, 23], [5, 3], |b, c, d| {
            isa.xor(b, isa.xor(c, d))
        });
        round(isa, &mut work, block, fourth, [6, 10, 15, 21], [0, 7], |b, c, d| {
            isa.xor(c, isa.or(b, isa.xor(d, ones)))
        });
        for (row, work) in state.iter_mut().zip(work) {
            for (words, work) in row.iter_mut().zip(work) {
                isa.store(isa.add(isa.load(words), work), words);
            }
        }
    }
}

/// The first 8 bytes of digests, as big-endian numbers.
#[derive(Debug)]
pub(super) struct Fronts<'a, const L: usize, const K: usize> {
    pub(super) state: &'a [Row<L, K>; 4],
    pub(super) fronts: &'a mut [[u64; L]; K],
}

impl<const L: usize, const K: usize> Task<L> for Fronts<'_, L, K> {
    #[inline(always)]
    fn run<I: Isa<L>>(self, _: I) {
        let [low, high, ..] = self.state;
        for ((low, high), fronts) in low.iter().zip(high).zip(self.fronts) {
            for ((low, high), front) in low.iter().zip(high).zip(fronts) {
                *front = u64::from(low.swap_bytes()) << 32 | u64::from(high.swap_bytes());
            }
        }
    }
}

/// 16 steps, four by four: step i takes word (start + i·stride) mod 16 of the block.
#[inline(always)]
fn round<I: Isa<L>, const L: usize, const K: usize>(
    isa: I,
    [a, b, c, d]: &mut [[I::Vector; K]; 4],
    block: &Block<L, K>,
    sines: &[u32; 16],
    lefts: [u32; 4],
    [start, stride]: [usize; 2],
    mix: impl Fn(I::Vector, I::Vector, I::Vector) -> I::Vector,
) {
    for (turn, sines) in sines.as_chunks::<4>().0.iter().enumerate() {
        let words = |step: usize| block.get((start + stride * (4 * turn + step)) % 16);
        step(isa, lefts[0], a, [b, c, d], words(0), sines[0], &mix);
        step(isa, lefts[1], d, [a, b, c], words(1), sines[1], &mix);
        step(isa, lefts[2], c, [d, a, b], words(2), sines[2], &mix);
        step(isa, lefts[3], b, [c, d, a], words(3), sines[3], &mix);
    }
}

#[inline(always)]
fn step<I: Isa<L>, const L: usize, const K: usize>(
    isa: I,
    left: u32,
    a: &mut [I::Vector; K],
    [b, c, d]: [&[I::Vector; K]; 3],
    words: Option<&Row<L, K>>,
    sine: u32,
    mix: impl Fn(I::Vector, I::Vector, I::Vector) -> I::Vector,
) {
    let Some(words) = words else { return };
    let sine = isa.splat(sine);
    for ((((a, b), c), d), words) in a.iter_mut().zip(b).zip(c).zip(d).zip(words) {
        let sum = isa.add(isa.add(*a, mix(*b, *c, *d)), isa.add(isa.load(words), sine));
        *a = isa.add(*b, isa.rotate_left(sum, left));
    }
}
