//! A query for due runs, as a caller describes it.

use crate::time::{Moment, Span};

/// Policy for missed runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MissedRunPolicy {
    /// None of them runs.
    Drop,
    /// The latest of each piece runs, unless a run of the piece is on time.
    #[default]
    RunOnce,
    /// All of them run.
    RunAll,
}

/// A query for due runs as a caller describes it, not yet checked. `None` means the default.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DueSpec {
    /// Runs before this are due.
    pub now_time: Moment,
    /// Policy for runs that are due and no longer on time.
    pub missed_run_policy: MissedRunPolicy,
    /// How long before now a run is on time: 0 to one period; with kinds, 0 to
    /// [`Kinds::longest_tolerance`](crate::schedule::Kinds::longest_tolerance). Must be set with
    /// [`MissedRunPolicy::Drop`]. Default: 60 s, or the longest if that is less.
    pub on_time_tolerance: Option<Span>,
    /// How long before now a missed run may run: `on_time_tolerance` to 3,660 days. Default: one
    /// period.
    pub horizon: Option<Span>,
    /// The span from now over which missed runs start: 0 to one period; not with kinds. Default: 0.
    pub smear_span: Option<Span>,
    /// How far a watermark may be after now plus `look_ahead`: 0 to one period. Default: 60 s, or
    /// one period if that is less.
    pub max_clock_skew: Option<Span>,
    /// How long after now runs are listed before they are due: 0 to one period. Whether a run is
    /// late is still decided by now. Default: 0.
    pub look_ahead: Option<Span>,
    /// `RunOnce` only. A late run is superseded if it would start less than this before the next
    /// run of its ID, or after it: 0 to one period. Default: 0.
    pub min_gap: Option<Span>,
}

impl DueSpec {
    /// A query for what is due until `now_time`, with every default.
    #[must_use]
    pub const fn until(now_time: Moment) -> Self {
        Self {
            now_time,
            missed_run_policy: MissedRunPolicy::RunOnce,
            on_time_tolerance: None,
            horizon: None,
            smear_span: None,
            max_clock_skew: None,
            look_ahead: None,
            min_gap: None,
        }
    }
}
