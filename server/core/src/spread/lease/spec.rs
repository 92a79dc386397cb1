//! How jobs are leased.

use serde::{Deserialize, Serialize};

use crate::limits::{
    CONSUMER_LEASES, DEFAULT_CONSUMER_LEASES, DEFAULT_LEASE_MILLIS, DEFAULT_MAX_ATTEMPT_COUNT,
    LEASE_MILLIS, MAX_ATTEMPT_COUNT, OUTSTANDING_LEASES,
};
use crate::rejection::{Rejection, in_range};

/// How jobs are leased, not yet checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeaseSpec {
    /// How long a lease lasts, in milliseconds: 1 s to 600 s.
    pub lease_millis: i64,
    /// How many times a job is leased before it goes to the dead letters: 1 to 1,000.
    pub max_attempt_count: i64,
    /// How many jobs one consumer may hold at once: 1 to 65,536.
    pub max_consumer_lease_count: i64,
    /// How many jobs may be leased or wait to be leased again; at this limit, no new jobs are
    /// leased.
    pub max_outstanding: i64,
}

impl Default for LeaseSpec {
    /// The defaults in the table of limits, and the most outstanding jobs that are allowed.
    fn default() -> Self {
        Self {
            lease_millis: DEFAULT_LEASE_MILLIS,
            max_attempt_count: DEFAULT_MAX_ATTEMPT_COUNT,
            max_consumer_lease_count: DEFAULT_CONSUMER_LEASES,
            max_outstanding: OUTSTANDING_LEASES.maximum,
        }
    }
}

/// The checked spec; `lease` is in milliseconds.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct Checked {
    pub(super) lease: u64,
    pub(super) max_attempt_count: u32,
    pub(super) max_consumer_lease_count: usize,
    pub(super) max_outstanding: usize,
}

impl LeaseSpec {
    pub(super) fn check(&self) -> Result<Checked, Rejection> {
        let attempts =
            in_range("limits.max_attempt_count", self.max_attempt_count, MAX_ATTEMPT_COUNT)?;
        let held = in_range(
            "limits.max_consumer_lease_count",
            self.max_consumer_lease_count,
            CONSUMER_LEASES,
        )?;
        let outstanding = in_range("max_outstanding", self.max_outstanding, OUTSTANDING_LEASES)?;
        Ok(Checked {
            lease: in_range("lease_duration", self.lease_millis, LEASE_MILLIS)?,
            max_attempt_count: u32::try_from(attempts).unwrap_or(u32::MAX),
            max_consumer_lease_count: usize::try_from(held).unwrap_or(usize::MAX),
            max_outstanding: usize::try_from(outstanding).unwrap_or(usize::MAX),
        })
    }
}
