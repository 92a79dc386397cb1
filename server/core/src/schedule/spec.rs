//! Schedules as a caller describes them.

use super::KindSpec;
use crate::calendar::{CalendarSpec, CycleWindow, ExclusionSpec};
use crate::placement::{PlacementKind, Profile};
use crate::reciprocal::Spacing;
use crate::time::{Moment, Span};

/// A schedule as a caller describes it, not yet checked. `None` means the default.
#[derive(Debug, Clone, PartialEq)]
pub struct ScheduleSpec {
    /// The repeating whole: a period, or a unit of the calendar.
    pub cycle: CycleSpec,
    /// Length of a tick; divides one second, 1 ms to 1 s. Default: 1 s.
    pub resolution: Option<Span>,
    /// Start of cycle 0, on a tick since the Unix epoch; not with a calendar. Default: the Unix
    /// epoch.
    pub anchor_time: Option<Moment>,
    /// Slots in a cycle. Must divide its active ticks; with months, those of months of each length.
    /// Default: gcd(active seconds, 256).
    pub slot_count: Option<i64>,
    /// How an ID becomes a place. Default: `HASH`.
    pub placement: PlacementKind,
    /// `TWISTER` only: 256 or 65,536. Default: 256.
    pub bucket_count: Option<i64>,
    /// `TWISTER` only. Default: `RUBY`.
    pub profile: Option<Profile>,
    /// `HASH` only: the namespace, at most 256 bytes. Default: empty.
    pub salt: String,
    /// The weight up to which an ID is one piece, 1 to 2^53. Default: no weights.
    pub weight_quantum: Option<i64>,
    /// The parts of a cycle that may be used, in order, not touching. Default: all of it.
    pub active_windows: Vec<CycleWindow>,
    /// Times at which nothing may start. Default: none.
    pub exclusions: Vec<ExclusionSpec>,
    /// The kinds of job that must not meet. Default: none; the name of a kind is then only a label.
    pub kinds: Vec<KindSpec>,
    /// How the kinds are spread over the cycle; only with kinds. Default: evenly.
    pub kind_spacing: Spacing,
    /// Pairs of kinds that must not meet, by name; not with run times, and only with even spacing.
    /// Default: all pairs.
    pub kind_conflicts: Vec<(String, String)>,
    /// How much of a cycle's usable time late runs are spread over: at most 1/(2k) of it for k
    /// kinds, and enough to keep them apart; only with kinds. Default: an eighth, less with more
    /// than four kinds, or as much as run times need.
    pub catch_up_span: Option<Span>,
}

/// The repeating whole of a schedule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CycleSpec {
    /// Of one length: a whole number of ticks, 1 ms to 3,660 days.
    Period(Span),
    /// A day, week or month by a wall clock; not with `TWISTER`.
    Calendar(CalendarSpec),
}

impl ScheduleSpec {
    /// A cycle of `period` with every default.
    ///
    /// ```
    /// use offbeat_core::{Schedule, ScheduleSpec, Span};
    ///
    /// let spec = ScheduleSpec { slot_count: Some(24), ..ScheduleSpec::every(Span::from_seconds(86_400)) };
    /// assert_eq!(Schedule::try_new(&spec)?.slot_duration(), Span::from_seconds(3_600));
    /// # Ok::<(), offbeat_core::Rejection>(())
    /// ```
    #[must_use]
    pub const fn every(period: Span) -> Self {
        Self {
            cycle: CycleSpec::Period(period),
            resolution: None,
            anchor_time: None,
            slot_count: None,
            placement: PlacementKind::Hash,
            bucket_count: None,
            profile: None,
            salt: String::new(),
            weight_quantum: None,
            active_windows: Vec::new(),
            exclusions: Vec::new(),
            kinds: Vec::new(),
            kind_spacing: Spacing::Even,
            kind_conflicts: Vec::new(),
            catch_up_span: None,
        }
    }
}
