//! Numbers as characters, in lanes: four to a word, the first in its lowest byte.

use super::isa::{Isa, Piece, Row, Task};

/// Rows of a UUID's text: 36 characters, and what ends a message.
pub(super) const UUID_ROWS: usize = 10;
/// Four digits each, of the 20 that 64 bits may need.
pub(super) const GROUPS: usize = 5;
/// Rows of an integer's text: its digits, and what ends a message.
pub(super) const INTEGER_ROWS: usize = GROUPS + 1;
/// What follows the text, in the byte behind it (RFC 1321, 3.1).
pub(super) const END: u32 = 0x80;
/// The character 0, four times.
const ZEROS: u32 = 0x3030_3030;

/// Moves texts up by some bits, and what is before them into the gap.
pub(super) struct Join<'a, const L: usize, const K: usize> {
    pub(super) before: u32,
    pub(super) texts: &'a [Row<L, K>],
    /// Less than 32.
    pub(super) shift: u32,
    pub(super) rows: &'a mut [Row<L, K>],
}

impl<const L: usize, const K: usize> Task<L> for Join<'_, L, K> {
    #[inline(always)]
    fn run<I: Isa<L>>(self, isa: I) {
        let Self { before, texts, shift, rows } = self;
        let mut before = [isa.splat(before); K];
        for (text, row) in texts.iter().zip(rows) {
            for ((text, row), before) in text.iter().zip(row).zip(&mut before) {
                let word = isa.load(text);
                // In two steps: by 32 at once is not defined.
                let rest = isa.shift_right(isa.shift_right(*before, 31 - shift), 1);
                isa.store(isa.or(rest, isa.shift_left(word, shift)), row);
                *before = word;
            }
        }
    }
}

/// Writes UUIDs as their canonical text.
pub(super) struct Hyphenated<'a, const L: usize, const K: usize> {
    /// The lowest byte first.
    pub(super) uuids: &'a [[Piece; L]; K],
    pub(super) texts: &'a mut [Row<L, K>; UUID_ROWS - 1],
}

impl<const L: usize, const K: usize> Task<L> for Hyphenated<'_, L, K> {
    #[inline(always)]
    fn run<I: Isa<L>>(self, isa: I) {
        let Self { uuids, texts } = self;
        let [hyphen, second, third, last] =
            [0, 8, 16, 24].map(|by| isa.splat(u32::from(b'-') << by));
        for (vector, uuids) in uuids.iter().enumerate() {
            let [gh, ef, cd, ab] = isa.transpose(uuids.each_ref());
            let ([a, b], [c, d]) = (hexadecimal(isa, ab), hexadecimal(isa, cd));
            let ([e, f], [g, h]) = (hexadecimal(isa, ef), hexadecimal(isa, gh));
            let c_d = isa.or(isa.or(isa.shift_right(c, 24), second), isa.shift_left(d, 16));
            let d_e = isa.or(isa.or(isa.shift_right(d, 16), third), isa.shift_left(e, 24));
            let (c, e) = (isa.shift_left(c, 8), isa.shift_right(e, 8));
            let text = [a, b, isa.or(hyphen, c), c_d, d_e, isa.or(e, last), f, g, h];
            store(isa, text, texts, vector);
        }
    }
}

/// Writes integers as their canonical text, with what ends a message, and how many bits it has.
pub(super) struct Decimal<'a, const L: usize, const K: usize> {
    /// Their digits as numbers, the highest first: four, eight and eight.
    pub(super) integers: &'a [[Piece; L]; K],
    /// So many groups of four digits each of them needs.
    pub(super) groups: usize,
    /// Bits of a message with all digits of the groups.
    pub(super) bits: u32,
    pub(super) texts: &'a mut [Row<L, K>; INTEGER_ROWS],
    pub(super) length: &'a mut Row<L, K>,
}

impl<const L: usize, const K: usize> Task<L> for Decimal<'_, L, K> {
    #[inline(always)]
    fn run<I: Isa<L>>(self, isa: I) {
        let Self { integers, groups, bits, texts, length } = self;
        for (vector, (integers, length)) in integers.iter().zip(length).enumerate() {
            let [first, middle, last, _] = isa.transpose(integers.each_ref());
            let ([b, c], [d, e]) = (fours(isa, middle), fours(isa, last));
            let numbers = [first, b, c, d, e];
            let numbers = numbers.get(GROUPS - groups..).unwrap_or_default();
            let mut text = [isa.splat(0); INTEGER_ROWS];
            let mut words = text.iter_mut();
            for (number, word) in numbers.iter().zip(&mut words) {
                *word = decimal(isa, *number);
            }
            if let Some(word) = words.next() {
                *word = isa.splat(END);
            }
            // The digits move to the front, over the zeros.
            let zeros = numbers.first().map_or(isa.splat(0), |first| zeros(isa, *first));
            let zeros = isa.shift_left(zeros, 3);
            store(isa, moved(isa, text, zeros), texts, vector);
            isa.store(isa.subtract(isa.splat(bits), zeros), length);
        }
    }
}

#[inline(always)]
fn store<I: Isa<L>, const L: usize, const K: usize, const N: usize>(
    isa: I,
    text: [I::Vector; N],
    rows: &mut [Row<L, K>; N],
    vector: usize,
) {
    for (word, row) in text.into_iter().zip(rows) {
        if let Some(words) = row.get_mut(vector) {
            isa.store(word, words);
        }
    }
}

#[inline(always)]
fn masked<I: Isa<L>, const L: usize>(isa: I, words: I::Vector, mask: u32) -> I::Vector {
    isa.and(words, isa.splat(mask))
}

/// The hexadecimal digits of words, four of each half.
#[inline(always)]
fn hexadecimal<I: Isa<L>, const L: usize>(isa: I, words: I::Vector) -> [I::Vector; 2] {
    let high = [
        isa.shift_right(words, 28),
        masked(isa, isa.shift_right(words, 16), 0xf00),
        masked(isa, isa.shift_right(words, 4), 0xf_0000),
        masked(isa, isa.shift_left(words, 8), 0xf00_0000),
    ];
    let low = [
        masked(isa, isa.shift_right(words, 12), 0xf),
        masked(isa, words, 0xf00),
        masked(isa, isa.shift_left(words, 12), 0xf_0000),
        masked(isa, isa.shift_left(words, 24), 0xf00_0000),
    ];
    [letters(isa, high), letters(isa, low)]
}

/// Of digits, each in a byte of its own.
#[inline(always)]
fn letters<I: Isa<L>, const L: usize>(isa: I, [a, b, c, d]: [I::Vector; 4]) -> I::Vector {
    let digits = isa.or(isa.or(a, b), isa.or(c, d));
    let over_nine = isa.shift_right(isa.add(digits, isa.splat(0x0606_0606)), 4);
    let over_nine = masked(isa, over_nine, 0x0101_0101);
    let gap = isa.multiply(over_nine, isa.splat(u32::from(b'a' - b'9' - 1)));
    isa.add(isa.add(digits, isa.splat(ZEROS)), gap)
}

/// The first four and the last four of eight decimal digits, as numbers.
#[inline(always)]
fn fours<I: Isa<L>, const L: usize>(isa: I, eights: I::Vector) -> [I::Vector; 2] {
    // 512/625 · 2^17, rounded down. Products have to fit a lane: the last 13 bits cannot count, and
    // the quotient is right, or one too small.
    const INVERSE: u32 = 107_374;
    let quotient = isa.multiply(isa.shift_right(eights, 13), isa.splat(INVERSE));
    let quotient = isa.shift_right(quotient, 17);
    let rest = isa.subtract(eights, isa.multiply(quotient, isa.splat(10_000)));
    let over = isa.shift_right(isa.subtract(isa.splat(9_999), rest), 31);
    let rest = isa.subtract(rest, isa.multiply(over, isa.splat(10_000)));
    [isa.add(quotient, over), rest]
}

/// How many of four digits are zeros in front of a number; the last one is not, even of 0.
#[inline(always)]
fn zeros<I: Isa<L>, const L: usize>(isa: I, numbers: I::Vector) -> I::Vector {
    let below = |power| isa.shift_right(isa.subtract(numbers, isa.splat(power)), 31);
    isa.add(isa.add(below(10), below(100)), below(1_000))
}

/// The four decimal digits of numbers below 10^4.
#[inline(always)]
fn decimal<I: Isa<L>, const L: usize>(isa: I, numbers: I::Vector) -> I::Vector {
    // Each step halves the lanes. Quotients by 100 and by 10 are products with their rounded-up
    // inverses.
    let hundreds = isa.shift_right(isa.multiply(numbers, isa.splat(10_486)), 20);
    let rest = isa.subtract(numbers, isa.multiply(hundreds, isa.splat(100)));
    let twos = isa.or(hundreds, isa.shift_left(rest, 16));
    let tens = isa.shift_right(isa.multiply(twos, isa.splat(103)), 10);
    let tens = masked(isa, tens, 0x000f_000f);
    let rest = isa.subtract(twos, isa.multiply(tens, isa.splat(10)));
    isa.add(isa.or(tens, isa.shift_left(rest, 8)), isa.splat(ZEROS))
}

/// Texts, moved to the front by so many bits: less than a word has.
#[inline(always)]
fn moved<I: Isa<L>, const L: usize>(
    isa: I,
    text: [I::Vector; INTEGER_ROWS],
    by: I::Vector,
) -> [I::Vector; INTEGER_ROWS] {
    let mut moved = text;
    let next = text.into_iter().skip(1).chain([isa.splat(0)]);
    let rest = isa.subtract(isa.splat(32), by);
    for (word, next) in moved.iter_mut().zip(next) {
        *word = isa.or(isa.shift_right_each(*word, by), isa.shift_left_each(next, rest));
    }
    moved
}
