//! Draws below a limit in all lanes at once.

use core::num::NonZeroU64;

use crate::placement::Profile;

/// How words become numbers below a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rule {
    /// There is nothing to draw: 0.
    Zero,
    /// A number of one word.
    OneWord(OneWord),
    /// A number of two words, decided lane by lane.
    TwoWords,
}

/// A number from one word. As long as the candidate is above the largest, the next word is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct OneWord {
    shift: u32,
    mask: u32,
    pub(super) largest: u32,
    /// If set, the number is the remainder of the candidate by it.
    divisor: Option<Divisor>,
}

/// Divides words by multiplying twice: Lemire, Kaser and Kurz, "Faster remainder by direct
/// computation", *Software: Practice and Experience* 49(6), 2019; exact for all words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Divisor {
    divisor: u32,
    /// 2^64 over the divisor, rounded up.
    inverse: u64,
}

impl Divisor {
    /// The divisor must be at least 2.
    const fn new(divisor: u32) -> Self {
        Self { divisor, inverse: (u64::MAX / divisor as u64).wrapping_add(1) }
    }

    #[inline(always)]
    fn remainder(self, word: u32) -> u64 {
        let fraction = self.inverse.wrapping_mul(u64::from(word));
        let remainder = (u128::from(fraction) * u128::from(self.divisor)) >> 64;
        remainder as u64 // less than the divisor
    }
}

impl Rule {
    /// The rule of [`Profile::below`](crate::placement::Profile) for this limit.
    #[expect(clippy::cast_possible_truncation, reason = "limits that fit one word")]
    pub(super) fn new(profile: Profile, limit: NonZeroU64) -> Self {
        let limit = limit.get();
        let largest = limit - 1;
        if largest > u64::from(u32::MAX) {
            return Self::TwoWords;
        }
        let largest = largest as u32;
        let whole = OneWord { shift: 0, mask: u32::MAX, largest, divisor: None };
        match profile {
            Profile::Ruby | Profile::Ruby30To31 if largest == 0 => Self::Zero,
            Profile::Ruby | Profile::Ruby30To31 => {
                Self::OneWord(OneWord { mask: u32::MAX >> largest.leading_zeros(), ..whole })
            }
            Profile::Python if largest == u32::MAX => Self::TwoWords,
            Profile::Python => {
                Self::OneWord(OneWord { shift: (limit as u32).leading_zeros(), ..whole })
            }
            Profile::Php if limit.is_power_of_two() => {
                Self::OneWord(OneWord { mask: largest, ..whole })
            }
            Profile::Php => {
                let limit = limit as u32; // 2^32 is a power of two
                let largest = u32::MAX - u32::MAX % limit - 1;
                Self::OneWord(OneWord { largest, divisor: Some(Divisor::new(limit)), ..whole })
            }
        }
    }
}

impl OneWord {
    #[inline(always)]
    pub(super) const fn candidate(self, word: u32) -> u32 {
        (word >> self.shift) & self.mask
    }

    /// The numbers of candidates, which must not be above the largest.
    pub(super) fn numbers(self, candidates: &[u32], numbers: &mut [u64]) {
        let both = numbers.iter_mut().zip(candidates);
        match self.divisor {
            Some(divisor) => {
                both.for_each(|(number, candidate)| *number = divisor.remainder(*candidate));
            }
            None => both.for_each(|(number, candidate)| *number = u64::from(*candidate)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remainders_are_those_of_a_division() {
        let around = |word: u32| [word.wrapping_sub(1), word, word.wrapping_add(1)];
        let powers = || (0..32).flat_map(|power| around(1 << power));
        let odd = [3, 7, 28_800, 86_399, 6_700_417, 0x5555_5555, 0xaaaa_aaab, u32::MAX - 4];
        for divisor in powers().chain(odd).filter(|divisor| *divisor > 1) {
            let multiples = [1, 2, 3, u32::MAX / divisor - 1, u32::MAX / divisor];
            let multiples = multiples.map(|times| around(times.wrapping_mul(divisor)));
            for word in powers().chain(odd).chain(multiples.into_iter().flatten()) {
                let remainder = Divisor::new(divisor).remainder(word);
                assert_eq!(remainder, u64::from(word % divisor), "{word} over {divisor}");
            }
        }
    }
}
