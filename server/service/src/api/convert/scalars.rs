//! Moments, spans and counts, in both directions, and the refusals of values that are not set or
//! not known.

use offbeat_core::{Moment, Reason, Rejection, Span};

pub(in crate::api) fn required<T>(
    field: &str,
    value: Option<T>,
    allowed: &str,
) -> Result<T, Rejection> {
    value.ok_or_else(|| Rejection::new(Reason::FieldMissing, field, "nothing", allowed))
}

pub(in crate::api) fn unknown_enum_value(field: &str, number: i32, allowed: &str) -> Rejection {
    Rejection::new(Reason::OutOfRange, field, number, format!("must be {allowed}"))
}

pub(in crate::api) fn span(field: &str, message: prost_types::Duration) -> Result<Span, Rejection> {
    let prost_types::Duration { seconds, nanos } = message;
    Span::try_new(seconds, nanos).map_err(|rejection| rejection.under(field))
}

pub(in crate::api) fn optional_span(
    field: &str,
    message: Option<prost_types::Duration>,
) -> Result<Option<Span>, Rejection> {
    message.map(|message| span(field, message)).transpose()
}

pub(in crate::api) fn moment(
    field: &str,
    message: prost_types::Timestamp,
) -> Result<Moment, Rejection> {
    let prost_types::Timestamp { seconds, nanos } = message;
    Moment::try_new(seconds, nanos).map_err(|rejection| rejection.under(field))
}

/// The instant of an optional field; `now` is called only if the field is not set.
pub(in crate::api) fn moment_or_now(
    field: &str,
    message: Option<prost_types::Timestamp>,
    now: fn() -> Moment,
) -> Result<Moment, Rejection> {
    message.map_or_else(|| Ok(now()), |time| moment(field, time))
}

pub(in crate::api) fn duration(span: Span) -> prost_types::Duration {
    let (seconds, nanos) = span.parts();
    prost_types::Duration { seconds, nanos }
}

pub(in crate::api) fn timestamp(moment: Moment) -> prost_types::Timestamp {
    let (seconds, nanos) = moment.parts();
    prost_types::Timestamp { seconds, nanos }
}

/// A count or index as an `int32`; all are far below 2^31.
pub(in crate::api) fn count(count: u32) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}

/// A number of ticks, or of IDs, as an `int64`; all are far below 2^63.
pub(in crate::api) fn wide(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
