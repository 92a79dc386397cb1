//! The vectors of x86: AVX2 and AVX-512.

#![expect(unsafe_code, reason = "vector instructions, on machines where they were detected")]

use core::arch::x86_64::*;

use super::isa::{Isa, Task};

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
        $shift_right:ident, $shift_left:ident
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

            #[inline(always)]
            fn shift_right(self, vector: $vector, by: u32) -> $vector {
                isa!(@shift $shift_right, by, vector)
            }

            #[inline(always)]
            fn shift_left(self, vector: $vector, by: u32) -> $vector {
                isa!(@shift $shift_left, by, vector)
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
    _mm256_sll_epi32
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
    _mm512_sll_epi32
);
