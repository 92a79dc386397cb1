//! Weights of a batch: how many pieces, and so rows, each ID has.

use offbeat_core::limits::BATCH_PIECES;
use offbeat_core::{Reason, Rejection, Schedule};

/// The pieces of each ID of a batch.
#[derive(Debug, Clone)]
pub(super) enum Pieces {
    /// No weights: each ID is one piece.
    One,
    /// The number of pieces of each ID, by its weight.
    ByWeight(Vec<u32>),
}

impl Pieces {
    /// Checks the weights of a batch of `id_count` IDs.
    ///
    /// # Errors
    /// When there is not one weight for each ID, one is refused, or all IDs have too many pieces.
    pub(super) fn try_new(
        schedule: &Schedule,
        weights: &[i64],
        id_count: usize,
    ) -> Result<Self, Rejection> {
        if weights.is_empty() {
            return Ok(Self::One);
        }
        check_count("weights", weights.len(), id_count)?;
        let count = |(row, weight): (usize, &i64)| {
            let refused = |refused| Rejection { field: format!("weights[{row}]"), ..refused };
            schedule.piece_count(*weight).map_err(refused)
        };
        let counts = weights.iter().enumerate().map(count).collect::<Result<Vec<_>, _>>()?;
        let total: u64 = counts.iter().map(|count| u64::from(*count)).sum();
        if !BATCH_PIECES.allows(total.into()) {
            let value = format_args!("weights of {total} pieces");
            let allowed = format!(
                "must be {BATCH_PIECES}: send fewer IDs at once, or take a larger weight_quantum"
            );
            return Err(Rejection::new(Reason::OutOfRange, "weights", value, allowed));
        }
        Ok(Self::ByWeight(counts))
    }

    /// Number of pieces of the ID in `row`.
    pub(super) fn of(&self, row: usize) -> u32 {
        match self {
            Self::One => 1,
            Self::ByWeight(counts) => counts.get(row).copied().unwrap_or(1),
        }
    }

    /// Number of pieces of `id_count` IDs together.
    pub(super) fn total(&self, id_count: usize) -> usize {
        match self {
            Self::One => id_count,
            Self::ByWeight(counts) => {
                counts.iter().map(|count| usize::try_from(*count).unwrap_or(usize::MAX)).sum()
            }
        }
    }

    pub(super) const fn are_by_weight(&self) -> bool {
        matches!(self, Self::ByWeight(_))
    }
}

/// Checks that a column beside the IDs has one element for each.
///
/// # Errors
/// When it does not; names `field`.
pub(super) fn check_count(field: &str, count: usize, id_count: usize) -> Result<(), Rejection> {
    if count == id_count {
        return Ok(());
    }
    let value = format_args!("{count} for {id_count} IDs");
    Err(Rejection::new(Reason::Contradictory, field, value, "must be none, or one for each ID"))
}
