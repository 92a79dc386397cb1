//! Instants and spans, exact to the nanosecond.

use core::fmt;

use jiff::SignedDuration;
use jiff::civil::{self, DateTime};

use crate::rejection::{Reason, Rejection};

const NANOS_PER_SECOND: i128 = 1_000_000_000;
const NANOS_PER_MILLI: i128 = 1_000_000;

/// A length of time in nanoseconds; may be negative until it is checked.
///
/// Prints in seconds, with 0, 3, 6 or 9 digits behind the point: `28800s`, `0.250s`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span(i128);

impl Span {
    /// A span of whole seconds.
    #[must_use]
    pub const fn from_seconds(seconds: i64) -> Self {
        Self(seconds as i128 * NANOS_PER_SECOND)
    }

    /// A span of whole milliseconds.
    #[must_use]
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis as i128 * NANOS_PER_MILLI)
    }

    /// A span of whole nanoseconds.
    #[must_use]
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos as i128)
    }

    /// A span of seconds and nanoseconds, -999,999,999 to 999,999,999 and with the sign of the
    /// seconds.
    ///
    /// # Errors
    /// When the two signs differ or `nanos` is a second or more.
    ///
    /// ```
    /// use offbeat_core::Span;
    ///
    /// assert_eq!(Span::try_new(-1, -500_000_000)?.to_string(), "-1.500s");
    /// assert!(Span::try_new(1, -1).is_err(), "the signs differ");
    /// # Ok::<(), offbeat_core::Rejection>(())
    /// ```
    pub fn try_new(seconds: i64, nanos: i32) -> Result<Self, Rejection> {
        let same_sign = (seconds <= 0 || nanos >= 0) && (seconds >= 0 || nanos <= 0);
        if !same_sign || i128::from(nanos).abs() >= NANOS_PER_SECOND {
            return Err(Rejection::new(
                Reason::Malformed,
                "nanos",
                nanos,
                "must be -999999999 to 999999999 ns, with the sign of the seconds",
            ));
        }
        Ok(Self(i128::from(seconds) * NANOS_PER_SECOND + i128::from(nanos)))
    }

    /// The span so many times; at most 2^127 - 1 ns, which is longer than any valid span.
    ///
    /// ```
    /// use offbeat_core::Span;
    ///
    /// assert_eq!(Span::from_millis(250).times(4), Span::from_seconds(1));
    /// assert!(Span::from_seconds(i64::MAX).times(u64::MAX) > Span::from_seconds(i64::MAX));
    /// ```
    #[must_use]
    pub const fn times(self, count: u64) -> Self {
        Self(self.0.saturating_mul(count as i128))
    }

    /// Both spans together; at most 2^127 - 1 ns.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// The span less another; below 0 if that is longer.
    #[must_use]
    pub const fn minus(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// The span in milliseconds, if it is whole and not negative.
    ///
    /// ```
    /// use offbeat_core::Span;
    ///
    /// assert_eq!(Span::from_seconds(2).whole_millis(), Some(2_000));
    /// assert_eq!(Span::from_nanos(1).whole_millis(), None);
    /// assert_eq!(Span::from_seconds(-2).whole_millis(), None);
    /// ```
    #[must_use]
    pub fn whole_millis(self) -> Option<u64> {
        (self.0 % NANOS_PER_MILLI == 0).then(|| u64::try_from(self.0 / NANOS_PER_MILLI).ok())?
    }

    /// The whole milliseconds of a span that is not negative; 0 of one that is.
    #[must_use]
    pub(crate) fn millis_floor(self) -> u64 {
        u64::try_from(self.0 / NANOS_PER_MILLI).unwrap_or_default()
    }

    /// The milliseconds of a span that is not negative, rounded up; 0 of one that is.
    #[must_use]
    pub(crate) fn millis_ceil(self) -> u64 {
        u64::try_from((self.0 + NANOS_PER_MILLI - 1).div_euclid(NANOS_PER_MILLI))
            .unwrap_or_default()
    }

    /// Seconds and nanoseconds, both with the sign of the span.
    ///
    /// ```
    /// use offbeat_core::Span;
    ///
    /// assert_eq!(Span::try_new(-1, -5)?.parts(), (-1, -5));
    /// # Ok::<(), offbeat_core::Rejection>(())
    /// ```
    #[must_use]
    pub fn parts(self) -> (i64, i32) {
        let seconds = i64::try_from(self.0 / NANOS_PER_SECOND).unwrap_or(i64::MAX);
        let nanos = i32::try_from(self.0 % NANOS_PER_SECOND).unwrap_or_default();
        (seconds, nanos)
    }

    /// The span in nanoseconds.
    #[must_use]
    pub const fn nanos(self) -> i128 {
        self.0
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        let (seconds, nanos) = (self.0.abs() / NANOS_PER_SECOND, self.0.abs() % NANOS_PER_SECOND);
        write!(f, "{sign}{seconds}{}s", Fraction(nanos))
    }
}

/// Nanoseconds behind the seconds: nothing, or a point
/// and 3, 6 or 9 digits.
struct Fraction(i128);

impl fmt::Display for Fraction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 => Ok(()),
            nanos if nanos % 1_000_000 == 0 => write!(f, ".{:03}", nanos / 1_000_000),
            nanos if nanos % 1_000 == 0 => write!(f, ".{:06}", nanos / 1_000),
            nanos => write!(f, ".{nanos:09}"),
        }
    }
}

/// An instant of the years 1 to 9999, which is what RFC 3339 can say.
///
/// Prints in UTC, with 0, 3, 6 or 9 digits behind the point: `2026-01-01T00:00:00Z`, `2026-01-01T00:00:00.500Z`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment(i128);

impl Moment {
    /// 1970-01-01T00:00:00Z.
    pub const UNIX_EPOCH: Self = Self(0);
    /// 0001-01-01T00:00:00Z.
    pub const MIN: Self = Self(-62_135_596_800 * NANOS_PER_SECOND);
    /// 9999-12-31T23:59:59.999999999Z.
    pub const MAX: Self = Self(253_402_300_800 * NANOS_PER_SECOND - 1);

    /// An instant by its seconds since the Unix epoch and the nanoseconds after them, 0 to
    /// 999,999,999.
    ///
    /// # Errors
    /// When it lies outside the years 1 to 9999, or `nanos` outside a second.
    ///
    /// ```
    /// use offbeat_core::Moment;
    ///
    /// let moment = Moment::try_new(1_767_225_600, 500_000_000)?;
    /// assert_eq!(moment.to_string(), "2026-01-01T00:00:00.500Z");
    /// assert!(Moment::try_new(-62_135_596_801, 0).is_err(), "before the year 1");
    /// # Ok::<(), offbeat_core::Rejection>(())
    /// ```
    pub fn try_new(seconds: i64, nanos: i32) -> Result<Self, Rejection> {
        if !(0..1_000_000_000).contains(&nanos) {
            let allowed = "must be 0 to 999999999 ns";
            return Err(Rejection::new(Reason::Malformed, "nanos", nanos, allowed));
        }
        let moment = i128::from(seconds) * NANOS_PER_SECOND + i128::from(nanos);
        if !(Self::MIN.0..=Self::MAX.0).contains(&moment) {
            return Err(Rejection::new(
                Reason::OutOfRange,
                "",
                format_args!("{seconds}s since the Unix epoch"),
                format!("must be {} to {}", Self::MIN, Self::MAX),
            ));
        }
        Ok(Self(moment))
    }

    /// From an earlier instant to this, in nanoseconds.
    pub(crate) const fn nanos_since(self, earlier: Self) -> i128 {
        self.0 - earlier.0
    }

    /// So many milliseconds later, if that is before the year 10000.
    ///
    /// ```
    /// use offbeat_core::Moment;
    ///
    /// assert_eq!(Moment::UNIX_EPOCH.plus_millis(5), Moment::from_unix_millis(5));
    /// assert_eq!(Moment::MAX.plus_millis(1), None);
    /// ```
    #[must_use]
    pub fn plus_millis(self, millis: u64) -> Option<Self> {
        let later = self.0 + i128::from(millis) * NANOS_PER_MILLI;
        (later <= Self::MAX.0).then_some(Self(later))
    }

    /// The first whole millisecond since the Unix epoch at or after the instant `span` later.
    pub(crate) fn millis_ceil_plus(self, span: Span) -> i64 {
        self.millis_ceil_minus(Span(-span.0))
    }

    /// The instant `millis` after the Unix epoch, if it lies in the years 1 to 9999.
    #[must_use]
    pub fn from_unix_millis(millis: i64) -> Option<Self> {
        let moment = i128::from(millis) * NANOS_PER_MILLI;
        (Self::MIN.0..=Self::MAX.0).contains(&moment).then_some(Self(moment))
    }

    /// The first whole millisecond since the Unix epoch at or after the instant that lies `span`
    /// before this one.
    pub(crate) fn millis_ceil_minus(self, span: Span) -> i64 {
        let nanos = self.0 - span.nanos();
        i64::try_from(-(-nanos).div_euclid(NANOS_PER_MILLI)).unwrap_or(i64::MIN)
    }

    /// The last whole millisecond since the Unix epoch at or before the instant.
    #[must_use]
    pub fn unix_millis_floor(self) -> i64 {
        i64::try_from(self.0.div_euclid(NANOS_PER_MILLI)).unwrap_or(i64::MAX)
    }

    /// The first whole millisecond since the Unix epoch at or after the instant.
    ///
    /// ```
    /// use offbeat_core::Moment;
    ///
    /// let just_before = Moment::try_new(-1, 999_999_999)?; // a nanosecond before the Unix epoch
    /// assert_eq!((just_before.unix_millis_floor(), just_before.unix_millis_ceil()), (-1, 0));
    /// # Ok::<(), offbeat_core::Rejection>(())
    /// ```
    #[must_use]
    pub fn unix_millis_ceil(self) -> i64 {
        let more = i64::from(self.0.rem_euclid(NANOS_PER_MILLI) != 0);
        self.unix_millis_floor() + more
    }

    /// Seconds since the Unix epoch, rounded down, and the nanoseconds after them.
    ///
    /// ```
    /// use offbeat_core::Moment;
    ///
    /// let half_before = Moment::from_unix_millis(-500).unwrap();
    /// assert_eq!(half_before.parts(), (-1, 500_000_000));
    /// ```
    #[must_use]
    pub fn parts(self) -> (i64, i32) {
        let seconds = i64::try_from(self.0.div_euclid(NANOS_PER_SECOND)).unwrap_or(i64::MAX);
        let nanos = i32::try_from(self.0.rem_euclid(NANOS_PER_SECOND)).unwrap_or_default();
        (seconds, nanos)
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const EPOCH: DateTime = civil::date(1970, 1, 1).at(0, 0, 0, 0);
        let (seconds, nanos) = self.parts();
        match EPOCH.checked_add(SignedDuration::from_secs(seconds)) {
            Ok(civil) => write!(f, "{civil}{}Z", Fraction(nanos.into())),
            Err(_) => write!(f, "{seconds}s since the Unix epoch"), // no Moment reaches this
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_of_time_print() {
        assert_eq!(Moment::MIN.to_string(), "0001-01-01T00:00:00Z");
        assert_eq!(Moment::MAX.to_string(), "9999-12-31T23:59:59.999999999Z");
        assert_eq!(Moment::UNIX_EPOCH.to_string(), "1970-01-01T00:00:00Z");
        let half_before = Moment::from_unix_millis(-500).unwrap();
        assert_eq!(half_before.to_string(), "1969-12-31T23:59:59.500Z");
    }

    #[test]
    fn rounding_to_milliseconds_goes_the_way_its_name_says() {
        let before_epoch = Moment::try_new(-1, 999_999_999).unwrap();
        assert_eq!((before_epoch.unix_millis_floor(), before_epoch.unix_millis_ceil()), (-1, 0));
        let exact = Moment::try_new(1, 2_000_000).unwrap();
        assert_eq!((exact.unix_millis_floor(), exact.unix_millis_ceil()), (1_002, 1_002));
        assert_eq!(Moment::MAX.unix_millis_ceil(), 253_402_300_800_000);
    }

    #[test]
    fn spans_print_like_proto_json() {
        for (span, text) in [
            (Span::from_seconds(28_800), "28800s"),
            (Span::from_millis(250), "0.250s"),
            (Span::try_new(-1, -500_000_000).unwrap(), "-1.500s"),
            (Span::try_new(0, 1).unwrap(), "0.000000001s"),
        ] {
            assert_eq!(span.to_string(), text);
        }
    }

    #[test]
    fn signs_of_a_span_must_agree() {
        assert!(Span::try_new(1, -1).is_err());
        assert!(Span::try_new(-1, 1).is_err());
        assert!(Span::try_new(0, 1_000_000_000).is_err());
        assert_eq!(Span::try_new(0, -5).unwrap().whole_millis(), None);
    }
}
