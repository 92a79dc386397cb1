//! The vectors of x86: AVX2 and AVX-512.

#![expect(unsafe_code, reason = "vector instructions, on machines where they were detected")]

use core::arch::x86_64::*;

use super::isa::{Isa, Piece, Task};

/// 256 bits. Made by [`Avx2::detect`] alone, so that one is proof of the instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Avx2(());

impl Avx2 {
    /// The instructions, if the machine has them.
    pub(super) fn detect() -> Option<Self> {
        is_x86_feature_detected!("avx2").then_some(Self(()))
    }
}

/// 512 bits. Made by [`Avx512::detect`] alone, so that one is proof of the instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Avx512(());

impl Avx512 {
    /// The instructions, if the machine has them.
    pub(super) fn detect() -> Option<Self> {
        let has_all = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl");
        has_all.then_some(Self(()))
    }
}

/// Writes the operations of an instruction set down.
macro_rules! isa {
    (
        $isa:ident, $lanes:literal, $vector:ty, $features:literal,
        $splat:ident, $load:ident, $store:ident,
        $add:ident, $subtract:ident, $multiply:ident, $and:ident, $or:ident, $xor:ident,
        $shift_right:ident, $shift_left:ident, $shift_right_each:ident, $shift_left_each:ident,
        $transpose:ident
    ) => {
        impl Isa<$lanes> for $isa {
            type Vector = $vector;

            fn run<T: Task<$lanes>>(self, task: T) {
                #[target_feature(enable = $features)]
                fn run<T: Task<$lanes>>(isa: $isa, task: T) {
                    task.run(isa);
                }
                // SAFETY: the instructions were detected, or there were no `self`.
                unsafe { run(self, task) }
            }

            #[inline(always)]
            fn splat(self, word: u32) -> $vector {
                // SAFETY: the instructions were detected, or there were no `self`.
                unsafe { $splat(word.cast_signed()) }
            }

            #[inline(always)]
            fn load(self, words: &[u32; $lanes]) -> $vector {
                // SAFETY: the instructions were detected, or there were no `self`; as many words
                // as are read lie behind the reference, and they may lie anywhere.
                unsafe { $load(words.as_ptr().cast()) }
            }

            #[inline(always)]
            fn store(self, vector: $vector, words: &mut [u32; $lanes]) {
                // SAFETY: the instructions were detected, or there were no `self`; as many words
                // as are written lie behind the reference, and they may lie anywhere.
                unsafe { $store(words.as_mut_ptr().cast(), vector) }
            }

            isa!(@pair add, $add, $vector);
            isa!(@pair subtract, $subtract, $vector);
            isa!(@pair multiply, $multiply, $vector);
            isa!(@pair and, $and, $vector);
            isa!(@pair or, $or, $vector);
            isa!(@pair xor, $xor, $vector);
            isa!(@pair shift_right_each, $shift_right_each, $vector);
            isa!(@pair shift_left_each, $shift_left_each, $vector);

            #[inline(always)]
            fn shift_right(self, vector: $vector, by: u32) -> $vector {
                isa!(@shift $shift_right, by, vector)
            }

            #[inline(always)]
            fn shift_left(self, vector: $vector, by: u32) -> $vector {
                isa!(@shift $shift_left, by, vector)
            }

            #[inline(always)]
            fn transpose(self, pieces: [&Piece; $lanes]) -> [$vector; 4] {
                // SAFETY: the instructions were detected, or there were no `self`.
                unsafe { $transpose(pieces) }
            }
        }
    };
    (@pair $name:ident, $instruction:ident, $vector:ty) => {
        #[inline(always)]
        fn $name(self, left: $vector, right: $vector) -> $vector {
            // SAFETY: the instructions were detected, or there were no `self`.
            unsafe { $instruction(left, right) }
        }
    };
    (@shift $instruction:ident, $by:ident, $vector:ident) => {
        // SAFETY: the instructions were detected, or there were no `self`.
        unsafe { $instruction($vector, _mm_cvtsi32_si128($by.cast_signed())) }
    };
}

isa!(
    Avx2,
    8,
    __m256i,
    "avx2",
    _mm256_set1_epi32,
    _mm256_loadu_si256,
    _mm256_storeu_si256,
    _mm256_add_epi32,
    _mm256_sub_epi32,
    _mm256_mullo_epi32,
    _mm256_and_si256,
    _mm256_or_si256,
    _mm256_xor_si256,
    _mm256_srl_epi32,
    _mm256_sll_epi32,
    _mm256_srlv_epi32,
    _mm256_sllv_epi32,
    transpose_eight
);

isa!(
    Avx512,
    16,
    __m512i,
    "avx512f,avx512bw,avx512dq,avx512vl",
    _mm512_set1_epi32,
    _mm512_loadu_si512,
    _mm512_storeu_si512,
    _mm512_add_epi32,
    _mm512_sub_epi32,
    _mm512_mullo_epi32,
    _mm512_and_si512,
    _mm512_or_si512,
    _mm512_xor_si512,
    _mm512_srl_epi32,
    _mm512_sll_epi32,
    _mm512_srlv_epi32,
    _mm512_sllv_epi32,
    transpose_sixteen
);

/// A piece in each half.
///
/// # Safety
/// The machine must have AVX2.
#[inline(always)]
unsafe fn beside(low: &Piece, high: &Piece) -> __m256i {
    // SAFETY: the instructions are there; 16 bytes lie behind each reference, anywhere.
    unsafe {
        let (low, high) = (low.as_ptr().cast(), high.as_ptr().cast());
        _mm256_set_m128i(_mm_loadu_si128(high), _mm_loadu_si128(low))
    }
}

/// Two squares of four by four words, turned in two steps: by words, and by pairs.
///
/// # Safety
/// The machine must have AVX2.
#[inline(always)]
unsafe fn transpose_eight([a, b, c, d, e, f, g, h]: [&Piece; 8]) -> [__m256i; 4] {
    // SAFETY: the instructions are there.
    unsafe {
        let (a, b, c, d) = (beside(a, e), beside(b, f), beside(c, g), beside(d, h));
        let (low_ab, high_ab) = (_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b));
        let (low_cd, high_cd) = (_mm256_unpacklo_epi32(c, d), _mm256_unpackhi_epi32(c, d));
        [
            _mm256_unpacklo_epi64(low_ab, low_cd),
            _mm256_unpackhi_epi64(low_ab, low_cd),
            _mm256_unpacklo_epi64(high_ab, high_cd),
            _mm256_unpackhi_epi64(high_ab, high_cd),
        ]
    }
}

/// Eight pieces in each half.
///
/// # Safety
/// The machine must have AVX-512.
#[inline(always)]
unsafe fn transpose_sixteen(
    [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p]: [&Piece; 16],
) -> [__m512i; 4] {
    // SAFETY: the instructions are there, and AVX2 is with them.
    unsafe {
        let [a, b, c, d] = transpose_eight([a, b, c, d, e, f, g, h]);
        let [i, j, k, l] = transpose_eight([i, j, k, l, m, n, o, p]);
        let [a, b] = [_mm512_castsi256_si512(a), _mm512_castsi256_si512(b)];
        let [c, d] = [_mm512_castsi256_si512(c), _mm512_castsi256_si512(d)];
        [
            _mm512_inserti64x4::<1>(a, i),
            _mm512_inserti64x4::<1>(b, j),
            _mm512_inserti64x4::<1>(c, k),
            _mm512_inserti64x4::<1>(d, l),
        ]
    }
}
