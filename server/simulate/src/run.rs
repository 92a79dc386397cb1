//! A run that has ended: a strategy with a seed.

use std::sync::Arc;

use offbeat_sim::world::Row;

/// The number of a run among all, and its rows.
pub(crate) type FinishedRun = (usize, Arc<Vec<Row>>);

/// A run to write.
pub(crate) struct Run<'a> {
    pub(crate) number: usize,
    pub(crate) strategy: &'a str,
    /// The place of the strategy.
    pub(crate) of: usize,
    pub(crate) seed: u64,
    pub(crate) rows: &'a [Row],
}
