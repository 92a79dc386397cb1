//! Weights: a large ID is cut into pieces, which run as if each were an ID.
//!
//! An ID of weight w has k = max(1, min(n, ⌈w/q⌉)) pieces, for the schedule's quantum q and its
//! n slots. Piece j stands where the reversed bits of j, as a fraction of the cycle, lie after the
//! ID's own place (van der Corput's sequence): the pieces spread evenly whatever their number, and
//! more weight adds pieces and moves none.

use crate::limits::WEIGHT;
use crate::rejection::{Reason, Rejection, in_range};
use crate::schedule::Schedule;

impl Schedule {
    /// How many pieces an ID of `weight` is cut into.
    ///
    /// # Errors
    /// When the schedule has no quantum, or the weight is not 0 to 2^53; naming `weight`.
    pub fn piece_count(&self, weight: i64) -> Result<u32, Rejection> {
        let Some(quantum) = self.weight_quantum() else {
            let allowed = "must not be set with a schedule without weight_quantum";
            return Err(Rejection::new(Reason::Contradictory, "weight", weight, allowed));
        };
        let wanted = in_range("weight", weight, WEIGHT)?.div_ceil(quantum);
        Ok(u32::try_from(wanted).unwrap_or(u32::MAX).clamp(1, self.slot_count()))
    }
}
