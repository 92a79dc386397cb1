//! The flags that describe a schedule, and the texts of spans and instants.

use clap::{Args, ValueEnum};
use jiff::fmt::temporal::{Pieces, PiecesOffset};
use jiff::{SpanRelativeTo, civil};
use offbeat_core::{Moment, PlacementKind, Profile, Rejection, Schedule, ScheduleSpec, Span};

#[derive(Debug, Args)]
#[command(next_help_heading = "Schedule")]
pub(super) struct ScheduleArgs {
    /// Length of the cycle: 8h, 90m, 1d, "1h 30m", 1500ms (a day is 24 hours)
    #[arg(long, alias = "period", value_name = "SPAN", value_parser = parse_span, allow_hyphen_values = true)]
    pub(super) cycle: Span,

    #[command(flatten)]
    pub(super) more: MoreScheduleArgs,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Schedule")]
pub(super) struct MoreScheduleArgs {
    /// Slots in a cycle; must divide it [default: gcd of its seconds and 256]
    #[arg(long, value_name = "COUNT", value_parser = parse_count, allow_hyphen_values = true)]
    pub(super) slots: Option<i64>,

    /// How an ID becomes a place
    #[arg(long, requires = "cycle", value_enum, default_value_t = PlacementArg::Hash)]
    pub(super) placement: PlacementArg,

    /// Whose Mersenne twister, with --placement twister [default: ruby]
    #[arg(long, requires = "cycle", value_enum)]
    pub(super) profile: Option<ProfileArg>,

    /// Buckets, with --placement twister: 256 or 65536 [default: 256]
    #[arg(long, requires = "cycle", value_name = "COUNT", value_parser = parse_count, allow_hyphen_values = true)]
    pub(super) buckets: Option<i64>,

    /// Namespace, with --placement hash
    #[arg(
        long,
        requires = "cycle",
        value_name = "TEXT",
        default_value = "",
        hide_default_value = true
    )]
    pub(super) salt: String,

    /// The weight up to which an ID is one piece; IDs may have weights then
    #[arg(long, requires = "cycle", value_name = "WEIGHT", value_parser = parse_count, allow_hyphen_values = true)]
    pub(super) weight_quantum: Option<i64>,

    /// Length of a tick, the unit of offsets: 1s, or a whole fraction of it such as 1ms
    #[arg(long, requires = "cycle", value_name = "SPAN", default_value = "1s", value_parser = parse_span, allow_hyphen_values = true)]
    pub(super) resolution: Span,

    /// When cycle 0 starts, as RFC 3339
    #[arg(long, requires = "cycle", value_name = "INSTANT", default_value = "1970-01-01T00:00:00Z", value_parser = parse_moment)]
    pub(super) anchor: Moment,
}

/// How an ID becomes a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum PlacementArg {
    /// By hash: any ID, any slot count
    Hash,
    /// By Mersenne twister, as Ruby, Python or PHP draw it: UUIDs and integers
    Twister,
    /// By a stored fraction in [0, 1)
    Fraction,
}

/// Whose Mersenne twister.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum ProfileArg {
    /// Ruby 3.2 and later, 2.7 and earlier
    Ruby,
    /// Ruby 3.0 and 3.1
    #[value(name = "ruby-3.0-3.1")]
    Ruby30To31,
    /// Python 3.2 and later
    Python,
    /// PHP 8.2 and later; from 7.2 on for slots up to 2^32 ticks
    Php,
}

impl ScheduleArgs {
    pub(super) fn schedule(&self) -> Result<Schedule, Rejection> {
        self.more.schedule(self.cycle)
    }
}

impl MoreScheduleArgs {
    pub(super) fn schedule(&self, cycle: Span) -> Result<Schedule, Rejection> {
        Schedule::try_new(&ScheduleSpec {
            period: cycle,
            resolution: Some(self.resolution),
            anchor_time: Some(self.anchor),
            slot_count: self.slots,
            placement: match self.placement {
                PlacementArg::Hash => PlacementKind::Hash,
                PlacementArg::Twister => PlacementKind::Twister,
                PlacementArg::Fraction => PlacementKind::Fraction,
            },
            bucket_count: self.buckets,
            profile: self.profile.map(|profile| match profile {
                ProfileArg::Ruby => Profile::Ruby,
                ProfileArg::Ruby30To31 => Profile::Ruby30To31,
                ProfileArg::Python => Profile::Python,
                ProfileArg::Php => Profile::Php,
            }),
            salt: self.salt.clone(),
            weight_quantum: self.weight_quantum,
        })
    }
}

/// Reads a span as people write it; months and years have no fixed length.
pub(super) fn parse_span(text: &str) -> Result<Span, String> {
    let allowed = "must be a span with units, such as 8h, 90m, 1d or 1500ms";
    let span: jiff::Span = text.parse().map_err(|_| allowed)?;
    let relative = SpanRelativeTo::days_are_24_hours();
    let duration =
        span.to_duration(relative).map_err(|_| format!("{allowed} (no months or years)"))?;
    Span::try_new(duration.as_secs(), duration.subsec_nanos()).map_err(|error| error.to_string())
}

/// Reads a count; its range is the question's to check.
pub(super) fn parse_count(text: &str) -> Result<i64, String> {
    text.parse().map_err(|_| "must be a whole number".to_owned())
}

/// Reads an instant as RFC 3339, in the years 1 to 9999.
pub(super) fn parse_moment(text: &str) -> Result<Moment, String> {
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
