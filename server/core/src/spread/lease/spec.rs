//! How jobs are lent.

use crate::limits::{
    CONSUMER_LEASES, DEFAULT_CONSUMER_LEASES, DEFAULT_LEASE_MILLIS, DEFAULT_MAX_ATTEMPTS,
    LEASE_MILLIS, MAX_ATTEMPTS, OUTSTANDING_LEASES,
};
use crate::rejection::{Rejection, in_range};

/// How jobs are lent, not yet checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeaseSpec {
    /// How long a lease lasts, in milliseconds: 1 s to 600 s.
    pub lease_millis: i64,
    /// How many times a job is lent before it goes to the dead letters: 1 to 1,000.
    pub max_attempts: i64,
    /// How many jobs one consumer may hold at once.
    pub max_consumer_leases: i64,
    /// How many jobs may be lent or wait to be lent again, before new ones are lent.
    pub max_outstanding: i64,
}

impl Default for LeaseSpec {
    /// The defaults of the table of limits, and as many jobs in all as there may be.
    fn default() -> Self {
        Self {
            lease_millis: DEFAULT_LEASE_MILLIS,
            max_attempts: DEFAULT_MAX_ATTEMPTS,
            max_consumer_leases: DEFAULT_CONSUMER_LEASES,
            max_outstanding: OUTSTANDING_LEASES.maximum,
        }
    }
}

/// The same, in range.
#[derive(Debug, Clone, Copy)]
pub(super) struct Checked {
    pub(super) lease: u64,
    pub(super) max_attempts: u32,
    pub(super) max_consumer_leases: usize,
    pub(super) max_outstanding: usize,
}

impl LeaseSpec {
    pub(super) fn check(&self) -> Result<Checked, Rejection> {
        let attempts = in_range("limits.max_attempts", self.max_attempts, MAX_ATTEMPTS)?;
        let held =
            in_range("limits.max_consumer_leases", self.max_consumer_leases, CONSUMER_LEASES)?;
        let outstanding = in_range("max_outstanding", self.max_outstanding, OUTSTANDING_LEASES)?;
        Ok(Checked {
            lease: in_range("lease_duration", self.lease_millis, LEASE_MILLIS)?,
            max_attempts: u32::try_from(attempts).unwrap_or(u32::MAX),
            max_consumer_leases: usize::try_from(held).unwrap_or(usize::MAX),
            max_outstanding: usize::try_from(outstanding).unwrap_or(usize::MAX),
        })
    }
}
