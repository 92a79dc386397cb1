//! The flags that describe a schedule.

use clap::{Args, ValueEnum};
use offbeat_core::{Moment, PlacementKind, Profile, Schedule, ScheduleSpec, Span};

use super::Failure;
use super::named::NamedArgs;
pub(super) use crate::texts::{parse_count, parse_moment, parse_span};

#[derive(Debug, Args)]
#[command(next_help_heading = "Schedule")]
pub(super) struct ScheduleArgs {
    /// Length of the cycle: 8h, 90m, 1d, "1h 30m", 1500ms (a day is 24 hours)
    #[arg(
        long,
        alias = "period",
        value_name = "SPAN",
        value_parser = parse_span,
        required_unless_present = "schedules",
        allow_hyphen_values = true
    )]
    pub(super) cycle: Option<Span>,

    #[command(flatten)]
    pub(super) more: MoreScheduleArgs,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Schedule")]
pub(super) struct MoreScheduleArgs {
    #[command(flatten)]
    pub(super) named: NamedArgs,

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
    pub(super) fn schedule(&self) -> Result<Schedule, Failure> {
        let schedule = self.more.schedule(self.cycle)?;
        schedule.ok_or_else(|| Failure::Usage("--cycle: is missing".to_owned())) // clap asks for it
    }
}

impl MoreScheduleArgs {
    /// The schedule of the flags: by name, or of this cycle; without either there is none.
    pub(super) fn schedule(&self, cycle: Option<Span>) -> Result<Option<Schedule>, Failure> {
        if let Some(schedule) = self.named.schedule()? {
            return Ok(Some(schedule));
        }
        let Some(period) = cycle else { return Ok(None) };
        let spec = self.spec(period);
        Ok(Some(Schedule::try_new(&spec)?))
    }

    pub(super) fn spec(&self, period: Span) -> ScheduleSpec {
        ScheduleSpec {
            period,
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
        }
    }
}
