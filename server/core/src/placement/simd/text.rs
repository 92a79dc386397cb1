//! Canonical texts, written where they are hashed.

use core::fmt::Write as _;

use crate::ids::{Id, Integer};

/// Writes the canonical text of `id` to the front of `to`, and returns its length; `None` if it
/// does not fit with some room. Only zeros are written behind it.
#[inline(always)]
pub(super) fn write(id: &Id<'_>, to: &mut [u8]) -> Option<usize> {
    match id {
        Id::Text(text) => {
            let text = text.get().as_bytes();
            copy(text, to.get_mut(..text.len())?);
            Some(text.len())
        }
        Id::Integer(integer) => write_integer(*integer, to),
        Id::Uuid(_) | Id::Fraction(_) => write_display(id, to),
    }
}

/// As `copy_from_slice`, but without its call, which takes longer than to copy most texts.
#[inline(always)]
fn copy(from: &[u8], to: &mut [u8]) {
    const HALF: usize = 16; // from both ends; the halves may overlap
    if let (Some(first), Some(last)) = (from.first_chunk::<HALF>(), from.last_chunk::<HALF>())
        && from.len() <= 2 * HALF
    {
        to.first_chunk_mut().into_iter().for_each(|to| *to = *first);
        to.last_chunk_mut().into_iter().for_each(|to| *to = *last);
    } else {
        to.copy_from_slice(from);
    }
}

/// Not inlined, which makes the loop over texts faster; most integers do not come here.
#[inline(never)]
fn write_integer(integer: Integer, to: &mut [u8]) -> Option<usize> {
    match u64::try_from(integer.magnitude()) {
        Ok(magnitude) if integer.is_negative() => {
            let (sign, digits) = to.split_first_mut()?;
            *sign = b'-';
            Some(1 + write_digits(magnitude, digits)?)
        }
        Ok(magnitude) => write_digits(magnitude, to),
        Err(_) => write_display(&Id::Integer(integer), to),
    }
}

/// The character 0, eight times.
const ZEROS: u64 = 0x3030_3030_3030_3030;

/// Bytes that the digits of 64 bits are written in; they need 20.
const DIGITS: usize = 24;

/// Writes digits and, behind them, zero bytes: 24 in all.
#[inline(always)]
fn write_digits(magnitude: u64, to: &mut [u8]) -> Option<usize> {
    const EIGHT: u64 = 100_000_000;
    let groups = [magnitude / EIGHT / EIGHT, magnitude / EIGHT % EIGHT, magnitude % EIGHT];
    let groups = groups.map(eight_digits);
    let [high, middle, low] = groups.map(|digits| digits + ZEROS);
    let (groups, digits, first) = match groups {
        [0, 0, first] => ([low, 0, 0], 8, first),
        [0, first, _] => ([middle, low, 0], 16, first),
        [first, ..] => ([high, middle, low], 24, first),
    };
    let zeros = (first.trailing_zeros() / 8).min(7);
    // The digits move to the front, over the zeros that lead.
    let [front, middle, back] = groups;
    let moved = [shifted(front, middle, zeros), shifted(middle, back, zeros), back >> (8 * zeros)];
    let to = to.first_chunk_mut::<DIGITS>()?;
    for (to, moved) in to.as_chunks_mut().0.iter_mut().zip(moved) {
        *to = moved.to_le_bytes();
    }
    Some(digits - zeros as usize)
}

/// The bytes of two words from byte `by` on, as many as one word has.
#[expect(clippy::cast_possible_truncation, reason = "the front is asked for")]
const fn shifted(front: u64, back: u64, by: u32) -> u64 {
    ((front as u128 | ((back as u128) << 64)) >> (8 * by)) as u64
}

/// The eight decimal digits of a number below 10^8, a byte each, the highest in the lowest byte.
const fn eight_digits(number: u64) -> u64 {
    // Each step halves the lanes: four digits in each of two, two in each of four, one in each
    // of eight. Quotients by 100 and by 10 are products with their rounded-up inverses.
    let fours = (number / 10_000) | ((number % 10_000) << 32);
    let hundreds = ((fours * 10_486) >> 20) & 0x0000_007f_0000_007f;
    let twos = hundreds | ((fours - 100 * hundreds) << 16);
    let tens = ((twos * 103) >> 10) & 0x000f_000f_000f_000f;
    tens | ((twos - 10 * tens) << 8)
}

fn write_display(id: &Id<'_>, to: &mut [u8]) -> Option<usize> {
    let whole = to.len();
    let mut rest = SliceWriter(to);
    write!(rest, "{id}").ok()?;
    Some(whole - rest.0.len())
}

/// The unwritten rest of a slice.
struct SliceWriter<'a>(&'a mut [u8]);

impl core::fmt::Write for SliceWriter<'_> {
    fn write_str(&mut self, text: &str) -> core::fmt::Result {
        let rest = core::mem::take(&mut self.0);
        let (to, rest) = rest.split_at_mut_checked(text.len()).ok_or(core::fmt::Error)?;
        to.copy_from_slice(text.as_bytes());
        self.0 = rest;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_those_of_display() {
        let powers = (0..20).map(|power| 10_u64.pow(power));
        let around = powers.flat_map(|power| [power - 1, power, power + 1, power.wrapping_mul(9)]);
        let all = (0..20_000).chain((0..10_000).map(|n| n * 10_000 + n)).chain(around);
        for number in all.chain([u64::MAX - 1, u64::MAX]) {
            let mut text = [7; 25];
            let len = write_digits(number, &mut text).unwrap();
            assert_eq!(std::str::from_utf8(&text[..len]), Ok(number.to_string().as_str()));
            assert!(text[len..24].iter().all(|byte| *byte == 0) && text[24] == 7);
        }
    }
}
