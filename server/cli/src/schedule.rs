//! The flags that describe a schedule.

use clap::{Args, ValueEnum};
use offbeat_core::{ExclusionTimes, Moment, PlacementKind, Profile, Schedule, ScheduleSpec, Span};

use super::Failure;
use super::kinds::KindArgs;
use super::named::NamedArgs;
pub(super) use offbeat_text::{CycleText, parse_count, parse_moment, parse_span};
use offbeat_text::{parse_exclusions, parse_windows};

#[derive(Debug, Args)]
#[command(next_help_heading = "Schedule")]
pub(super) struct ScheduleArgs {
    /// The cycle: a span (8h, 90m, 1d, "1h 30m", 1500ms; a day is 24 hours), or day, week or
    /// month by the calendar, with --time-zone
    #[arg(
        long,
        alias = "period",
        value_name = "SPAN|UNIT",
        value_parser = CycleText::parse,
        required_unless_present = "schedules",
        allow_hyphen_values = true
    )]
    pub(super) cycle: Option<CycleText>,

    #[command(flatten)]
    pub(super) more: MoreScheduleArgs,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Schedule")]
pub(super) struct MoreScheduleArgs {
    #[command(flatten)]
    pub(super) named: NamedArgs,

    /// The number of slots in a cycle, which must divide its active time [default: gcd of that in seconds and 256]
    #[arg(id = "slot_count", long = "slots", value_name = "COUNT", value_parser = parse_count, allow_hyphen_values = true)]
    pub(super) slots: Option<i64>,

    /// How an ID becomes a place
    #[arg(long, requires = "cycle", value_enum, default_value_t = PlacementArg::Hash)]
    pub(super) placement: PlacementArg,

    /// The language whose Mersenne twister places IDs, with --placement twister [default: ruby]
    #[arg(long, requires = "cycle", value_enum)]
    pub(super) profile: Option<ProfileArg>,

    /// The number of buckets, with --placement twister: 256 or 65536 [default: 256]
    #[arg(id = "bucket_count", long = "buckets", requires = "cycle", value_name = "COUNT", value_parser = parse_count, allow_hyphen_values = true)]
    pub(super) buckets: Option<i64>,

    /// A namespace, with --placement hash
    #[arg(
        long,
        requires = "cycle",
        value_name = "TEXT",
        default_value = "",
        hide_default_value = true
    )]
    pub(super) salt: String,

    /// The largest weight of a single piece: heavier IDs are several. Without it, IDs have no weights
    #[arg(long, requires = "cycle", value_name = "WEIGHT", value_parser = parse_count, allow_hyphen_values = true)]
    pub(super) weight_quantum: Option<i64>,

    /// The length of a tick, the unit of offsets: 1s, or a whole fraction of it such as 1ms
    #[arg(long, requires = "cycle", value_name = "SPAN", default_value = "1s", value_parser = parse_span, allow_hyphen_values = true)]
    pub(super) resolution: Span,

    /// When cycle 0 of a span starts (RFC 3339) [default: 1970-01-01T00:00:00Z]
    #[arg(id = "anchor_time", long = "anchor", requires = "cycle", value_name = "INSTANT", value_parser = parse_moment)]
    pub(super) anchor: Option<Moment>,

    /// The time zone of the calendar, by its IANA name: Europe/Berlin
    #[arg(long, alias = "timezone", requires = "cycle", value_name = "ZONE")]
    pub(super) time_zone: Option<String>,

    /// Use only this part of the cycle: "01:00-05:00" of each day, "Mon-Fri
    /// 01:00-05:00" or "Sat,Sun" of a week, "2h-5h" from the start of any cycle; may be repeated
    #[arg(id = "active_windows", long = "active", requires = "cycle", value_name = "WINDOW")]
    pub(super) active: Vec<String>,

    /// Times at which nothing may start: 2026-12-24T00:00:00Z/2026-12-27T00:00:00Z, or by the calendar
    /// "22:00-23:00", "Mon-Fri 22:00-23:00", "monthly 0d-1d", with a time zone if it is not
    /// --time-zone. With "skip", runs at these times are left out; with "defer" (the default), they
    /// start later. May be repeated
    #[arg(id = "exclusions", long = "exclude", requires = "cycle", value_name = "TIMES")]
    pub(super) exclude: Vec<String>,

    #[command(flatten)]
    pub(super) kinds: KindArgs,
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

/// The language whose Mersenne twister places IDs.
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
    /// The schedule of a kind. If it declares no kinds, any name is only a label.
    pub(super) fn schedule_of_kind(&self, kind: Option<&str>) -> Result<Schedule, Failure> {
        Ok(self.schedule()?.of_kind(kind)?)
    }

    pub(super) fn schedule(&self) -> Result<Schedule, Failure> {
        let schedule = self.more.schedule(self.cycle)?;
        schedule.ok_or_else(|| Failure::Usage("--cycle: is missing".to_owned())) // clap requires it
    }
}

impl MoreScheduleArgs {
    /// The schedule of the flags: by name, or of this cycle; `None` without either.
    pub(super) fn schedule(&self, cycle: Option<CycleText>) -> Result<Option<Schedule>, Failure> {
        if let Some(schedule) = self.named.schedule()? {
            return Ok(Some(schedule));
        }
        let Some(cycle) = cycle else { return Ok(None) };
        let spec = self.spec(cycle)?;
        let is_recurring =
            spec.exclusions.iter().any(|one| matches!(one.times, ExclusionTimes::Recurring { .. }));
        if self.time_zone.is_some() && matches!(cycle, CycleText::Period(_)) && !is_recurring {
            let message = "--time-zone: goes with --cycle day, week or month, or with a recurring \
                           --exclude: a span has no zone";
            return Err(Failure::Usage(message.to_owned()));
        }
        Ok(Some(Schedule::try_new(&spec)?))
    }

    pub(super) fn spec(&self, cycle: CycleText) -> Result<ScheduleSpec, Failure> {
        let zone = self.time_zone.as_deref();
        let of = |flag: &'static str| move |error| Failure::Usage(format!("{flag}: {error}"));
        let active = self.active.iter().map(String::as_str);
        let exclude = self.exclude.iter().map(String::as_str);
        let exclusions = parse_exclusions(exclude, zone).map_err(of("--exclude"))?;
        Ok(ScheduleSpec {
            cycle: cycle.cycle(zone).map_err(of("--time-zone"))?,
            resolution: Some(self.resolution),
            anchor_time: self.anchor,
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
            active_windows: parse_windows(active, cycle).map_err(of("--active"))?,
            exclusions,
            kinds: self.kinds.kinds(),
            kind_spacing: self.kinds.spacing(),
            kind_conflicts: self.kinds.conflicts(),
            catch_up_span: self.kinds.catch_up_span,
        })
    }
}
