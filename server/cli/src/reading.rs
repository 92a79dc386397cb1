//! What commands read, apart from their flags and from what they print.

use std::io::{BufRead, Write};

use offbeat_core::spread::{Certificate, SpreadSpec};
use offbeat_core::{Id, Moment, PlacementKind, Rejection, Span};

use super::Failure;
use super::input::{IdType, Line, for_each_line};
use super::{lanes, schedule, spread, stages};
use offbeat_proto as proto;

/// Spreads groups, one a line, as `offbeat spread` does.
///
/// # Errors
/// When a line is none, or `output` cannot be written.
pub fn spread(
    spec: &SpreadSpec,
    input: impl BufRead,
    output: impl Write,
) -> Result<Certificate, String> {
    spread::deal(spec, 0, input, output).map_err(Failure::message)
}

/// Reads stages from a JSON array or from CSV, as `offbeat stages allocate` does.
///
/// # Errors
/// When the text is neither, or a field is refused.
pub fn stages(text: &str) -> Result<Vec<proto::Stage>, String> {
    stages::read_stages(text).map_err(Failure::message)
}

/// Reads run times in seconds, one a line, as `offbeat lanes plan` does; in microseconds.
///
/// # Errors
/// When a line is none.
pub fn run_times(input: impl BufRead) -> Result<Vec<i64>, String> {
    lanes::read_run_times_of(input).map_err(Failure::message)
}

/// Reads IDs of any type, one a line, as `offbeat slots assign` does.
///
/// # Errors
/// When `input` cannot be read.
pub fn ids(
    input: impl BufRead,
    placement: PlacementKind,
    mut each: impl FnMut(Result<Id<'_>, Rejection>),
) -> std::io::Result<()> {
    for_each_line(input, |_, line| {
        each(match line {
            Line::Text(text) => IdType::Auto.read(text, placement),
            Line::Bad(rejection) => Err(rejection),
        });
        Ok(())
    })
}

/// Reads a span as flags say it: `8h`, `1h 30m`.
///
/// # Errors
/// When the text is none.
pub fn span(text: &str) -> Result<Span, String> {
    schedule::parse_span(text)
}

/// Reads an instant as flags say it, as RFC 3339.
///
/// # Errors
/// When the text is none.
pub fn moment(text: &str) -> Result<Moment, String> {
    schedule::parse_moment(text)
}
