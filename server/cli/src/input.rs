//! IDs from lines and arguments; files that have a largest size.

use std::fs::File;
use std::io::{self, BufRead, Read as _};
use std::path::Path;

use clap::ValueEnum;
use offbeat_core::ids::is_canonical_decimal;
use offbeat_core::limits::Limit;
use offbeat_core::{Id, PlacementKind, Reason, Rejection};

use super::Failure;
use offbeat_service::limits::INPUT_LINE_BYTES;

/// What the IDs are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum IdType {
    /// Hyphenated UUIDs, canonical decimal integers of up to 128 bits (longer ones are refused),
    /// and everything else text, unhyphenated UUIDs too (fractions with --placement fraction)
    Auto,
    /// UUIDs, hyphenated or not
    Uuid,
    /// Integers of up to 128 bits
    Integer,
    /// Text, as it is
    Text,
    /// Fractions in [0, 1)
    Fraction,
}

impl IdType {
    /// Reads `text` as an ID of this type.
    pub(super) fn read(self, text: &str, placement: PlacementKind) -> Result<Id<'_>, Rejection> {
        match self {
            Self::Auto if placement == PlacementKind::Fraction => read_fraction(text),
            Self::Auto => read_any(text),
            Self::Uuid => Id::uuid(text),
            Self::Integer => Id::decimal(text),
            Self::Text => Id::text(text),
            Self::Fraction => read_fraction(text),
        }
    }
}

fn read_any(text: &str) -> Result<Id<'_>, Rejection> {
    if text.contains('-')
        && let Ok(uuid) = Id::uuid(text)
    {
        return Ok(uuid);
    }
    if !is_canonical_decimal(text) {
        return Id::text(text);
    }
    // As text it would be another ID than the same number elsewhere.
    Id::decimal(text).map_err(|refused| {
        let allowed = format!("{}; or text, with --id-type text", refused.allowed);
        Rejection { allowed, ..refused }
    })
}

fn read_fraction(text: &str) -> Result<Id<'_>, Rejection> {
    let fraction = text.parse().map_err(|_| {
        let allowed = "must be a number in [0, 1), such as 0.25 or 5e-324";
        Rejection::new(Reason::Malformed, "", format_args!("{text:?}"), allowed)
    })?;
    Id::fraction(fraction)
}

/// One line of input, without its end.
pub(super) enum Line<'a> {
    Text(&'a str),
    Bad(Rejection),
}

/// Calls `visit` with each line and its number, from 1; a line is never longer in memory than allowed.
pub(super) fn for_each_line<E: From<io::Error>>(
    mut input: impl BufRead,
    mut visit: impl FnMut(u64, Line<'_>) -> Result<(), E>,
) -> Result<(), E> {
    let limit = INPUT_LINE_BYTES.max_size();
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        let room = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(2); // and the line end
        if input.by_ref().take(room).read_until(b'\n', &mut line)? == 0 {
            break;
        }
        let ended = line.pop_if(|last| *last == b'\n').is_some();
        if ended {
            line.pop_if(|last| *last == b'\r');
        }
        if line.len() > limit {
            if !ended {
                input.skip_until(b'\n')?;
            }
            let allowed = format!("must be {INPUT_LINE_BYTES}");
            let rejection =
                Rejection::new(Reason::OutOfRange, "", "a line that is longer", allowed);
            visit(number, Line::Bad(rejection))?;
            continue;
        }
        match std::str::from_utf8(&line) {
            Ok(text) => visit(number, Line::Text(text))?,
            Err(_) => {
                let shown = String::from_utf8_lossy(&line);
                let rejection = Rejection::new(Reason::Malformed, "", shown, "must be UTF-8");
                visit(number, Line::Bad(rejection))?;
            }
        }
    }
    Ok(())
}

/// Reads a file, if it is within its limit.
pub(super) fn read_bounded(limit: Limit, path: &Path) -> Result<Vec<u8>, Failure> {
    let failure = |what: String| Failure::Other(format!("{}: {what}", path.display()));
    let largest = limit.max_size();
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(largest as u64 + 1).read_to_end(&mut bytes))
        .map_err(|error| failure(error.to_string()))?;
    if bytes.len() > largest {
        return Err(failure(format!("must be {limit}")));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(input: &[u8]) -> Vec<(u64, Result<String, Reason>)> {
        let mut seen = Vec::new();
        for_each_line::<io::Error>(input, |number, line| {
            seen.push((
                number,
                match line {
                    Line::Text(text) => Ok(text.to_owned()),
                    Line::Bad(rejection) => Err(rejection.reason),
                },
            ));
            Ok(())
        })
        .unwrap();
        seen
    }

    #[test]
    fn only_the_line_end_is_stripped() {
        let ok = |text: &str| Ok(text.to_owned());
        assert_eq!(
            lines(b" a \n\nb\r\nc\r\r\nd"),
            [(1, ok(" a ")), (2, ok("")), (3, ok("b")), (4, ok("c\r")), (5, ok("d"))]
        );
        assert_eq!(lines(b""), []);
        assert_eq!(lines(b"\n"), [(1, ok(""))]);
    }

    #[test]
    fn bad_lines_are_told_and_the_next_are_read() {
        let limit = INPUT_LINE_BYTES.max_size();
        for extra in [1, 2, 3, 10_000] {
            let input = format!("{}\r\n{}\nz", "x".repeat(limit), "y".repeat(limit + extra));
            let seen = lines(input.as_bytes());
            assert_eq!(seen[0].1.as_ref().unwrap().len(), limit);
            assert_eq!(seen[1..], [(2, Err(Reason::OutOfRange)), (3, Ok("z".to_owned()))]);
        }
        assert_eq!(lines(b"\xff\nz"), [(1, Err(Reason::Malformed)), (2, Ok("z".to_owned()))]);
    }

    #[test]
    fn types_are_taken_as_documented() {
        let kind = |text| read_any(text).unwrap().type_name();
        assert_eq!(kind("0190D7A2-1111-7abc-8def-0123456789ab"), "UUID");
        assert_eq!(kind("0190d7a211117abc8def0123456789ab"), "text");
        assert_eq!(kind("-42"), "integer");
        assert_eq!(kind("007"), "text");
        assert_eq!(kind("-0"), "text");
        assert_eq!(kind(""), "text");
        assert!(read_any(&"9".repeat(40)).is_err());
        assert!(read_fraction("5e-324").is_ok());
        for bad in ["", "x", "NaN", "inf", "1", "-0.1", "1e999"] {
            assert!(read_fraction(bad).is_err(), "{bad}");
        }
    }
}
