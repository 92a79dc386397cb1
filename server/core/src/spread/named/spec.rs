//! How a named spread works.

use serde::{Deserialize, Serialize};

use super::room::Room;
use crate::limits::{
    DEFAULT_CONSUMER_LEASES, DEFAULT_LEASE_MILLIS, DEFAULT_MAX_ATTEMPT_COUNT, DEFAULT_SPREAD_BYTES,
    DEFAULT_SPREAD_GROUPS, DEFAULT_SPREAD_JOBS, OUTSTANDING_LEASES, SPREAD_BYTES, SPREAD_GROUPS,
    SPREAD_JOBS,
};
use crate::rejection::{Reason, Rejection, in_range};
use crate::spread::lease::LeaseSpec;
use crate::spread::{OnShortage, SpreadSpec};

/// How a named spread works, not yet checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedSpreadSpec {
    /// The order. `WAIT` is refused, because turns of a named spread do not pass by themselves.
    pub order: SpreadSpec,
    /// How long a lease lasts, in milliseconds: 1 s to 600 s.
    pub lease_millis: i64,
    /// How much the spread may hold.
    pub limits: SpreadLimits,
}

/// How much a named spread may hold, not yet checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpreadLimits {
    /// Leases of a job before it becomes a dead letter: 1 to 1,000.
    pub max_attempt_count: i64,
    /// Jobs that one consumer may hold at once: 1 to 65,536.
    pub max_consumer_lease_count: i64,
    /// Groups at once, partial ones included: 1 to 1,000,000.
    pub max_group_count: i64,
    /// Jobs at once: 1 to 100,000,000.
    pub max_job_count: i64,
    /// Bytes of payloads at once: 1 to 2^40.
    pub max_byte_count: i64,
}

impl Default for SpreadLimits {
    /// The defaults of the table of limits.
    fn default() -> Self {
        Self {
            max_attempt_count: DEFAULT_MAX_ATTEMPT_COUNT,
            max_consumer_lease_count: DEFAULT_CONSUMER_LEASES,
            max_group_count: DEFAULT_SPREAD_GROUPS,
            max_job_count: DEFAULT_SPREAD_JOBS,
            max_byte_count: DEFAULT_SPREAD_BYTES,
        }
    }
}

/// New values of [`SpreadLimits`]; `None` keeps the current value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct LimitChanges {
    /// See [`SpreadLimits`], as for the other fields.
    pub max_attempt_count: Option<i64>,
    /// See [`SpreadLimits`].
    pub max_consumer_lease_count: Option<i64>,
    /// See [`SpreadLimits`].
    pub max_group_count: Option<i64>,
    /// See [`SpreadLimits`].
    pub max_job_count: Option<i64>,
    /// See [`SpreadLimits`].
    pub max_byte_count: Option<i64>,
}

impl SpreadLimits {
    /// These limits with some changed.
    #[must_use]
    pub fn with(&self, changes: &LimitChanges) -> Self {
        Self {
            max_attempt_count: changes.max_attempt_count.unwrap_or(self.max_attempt_count),
            max_consumer_lease_count: changes
                .max_consumer_lease_count
                .unwrap_or(self.max_consumer_lease_count),
            max_group_count: changes.max_group_count.unwrap_or(self.max_group_count),
            max_job_count: changes.max_job_count.unwrap_or(self.max_job_count),
            max_byte_count: changes.max_byte_count.unwrap_or(self.max_byte_count),
        }
    }
}

impl NamedSpreadSpec {
    /// A spec with this order, and the default for everything else.
    #[must_use]
    pub fn new(order: SpreadSpec) -> Self {
        Self { order, lease_millis: DEFAULT_LEASE_MILLIS, limits: SpreadLimits::default() }
    }

    /// The first field in which two specs differ, with both values.
    #[must_use]
    pub fn difference(&self, other: &Self) -> Option<(&'static str, String, String)> {
        let fields = |spec: &Self| {
            let Self {
                order: SpreadSpec { policy, feeder_count, max_open_group_count, on_shortage: _ },
                lease_millis,
                limits:
                    SpreadLimits {
                        max_attempt_count,
                        max_consumer_lease_count,
                        max_group_count,
                        max_job_count,
                        max_byte_count,
                    },
            } = spec;
            [
                ("order.policy", format!("{policy:?}")),
                ("order.feeder_count", feeder_count.to_string()),
                (
                    "order.max_open_group_count",
                    max_open_group_count.unwrap_or_default().to_string(),
                ),
                ("lease_duration", format!("{lease_millis} ms")),
                ("limits.max_attempt_count", max_attempt_count.to_string()),
                ("limits.max_consumer_lease_count", max_consumer_lease_count.to_string()),
                ("limits.max_group_count", max_group_count.to_string()),
                ("limits.max_job_count", max_job_count.to_string()),
                ("limits.max_byte_count", max_byte_count.to_string()),
            ]
        };
        let pairs = fields(self).into_iter().zip(fields(other));
        pairs.filter(|(a, b)| a != b).map(|((name, a), (_, b))| (name, a, b)).next()
    }

    pub(super) const fn leases(&self) -> LeaseSpec {
        LeaseSpec {
            lease_millis: self.lease_millis,
            max_attempt_count: self.limits.max_attempt_count,
            max_consumer_lease_count: self.limits.max_consumer_lease_count,
            max_outstanding: OUTSTANDING_LEASES.maximum,
        }
    }

    pub(super) fn room(&self) -> Result<Room, Rejection> {
        if self.order.on_shortage == Some(OnShortage::Wait) {
            let allowed = "must be EMIT: turns of a named spread do not pass by themselves";
            return Err(Rejection::new(Reason::Contradictory, "on_shortage", "WAIT", allowed));
        }
        Ok(Room {
            groups: in_range("limits.max_group_count", self.limits.max_group_count, SPREAD_GROUPS)?,
            jobs: in_range("limits.max_job_count", self.limits.max_job_count, SPREAD_JOBS)?,
            bytes: in_range("limits.max_byte_count", self.limits.max_byte_count, SPREAD_BYTES)?,
        })
    }
}
