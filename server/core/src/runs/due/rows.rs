//! Due runs as rows: one page of them, and counts over all pages.

use crate::limits::{DUE_CYCLES, DUE_PAGED_RUNS, DUE_RUNS};
use crate::rejection::{Reason, Rejection};
use crate::runs::Run;

/// Due runs as columns of equal length; times are milliseconds since the Unix epoch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DueRuns {
    /// The ID of each row, by the index that it was added with.
    pub id_indexes: Vec<u32>,
    /// The piece of the ID, from 0.
    pub piece_indexes: Vec<u32>,
    /// The cycle of the run; with the ID and the piece it is the run's identity.
    pub cycle_indexes: Vec<i64>,
    /// When the run should have started, exclusions considered.
    pub scheduled_unix_millis: Vec<i64>,
    /// When to start it: the same for runs on time, and later for missed ones.
    pub start_unix_millis: Vec<i64>,
    /// Missed runs that are listed.
    pub late: u128,
    /// Missed runs that are not listed, by the policy or the horizon, or because nothing may start.
    pub dropped: u128,
    /// Missed runs that are not listed, because they would start after the next run of their ID, or
    /// too shortly before it.
    pub superseded: u128,
    /// Runs that do not happen: exclusions skip them, or the clock skips their day.
    pub skipped: u128,
    /// When the first run of these IDs that is not listed is due; `None` if exclusions skip 64
    /// cycles of each ID.
    pub next_due: Option<i64>,
    /// Runs on time and those that are to be caught up.
    pub(super) wanted: u128,
    /// Rows before the page, and rows seen so far.
    first_row: u64,
    met: u64,
    page_size: usize,
    pub(super) has_more: bool,
    /// Cycles and spans examined for these rows.
    pub(super) work: u64,
    pub(super) obstacle: Option<Obstacle>,
}

/// Why runs are not listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Obstacle {
    /// Too many cycles and spans would have to be looked through.
    ManyCycles,
    /// There are more runs than all pages hold.
    ManyRuns,
}

impl DueRuns {
    /// An empty page, which begins with row `first_row` and holds at most `page_size` rows.
    ///
    /// # Errors
    /// When `page_size` is out of range, naming it; or `first_row` is, naming `ids`.
    pub fn page(first_row: u64, page_size: i64) -> Result<Self, Rejection> {
        let Some(page_size) =
            usize::try_from(page_size).ok().filter(|_| DUE_RUNS.allows(page_size.into()))
        else {
            let allowed = format!("must be {DUE_RUNS}");
            return Err(Rejection::new(Reason::OutOfRange, "page_size", page_size, allowed));
        };
        if !DUE_PAGED_RUNS.allows(first_row.into()) {
            let value = format_args!("IDs with more than {first_row} due runs");
            let allowed = format!("must have {DUE_PAGED_RUNS}");
            return Err(Rejection::new(Reason::OutOfRange, "ids", value, allowed));
        }
        Ok(Self { first_row, page_size, ..Self::default() })
    }

    /// The first row of the next page, if there is one. The counts do not cover all rows then.
    #[must_use]
    pub fn next_row(&self) -> Option<u64> {
        self.has_more.then_some(self.first_row + self.page_size as u64)
    }

    pub(super) fn push(&mut self, (id_index, piece_index): (u32, u32), run: &Run, start: i64) {
        let is_before = self.met < self.first_row;
        self.met += 1;
        if is_before {
            return;
        }
        if self.id_indexes.len() >= self.page_size {
            self.has_more = true;
            return;
        }
        self.id_indexes.push(id_index);
        self.piece_indexes.push(piece_index);
        self.cycle_indexes.push(run.cycle_index);
        self.scheduled_unix_millis.push(run.unix_millis);
        self.start_unix_millis.push(start);
    }

    /// The rows, if all runs could be looked through.
    ///
    /// # Errors
    /// When too many cycles would have to be looked through, or there are more runs than all pages
    /// hold; naming `ids`.
    pub fn complete(self) -> Result<Self, Rejection> {
        let refuse =
            |value: &str, allowed| Err(Rejection::new(Reason::OutOfRange, "ids", value, allowed));
        match self.obstacle {
            None => Ok(self),
            Some(Obstacle::ManyCycles) => refuse(
                "IDs with runs in so many cycles",
                format!(
                    "must need {DUE_CYCLES} looked through: ask for fewer IDs at once, with later \
                     watermarks"
                ),
            ),
            Some(Obstacle::ManyRuns) => refuse(
                &format!("IDs with {} or more due runs", self.wanted),
                format!(
                    "must have {DUE_PAGED_RUNS}: ask for fewer IDs at once, or shorten the horizon"
                ),
            ),
        }
    }
}

/// An empty first page, which holds as many rows as a page may.
impl Default for DueRuns {
    fn default() -> Self {
        Self {
            id_indexes: Vec::new(),
            piece_indexes: Vec::new(),
            cycle_indexes: Vec::new(),
            scheduled_unix_millis: Vec::new(),
            start_unix_millis: Vec::new(),
            late: 0,
            dropped: 0,
            superseded: 0,
            skipped: 0,
            next_due: None,
            wanted: 0,
            first_row: 0,
            met: 0,
            page_size: DUE_RUNS.max_size(),
            has_more: false,
            work: 0,
            obstacle: None,
        }
    }
}
