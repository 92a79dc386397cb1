//! Spans and counts.

use jiff::SpanRelativeTo;
use offbeat_core::Span;

/// Reads a count; its range is the question's to check.
///
/// # Errors
/// In words, when it is no whole number.
pub fn parse_count(text: &str) -> Result<i64, String> {
    text.parse().map_err(|_| "must be a whole number".to_owned())
}

/// Reads a span as people write it; months and years have no fixed length.
///
/// # Errors
/// In words, when it is none.
pub fn parse_span(text: &str) -> Result<Span, String> {
    let allowed = "must be a span with units, such as 8h, 90m, 1d or 1500ms";
    let span: jiff::Span = text.parse().map_err(|_| allowed)?;
    let relative = SpanRelativeTo::days_are_24_hours();
    let duration =
        span.to_duration(relative).map_err(|_| format!("{allowed} (no months or years)"))?;
    Span::try_new(duration.as_secs(), duration.subsec_nanos()).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_read_as_people_write_them() {
        for (text, seconds) in [
            ("8h", 28_800),
            ("90m", 5_400),
            ("1d", 86_400),
            ("1w", 604_800),
            ("1h 30m", 5_400),
            ("1h30m", 5_400),
            ("28800s", 28_800),
            ("PT8H", 28_800),
            ("0s", 0),
            ("-8h", -28_800),
            ("3661d", 3_661 * 86_400),
        ] {
            assert_eq!(parse_span(text), Ok(Span::from_seconds(seconds)), "{text}");
        }
        assert_eq!(parse_span("1500ms"), Ok(Span::from_millis(1_500)));
        for bad in ["", "8", "h", "8 parsecs", "1month", "1y"] {
            assert!(parse_span(bad).is_err(), "{bad}");
        }
    }
}
