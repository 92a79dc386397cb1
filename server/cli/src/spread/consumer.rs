//! A consumer of a named spread: leases jobs, extends their leases, and settles them.

use std::time::Duration;

use offbeat_proto::{
    DescribeSpreadRequest, EmptyReason, PullJobsRequest, SettleAction, SettleJobsRequest,
    SettleOutcome, SettleResult, SpreadCounts,
};
use tokio::time::{Instant, timeout_at};

use super::calls::{Retry, is_unknown_spread};
use super::leases::{HeldJob, Leases};
use crate::connect::{CallError, Client};

/// The result of a pull.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PullOutcome {
    Jobs,
    /// No job is ready.
    Nothing,
    /// The spread is closed, and there will be no more jobs.
    Closed,
}

/// Holds jobs; it works on the first one.
pub(super) struct Consumer {
    client: Client,
    spread_name: String,
    /// Must differ from that of every other consumer.
    id: String,
    leases: Leases,
}

impl Consumer {
    pub(super) fn new(client: Client, spread_name: String, id: String) -> Self {
        Self { client, spread_name, id, leases: Leases::default() }
    }

    pub(super) fn spread_name(&self) -> &str {
        &self.spread_name
    }

    pub(super) fn retry(&self, limit: Duration) -> Retry {
        Retry::new(&self.client, limit)
    }

    /// The job that is worked on.
    pub(super) fn first(&self) -> Option<&HeldJob> {
        self.leases.first()
    }

    /// When to extend the leases.
    pub(super) fn extend_at(&self) -> Instant {
        self.leases.extend_at()
    }

    /// Leases up to `count` jobs, and waits for the first one.
    pub(super) async fn pull(
        &mut self,
        count: i32,
        wait: Duration,
    ) -> Result<PullOutcome, CallError> {
        let request = PullJobsRequest {
            spread_name: self.spread_name.clone(),
            consumer_id: self.id.clone(),
            max_pulled_job_count: Some(count),
            max_wait_duration: wait.try_into().ok(),
        };
        let asked = Instant::now();
        let response = self.client.call(&request, wait).await?;
        let waited = response.waited_duration.and_then(|waited| waited.try_into().ok());
        let reason = response.empty_reason();
        if let Some(leased) = response.leased {
            self.leases.take(leased, asked + waited.unwrap_or(Duration::ZERO));
        }
        Ok(match reason {
            EmptyReason::SpreadClosed => PullOutcome::Closed,
            _ if self.first().is_some() => PullOutcome::Jobs,
            _ => PullOutcome::Nothing,
        })
    }

    /// The numbers of groups and jobs in the spread.
    pub(super) async fn counts(&mut self) -> Result<SpreadCounts, CallError> {
        let request = DescribeSpreadRequest {
            spread_name: self.spread_name.clone(),
            ..DescribeSpreadRequest::default()
        };
        let response = self.client.call(&request, Duration::ZERO).await?;
        Ok(response.description.and_then(|description| description.counts).unwrap_or_default())
    }

    /// Extends all leases. Returns whether that of the first job still lasts, as far as is known.
    pub(super) async fn extend(&mut self) -> bool {
        let asked = Instant::now();
        let until = self.first().map_or(asked, HeldJob::give_up_at);
        let request = self.settle_all(SettleAction::ExtendLease);
        let outcomes = match timeout_at(until, self.settle(&request)).await {
            Ok(Ok(outcomes)) => Some(outcomes),
            Ok(Err(_)) | Err(_) => None,
        };
        self.leases.note_extension(asked, outcomes.as_deref())
    }

    /// Settles the first job, which is held until the server has answered.
    pub(super) async fn settle_first(
        &mut self,
        action: SettleAction,
        delay: Duration,
    ) -> Result<SettleOutcome, CallError> {
        let Some(held) = self.first() else { return Ok(SettleOutcome::Stale) };
        let request = SettleJobsRequest {
            spread_name: self.spread_name.clone(),
            epoch: held.epoch,
            settlements: vec![held.settlement(action, delay)],
        };
        let outcomes = self.settle(&request).await?;
        self.leases.remove_first();
        Ok(outcomes.first().copied().unwrap_or(SettleOutcome::Stale))
    }

    /// Forgets the first job. The server may still count it as leased.
    pub(super) fn drop_first(&mut self) {
        self.leases.remove_first();
    }

    /// Releases all jobs, and returns their number. Without an answer, they come back when their
    /// leases end.
    pub(super) async fn release_all(&mut self) -> u64 {
        if self.first().is_none() {
            return 0;
        }
        let request = self.settle_all(SettleAction::Release);
        self.settle(&request).await.map_or(0, |outcomes| outcomes.len() as u64)
    }

    /// The request that settles all jobs in the same way. They are of one epoch, since they were
    /// pulled at once.
    fn settle_all(&self, action: SettleAction) -> SettleJobsRequest {
        SettleJobsRequest {
            spread_name: self.spread_name.clone(),
            epoch: self.first().map_or(0, |held| held.epoch),
            settlements: self
                .leases
                .iter()
                .map(|held| held.settlement(action, Duration::ZERO))
                .collect(),
        }
    }

    /// Settles jobs. All leases of a spread that is not known (any more) are stale.
    async fn settle(
        &mut self,
        request: &SettleJobsRequest,
    ) -> Result<Vec<SettleOutcome>, CallError> {
        match self.client.call(request, Duration::ZERO).await {
            Ok(response) => Ok(response.results.iter().map(SettleResult::outcome).collect()),
            Err(error) if is_unknown_spread(&error) => {
                Ok(vec![SettleOutcome::Stale; request.settlements.len()])
            }
            Err(error) => Err(error),
        }
    }
}
