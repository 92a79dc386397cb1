//! A client of `NamedSpreadService`, and the one spread that its tests have.

use offbeat::proto::named_spread_service_client::NamedSpreadServiceClient;
use offbeat::proto::{
    CloseMode, CloseSpreadRequest, DescribeSpreadRequest, GroupCommit, GroupPart, JobSettlement,
    JobSettlements, LeasedJobs, NamedSpreadSpec, OpenSpreadRequest, PullJobsRequest,
    PullJobsResponse, SettleAction, SettleJobsRequest, SettleOutcome, SettleResult,
    SpreadDescription, SpreadLimits, SpreadOrder, SubmitGroupsRequest, SubmitGroupsResponse,
    SubmittedJob,
};
use sha2::{Digest as _, Sha256};
use tonic::transport::Channel;
use tonic::{Code, Status};
use tonic_types::StatusExt as _;

use super::{Server, channel, config};

pub type Client = NamedSpreadServiceClient<Channel>;

pub const NAME: &str = "mail";

pub fn seconds(seconds: i64) -> Option<prost_types::Duration> {
    Some(prost_types::Duration { seconds, nanos: 0 })
}

pub fn with_feeders(feeder_count: i32) -> NamedSpreadSpec {
    let order = SpreadOrder { feeder_count: Some(feeder_count), ..SpreadOrder::default() };
    NamedSpreadSpec { order: Some(order), ..NamedSpreadSpec::default() }
}

pub fn limited(limits: SpreadLimits) -> NamedSpreadSpec {
    NamedSpreadSpec { limits: Some(limits), ..spec() }
}

pub fn spec() -> NamedSpreadSpec {
    with_feeders(2)
}

pub async fn open(client: &mut Client, spec: NamedSpreadSpec) -> Result<SpreadDescription, Status> {
    let request = OpenSpreadRequest {
        spread_name: NAME.into(),
        spec: Some(spec),
        ..OpenSpreadRequest::default()
    };
    Ok(client.open_spread(request).await?.into_inner().description.unwrap())
}

pub fn group(id: &str, count: usize) -> GroupPart {
    let payloads: Vec<bytes::Bytes> = (0..count).map(|n| format!("{id}{n}").into()).collect();
    let mut hash = Sha256::new();
    for job in &payloads {
        hash.update((job.len() as u64).to_be_bytes());
        hash.update(job);
    }
    let job_count = count.try_into().unwrap();
    let commit =
        GroupCommit { job_count, sha256: hash.finalize().to_vec().into(), ..Default::default() };
    let jobs = payloads.into_iter().map(|payload| SubmittedJob { payload }).collect();
    GroupPart { group_id: id.into(), jobs, commit: Some(commit), ..GroupPart::default() }
}

pub async fn submit(
    client: &mut Client,
    groups: Vec<GroupPart>,
) -> Result<SubmitGroupsResponse, Status> {
    let request = SubmitGroupsRequest { spread_name: NAME.into(), groups };
    Ok(client.submit_groups(request).await?.into_inner())
}

pub async fn pull(
    client: &mut Client,
    max_jobs: i32,
    wait: i64,
) -> Result<PullJobsResponse, Status> {
    let request = PullJobsRequest {
        spread_name: NAME.into(),
        consumer_id: "one".into(),
        max_pulled_job_count: Some(max_jobs),
        max_wait_duration: seconds(wait),
    };
    Ok(client.pull_jobs(request).await?.into_inner())
}

pub fn names(leased: &LeasedJobs) -> Vec<String> {
    leased.jobs.iter().map(|job| String::from_utf8(job.payload.to_vec()).unwrap()).collect()
}

pub fn all(leased: &LeasedJobs, action: SettleAction) -> JobSettlements {
    let settlements = leased.jobs.iter().map(|job| JobSettlement {
        sequence: job.sequence,
        attempt: job.attempt,
        action: action.into(),
        delay: None,
    });
    JobSettlements { epoch: leased.epoch, settlements: settlements.collect() }
}

pub async fn settle(
    client: &mut Client,
    leased: &LeasedJobs,
    action: SettleAction,
) -> Result<Vec<SettleOutcome>, Status> {
    let JobSettlements { epoch, settlements } = all(leased, action);
    let request = SettleJobsRequest { spread_name: NAME.into(), epoch, settlements };
    let settled = client.settle_jobs(request).await?.into_inner().results;
    Ok(settled.iter().map(SettleResult::outcome).collect())
}

pub async fn describe(client: &mut Client) -> SpreadDescription {
    let request = DescribeSpreadRequest { spread_name: NAME.into(), ..Default::default() };
    client.describe_spread(request).await.unwrap().into_inner().description.unwrap()
}

/// The group and index of each job.
pub async fn next_jobs(client: &mut Client, count: i32) -> Result<Vec<String>, Status> {
    let request = DescribeSpreadRequest { spread_name: NAME.into(), max_next_job_count: count };
    let next_jobs = client.describe_spread(request).await?.into_inner().next_jobs;
    Ok(next_jobs.iter().map(|job| format!("{}{}", job.group_id, job.job_index)).collect())
}

pub async fn close(client: &mut Client, mode: CloseMode, wait: i64) -> Result<i32, Status> {
    let request = CloseSpreadRequest {
        spread_name: NAME.into(),
        mode: mode.into(),
        max_wait_duration: seconds(wait),
    };
    Ok(client.close_spread(request).await?.into_inner().description.unwrap().state)
}

/// The code and the shortened reason of a refusal.
pub fn why(status: &Status) -> (Code, String) {
    let info = status.get_details_error_info().unwrap();
    (status.code(), info.reason.trim_start_matches("ERROR_REASON_").to_owned())
}

pub async fn start() -> (Server, Client) {
    let server = Server::start(&config());
    let client = Client::new(channel(&server).await);
    (server, client)
}
