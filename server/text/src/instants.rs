//! Instants as RFC 3339.

use jiff::civil;
use jiff::fmt::temporal::{Pieces, PiecesOffset};
use offbeat_core::Moment;

/// Reads an instant as RFC 3339, in the years 1 to 9999.
///
/// # Errors
/// In words, when it is none.
pub fn parse_moment(text: &str) -> Result<Moment, String> {
    let refused = || {
        let (first, last) = (Moment::MIN, Moment::MAX);
        format!("must be an instant as RFC 3339, such as 2026-01-01T00:00:00Z, {first} to {last}")
    };
    // The library reads more than RFC 3339 (and a leap second as the second before
    // it), but no instant of the last two days of the year 9999: hence the parts.
    if text.contains(['[', ' ']) || text.get(16..19) == Some(":60") {
        return Err(refused());
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_before_the_epoch_keep_their_fraction() {
        let moment = parse_moment("1969-12-31T23:59:59.5Z").unwrap();
        assert_eq!(moment.parts(), (-1, 500_000_000));
        assert_eq!(parse_moment("2026-01-01T01:00:00+01:00"), parse_moment("2026-01-01T00:00:00Z"));
        assert_eq!(parse_moment("9999-12-31T23:59:59.999999999Z"), Ok(Moment::MAX));
        assert_eq!(parse_moment("0001-01-01T00:00:00Z"), Ok(Moment::MIN));
        for bad in [
            "2026-01-01",
            "2026-01-01T00:00:00",
            "2026-01-01 00:00:00Z",
            "2016-12-31T23:59:60Z",
            "2026-01-01T00:00:00+01:00[Europe/Paris]",
            "10000-01-01T00:00:00Z",
            "0001-01-01T00:00:00+01:00",
        ] {
            assert!(parse_moment(bad).is_err(), "{bad}");
        }
    }
}
