//! Instants as RFC 3339.

use jiff::civil;
use jiff::fmt::temporal::{Pieces, PiecesOffset};
use offbeat_core::Moment;

/// Reads an instant as RFC 3339, in the years 1 to 9999; of its fractions those of up to nine digits,
/// and no leap seconds.
///
/// # Errors
/// In words, when it is none.
pub fn parse_moment(text: &str) -> Result<Moment, String> {
    let refused = || {
        let (first, last) = (Moment::MIN, Moment::MAX);
        format!("must be an instant as RFC 3339, such as 2026-01-01T00:00:00Z, {first} to {last}")
    };
    if !has_form(text) {
        return Err(refused());
    }
    // The library reads no instant of the last two days of the year 9999: hence the parts.
    let pieces = Pieces::parse(text).map_err(|_| refused())?;
    let offset = match pieces.offset() {
        Some(PiecesOffset::Zulu) => 0,
        Some(PiecesOffset::Numeric(numeric)) => numeric.offset().seconds().into(),
        _ => return Err(refused()),
    };
    let time = pieces.time().ok_or_else(refused)?;
    let epoch = civil::date(1970, 1, 1).at(0, 0, 0, 0);
    let since_epoch = pieces.date().to_datetime(time).duration_since(epoch);
    // Both parts have the sign of the span; a moment counts nanoseconds upwards.
    let borrow = i64::from(since_epoch.subsec_nanos() < 0);
    let seconds = since_epoch.as_secs() - offset - borrow;
    let nanos = since_epoch.subsec_nanos().rem_euclid(1_000_000_000);
    Moment::try_new(seconds, nanos).map_err(|_| refused())
}

/// Whether a text has the form of RFC 3339, section 5.6. The library reads other forms of ISO 8601
/// too, and a leap second as the second before it.
fn has_form(text: &str) -> bool {
    let Some((date_and_time, rest)) = text.split_at_checked(19) else { return false };
    let fraction_end = rest.find(['Z', 'z', '+', '-']).unwrap_or(rest.len());
    let (fraction, offset) = rest.split_at(fraction_end);
    let has_fraction = fraction.strip_prefix('.').is_some_and(|digits| {
        !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    });
    let has_offset = match offset.strip_prefix(['+', '-']) {
        Some(hours) => matches(hours, "00:00") && hours < "24",
        None => matches!(offset, "Z" | "z"),
    };
    let date_and_time = date_and_time.to_ascii_uppercase();
    let is_leap_second = date_and_time.ends_with(":60");
    matches(&date_and_time, "0000-00-00T00:00:00")
        && !is_leap_second
        && (fraction.is_empty() || has_fraction)
        && has_offset
}

/// Whether a text has a digit wherever the form has a zero, and elsewhere what the form has.
fn matches(text: &str, form: &str) -> bool {
    let fits =
        |(byte, place)| if place == b'0' { u8::is_ascii_digit(&byte) } else { byte == place };
    text.len() == form.len() && text.bytes().zip(form.bytes()).all(fits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_are_read_as_rfc_3339() {
        let moment = parse_moment("1969-12-31T23:59:59.5Z").unwrap();
        assert_eq!(moment.parts(), (-1, 500_000_000));
        assert_eq!(parse_moment("2026-01-01T01:00:00+01:00"), parse_moment("2026-01-01T00:00:00Z"));
        assert_eq!(parse_moment("2026-01-01t00:00:00z"), parse_moment("2026-01-01T00:00:00Z"));
        assert_eq!(parse_moment("9999-12-31T23:59:59.999999999Z"), Ok(Moment::MAX));
        assert_eq!(parse_moment("0001-01-01T00:00:00Z"), Ok(Moment::MIN));
        for bad in [
            "2026-01-01",
            "2026-01-01T00:00:00",
            "2026-01-01 00:00:00Z",
            "2016-12-31T23:59:60Z",
            "2016-12-31T23:60:59Z",
            "2016-12-31T24:00:00Z",
            "2026-01-01T00:00Z",
            "2026-01-01T00:00:00,5Z",
            "2026-01-01T00:00:00.Z",
            "2026-01-01T00:00:00.1234567890Z",
            "2026-01-01T00:00:00+0100",
            "2026-01-01T00:00:00+24:00",
            "2026-01-01T00:00:00+01:60",
            "20260101T000000Z",
            "+002026-01-01T00:00:00Z",
            "\u{ff12}26-01-01T00:00:00Z",
            "",
            "2026-01-01T00:00:00+01:00[Europe/Paris]",
            "10000-01-01T00:00:00Z",
            "0001-01-01T00:00:00+01:00",
        ] {
            assert!(parse_moment(bad).is_err(), "{bad}");
        }
    }
}
