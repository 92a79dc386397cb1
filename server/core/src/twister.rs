//! Mersenne twister draws, bit for bit as other languages' standard libraries make them.
//!
//! The generator is MT19937 (Matsumoto and Nishimura, *ACM TOMACS* 8(1), 1998),
//! from the crate `rand_mt`; what differs between languages is how an integer
//! becomes a seed and how 32-bit words become a number below a limit. The
//! vectors under `tests/vectors/` were made by the languages themselves.

use core::num::NonZeroU64;

use rand_mt::Mt;

use crate::id::Integer;

/// Whose twister: how an ID becomes a seed, and words a number below a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Profile {
    /// Ruby 3.2 and later, and 2.7 and earlier: `Random.new(id).rand(limit)`.
    #[default]
    Ruby,
    /// Ruby 3.0 and 3.1, which seed magnitudes in [2^32, 2^33) with one word.
    Ruby30To31,
    /// CPython 3.2 and later: `random.Random(id).randrange(limit)`.
    Python,
    /// PHP 8.2 and later: `mt_srand(id mod 2^32); mt_rand(0, limit - 1)`. From 7.2 on the
    /// same for limits up to 2^32; above, the high word came first.
    Php,
}

impl Profile {
    /// The name in canonical texts, the same as in the protobuf.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ruby => "RUBY",
            Self::Ruby30To31 => "RUBY_3_0_TO_3_1",
            Self::Python => "PYTHON",
            Self::Php => "PHP",
        }
    }
}

/// A Mersenne twister seeded with an ID.
#[derive(Debug)]
pub struct Twister {
    mt: Mt,
    profile: Profile,
}

/// Words of the longest key: 128 bits. (`rand_mt` is right up to 624.)
const MAX_WORDS: usize = 4;

impl Twister {
    /// The generator of `profile`, seeded with `seed`.
    #[must_use]
    pub fn new(profile: Profile, seed: Integer) -> Self {
        let mt = match profile {
            Profile::Php => Mt::new(low_word(u128::from(seed.rem_euclid(1 << 32)))),
            Profile::Python => Mt::new_with_key(Words::of(seed)),
            Profile::Ruby => {
                let words = Words::of(seed);
                if words.len == 1 {
                    Mt::new(words.first())
                } else {
                    Mt::new_with_key(words.guarded())
                }
            }
            Profile::Ruby30To31 => {
                let words = Words::of(seed).guarded();
                if words.len == 1 { Mt::new(words.first()) } else { Mt::new_with_key(words) }
            }
        };
        Self { mt, profile }
    }

    /// A number below `limit`, as the profile's language draws it.
    pub fn below(&mut self, limit: NonZeroU64) -> u64 {
        match self.profile {
            Profile::Ruby | Profile::Ruby30To31 => self.ruby_below(limit.get()),
            Profile::Python => self.python_below(limit.get()),
            Profile::Php => self.php_below(limit.get()),
        }
    }

    /// A double in [0, 1) of 53 bits: Ruby's `rand` and Python's `random()`.
    pub fn unit(&mut self) -> f64 {
        let high = f64::from(self.mt.next_u32() >> 5);
        let low = f64::from(self.mt.next_u32() >> 6);
        (high * 67_108_864.0 + low) / 9_007_199_254_740_992.0
    }

    /// Masks to the bits of the largest value and draws again when above it;
    /// of two words the high one comes first, and a prefix above stops at once.
    fn ruby_below(&mut self, limit: u64) -> u64 {
        let largest = limit - 1;
        if largest == 0 {
            return 0; // without a draw
        }
        let mask = u64::MAX >> largest.leading_zeros();
        loop {
            let mut value = 0;
            if mask > u64::from(u32::MAX) {
                value = (u64::from(self.mt.next_u32()) << 32) & mask;
                if value > largest {
                    continue;
                }
            }
            value = (value | u64::from(self.mt.next_u32())) & mask;
            if value <= largest {
                return value;
            }
        }
    }

    /// Takes the top bits of each word, low word first, and draws again at the limit or above.
    fn python_below(&mut self, limit: u64) -> u64 {
        let bits = u64::BITS - limit.leading_zeros(); // of the limit, not of the largest value
        loop {
            let value = if bits <= 32 {
                u64::from(self.mt.next_u32() >> (32 - bits))
            } else {
                let low = u64::from(self.mt.next_u32());
                u64::from(self.mt.next_u32() >> (64 - bits)) << 32 | low
            };
            if value < limit {
                return value;
            }
        }
    }

    /// Low bits for a power of two, else the remainder of a draw below the
    /// largest multiple; ranges above 2^32 take two words, low word first.
    fn php_below(&mut self, limit: u64) -> u64 {
        let wide = limit > 1 << 32;
        let mut draw = || {
            let low = u64::from(self.mt.next_u32());
            if wide { u64::from(self.mt.next_u32()) << 32 | low } else { low }
        };
        if limit.is_power_of_two() {
            return draw() & (limit - 1);
        }
        let umax = if wide { u64::MAX } else { u64::from(u32::MAX) };
        let ceiling = umax - umax % limit - 1;
        loop {
            let value = draw();
            if value <= ceiling {
                return value % limit;
            }
        }
    }
}

/// The 32-bit words of a magnitude, least significant first, at least one; an iterator over them.
#[derive(Debug, Clone, Copy)]
struct Words {
    rest: u128,
    len: usize,
}

impl Words {
    /// The sign is dropped, as Ruby and Python do.
    fn of(seed: Integer) -> Self {
        let rest = seed.magnitude();
        let bits = u128::BITS - rest.leading_zeros();
        let len = (bits.div_ceil(32) as usize).clamp(1, MAX_WORDS);
        Self { rest, len }
    }

    /// Ruby drops a top word of 1, which it uses itself to keep leading zeros.
    fn guarded(self) -> Self {
        let top = self.rest >> (32 * (self.len - 1));
        if self.len > 1 && top == 1 { Self { len: self.len - 1, ..self } } else { self }
    }

    const fn first(self) -> u32 {
        low_word(self.rest)
    }
}

impl Iterator for Words {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        self.len = self.len.checked_sub(1)?;
        let word = self.first();
        self.rest >>= 32;
        Some(word)
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the low word is what is asked for")]
const fn low_word(value: u128) -> u32 {
    value as u32
}
