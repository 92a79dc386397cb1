//! Numbers as characters, in lanes: four to a word, the first in its lowest byte.

use fearless_simd::prelude::*;
use fearless_simd::u32x16;

use super::lanes::{LANES, Piece, load, transpose};
use super::md5::{K, Row};

/// Rows of a UUID's text: 36 characters and the byte that ends a message.
pub(super) const UUID_ROWS: usize = 10;
/// Groups of four digits, for the 20 digits that 64 bits may need.
pub(super) const GROUPS: usize = 5;
/// Rows of an integer's text: its digits and the byte that ends a message.
pub(super) const INTEGER_ROWS: usize = GROUPS + 1;
/// The padding byte right after the text (RFC 1321, 3.1).
pub(super) const END: u32 = 0x80;
/// The character 0, four times.
const ZEROS: u32 = 0x3030_3030;

/// Moves texts up by `shift` bits (less than 32), and the bytes before them into the gap.
#[inline(always)]
pub(super) fn join<S: Simd>(simd: S, before: u32, texts: &[Row], shift: u32, rows: &mut [Row]) {
    let mut before = [u32x16::splat(simd, before); K];
    for (text, row) in texts.iter().zip(rows) {
        for ((text, row), before) in text.iter().zip(row).zip(&mut before) {
            let word = load(simd, text);
            // In two steps: a shift by 32 is not defined.
            let rest = (*before >> (31 - shift)) >> 1;
            (rest | word << shift).store_array(row);
            *before = word;
        }
    }
}

/// Writes UUIDs, the lowest byte first, as their canonical text.
#[inline(always)]
pub(super) fn hyphenated<S: Simd>(
    simd: S,
    uuids: &[[Piece; LANES]; K],
    texts: &mut [Row; UUID_ROWS - 1],
) {
    let [hyphen, second, third, last] = [0, 8, 16, 24].map(|by| u32::from(b'-') << by);
    for (vector, uuids) in uuids.iter().enumerate() {
        let [gh, ef, cd, ab] = transpose(simd, uuids.each_ref());
        let ([a, b], [c, d]) = (hexadecimal(ab), hexadecimal(cd));
        let ([e, f], [g, h]) = (hexadecimal(ef), hexadecimal(gh));
        let c_d = c >> 24 | second | d << 16;
        let d_e = d >> 16 | third | e << 24;
        store([a, b, c << 8 | hyphen, c_d, d_e, e >> 8 | last, f, g, h], texts, vector);
    }
}

/// Source of the decimal text of integers.
pub(super) struct Decimals<'a> {
    /// Their digits as numbers, the highest first: four, eight and eight.
    pub(super) integers: &'a [[Piece; LANES]; K],
    /// Groups of four digits that each integer needs.
    pub(super) groups: usize,
    /// Bits of a message with all digits of the groups.
    pub(super) bits: u32,
}

/// Writes integers as their canonical text, with the byte that ends a message, and the length of
/// each message in bits.
#[inline(always)]
pub(super) fn decimal<S: Simd>(
    simd: S,
    Decimals { integers, groups, bits }: Decimals<'_>,
    texts: &mut [Row; INTEGER_ROWS],
    length: &mut Row,
) {
    for (vector, (integers, length)) in integers.iter().zip(length).enumerate() {
        let [first, middle, last, _] = transpose(simd, integers.each_ref());
        let ([b, c], [d, e]) = (fours(middle), fours(last));
        let numbers = [first, b, c, d, e];
        let numbers = numbers.get(GROUPS - groups..).unwrap_or_default();
        let zero = u32x16::splat(simd, 0);
        let mut text = [zero; INTEGER_ROWS];
        let mut words = text.iter_mut();
        for (number, word) in numbers.iter().zip(&mut words) {
            *word = four_digits(*number);
        }
        if let Some(word) = words.next() {
            *word = u32x16::splat(simd, END);
        }
        // The digits move to the front, over the zeros.
        let zeros = numbers.first().map_or(zero, |first| zeros(*first)) << 3;
        store(moved(text, zeros), texts, vector);
        (bits - zeros).store_array(length);
    }
}

#[inline(always)]
fn store<S: Simd, const N: usize>(text: [u32x16<S>; N], rows: &mut [Row; N], vector: usize) {
    for (word, row) in text.into_iter().zip(rows) {
        if let Some(words) = row.get_mut(vector) {
            word.store_array(words);
        }
    }
}

/// The hexadecimal digits of words, four of each half.
#[inline(always)]
fn hexadecimal<S: Simd>(words: u32x16<S>) -> [u32x16<S>; 2] {
    let high = words >> 28 | words >> 16 & 0xf00 | words >> 4 & 0xf_0000 | words << 8 & 0xf00_0000;
    let low = words >> 12 & 0xf | words & 0xf00 | words << 12 & 0xf_0000 | words << 24 & 0xf00_0000;
    [letters(high), letters(low)]
}

/// The characters of hexadecimal digits, each in a byte of its own.
#[inline(always)]
fn letters<S: Simd>(digits: u32x16<S>) -> u32x16<S> {
    let over_nine = (digits + 0x0606_0606) >> 4 & 0x0101_0101;
    digits + ZEROS + over_nine * u32::from(b'a' - b'9' - 1)
}

/// The first four and the last four of eight decimal digits, as numbers.
#[inline(always)]
fn fours<S: Simd>(eights: u32x16<S>) -> [u32x16<S>; 2] {
    // 512/625 · 2^17, rounded down. Products must fit a lane: the last 13 bits are dropped, so the
    // quotient is exact or one too small.
    const INVERSE: u32 = 107_374;
    let quotient = ((eights >> 13) * INVERSE) >> 17;
    let rest = eights - quotient * 10_000;
    let over = (9_999 - rest) >> 31;
    [quotient + over, rest - over * 10_000]
}

/// How many zeros lead numbers of four digits. The last digit never counts as one.
#[inline(always)]
fn zeros<S: Simd>(numbers: u32x16<S>) -> u32x16<S> {
    let below = |power| (numbers - power) >> 31;
    below(10) + below(100) + below(1_000)
}

/// The four decimal digits of numbers below 10^4.
#[inline(always)]
fn four_digits<S: Simd>(numbers: u32x16<S>) -> u32x16<S> {
    // Each step halves the lanes. Quotients by 100 and by 10 are products with their rounded-up
    // inverses.
    let hundreds = (numbers * 10_486) >> 20;
    let twos = hundreds | (numbers - hundreds * 100) << 16;
    let tens = (twos * 103) >> 10 & 0x000f_000f;
    (tens | (twos - tens * 10) << 8) + ZEROS
}

/// Texts, moved to the front by less than 32 bits.
#[inline(always)]
fn moved<S: Simd>(text: [u32x16<S>; INTEGER_ROWS], by: u32x16<S>) -> [u32x16<S>; INTEGER_ROWS] {
    let mut moved = text;
    let next = text.into_iter().skip(1).chain([u32x16::splat(by.simd, 0)]);
    for (word, next) in moved.iter_mut().zip(next) {
        // In two steps: a shift by 32 is not defined.
        *word = *word >> by | (next << 1) << (31 - by);
    }
    moved
}
