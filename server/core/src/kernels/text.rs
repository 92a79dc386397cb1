//! Canonical texts, written where they are hashed.

use core::fmt::Write as _;

use crate::id::Id;

/// Writes the canonical text of `id` to the front of `to`; how long it is, if it fits.
#[inline]
pub(super) fn write(id: &Id<'_>, to: &mut [u8]) -> Option<usize> {
    match id {
        Id::Text(text) => {
            let text = text.get().as_bytes();
            to.get_mut(..text.len())?.copy_from_slice(text);
            Some(text.len())
        }
        Id::Uuid(uuid) => {
            let buffer = to.first_chunk_mut::<36>()?;
            Some(uuid::Uuid::from_u128(*uuid).as_hyphenated().encode_lower(buffer).len())
        }
        Id::Integer(integer) => match (integer.is_negative(), u64::try_from(integer.magnitude())) {
            (false, Ok(magnitude)) => write_digits(magnitude, to),
            _ => write_display(id, to),
        },
        Id::Fraction(_) => write_display(id, to),
    }
}

fn write_digits(magnitude: u64, to: &mut [u8]) -> Option<usize> {
    const EIGHT: u64 = 100_000_000;
    let groups = [magnitude / (EIGHT * EIGHT), magnitude / EIGHT % EIGHT, magnitude % EIGHT];
    let digits = groups.map(|group| eight_digits(group).to_le_bytes());
    let digits = digits.as_flattened();
    let zeros = digits.iter().take(23).take_while(|digit| **digit == 0).count();
    let shown = digits.get(zeros..)?;
    for (to, digit) in to.get_mut(..shown.len())?.iter_mut().zip(shown) {
        *to = b'0' + digit;
    }
    Some(shown.len())
}

/// The eight decimal digits of a number below 10^8, a byte each, the highest in the lowest byte.
const fn eight_digits(number: u64) -> u64 {
    // Each step halves the lanes: four digits in each of two, two in each of four, one in each
    // of eight. Quotients by 100 and by 10 are products with their rounded-up inverses.
    let fours = number / 10_000 | (number % 10_000) << 32;
    let hundreds = ((fours * 10_486) >> 20) & 0x0000_007f_0000_007f;
    let twos = hundreds | (fours - 100 * hundreds) << 16;
    let tens = ((twos * 103) >> 10) & 0x000f_000f_000f_000f;
    tens | (twos - 10 * tens) << 8
}

fn write_display(id: &Id<'_>, to: &mut [u8]) -> Option<usize> {
    let whole = to.len();
    let mut rest = Rest(to);
    write!(rest, "{id}").ok()?;
    Some(whole - rest.0.len())
}

/// What is left of a slice that is written to.
struct Rest<'a>(&'a mut [u8]);

impl core::fmt::Write for Rest<'_> {
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
            let mut text = [0; 24];
            let len = write_digits(number, &mut text).unwrap();
            assert_eq!(std::str::from_utf8(&text[..len]), Ok(number.to_string().as_str()));
        }
    }
}
