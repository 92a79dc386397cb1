//! How jobs are lent.

use crate::limits::{LEASE_MILLIS, Limit, MAX_ATTEMPTS, OUTSTANDING_LEASES};
use crate::rejection::{Reason, Rejection};

/// How jobs are lent, not yet checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeaseSpec {
    /// How long a lease lasts, in milliseconds: 1 s to 600 s.
    pub lease_millis: i64,
    /// How many times a job is lent before it goes to the dead letters: 1 to 1,000.
    pub max_attempts: i64,
    /// How many leases there are at once.
    pub max_outstanding: i64,
}

impl Default for LeaseSpec {
    /// 30 s, 5 attempts, as many leases as there may be.
    fn default() -> Self {
        Self { lease_millis: 30_000, max_attempts: 5, max_outstanding: OUTSTANDING_LEASES.maximum }
    }
}

/// The same, in range.
#[derive(Debug, Clone, Copy)]
pub(super) struct Checked {
    pub(super) lease: u64,
    pub(super) max_attempts: u32,
    pub(super) max_outstanding: usize,
}

impl LeaseSpec {
    pub(super) fn check(&self) -> Result<Checked, Rejection> {
        let in_range = |field: &str, value: i64, limit: Limit| {
            let checked = u64::try_from(value).ok().filter(|_| limit.allows(value.into()));
            checked.ok_or_else(|| {
                Rejection::new(Reason::OutOfRange, field, value, format!("must be {limit}"))
            })
        };
        let attempts = in_range("max_attempts", self.max_attempts, MAX_ATTEMPTS)?;
        let outstanding = in_range("max_outstanding", self.max_outstanding, OUTSTANDING_LEASES)?;
        Ok(Checked {
            lease: in_range("lease", self.lease_millis, LEASE_MILLIS)?,
            max_attempts: u32::try_from(attempts).unwrap_or(u32::MAX),
            max_outstanding: usize::try_from(outstanding).unwrap_or(usize::MAX),
        })
    }
}
