//! What an answer of `PlanLanes` repeats of its request.

use offbeat_core::lanes::OnTimeout;

/// Fields of the request that an answer repeats.
pub(super) struct Request {
    pub(super) on_timeout: OnTimeout,
    /// How many run times lie in each class; empty without samples.
    pub(super) samples: Vec<usize>,
    pub(super) type_names: Vec<String>,
}

impl Request {
    /// The name of the type at a place.
    pub(super) fn type_name(&self, place: usize) -> &str {
        self.type_names.get(place).map_or("", String::as_str)
    }
}
