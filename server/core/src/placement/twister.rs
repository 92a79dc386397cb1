//! Mersenne twister draws, bit for bit as other languages' standard libraries make them.
//!
//! The generator is MT19937 (Matsumoto and Nishimura, *ACM TOMACS* 8(1), 1998),
//! from the crate `rand_mt`; what differs between languages is how an integer
//! becomes a seed and how 32-bit words become a number below a limit. The
//! vectors under `tests/vectors/` were made by the languages themselves.

use core::convert::Infallible;
use core::num::NonZeroU64;

use rand_mt::Mt;

use crate::ids::Integer;

/// Profile of a twister: maps an ID to a seed, and words to a number below a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Profile {
    /// Ruby 3.2 and later, and 2.7 and earlier: `Random.new(id).rand(limit)`.
    #[default]
    Ruby,
    /// Ruby 3.0 and 3.1, which seed magnitudes in [2^32, 2^33) with one word.
    Ruby30To31,
    /// CPython 3.2 and later: `random.Random(id).randrange(limit)`.
    Python,
    /// PHP 8.2 and later: `mt_srand(id mod 2^32); mt_rand(0, limit - 1)`. PHP 7.2 to 8.1 draw the
    /// same for limits up to 2^32; above, they take the high word first.
    Php,
}

impl Profile {
    /// The name in canonical texts and refusals.
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
///
/// ```
/// use core::num::NonZeroU64;
/// use offbeat_core::{Integer, Profile, Twister};
///
/// // Python: random.Random(42).randrange(100)
/// let limit = NonZeroU64::new(100).unwrap();
/// assert_eq!(Twister::new(Profile::Python, Integer::from(42_i64)).below(limit), 81);
/// ```
#[derive(Debug)]
pub struct Twister {
    mt: Mt,
    profile: Profile,
}

/// Words of the longest key: 128 bits. (`rand_mt` is right up to 624.)
pub(crate) const MAX_WORDS: usize = 4;

impl Twister {
    /// The generator of `profile`, seeded with `seed`.
    #[must_use]
    pub fn new(profile: Profile, seed: Integer) -> Self {
        Self::of_key(profile, profile.key(seed))
    }

    pub(crate) fn of_key(profile: Profile, key: Key) -> Self {
        let mt = match key {
            Key::Word(word) => Mt::new(word),
            Key::Array(words) => Mt::new_with_key(words),
        };
        Self { mt, profile }
    }

    /// A number below `limit`, as the profile's language draws it.
    pub fn below(&mut self, limit: NonZeroU64) -> u64 {
        match self.profile.below(limit, || Ok::<_, Infallible>(self.mt.next_u32())) {
            Ok(value) => value,
        }
    }

    /// A double in [0, 1) of 53 bits: Ruby's `rand` and Python's `random()`.
    pub fn unit(&mut self) -> f64 {
        let high = f64::from(self.mt.next_u32() >> 5);
        let low = f64::from(self.mt.next_u32() >> 6);
        (high * 67_108_864.0 + low) / 9_007_199_254_740_992.0
    }
}

/// The seed of a twister.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Key {
    /// One word, for `init_genrand`.
    Word(u32),
    /// Words for `init_by_array`.
    Array(Words),
}

impl Key {
    /// All words, zeros behind the last.
    #[inline]
    pub(crate) const fn words(self) -> [u32; MAX_WORDS] {
        match self {
            Self::Word(word) => [word, 0, 0, 0],
            Self::Array(words) => words.words(),
        }
    }

    /// How long the array is; 0 for one word.
    #[inline]
    pub(crate) const fn array_len(self) -> usize {
        match self {
            Self::Word(_) => 0,
            Self::Array(words) => words.len,
        }
    }
}

impl Profile {
    /// How the profile's language turns an integer into a key.
    #[inline]
    pub(crate) fn key(self, seed: Integer) -> Key {
        match self {
            Self::Php => Key::Word(low_word(u128::from(seed.rem_euclid(1 << 32)))),
            Self::Python => Key::Array(Words::of(seed)),
            Self::Ruby if seed.magnitude() >> 32 == 0 => Key::Word(low_word(seed.magnitude())),
            Self::Ruby => Key::Array(Words::guarded(seed)),
            Self::Ruby30To31 => match Words::guarded(seed) {
                words if words.len == 1 => Key::Word(words.first()),
                words => Key::Array(words),
            },
        }
    }

    /// A number below `limit`, made by the profile's language from the words that `draw` yields.
    pub(crate) fn below<E>(
        self,
        limit: NonZeroU64,
        draw: impl FnMut() -> Result<u32, E>,
    ) -> Result<u64, E> {
        match self {
            Self::Ruby | Self::Ruby30To31 => ruby_below(limit.get(), draw),
            Self::Python => python_below(limit.get(), draw),
            Self::Php => php_below(limit.get(), draw),
        }
    }
}

/// Masks to the bits of the largest value and draws again when above it. Of two words, the high one
/// comes first; if it alone is above, the low one is not drawn.
fn ruby_below<E>(limit: u64, mut draw: impl FnMut() -> Result<u32, E>) -> Result<u64, E> {
    let largest = limit - 1;
    if largest == 0 {
        return Ok(0); // without a draw
    }
    let mask = u64::MAX >> largest.leading_zeros();
    loop {
        let mut value = 0;
        if mask > u64::from(u32::MAX) {
            value = (u64::from(draw()?) << 32) & mask;
            if value > largest {
                continue;
            }
        }
        value = (value | u64::from(draw()?)) & mask;
        if value <= largest {
            return Ok(value);
        }
    }
}

/// Takes the top bits of each word, low word first, and draws again at the limit or above.
fn python_below<E>(limit: u64, mut draw: impl FnMut() -> Result<u32, E>) -> Result<u64, E> {
    let bits = u64::BITS - limit.leading_zeros(); // of the limit, not of the largest value
    loop {
        let value = if bits <= 32 {
            u64::from(draw()? >> (32 - bits))
        } else {
            let low = u64::from(draw()?);
            u64::from(draw()? >> (64 - bits)) << 32 | low
        };
        if value < limit {
            return Ok(value);
        }
    }
}

/// Low bits for a power of two, else the remainder of a draw below the
/// largest multiple; ranges above 2^32 take two words, low word first.
fn php_below<E>(limit: u64, mut draw: impl FnMut() -> Result<u32, E>) -> Result<u64, E> {
    let wide = limit > 1 << 32;
    let mut draw = || {
        let low = u64::from(draw()?);
        if wide { Ok(u64::from(draw()?) << 32 | low) } else { Ok(low) }
    };
    if limit.is_power_of_two() {
        return Ok(draw()? & (limit - 1));
    }
    let umax = if wide { u64::MAX } else { u64::from(u32::MAX) };
    let ceiling = umax - umax % limit - 1;
    loop {
        let value = draw()?;
        if value <= ceiling {
            return Ok(value % limit);
        }
    }
}

/// The 32-bit words of a magnitude, least significant first, at least one; an iterator over them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Words {
    rest: u128,
    len: usize,
}

impl Words {
    /// The sign is dropped, as Ruby and Python do.
    #[inline]
    const fn of(seed: Integer) -> Self {
        Self::up_to_top_above(0, seed)
    }

    /// Ruby drops a top word of 1, which it uses itself to keep leading zeros.
    #[inline]
    const fn guarded(seed: Integer) -> Self {
        Self::up_to_top_above(1, seed)
    }

    /// The words of the magnitude, without a top word that is not above `least`; at least one.
    /// Without a branch, since the kernels call it for many.
    #[inline]
    const fn up_to_top_above(least: u128, seed: Integer) -> Self {
        let rest = seed.magnitude();
        let (two, three, four) = (rest >> 32 > least, rest >> 64 > least, rest >> 96 > least);
        Self { rest, len: 1 + two as usize + three as usize + four as usize }
    }

    /// A key of the first `len` of `words`.
    pub(crate) fn from_words(words: [u32; MAX_WORDS], len: usize) -> Self {
        let rest = words.iter().rev().fold(0, |rest, word| rest << 32 | u128::from(*word));
        Self { rest, len }
    }

    /// All words, zeros behind the last.
    #[inline]
    pub(crate) const fn words(self) -> [u32; MAX_WORDS] {
        let rest = self.rest;
        [low_word(rest), low_word(rest >> 32), low_word(rest >> 64), low_word(rest >> 96)]
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
