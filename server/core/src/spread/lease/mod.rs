//! Leases: at least once, and never two unexpired leases on one job.
//!
//! A job is READY, then LEASED to a consumer until a deadline, then SETTLED, or READY again if the
//! deadline passes first. The state machine is free of I/O and of clocks: it takes events and the
//! time, and returns results and what became of the jobs. So tests can try millions of histories.
//!
//! Times are milliseconds of a clock that never goes back.

use serde::{Deserialize, Serialize};

mod machine;
mod spec;

pub use machine::Leases;
pub use spec::LeaseSpec;

/// Number of a job, in the order of first leases, from 0.
pub type Sequence = u64;

/// Names one lease of one job. A fencing token: of two leases of a job, the later one has the
/// larger attempt, and only the latest can settle it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct LeaseId {
    /// The life of the machine that granted the lease; each restart begins another one.
    pub epoch: u64,
    /// The number of the job.
    pub sequence: Sequence,
    /// How many times the job has been leased, this time included; from 1.
    pub attempt: u32,
}

/// A leased job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lease<J> {
    /// Identifies the lease in a settlement.
    pub id: LeaseId,
    /// The leased job.
    pub job: J,
    /// When the lease ends, in milliseconds; later settlements have no effect.
    pub deadline: u64,
}

/// A consumer's verdict on a leased job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum SettleAction {
    /// The job is done. A repetition has the same outcome.
    Ack,
    /// The attempt failed: the job is ready again after a delay.
    Nack {
        /// Milliseconds until it is ready.
        delay: u64,
    },
    /// Not started: ready again after a delay, and the attempt does not count. Also accepted
    /// after the lease has ended, until the job is leased again.
    Release {
        /// Milliseconds until it is ready.
        delay: u64,
    },
    /// Work continues: the lease gets its full length again from now.
    ExtendLease,
    /// The job can never succeed: it becomes a dead letter.
    DeadLetter,
}

/// The result of a settlement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum SettleOutcome {
    /// The job is done, or was acknowledged by the same lease before.
    Acked,
    /// The job will be ready again.
    Returned,
    /// The lease has a new end.
    Extended {
        /// The new end, in milliseconds.
        deadline: u64,
    },
    /// The job is a dead letter now.
    DeadLettered,
    /// The lease has ended, or belongs to another epoch: the settlement has no effect.
    Stale,
}

/// The final outcome of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome<J> {
    /// A consumer has acknowledged it.
    Settled(J),
    /// It was dead-lettered by a consumer, or after its last attempt.
    DeadLettered {
        /// The dead-lettered job.
        job: J,
        /// How many times it was leased.
        attempts: u32,
        /// Why it was dead-lettered.
        cause: Cause,
    },
}

/// Why a job became a dead letter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Cause {
    /// Its last attempt failed, or the lease of its last attempt ended.
    AttemptsExhausted,
    /// A consumer said that it can never succeed.
    Consumer,
}
