//! Fields that many parts of a scenario have.

use jiff::SpanRelativeTo;
use offbeat_core::limits::Limit;
use offbeat_core::{Reason, Rejection, Span};

use crate::limits::SCENARIO_SECONDS;

/// A span such as 8h, 1.5s or 1d; days have 24 hours.
pub(super) fn span(field: &str, text: &str) -> Result<Span, Rejection> {
    let bad = || {
        let allowed = "must be a span with units, such as 8h, 90m, 1d or 1500ms";
        Rejection::new(Reason::Malformed, field, format!("{text:?}"), allowed)
    };
    let parsed: jiff::Span = text.parse().map_err(|_| bad())?;
    let duration = parsed.to_duration(SpanRelativeTo::days_are_24_hours()).map_err(|_| bad())?;
    Span::try_new(duration.as_secs(), duration.subsec_nanos()).map_err(|_| bad())
}

pub(super) fn micros(field: &str, text: &str) -> Result<u64, Rejection> {
    let span = span(field, text)?;
    let most = SCENARIO_SECONDS.maximum.unsigned_abs() * 1_000_000;
    let micros = u64::try_from(span.nanos() / 1_000).ok().filter(|micros| *micros <= most);
    micros.ok_or_else(|| Rejection::new(Reason::OutOfRange, field, text, "must be 0 s to 366 days"))
}

pub(super) fn positive(field: &str, text: &str) -> Result<u64, Rejection> {
    let micros = micros(field, text)?;
    if micros > 0 {
        return Ok(micros);
    }
    Err(Rejection::new(Reason::OutOfRange, field, text, "must be longer than 0 s"))
}

pub(super) fn within(field: &str, value: i64, limit: Limit) -> Result<u32, Rejection> {
    let checked = u32::try_from(value).ok().filter(|_| limit.allows(value.into()));
    checked
        .ok_or_else(|| Rejection::new(Reason::OutOfRange, field, value, format!("must be {limit}")))
}

pub(super) fn count(field: &str, count: usize, limit: Limit) -> Result<(), Rejection> {
    if limit.allows(count as i128) {
        return Ok(());
    }
    Err(Rejection::new(Reason::OutOfRange, field, count, format!("must be {limit}")))
}
