//! `NamedSpreadService`: convert in, ask the store, convert out.

mod pages;
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

use crate::api::convert::{required, wide};
use crate::api::tokens;
use crate::spreads::{IfClosed, SpreadStore};
use crate::work::Permit;
use offbeat_proto as proto;
use offbeat_proto::named_spread_service_server::NamedSpreadService;
use offbeat_proto::status;

/// Answers `NamedSpreadService` from a store.
#[derive(Debug, Clone)]
pub struct NamedSpreadHandlers {
    store: Arc<dyn SpreadStore>,
    /// Maximum wait of a call: shorter than the time for a unary call, which must not run out.
    longest_wait: Duration,
    /// Start of the uptime clock of leases.
    zero: Instant,
}

impl NamedSpreadHandlers {
    /// Handlers whose calls may take up to `unary_timeout`; a call waits for two thirds of it at
    /// most.
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

    async fn update_spread(
        &self,
        request: Request<proto::UpdateSpreadRequest>,
    ) -> Answer<proto::UpdateSpreadResponse> {
        answer(self.update(request.into_inner()).await)
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
            permit.release_request(); // it waits, and must not hold bytes that others need
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
        answer(self.describe(request.into_inner()).await)
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

    async fn redrive_dead_letters(
        &self,
        request: Request<proto::RedriveDeadLettersRequest>,
    ) -> Answer<proto::RedriveDeadLettersResponse> {
        answer(self.redrive_letters(request.into_inner()).await)
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
        let proto::OpenSpreadRequest { spread_name, spec, leave_closed } = request;
        let if_closed = if leave_closed { IfClosed::Leave } else { IfClosed::Reopen };
        let spec = requests::spec(spec)?;
        let (description, created) = self.store.open(spread_name, spec, if_closed).await?;
        let description = Some(responses::description(description));
        Ok(proto::OpenSpreadResponse { description, created })
    }

    async fn update(
        &self,
        request: proto::UpdateSpreadRequest,
    ) -> Result<proto::UpdateSpreadResponse, Rejection> {
        let proto::UpdateSpreadRequest { spread_name, limits } = request;
        let limits = required("limits", limits, "it must be set")?;
        let changes = requests::limit_changes(limits);
        let description = self.store.update(&spread_name, changes).await?;
        Ok(proto::UpdateSpreadResponse { description: Some(responses::description(description)) })
    }

    async fn submit(
        &self,
        request: proto::SubmitGroupsRequest,
    ) -> Result<proto::SubmitGroupsResponse, Rejection> {
        let proto::SubmitGroupsRequest { spread_name, groups } = request;
        let parts = requests::parts(groups)?;
        let (statuses, receipt) = self.store.submit(&spread_name, parts).await?;
        let groups = statuses.into_iter().map(responses::group).collect();
        Ok(proto::SubmitGroupsResponse { groups, receipt: Some(responses::receipt(receipt)) })
    }

    async fn wait_for(
        &self,
        request: proto::WaitForGroupsRequest,
    ) -> Result<proto::WaitForGroupsResponse, Rejection> {
        let proto::WaitForGroupsRequest { spread_name, group_ids, max_wait_duration } = request;
        let wait = requests::wait(max_wait_duration, self.longest_wait)?;
        let ids = requests::group_ids(group_ids)?;
        let (statuses, epoch) = self.store.groups(&spread_name, &ids, wait).await?;
        let groups = statuses.into_iter().map(responses::group).collect();
        Ok(proto::WaitForGroupsResponse { groups, epoch: epoch.cast_signed() })
    }

    async fn pull(
        &self,
        request: proto::PullJobsRequest,
    ) -> Result<proto::PullJobsResponse, Rejection> {
        let proto::PullJobsRequest {
            spread_name,
            consumer_id,
            max_pulled_job_count,
            max_wait_duration,
        } = request;
        let wait = requests::wait(max_wait_duration, self.longest_wait)?;
        let count = requests::job_count(max_pulled_job_count)?;
        let asked = Instant::now();
        let leased = self.store.pull(&spread_name, &consumer_id.into(), count, wait).await?;
        Ok(proto::PullJobsResponse {
            empty_reason: responses::empty_reason(leased.empty_reason).into(),
            waited_duration: Some(responses::since(asked, leased.start)),
            leased: Some(responses::leased(leased, self.zero)),
        })
    }

    async fn settle(
        &self,
        request: proto::SettleJobsRequest,
    ) -> Result<proto::SettleJobsResponse, Rejection> {
        let proto::SettleJobsRequest { spread_name, epoch, settlements } = request;
        let settlements = requests::settlements(epoch, settlements)?;
        let settled = self.store.settle(&spread_name, settlements).await?;
        Ok(proto::SettleJobsResponse { results: responses::results(settled) })
    }

    async fn describe(
        &self,
        request: proto::DescribeSpreadRequest,
    ) -> Result<proto::DescribeSpreadResponse, Rejection> {
        let proto::DescribeSpreadRequest { spread_name, max_next_job_count } = request;
        let count = requests::next_job_count(max_next_job_count)?;
        let (description, next_jobs) = self.store.describe(&spread_name, count).await?;
        Ok(proto::DescribeSpreadResponse {
            description: Some(responses::description(description)),
            next_jobs: next_jobs.into_iter().map(responses::next_job).collect(),
        })
    }

    async fn list(
        &self,
        request: proto::ListSpreadsRequest,
    ) -> Result<proto::ListSpreadsResponse, Rejection> {
        let proto::ListSpreadsRequest { page_size, page_token } = request;
        let count = requests::page_size(page_size)?;
        let after = pages::spread(&page_token)?;
        let (spreads, has_more) = self.store.list(&after, count).await?;
        let last = spreads.last().filter(|_| has_more);
        let next_page_token = last.map(|last| pages::after_spread(&last.name)).unwrap_or_default();
        let spreads = spreads.into_iter().map(responses::description).collect();
        Ok(proto::ListSpreadsResponse { spreads, next_page_token })
    }

    async fn dead_letters(
        &self,
        request: proto::ListDeadLettersRequest,
    ) -> Result<proto::ListDeadLettersResponse, Rejection> {
        let proto::ListDeadLettersRequest { spread_name, page_size, page_token } = request;
        let count = requests::page_size(page_size)?;
        let after = pages::dead_letter(&page_token, &spread_name)?;
        let number = after.map(|(_, number)| number);
        let page = self.store.dead_letters(&spread_name, number, count).await?;
        if after.is_some_and(|(epoch, _)| epoch != page.epoch) {
            return Err(tokens::of_another("the epoch of the spread"));
        }
        let next = page.letters.last().filter(|_| page.has_more);
        let next = next.map(|last| pages::after_dead_letter(page.epoch, last.number, &spread_name));
        Ok(proto::ListDeadLettersResponse {
            dead_letters: page.letters.into_iter().map(responses::dead_letter).collect(),
            next_page_token: next.unwrap_or_default(),
            epoch: wide(page.epoch),
        })
    }

    async fn redrive_letters(
        &self,
        request: proto::RedriveDeadLettersRequest,
    ) -> Result<proto::RedriveDeadLettersResponse, Rejection> {
        let proto::RedriveDeadLettersRequest { spread_name, epoch, numbers } = request;
        let letters = requests::dead_letters(epoch, &numbers)?;
        let redriven_count = wide(self.store.redrive_dead_letters(&spread_name, &letters).await?);
        Ok(proto::RedriveDeadLettersResponse { redriven_count })
    }

    async fn delete_letters(
        &self,
        request: proto::DeleteDeadLettersRequest,
    ) -> Result<proto::DeleteDeadLettersResponse, Rejection> {
        let proto::DeleteDeadLettersRequest { spread_name, epoch, numbers } = request;
        let letters = requests::dead_letters(epoch, &numbers)?;
        let deleted_count = wide(self.store.delete_dead_letters(&spread_name, &letters).await?);
        Ok(proto::DeleteDeadLettersResponse { deleted_count })
    }

    async fn close(
        &self,
        request: proto::CloseSpreadRequest,
    ) -> Result<proto::CloseSpreadResponse, Rejection> {
        let proto::CloseSpreadRequest { spread_name, mode, max_wait_duration } = request;
        let wait = requests::wait(max_wait_duration, self.longest_wait)?;
        let mode = requests::close_mode(mode)?;
        let description = self.store.close(&spread_name, mode, wait).await?;
        Ok(proto::CloseSpreadResponse { description: Some(responses::description(description)) })
    }
}
