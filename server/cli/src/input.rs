//! IDs from lines and arguments, and files of limited size.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use clap::ValueEnum;
use offbeat_core::ids::is_canonical_decimal;
use offbeat_core::limits::Limit;
use offbeat_core::{Id, PlacementKind, Reason, Rejection};

use super::Failure;

/// The type of IDs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum IdType {
    /// Hyphenated UUIDs and canonical decimal integers of up to 128 bits (longer ones are refused);
    /// everything else is text, unhyphenated UUIDs too (with --placement fraction, a fraction)
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
    ///
    /// # Errors
    /// When it is not such an ID.
    pub fn read(self, text: &str, placement: PlacementKind) -> Result<Id<'_>, Rejection> {
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
    // As text, it would be another ID than the same number elsewhere.
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

/// Reads a file, if it is within its limit.
pub(crate) fn read_bounded(limit: Limit, path: &Path) -> Result<Vec<u8>, Failure> {
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
