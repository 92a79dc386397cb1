//! Draws below a limit in all lanes at once.

use core::num::NonZeroU64;

use crate::twister::Profile;

/// How words become numbers below a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rule {
    /// There is nothing to draw: 0.
    Zero,
    /// Of one word.
    OneWord(OneWord),
    /// Of two words; decided lane by lane.
    TwoWords,
}

/// A number from one word: the next word is taken as long as it is above the largest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct OneWord {
    shift: u32,
    mask: u32,
    pub(super) largest: u32,
    /// The number is the remainder of a division by it.
    divisor: Option<NonZeroU64>,
}

impl Rule {
    /// The rule of [`Profile::below`](crate::twister::Profile) for this limit.
    #[expect(clippy::cast_possible_truncation, reason = "limits that fit one word")]
    pub(super) fn new(profile: Profile, limit: NonZeroU64) -> Self {
        let divisor = limit;
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
                let ceiling = u32::MAX - u32::MAX % limit as u32 - 1;
                Self::OneWord(OneWord { largest: ceiling, divisor: Some(divisor), ..whole })
            }
        }
    }
}

impl OneWord {
    #[inline(always)]
    pub(super) const fn candidate(self, word: u32) -> u32 {
        (word >> self.shift) & self.mask
    }

    /// The number that a candidate not above the largest stands for.
    #[inline(always)]
    pub(super) fn number(self, candidate: u32) -> u64 {
        match self.divisor {
            Some(divisor) => u64::from(candidate) % divisor,
            None => u64::from(candidate),
        }
    }
}
