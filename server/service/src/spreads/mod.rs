//! Stores of named spreads.
//!
//! Handlers use stores only through the trait [`SpreadStore`]. One store is in memory, the other in
//! Redis.

mod memory;
mod redis;
mod views;

use std::sync::Arc;
use std::time::Duration;

use offbeat_core::spread::Certificate;
use offbeat_core::spread::lease::{LeaseId, SettleAction, SettleOutcome};
use offbeat_core::spread::named::{
    Counts, DeadLetter, EmptyReason, GroupPart, GroupStatus, LeasedJob, LimitChanges,
    NamedSpreadSpec, NextJob, Receipt, SpreadState,
};
use offbeat_core::{Moment, Rejection};
use serde::{Deserialize, Serialize};

use crate::metrics::store::StoreMetrics;
pub use memory::MemoryStore;
pub use redis::{Finding, Level, RedisStore};
use tokio::time::Instant;

/// A spread, as a store describes it.
#[derive(Debug, Clone)]
pub struct Description {
    /// Name of the spread.
    pub name: String,
    /// Identifies this life of the spread.
    pub epoch: u64,
    /// Parameters that it was opened with.
    pub spec: NamedSpreadSpec,
    /// Whether it takes groups.
    pub state: SpreadState,
    /// Numbers of groups, jobs and bytes.
    pub counts: Counts,
    /// The order of first attempts so far.
    pub certificate: Certificate,
}

/// Jobs that were leased at one moment.
#[derive(Debug, Clone)]
pub struct LeasedJobs {
    /// The life of the spread.
    pub epoch: u64,
    /// How long they are leased, in milliseconds.
    pub lease_millis: u64,
    /// When the leases end.
    pub end_time: Option<Moment>,
    /// The jobs; empty if none were ready in time.
    pub jobs: Vec<LeasedJob>,
    /// Why there are no jobs.
    pub empty_reason: Option<EmptyReason>,
    /// Whether the store has been stopped: waiting is then useless.
    pub stopped: bool,
    /// When they were leased, or a moment before.
    pub start: Instant,
}

/// The results of settlements.
#[derive(Debug, Clone)]
pub struct SettlementResults {
    /// One for each settlement, in their order.
    pub outcomes: Vec<SettleOutcome>,
    /// End of the extended leases.
    pub extended_end_time: Option<Moment>,
}

/// Dead letters, as an answer listed them.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct DeadLetterIds {
    /// The life of the spread that numbered them.
    pub epoch: u64,
    /// Numbers within that epoch.
    pub numbers: Vec<u64>,
}

impl DeadLetterIds {
    /// The numbers, if `epoch` is that of the listed spread; none, if it is that of another one of
    /// the same name.
    fn in_epoch(&self, epoch: u64) -> &[u64] {
        if self.epoch == epoch { &self.numbers } else { &[] }
    }
}

/// Some dead letters of a spread.
#[derive(Debug, Clone)]
pub struct DeadLetterPage {
    /// The life of the spread.
    pub epoch: u64,
    /// The dead letters, oldest first.
    pub letters: Vec<DeadLetter>,
    /// Whether there are more.
    pub has_more: bool,
}

/// Contents of a spread, as metrics show them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SpreadFigures {
    /// Name of the spread.
    pub name: String,
    /// The life of the spread: one that was opened later has a larger number.
    pub epoch: u64,
    /// Whether it has ended, and has no dead letters.
    pub is_spent: bool,
    /// Committed groups that are not settled.
    pub groups: u64,
    /// Jobs that may be leased, returned ones included.
    pub ready_jobs: u64,
    /// Jobs that are leased.
    pub leased_jobs: u64,
    /// Jobs settled since it was opened.
    pub settled_jobs: u64,
    /// Jobs that are dead letters.
    pub dead_letters: u64,
    /// Consumers that hold jobs.
    pub consumers: u64,
    /// Bytes that it takes.
    pub bytes: u64,
    /// Age of the oldest group that is not settled, in milliseconds.
    pub oldest_millis: u64,
}

impl SpreadFigures {
    /// Adds the figures of another spread; the age is that of the older group.
    pub(crate) fn add(&mut self, other: &Self) {
        self.groups += other.groups;
        self.ready_jobs += other.ready_jobs;
        self.leased_jobs += other.leased_jobs;
        self.settled_jobs += other.settled_jobs;
        self.dead_letters += other.dead_letters;
        self.consumers += other.consumers;
        self.bytes += other.bytes;
        self.oldest_millis = self.oldest_millis.max(other.oldest_millis);
    }
}

/// How a spread ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CloseMode {
    /// Its jobs are dealt and settled first.
    Drain,
    /// Its jobs are dropped.
    Discard,
}

/// What opening does with a closed spread that holds no job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IfClosed {
    /// Opens it again.
    Reopen,
    /// Leaves it as it is, regardless of its spec.
    Leave,
}

/// Holds named spreads. Names that are not open are refused with `UnknownSpread`.
#[tonic::async_trait]
pub trait SpreadStore: std::fmt::Debug + Send + Sync {
    /// Opens a spread, or finds it open. Also returns whether it was opened now.
    async fn open(
        &self,
        name: String,
        spec: NamedSpreadSpec,
        if_closed: IfClosed,
    ) -> Result<(Description, bool), Rejection>;

    /// Changes the limits of a spread.
    async fn update(&self, name: &str, changes: LimitChanges) -> Result<Description, Rejection>;

    /// Takes groups: all or none. The receipt has the epoch and the lease length.
    async fn submit(
        &self,
        name: &str,
        parts: Vec<GroupPart>,
    ) -> Result<(Vec<GroupStatus>, Receipt), Rejection>;

    /// The progress of groups, and the epoch. Returns as soon as one of them is settled or unknown,
    /// and after `wait` at the latest.
    async fn groups(
        &self,
        name: &str,
        ids: &[String],
        wait: Duration,
    ) -> Result<(Vec<GroupStatus>, u64), Rejection>;

    /// Leases up to `count` jobs; waits for the first, `wait` at most. If the future is dropped
    /// before it is ready, it leases nothing, or its leases are released.
    async fn pull(
        &self,
        name: &str,
        consumer: &Arc<str>,
        count: usize,
        wait: Duration,
    ) -> Result<LeasedJobs, Rejection>;

    /// Settles or extends each lease.
    async fn settle(
        &self,
        name: &str,
        settlements: Vec<(LeaseId, SettleAction)>,
    ) -> Result<SettlementResults, Rejection>;

    /// Describes a spread, and lists up to `count` of its next jobs.
    async fn describe(
        &self,
        name: &str,
        count: usize,
    ) -> Result<(Description, Vec<NextJob>), Rejection>;

    /// Describes up to `count` spreads after a name. Also returns whether there are more.
    async fn list(&self, after: &str, count: usize) -> Result<(Vec<Description>, bool), Rejection>;

    /// Lists up to `count` dead letters after a number.
    async fn dead_letters(
        &self,
        name: &str,
        after: Option<u64>,
        count: usize,
    ) -> Result<DeadLetterPage, Rejection>;

    /// Puts dead letters back, all or none, and returns their number.
    async fn redrive_dead_letters(
        &self,
        name: &str,
        letters: &DeadLetterIds,
    ) -> Result<u64, Rejection>;

    /// Deletes dead letters, and returns their number.
    async fn delete_dead_letters(
        &self,
        name: &str,
        letters: &DeadLetterIds,
    ) -> Result<u64, Rejection>;

    /// Closes a spread; with [`CloseMode::Drain`], waits until all is settled, `wait` at most.
    async fn close(
        &self,
        name: &str,
        mode: CloseMode,
        wait: Duration,
    ) -> Result<Description, Rejection>;

    /// Its name in metrics and spans.
    fn kind(&self) -> &'static str;

    /// Metrics of a store in another process.
    fn metrics(&self) -> Option<&StoreMetrics> {
        None
    }

    /// Contents of each spread, in the order of their names. A shared store shows only the spreads
    /// that this process works with.
    fn figures(&self) -> Vec<SpreadFigures>;

    /// Ends all waits, current and future.
    fn stop(&self);

    /// Waits until all work that callers have abandoned is done.
    async fn finish(&self) {}

    /// Does background work until the server ends.
    async fn keep_up(&self);
}
