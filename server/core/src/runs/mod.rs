//! When IDs run: their runs on the clock, the slots around them, and what is due.

mod around;
mod catch_up;
mod columns;
mod cycle_cache;
mod due;
mod first_run;
mod place_runs;
mod plain;
mod slots;
mod smear;
mod starts;
mod windows;

use core::fmt::Write as _;

use sha2::{Digest, Sha256};

use crate::ids::{Id, hexadecimal};
use crate::time::Moment;

pub use around::{Runs, check_run_count};
pub use columns::{AssignmentColumns, ColumnSelection, Decider, PackedIds};
pub use cycle_cache::CycleCache;
pub use due::{Due, DueRuns, DueSpec, MissedRunPolicy};
pub use first_run::{FirstRun, FirstRunPolicy, NewId, NewIdSpec};
pub use place_runs::PlaceRuns;
pub use slots::Slot;
pub use windows::KeyRanges;

pub(crate) use windows::intersection;

/// The ID of the run with this key: the first 16 bytes of the key's SHA-256, as 32 hexadecimal
/// digits in lower case. Queues take it as the ID of a job, and databases as a UUID. Empty for an
/// empty key.
///
/// ```
/// use offbeat_core::runs::run_id;
///
/// // printf bank-sync/1/import/7/0/acme | sha256sum | head -c 32
/// assert_eq!(run_id("bank-sync/1/import/7/0/acme"), "814b461ac4d268538acf557fc4426d97");
/// ```
#[must_use]
pub fn run_id(run_key: &str) -> String {
    let digest = Sha256::digest(run_key);
    if run_key.is_empty() { String::new() } else { hexadecimal(digest.split_at(16).0) }
}

/// One run of an ID. An ID has one run in each cycle, unless exclusions skip it; runs are in the
/// order of their cycles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// The cycle it belongs to; cycle 0 starts at the anchor, or is the unit of the calendar
    /// that holds 1 January 1970; earlier ones are negative. A deferred run keeps its cycle.
    pub cycle_index: i64,
    /// When it starts, in milliseconds since the Unix epoch.
    pub unix_millis: i64,
    /// When it would start without exclusions, in milliseconds since the Unix epoch: the same,
    /// unless it is deferred.
    pub regular_unix_millis: i64,
}

impl Run {
    /// A run that no exclusion defers.
    const fn regular(cycle_index: i64, unix_millis: i64) -> Self {
        Self { cycle_index, unix_millis, regular_unix_millis: unix_millis }
    }

    /// Whether it starts in the years 1 to 9999.
    fn is_in_time(&self) -> bool {
        Moment::from_unix_millis(self.unix_millis).is_some()
    }

    /// The run's key: `prefix/cycle index/piece/canonical ID`, with the prefix of
    /// [`Schedule::run_key_prefix`](crate::Schedule::run_key_prefix). The piece is 0 for an ID
    /// without weight. The ID comes last, since it may hold slashes.
    ///
    /// A fraction has no key: two rows may have stored the same fraction, and one would be taken
    /// for the other.
    ///
    /// ```
    /// use offbeat_core::{Id, Run};
    ///
    /// let run = Run { cycle_index: 7, unix_millis: 0, regular_unix_millis: 0 };
    /// let key = run.key("bank-sync/1/import", &Id::text("acme")?);
    /// assert_eq!(key.as_deref(), Some("bank-sync/1/import/7/0/acme"));
    /// assert_eq!(run.key("bank-sync/1/import", &Id::fraction(0.5)?), None);
    /// # Ok::<(), offbeat_core::Rejection>(())
    /// ```
    #[must_use]
    pub fn key(&self, prefix: &str, id: &Id<'_>) -> Option<String> {
        self.key_of_piece(prefix, 0, id)
    }

    /// The same for a piece of a weighted ID, from 0.
    #[must_use]
    pub fn key_of_piece(&self, prefix: &str, piece: u32, id: &Id<'_>) -> Option<String> {
        id.is_identity().then(|| {
            let mut key = String::with_capacity(prefix.len() + 64);
            self.write_key(&mut key, prefix, piece, &id.to_string());
            key
        })
    }

    /// Appends the same key to `key`, for callers that have the canonical text of the ID.
    pub fn write_key(&self, key: &mut String, prefix: &str, piece: u32, canonical_id: &str) {
        key.push_str(prefix);
        key.push('/');
        let _ = write!(key, "{}/{piece}/", self.cycle_index); // writing to a String cannot fail
        key.push_str(canonical_id);
    }
}
