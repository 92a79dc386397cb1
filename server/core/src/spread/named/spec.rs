//! How a named spread is dealt and lent.

use super::room::Room;
use crate::limits::{
    DEFAULT_CONSUMER_LEASES, DEFAULT_LEASE_MILLIS, DEFAULT_MAX_ATTEMPTS, DEFAULT_SPREAD_BYTES,
    DEFAULT_SPREAD_GROUPS, DEFAULT_SPREAD_JOBS, OUTSTANDING_LEASES, SPREAD_BYTES, SPREAD_GROUPS,
    SPREAD_JOBS,
};
use crate::rejection::{Reason, Rejection, in_range};
use crate::spread::lease::LeaseSpec;
use crate::spread::{OnShortage, SpreadSpec};

/// How a named spread is dealt and lent, not yet checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NamedSpreadSpec {
    /// The order. Its turns do not pass by themselves, so `WAIT` is refused.
    pub order: SpreadSpec,
    /// How long a job is lent, in milliseconds: 1 s to 600 s.
    pub lease_millis: i64,
    /// How many times a job is lent before it is given up: 1 to 1,000.
    pub max_attempts: i64,
    /// How many jobs one consumer may hold at once: 1 to 65,536.
    pub max_consumer_leases: i64,
    /// Groups at once, partial ones included: 1 to 1,000,000.
    pub max_groups: i64,
    /// Jobs at once: 1 to 100,000,000.
    pub max_jobs: i64,
    /// Bytes of jobs at once: 1 to 2^40.
    pub max_bytes: i64,
}

impl NamedSpreadSpec {
    /// That order, and the default of everything else.
    #[must_use]
    pub const fn new(order: SpreadSpec) -> Self {
        Self {
            order,
            lease_millis: DEFAULT_LEASE_MILLIS,
            max_attempts: DEFAULT_MAX_ATTEMPTS,
            max_consumer_leases: DEFAULT_CONSUMER_LEASES,
            max_groups: DEFAULT_SPREAD_GROUPS,
            max_jobs: DEFAULT_SPREAD_JOBS,
            max_bytes: DEFAULT_SPREAD_BYTES,
        }
    }

    /// The first field in which two differ, with both values.
    #[must_use]
    pub fn difference(&self, other: &Self) -> Option<(&'static str, String, String)> {
        let fields = |spec: &Self| {
            let Self {
                order: SpreadSpec { policy, feeder_count, max_open_groups, on_shortage: _ },
                lease_millis,
                max_attempts,
                max_consumer_leases,
                max_groups,
                max_jobs,
                max_bytes,
            } = spec;
            [
                ("policy", format!("{policy:?}")),
                ("feeder_count", feeder_count.to_string()),
                ("max_open_groups", max_open_groups.unwrap_or_default().to_string()),
                ("lease", format!("{lease_millis} ms")),
                ("max_attempts", max_attempts.to_string()),
                ("max_consumer_leases", max_consumer_leases.to_string()),
                ("max_groups", max_groups.to_string()),
                ("max_jobs", max_jobs.to_string()),
                ("max_bytes", max_bytes.to_string()),
            ]
        };
        let pairs = fields(self).into_iter().zip(fields(other));
        pairs.filter(|(a, b)| a != b).map(|((name, a), (_, b))| (name, a, b)).next()
    }

    pub(super) const fn leases(&self) -> LeaseSpec {
        LeaseSpec {
            lease_millis: self.lease_millis,
            max_attempts: self.max_attempts,
            max_consumer_leases: self.max_consumer_leases,
            max_outstanding: OUTSTANDING_LEASES.maximum,
        }
    }

    pub(super) fn room(&self) -> Result<Room, Rejection> {
        if self.order.on_shortage == Some(OnShortage::Wait) {
            let allowed = "must be EMIT: turns of a named spread do not pass by themselves";
            return Err(Rejection::new(Reason::Contradictory, "on_shortage", "WAIT", allowed));
        }
        Ok(Room {
            groups: in_range("max_groups", self.max_groups, SPREAD_GROUPS)?,
            jobs: in_range("max_jobs", self.max_jobs, SPREAD_JOBS)?,
            bytes: in_range("max_bytes", self.max_bytes, SPREAD_BYTES)?,
        })
    }
}
