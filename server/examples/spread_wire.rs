//! Prints what spreads do over the wire, against a server at the address that is given: jobs a
//! second of one stream; cycles of pull and settle; and how long after its submission a job
//! is dealt. `benchmarks/spread/run.sh` starts the server.
#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "it measures")]

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use futures_util::stream;
use offbeat::proto::named_spread_service_client::NamedSpreadServiceClient;
use offbeat::proto::spread_request::Message as Asked;
use offbeat::proto::spread_response::Message as Answer;
use offbeat::proto::spread_service_client::SpreadServiceClient;
use offbeat::proto::stream_jobs_request::Message as AskedJobs;
use offbeat::proto::stream_jobs_response::Message as Jobs;
use offbeat::proto::{
    GroupCommit, GroupPart, JobCredit, JobSettlement, JobSettlements, LeasedJobs, NamedSpreadSpec,
    OpenSpreadRequest, PullJobsRequest, SettleAction, SettleJobsRequest, SpreadInput, SpreadOrder,
    SpreadRequest, SpreadSpec, StreamJobsRequest, StreamJobsStart, SubmitGroupsRequest,
    SubmittedJob,
};
use sha2::{Digest as _, Sha256};
use tokio::sync::mpsc;
use tonic::transport::Channel;

const FEEDERS: i32 = 64;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let address = std::env::args().nth(1).unwrap();
    let channel = Channel::from_shared(format!("http://{address}")).unwrap();
    let channel = channel.connect().await.unwrap();
    for group in [20, 1_000] {
        let mut best = 0.0_f64;
        for _ in 0..3 {
            best = best.max(one_stream(channel.clone(), group, 50_000_000).await);
        }
        println!("Rust, columns of one stream, groups of {group}\t{best:.0}");
    }
    let mut best = 0.0_f64;
    for run in 0..3 {
        best = best.max(pull_and_settle(channel.clone(), &format!("cycle{run}"), 500_000).await);
    }
    println!("Rust, pull and settle a named spread, 256 jobs a call\t{best:.0}");
    let delays = submit_to_deal(channel, 10_000, Duration::from_secs(5)).await;
    let percentile = |percent: usize| delays.get(delays.len() * percent / 100).unwrap();
    println!("from submit to deal at 10,000 jobs/s, p50 in µs\t{}", percentile(50));
    println!("from submit to deal at 10,000 jobs/s, p99 in µs\t{}", percentile(99));
}

fn requests<T: Send>() -> (mpsc::UnboundedSender<T>, impl stream::Stream<Item = T> + Send) {
    let (sender, receiver) = mpsc::unbounded_channel();
    let requests = stream::unfold(receiver, async |mut receiver| {
        receiver.recv().await.map(|request| (request, receiver))
    });
    (sender, requests)
}

fn order() -> SpreadOrder {
    SpreadOrder { feeder_count: Some(FEEDERS), ..SpreadOrder::default() }
}

/// Jobs a second of one stream: sizes in, columns out.
async fn one_stream(channel: Channel, group: i64, jobs: i64) -> f64 {
    let mut client = SpreadServiceClient::new(channel);
    let (sender, requests) = requests();
    let spec = SpreadSpec {
        order: Some(order()),
        job_window: Some(65_536),
        group_window: 4_096,
        ..SpreadSpec::default()
    };
    let say = |message| sender.send(SpreadRequest { message: Some(message) });
    let begun = Instant::now();
    say(Asked::Spec(spec)).unwrap();
    let mut answers = client.spread(requests).await.unwrap().into_inner();
    let (mut made, mut total, mut sum, count) = (0, 0, 0_i64, jobs / group);
    while let Some(answer) = answers.message().await.unwrap() {
        match answer.message.unwrap() {
            Answer::Turns(turns) => {
                total += i64::try_from(turns.group_indexes.len()).unwrap();
                sum = sum.wrapping_add(turns.group_indexes.iter().sum::<i64>());
            }
            Answer::Demand(demand) => {
                let more = demand.group_count.min(count - made);
                made += more;
                let input = SpreadInput {
                    whole_group_sizes: vec![group; more.try_into().unwrap()],
                    no_more_groups: made == count,
                    ..SpreadInput::default()
                };
                let _ = say(Asked::Input(input));
            }
            Answer::Certificate(_) => {}
        }
    }
    assert_eq!((total, sum), (jobs, count * (count - 1) / 2 * group));
    #[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
    let rate = jobs as f64 / begun.elapsed().as_secs_f64();
    rate
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
    let spec = NamedSpreadSpec { order: Some(order()), ..NamedSpreadSpec::default() };
    let request = OpenSpreadRequest { spread_name: spread.to_owned(), spec: Some(spec) };
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

/// Jobs a second that are pulled and settled, by unary calls of 256; submitted before.
async fn pull_and_settle(channel: Channel, spread: &str, jobs: usize) -> f64 {
    let mut client = NamedSpreadServiceClient::new(channel);
    open(&mut client, spread).await;
    for call in 0..jobs / 20 / 500 {
        let groups = (0..500).map(|number| {
            let id = format!("{call}-{number}");
            let jobs = (0..20).map(|index| format!("{id}-{index}").into()).collect();
            group(id, jobs)
        });
        let request =
            SubmitGroupsRequest { spread_name: spread.to_owned(), groups: groups.collect() };
        client.submit_groups(request).await.unwrap();
    }
    let begun = Instant::now();
    let mut workers = tokio::task::JoinSet::new();
    for worker in 0..4 {
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

/// From just before a job is submitted until a stream has it, in microseconds, sorted.
async fn submit_to_deal(channel: Channel, rate: u32, time: Duration) -> Vec<u64> {
    const PER_CALL: u32 = 10;
    let mut client = NamedSpreadServiceClient::new(channel);
    open(&mut client, "delay").await;
    let (sender, requests) = requests();
    let say = move |message| sender.send(StreamJobsRequest { message: Some(message) }).unwrap();
    let (spread_name, consumer_id) = ("delay".to_owned(), "reader".to_owned());
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
        let request = SubmitGroupsRequest { spread_name: "delay".to_owned(), groups };
        let mut client = client.clone();
        tokio::spawn(async move { client.submit_groups(request).await.unwrap() });
    }
    let mut delays = reader.await.unwrap();
    delays.sort_unstable();
    delays
}
