//! IDs: what a slot is assigned to.

mod hash;
mod hexadecimal;
mod names;

use core::fmt::{self, Write as _};

use crate::limits::TEXT_ID;
use crate::rejection::{Reason, Rejection};

pub use hash::hash;
pub use names::{check_names, check_part};

pub(crate) use hash::digest;
pub(crate) use hexadecimal::hexadecimal;

/// An ID with its type; the type is always said, never guessed.
///
/// Prints as its canonical text, which is what `HASH` hashes and what ends a run key.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Id<'a> {
    /// A UUID: its 16 bytes, read as one big-endian integer. Canonical: lower case, hyphenated.
    Uuid(u128),
    /// An integer of up to 128 bits and a sign. Canonical: decimal, no leading zeros, no plus sign.
    Integer(Integer),
    /// Text of at most 1 KiB of UTF-8; as it is.
    Text(Text<'a>),
    /// A fraction in [0, 1) that the caller stored; only for the `FRACTION` placement.
    /// Canonical: the 16 hexadecimal digits of its IEEE 754 bits, which every
    /// language writes alike (and none its decimals).
    Fraction(Fraction),
}

/// Text of at most 1 KiB; made by [`Id::text`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Text<'a>(&'a str);

impl<'a> Text<'a> {
    /// The text, of at most 1 KiB.
    #[must_use]
    pub const fn get(self) -> &'a str {
        self.0
    }
}

/// A double in [0, 1), never -0.0; made by [`Id::fraction`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fraction(f64);

impl Fraction {
    /// The fraction, in [0, 1).
    #[must_use]
    pub const fn get(self) -> f64 {
        self.0
    }
}

impl<'a> Id<'a> {
    /// Reads a UUID in any case, hyphenated or as 32 hexadecimal digits.
    ///
    /// # Errors
    /// When `text` is neither; braces and `urn:uuid:` are not taken.
    ///
    /// ```
    /// use offbeat_core::Id;
    ///
    /// let id = Id::uuid("0190D7A211117ABC8DEF0123456789AB")?;
    /// assert_eq!(id.to_string(), "0190d7a2-1111-7abc-8def-0123456789ab");
    /// # Ok::<(), offbeat_core::Rejection>(())
    /// ```
    pub fn uuid(text: &str) -> Result<Self, Rejection> {
        let refused = || {
            Rejection::new(
                Reason::Malformed,
                "",
                format_args!("{text:?}"),
                "must be a UUID: 32 hexadecimal digits, or 8-4-4-4-12 of them with hyphens",
            )
        };
        if !matches!(text.len(), 32 | 36) {
            return Err(refused());
        }
        let uuid = uuid::Uuid::try_parse(text).map_err(|_| refused())?;
        Ok(Self::Uuid(uuid.as_u128()))
    }

    /// Reads the 16 bytes of a UUID.
    ///
    /// # Errors
    /// When there are not 16.
    pub fn uuid_bytes(bytes: &[u8]) -> Result<Self, Rejection> {
        let array = <[u8; 16]>::try_from(bytes).map_err(|_| {
            let value = format_args!("a UUID of {} bytes", bytes.len());
            Rejection::new(Reason::Malformed, "", value, "must be 16 bytes")
        })?;
        Ok(Self::Uuid(u128::from_be_bytes(array)))
    }

    /// Reads an integer in canonical decimal.
    ///
    /// # Errors
    /// When `text` is not canonical decimal, or its magnitude needs more than 128 bits.
    ///
    /// ```
    /// use offbeat_core::Id;
    ///
    /// assert_eq!(Id::decimal("-42")?, Id::Integer((-42_i64).into()));
    /// assert!(Id::decimal("007").is_err(), "one number has one text");
    /// # Ok::<(), offbeat_core::Rejection>(())
    /// ```
    pub fn decimal(text: &str) -> Result<Self, Rejection> {
        Integer::parse(text).map(Self::Integer)
    }

    /// Takes text as it is.
    ///
    /// # Errors
    /// When it is longer than 1 KiB.
    ///
    /// ```
    /// use offbeat_core::Id;
    ///
    /// assert!(Id::text("acme-corp").is_ok());
    /// assert!(Id::text(&"x".repeat(1_025)).is_err());
    /// ```
    pub fn text(text: &'a str) -> Result<Self, Rejection> {
        if text.len() > TEXT_ID.max_size() {
            return Err(Rejection::new(
                Reason::OutOfRange,
                "",
                format_args!("a text of {} bytes", text.len()),
                format!("must be {TEXT_ID}"),
            ));
        }
        Ok(Self::Text(Text(text)))
    }

    /// Takes a fraction of the cycle that the caller stored.
    ///
    /// # Errors
    /// When it is not in [0, 1), or not a number.
    ///
    /// ```
    /// use offbeat_core::Id;
    ///
    /// assert_eq!(Id::fraction(0.5)?.to_string(), "3fe0000000000000");
    /// assert!(Id::fraction(1.0).is_err());
    /// # Ok::<(), offbeat_core::Rejection>(())
    /// ```
    pub fn fraction(fraction: f64) -> Result<Self, Rejection> {
        if !(0.0..1.0).contains(&fraction) {
            let allowed = "must be a fraction of the cycle in [0, 1)";
            let value = format_args!("{fraction:?}");
            return Err(Rejection::new(Reason::OutOfRange, "", value, allowed));
        }
        Ok(Self::Fraction(Fraction(fraction + 0.0))) // -0.0 is 0.0
    }

    /// Whether equal IDs are one: a fraction may have been stored for two rows.
    #[must_use]
    pub const fn is_identity(&self) -> bool {
        !matches!(self, Self::Fraction(_))
    }

    /// Its canonical text, behind what `text` holds: quicker than through a formatter.
    pub fn write_canonical(&self, text: &mut String) {
        match self {
            Self::Uuid(uuid) => {
                let mut buffer = uuid::Uuid::encode_buffer();
                let uuid = uuid::Uuid::from_u128(*uuid);
                text.push_str(uuid.as_hyphenated().encode_lower(&mut buffer));
            }
            Self::Text(own) => text.push_str(own.get()),
            Self::Integer(_) | Self::Fraction(_) => {
                let _ = write!(text, "{self}"); // writing to a String cannot fail
            }
        }
    }

    /// The name of the type, for refusals.
    #[must_use]
    pub const fn type_name(&self) -> &'static str {
        match self {
            Self::Uuid(_) => "UUID",
            Self::Integer(_) => "integer",
            Self::Text(_) => "text",
            Self::Fraction(_) => "fraction",
        }
    }
}

impl fmt::Display for Id<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Uuid(uuid) => uuid::Uuid::from_u128(*uuid).as_hyphenated().fmt(f),
            Self::Integer(integer) => integer.fmt(f),
            Self::Text(text) => f.write_str(text.get()),
            Self::Fraction(fraction) => write!(f, "{:016x}", fraction.get().to_bits()),
        }
    }
}

/// An integer with a sign and up to 128 bits of magnitude.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Integer {
    negative: bool, // never of zero
    magnitude: u128,
}

impl Integer {
    /// Reads canonical decimal: an optional minus, no plus, no leading zeros.
    fn parse(text: &str) -> Result<Self, Rejection> {
        if !is_canonical_decimal(text) {
            return Err(Rejection::new(
                Reason::Malformed,
                "",
                format_args!("{text:?}"),
                "must be an integer in decimal, without plus sign or leading zeros",
            ));
        }
        let (negative, digits) = match text.strip_prefix('-') {
            Some(digits) => (true, digits),
            None => (false, text),
        };
        let magnitude = digits.parse().map_err(|_| {
            let allowed = "must be -(2^128 - 1) to 2^128 - 1";
            Rejection::new(Reason::OutOfRange, "", text, allowed)
        })?;
        Ok(Self { negative, magnitude })
    }

    /// The bits without the sign.
    #[must_use]
    pub const fn magnitude(self) -> u128 {
        self.magnitude
    }

    pub(crate) const fn is_negative(self) -> bool {
        self.negative
    }

    /// The remainder of a division by `modulus` that is never negative (Euclid's).
    #[inline]
    pub(crate) const fn rem_euclid(self, modulus: u64) -> u64 {
        let is_power = modulus.is_power_of_two(); // as it nearly always is: no division then
        let modulus = modulus as u128;
        let rest = if is_power { self.magnitude & (modulus - 1) } else { self.magnitude % modulus };
        let rest = if self.negative && rest != 0 { modulus - rest } else { rest };
        #[expect(clippy::cast_possible_truncation, reason = "less than the modulus, a u64")]
        {
            rest as u64
        }
    }
}

/// Whether `text` is how a decimal integer is written canonically, of any size.
///
/// ```
/// use offbeat_core::ids::is_canonical_decimal;
///
/// assert!(is_canonical_decimal("-10"));
/// assert!(!is_canonical_decimal("-0") && !is_canonical_decimal("+1"));
/// ```
#[must_use]
pub fn is_canonical_decimal(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let signed = digits.len() < text.len();
    match digits.as_bytes() {
        [b'0'] => !signed,
        [b'1'..=b'9', rest @ ..] => rest.iter().all(u8::is_ascii_digit),
        _ => false,
    }
}

impl From<i64> for Integer {
    fn from(value: i64) -> Self {
        Self { negative: value < 0, magnitude: u128::from(value.unsigned_abs()) }
    }
}

impl From<u128> for Integer {
    fn from(magnitude: u128) -> Self {
        Self { negative: false, magnitude }
    }
}

impl fmt::Display for Integer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", if self.negative { "-" } else { "" }, self.magnitude)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uuid_has_one_canonical_text() {
        let hyphenated = Id::uuid("0190D7A2-1111-7ABC-8DEF-0123456789AB").unwrap();
        assert_eq!(hyphenated, Id::uuid("0190d7a211117abc8def0123456789ab").unwrap());
        assert_eq!(hyphenated.to_string(), "0190d7a2-1111-7abc-8def-0123456789ab");
        for bad in [
            "",
            "0190d7a2-1111-7abc-8def-0123456789a",
            "{0190d7a2-1111-7abc-8def-0123456789ab}",
            "urn:uuid:0190d7a2-1111-7abc-8def-0123456789ab",
            "0190d7a211117abc8def0123456789ag",
            "0190d7a2-1111-7abc-8def0123456789-ab",
            "0190d7a2-1111-7abc8def-0123456789abcd",
        ] {
            assert_eq!(Id::uuid(bad).unwrap_err().reason, Reason::Malformed, "{bad}");
        }
    }

    #[test]
    fn only_canonical_decimals_are_integers() {
        for good in ["0", "-1", "42", "340282366920938463463374607431768211455"] {
            assert_eq!(Id::decimal(good).unwrap().to_string(), good);
        }
        for bad in ["", "-", "-0", "007", "+5", " 1", "1 ", "1e3", "0x1", "٣"] {
            assert_eq!(Id::decimal(bad).unwrap_err().reason, Reason::Malformed, "{bad}");
        }
        for large in ["340282366920938463463374607431768211456", &"9".repeat(1_000)] {
            assert_eq!(Id::decimal(large).unwrap_err().reason, Reason::OutOfRange);
        }
    }

    #[test]
    fn the_remainder_is_euclids() {
        assert_eq!(Integer::from(-1i64).rem_euclid(256), 255);
        assert_eq!(Integer::from(-256i64).rem_euclid(256), 0);
        assert_eq!(Integer::from(u128::MAX).rem_euclid(65_536), 65_535);
        assert_eq!(Integer::from(i64::MIN).rem_euclid(1 << 32), 0);
    }

    #[test]
    fn fractions_lie_in_the_half_open_unit_interval() {
        for good in [0.0, -0.0, f64::from_bits(1), 1.0f64.next_down()] {
            assert!(Id::fraction(good).is_ok(), "{good}");
        }
        assert_eq!(Id::fraction(0.5).unwrap().to_string(), "3fe0000000000000");
        assert_eq!(Id::fraction(-0.0).unwrap().to_string(), "0000000000000000");
        for bad in [1.0, -f64::from_bits(1), f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(Id::fraction(bad).unwrap_err().reason, Reason::OutOfRange, "{bad}");
        }
    }
}
