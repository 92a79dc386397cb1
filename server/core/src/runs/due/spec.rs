//! A question for due runs as a caller puts it.

use crate::time::{Moment, Span};

/// Policy for missed runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MissedRunPolicy {
    /// None of them runs.
    Drop,
    /// The latest of each piece runs, unless a run that is on time does.
    #[default]
    RunOnce,
    /// All of them run.
    RunAll,
}

/// A question for due runs as a caller puts it, not yet checked. `None` means the default.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DueSpec {
    /// Runs before this are due.
    pub now_time: Moment,
    /// Policy for runs that are due and no longer on time.
    pub missed_run_policy: MissedRunPolicy,
    /// How long before now a run is on time: 0 to one period. Must be set with
    /// [`MissedRunPolicy::Drop`]. Default: 60 s, or one period.
    pub on_time_tolerance: Option<Span>,
    /// How long before now a missed run may run: `on_time_tolerance` to 3,660 days. Default: one
    /// period.
    pub horizon: Option<Span>,
    /// Over which span from now missed runs start: 0 to one period. Default: 0.
    pub smear_span: Option<Span>,
    /// How far after now a watermark may lie, and `look_ahead` more: 0 to one period. Default: 60 s,
    /// or one period.
    pub max_clock_skew: Option<Span>,
    /// Runs before now and so much are listed, and late are those that are so now: 0 to one period.
    /// Default: 0.
    pub look_ahead: Option<Span>,
    /// `RunOnce`: a late run that would start within this of the next run of its ID, or after it, is
    /// superseded: 0 to one period. Default: 0.
    pub min_gap: Option<Span>,
}

impl DueSpec {
    /// What is due until `now_time`, with every default.
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
