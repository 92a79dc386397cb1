//! Measurements of named spreads, whichever store keeps them.
#![allow(dead_code, reason = "not every program measures all of it")]

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use futures_util::stream;
use offbeat::proto::named_spread_service_client::NamedSpreadServiceClient;
use offbeat::proto::stream_jobs_request::Message as AskedJobs;
use offbeat::proto::stream_jobs_response::Message as Jobs;
use offbeat::proto::{
    GroupCommit, GroupPart, JobCredit, JobSettlement, JobSettlements, LeasedJobs, NamedSpreadSpec,
    OpenSpreadRequest, PullJobsRequest, SettleAction, SettleJobsRequest, SpreadLimits, SpreadOrder,
    StreamJobsRequest, StreamJobsStart, SubmitGroupsRequest, SubmittedJob,
};
use sha2::{Digest as _, Sha256};
use tokio::sync::mpsc;
use tonic::transport::Channel;

const FEEDERS: i32 = 64;

pub(crate) async fn connect(address: &str) -> Channel {
    Channel::from_shared(format!("http://{address}")).unwrap().connect().await.unwrap()
}

pub(crate) fn requests<T: Send>() -> (mpsc::UnboundedSender<T>, impl stream::Stream<Item = T> + Send)
{
    let (sender, receiver) = mpsc::unbounded_channel();
    let requests = stream::unfold(receiver, async |mut receiver| {
        receiver.recv().await.map(|request| (request, receiver))
    });
    (sender, requests)
}

pub(crate) fn order() -> SpreadOrder {
    SpreadOrder { feeder_count: Some(FEEDERS), ..SpreadOrder::default() }
}

fn group(id: String, payloads: Vec<bytes::Bytes>) -> GroupPart {
    let mut hash = Sha256::new();
    for job in &payloads {
        hash.update((job.len() as u64).to_be_bytes());
        hash.update(job);
    }
    let job_count = payloads.len().try_into().unwrap();
    let commit = Some(GroupCommit {
        job_count,
        sha256: hash.finalize().to_vec().into(),
        ..GroupCommit::default()
    });
    let jobs = payloads.into_iter().map(|payload| SubmittedJob { payload }).collect();
    GroupPart { group_id: id, jobs, commit, ..GroupPart::default() }
}

async fn open(client: &mut NamedSpreadServiceClient<Channel>, spread: &str) {
    let limits = Some(SpreadLimits { max_group_count: Some(200_000), ..SpreadLimits::default() });
    let spec = NamedSpreadSpec { order: Some(order()), limits, ..NamedSpreadSpec::default() };
    let request = OpenSpreadRequest {
        spread_name: spread.to_owned(),
        spec: Some(spec),
        ..OpenSpreadRequest::default()
    };
    client.open_spread(request).await.unwrap();
}

fn acks(leased: &LeasedJobs) -> Vec<JobSettlement> {
    let ack = |job: &offbeat::proto::LeasedJob| JobSettlement {
        sequence: job.sequence,
        attempt: job.attempt,
        action: SettleAction::Ack.into(),
        delay: None,
    };
    leased.jobs.iter().map(ack).collect()
}

/// Submits groups, 500 per call.
async fn submit(
    client: &mut NamedSpreadServiceClient<Channel>,
    spread: &str,
    groups: usize,
    jobs_per_group: usize,
) {
    for start in (0..groups).step_by(500) {
        let groups = (start..groups.min(start + 500)).map(|number| {
            let jobs = (0..jobs_per_group).map(|index| format!("{number}-{index}").into());
            group(number.to_string(), jobs.collect())
        });
        let request =
            SubmitGroupsRequest { spread_name: spread.to_owned(), groups: groups.collect() };
        client.submit_groups(request).await.unwrap();
    }
}

/// Jobs a second that consumers pull and settle, 256 per unary call. Consumers use the channels in
/// turns; the jobs are submitted beforehand.
pub(crate) async fn pull_and_settle(
    channels: &[Channel],
    spread: &str,
    jobs: usize,
    consumers: usize,
) -> f64 {
    let clients: Vec<_> = channels.iter().cloned().map(NamedSpreadServiceClient::new).collect();
    let mut first = clients.first().unwrap().clone();
    open(&mut first, spread).await;
    submit(&mut first, spread, jobs / 20, 20).await;
    let begun = Instant::now();
    let mut workers = tokio::task::JoinSet::new();
    for (worker, client) in clients.iter().cycle().take(consumers).enumerate() {
        let (mut client, spread) = (client.clone(), spread.to_owned());
        workers.spawn(async move {
            let mut done = 0;
            loop {
                let request = PullJobsRequest {
                    spread_name: spread.clone(),
                    consumer_id: format!("worker-{worker}"),
                    max_pulled_job_count: Some(256),
                    max_wait_duration: None,
                };
                let leased = client.pull_jobs(request).await.unwrap().into_inner().leased.unwrap();
                if leased.jobs.is_empty() {
                    return done;
                }
                done += leased.jobs.len();
                let (epoch, settlements) = (leased.epoch, acks(&leased));
                let request = SettleJobsRequest { spread_name: spread.clone(), epoch, settlements };
                client.settle_jobs(request).await.unwrap();
            }
        });
    }
    let mut done = 0;
    while let Some(worker) = workers.join_next().await {
        done += worker.unwrap();
    }
    assert_eq!(done, jobs);
    #[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
    let rate = jobs as f64 / begun.elapsed().as_secs_f64();
    rate
}

fn now_in_micros() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    u64::try_from(now.as_micros()).unwrap()
}

/// The time from just before the submission of a job until a stream receives it, in microseconds,
/// sorted.
pub(crate) async fn submit_to_deal(channel: Channel, rate: u32, time: Duration) -> Vec<u64> {
    const PER_CALL: u32 = 10;
    let mut client = NamedSpreadServiceClient::new(channel);
    let spread = format!("delay at {rate}");
    open(&mut client, &spread).await;
    let (sender, requests) = requests();
    let say = move |message| sender.send(StreamJobsRequest { message: Some(message) }).unwrap();
    let (spread_name, consumer_id) = (spread.clone(), "reader".to_owned());
    say(AskedJobs::Start(StreamJobsStart {
        spread_name,
        consumer_id,
        credit: Some(JobCredit { job_count: 10_000 }),
    }));
    let mut answers = client.stream_jobs(requests).await.unwrap().into_inner();
    let reader = tokio::spawn(async move {
        let mut delays = Vec::new();
        while let Some(answer) = answers.message().await.unwrap() {
            let Some(Jobs::Leased(leased)) = answer.message else { continue };
            let now = now_in_micros();
            for job in &leased.jobs {
                let sent: u64 = std::str::from_utf8(&job.payload).unwrap().parse().unwrap();
                delays.push(now.saturating_sub(sent));
            }
            let job_count = leased.jobs.len().try_into().unwrap();
            say(AskedJobs::Credit(JobCredit { job_count }));
            let (epoch, settlements) = (leased.epoch, acks(&leased));
            say(AskedJobs::Settlements(JobSettlements { epoch, settlements }));
            if delays.last().is_some_and(|_| delays.len() >= (rate * 5) as usize) {
                break;
            }
        }
        delays
    });
    let calls = rate / PER_CALL;
    let mut tick = tokio::time::interval(Duration::from_secs(1) / calls);
    for call in 0..calls * u32::try_from(time.as_secs()).unwrap() {
        tick.tick().await;
        let jobs = (0..PER_CALL).map(|_| now_in_micros().to_string().into()).collect();
        let groups = vec![group(call.to_string(), jobs)];
        let request = SubmitGroupsRequest { spread_name: spread.clone(), groups };
        let mut client = client.clone();
        tokio::spawn(async move { client.submit_groups(request).await.unwrap() });
    }
    let mut delays = reader.await.unwrap();
    delays.sort_unstable();
    delays
}

/// The median time, in microseconds, to pull 16 jobs and settle them while `groups` groups are
/// open.
pub(crate) async fn pull_beside(channel: Channel, groups: usize) -> u128 {
    let mut client = NamedSpreadServiceClient::new(channel);
    let spread = format!("beside {groups}");
    open(&mut client, &spread).await;
    // The pulls find about as many jobs either way.
    submit(&mut client, &spread, groups, 400_000 / groups.max(1_000)).await;
    let mut times = Vec::new();
    for _ in 0..200 {
        let begun = Instant::now();
        let request = PullJobsRequest {
            spread_name: spread.clone(),
            consumer_id: "one".to_owned(),
            max_pulled_job_count: Some(16),
            max_wait_duration: None,
        };
        let leased = client.pull_jobs(request).await.unwrap().into_inner().leased.unwrap();
        assert_eq!(leased.jobs.len(), 16);
        let (epoch, settlements) = (leased.epoch, acks(&leased));
        let request = SettleJobsRequest { spread_name: spread.clone(), epoch, settlements };
        client.settle_jobs(request).await.unwrap();
        times.push(begun.elapsed().as_micros());
    }
    times.sort_unstable();
    *times.get(times.len() / 2).unwrap()
}

pub(crate) fn percentile(sorted: &[u64], percent: usize) -> u64 {
    *sorted.get(sorted.len() * percent / 100).unwrap()
}
