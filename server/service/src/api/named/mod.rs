//! `NamedSpreadService`: convert in, ask the store, convert out.

mod requests;
mod responses;
mod stream;

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::Stream;
use offbeat_core::Rejection;
use tokio::time::Instant;
use tonic::{Request, Response, Status, Streaming};

use crate::spreads::SpreadStore;
use crate::work::Permit;
use offbeat_proto as proto;
use offbeat_proto::named_spread_service_server::NamedSpreadService;
use offbeat_proto::status;

/// Answers `NamedSpreadService` from a store.
#[derive(Debug, Clone)]
pub struct NamedSpreadHandlers {
    store: Arc<dyn SpreadStore>,
    /// How long a call may wait: the time of a unary call must not run out meanwhile.
    longest_wait: Duration,
    /// What the clock of leases counts from.
    zero: Instant,
}

impl NamedSpreadHandlers {
    /// Handlers whose calls may take up to `unary_timeout`.
    #[must_use]
    pub fn new(store: Arc<dyn SpreadStore>, unary_timeout: Duration) -> Self {
        Self { store, longest_wait: unary_timeout * 2 / 3, zero: Instant::now() }
    }
}

type Answer<T> = Result<Response<T>, Status>;

fn answer<T>(decision: Result<T, Rejection>) -> Answer<T> {
    decision.map(Response::new).map_err(status::refused)
}

#[tonic::async_trait]
impl NamedSpreadService for NamedSpreadHandlers {
    async fn open_spread(
        &self,
        request: Request<proto::OpenSpreadRequest>,
    ) -> Answer<proto::OpenSpreadResponse> {
        answer(self.open(request.into_inner()).await)
    }

    async fn submit_groups(
        &self,
        request: Request<proto::SubmitGroupsRequest>,
    ) -> Answer<proto::SubmitGroupsResponse> {
        answer(self.submit(request.into_inner()).await)
    }

    async fn wait_for_groups(
        &self,
        request: Request<proto::WaitForGroupsRequest>,
    ) -> Answer<proto::WaitForGroupsResponse> {
        if let Some(permit) = request.extensions().get::<Permit>() {
            permit.release_request(); // it waits, and others shall not wait for its bytes
        }
        answer(self.wait_for(request.into_inner()).await)
    }

    async fn pull_jobs(
        &self,
        request: Request<proto::PullJobsRequest>,
    ) -> Answer<proto::PullJobsResponse> {
        answer(self.pull(request.into_inner()).await)
    }

    async fn settle_jobs(
        &self,
        request: Request<proto::SettleJobsRequest>,
    ) -> Answer<proto::SettleJobsResponse> {
        answer(self.settle(request.into_inner()).await)
    }

    type StreamJobsStream =
        Pin<Box<dyn Stream<Item = Result<proto::StreamJobsResponse, Status>> + Send>>;

    async fn stream_jobs(
        &self,
        request: Request<Streaming<proto::StreamJobsRequest>>,
    ) -> Answer<Self::StreamJobsStream> {
        let permit = request.extensions().get().cloned();
        let store = Arc::clone(&self.store);
        let jobs = stream::jobs(store, request.into_inner(), permit, self.zero);
        Ok(Response::new(Box::pin(jobs)))
    }

    async fn describe_spread(
        &self,
        request: Request<proto::DescribeSpreadRequest>,
    ) -> Answer<proto::DescribeSpreadResponse> {
        let proto::DescribeSpreadRequest { spread } = request.into_inner();
        let description = self.store.describe(&spread).await;
        answer(description.map(|description| proto::DescribeSpreadResponse {
            description: Some(responses::description(description)),
        }))
    }

    async fn list_spreads(
        &self,
        request: Request<proto::ListSpreadsRequest>,
    ) -> Answer<proto::ListSpreadsResponse> {
        answer(self.list(request.into_inner()).await)
    }

    async fn list_dead_letters(
        &self,
        request: Request<proto::ListDeadLettersRequest>,
    ) -> Answer<proto::ListDeadLettersResponse> {
        answer(self.dead_letters(request.into_inner()).await)
    }

    async fn delete_dead_letters(
        &self,
        request: Request<proto::DeleteDeadLettersRequest>,
    ) -> Answer<proto::DeleteDeadLettersResponse> {
        answer(self.delete_letters(request.into_inner()).await)
    }

    async fn close_spread(
        &self,
        request: Request<proto::CloseSpreadRequest>,
    ) -> Answer<proto::CloseSpreadResponse> {
        answer(self.close(request.into_inner()).await)
    }
}

impl NamedSpreadHandlers {
    async fn open(
        &self,
        request: proto::OpenSpreadRequest,
    ) -> Result<proto::OpenSpreadResponse, Rejection> {
        let proto::OpenSpreadRequest { spread, spec } = request;
        let (description, created) = self.store.open(spread, requests::spec(spec)?).await?;
        let description = Some(responses::description(description));
        Ok(proto::OpenSpreadResponse { description, created })
    }

    async fn submit(
        &self,
        request: proto::SubmitGroupsRequest,
    ) -> Result<proto::SubmitGroupsResponse, Rejection> {
        let proto::SubmitGroupsRequest { spread, groups } = request;
        let parts = requests::parts(groups)?;
        let (statuses, receipt) = self.store.submit(&spread, parts).await?;
        let groups = statuses.into_iter().map(responses::group).collect();
        Ok(proto::SubmitGroupsResponse { groups, receipt: Some(responses::receipt(receipt)) })
    }

    async fn wait_for(
        &self,
        request: proto::WaitForGroupsRequest,
    ) -> Result<proto::WaitForGroupsResponse, Rejection> {
        let proto::WaitForGroupsRequest { spread, group_ids, wait } = request;
        let wait = requests::wait(wait, self.longest_wait)?;
        let ids = requests::group_ids(group_ids)?;
        let (statuses, epoch) = self.store.groups(&spread, &ids, wait).await?;
        let groups = statuses.into_iter().map(responses::group).collect();
        Ok(proto::WaitForGroupsResponse { groups, epoch: epoch.cast_signed() })
    }

    async fn pull(
        &self,
        request: proto::PullJobsRequest,
    ) -> Result<proto::PullJobsResponse, Rejection> {
        let proto::PullJobsRequest { spread, consumer, max_jobs, wait } = request;
        let wait = requests::wait(wait, self.longest_wait)?;
        let count = requests::job_count(max_jobs)?;
        let asked = Instant::now();
        let leased = self.store.pull(&spread, &consumer.into(), count, wait).await?;
        let (ended, waited) = (leased.ended, responses::since(asked, leased.lent_at));
        let leased = Some(responses::leased(leased, self.zero));
        Ok(proto::PullJobsResponse { leased, ended, waited: Some(waited) })
    }

    async fn settle(
        &self,
        request: proto::SettleJobsRequest,
    ) -> Result<proto::SettleJobsResponse, Rejection> {
        let proto::SettleJobsRequest { spread, epoch, verdicts } = request;
        let verdicts = requests::verdicts(epoch, verdicts)?;
        self.store.settle(&spread, verdicts).await.map(responses::settlements)
    }

    async fn list(
        &self,
        request: proto::ListSpreadsRequest,
    ) -> Result<proto::ListSpreadsResponse, Rejection> {
        let proto::ListSpreadsRequest { page_size, after_spread } = request;
        let count = requests::page_size(page_size)?;
        let (spreads, has_more) = self.store.list(&after_spread, count).await?;
        let spreads = spreads.into_iter().map(responses::description).collect();
        Ok(proto::ListSpreadsResponse { spreads, has_more })
    }

    async fn dead_letters(
        &self,
        request: proto::ListDeadLettersRequest,
    ) -> Result<proto::ListDeadLettersResponse, Rejection> {
        let proto::ListDeadLettersRequest { spread, page_size, after_number } = request;
        let count = requests::page_size(page_size)?;
        let after = after_number
            .map(|number| requests::letter_number("after_number", number))
            .transpose()?;
        let (letters, has_more) = self.store.dead_letters(&spread, after, count).await?;
        let dead_letters = letters.into_iter().map(responses::dead_letter).collect();
        Ok(proto::ListDeadLettersResponse { dead_letters, has_more })
    }

    async fn delete_letters(
        &self,
        request: proto::DeleteDeadLettersRequest,
    ) -> Result<proto::DeleteDeadLettersResponse, Rejection> {
        let proto::DeleteDeadLettersRequest { spread, numbers } = request;
        let numbers = requests::numbers(&numbers)?;
        let deleted = self.store.delete_dead_letters(&spread, &numbers).await?;
        let deleted_count = i64::try_from(deleted).unwrap_or(i64::MAX);
        Ok(proto::DeleteDeadLettersResponse { deleted_count })
    }

    async fn close(
        &self,
        request: proto::CloseSpreadRequest,
    ) -> Result<proto::CloseSpreadResponse, Rejection> {
        let proto::CloseSpreadRequest { spread, mode, wait } = request;
        let wait = requests::wait(wait, self.longest_wait)?;
        let mode = requests::close_mode(mode)?;
        let description = self.store.close(&spread, mode, wait).await?;
        Ok(proto::CloseSpreadResponse { description: Some(responses::description(description)) })
    }
}
