//! `StreamJobs` over the wire: the server sends the granted jobs and refuses invalid messages.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

#[path = "support/redis.rs"]
mod redis_server;
mod support;

use std::time::Duration;

use futures_util::{StreamExt as _, stream};
use offbeat::proto::stream_jobs_request::Message as RequestMessage;
use offbeat::proto::stream_jobs_response::Message as Answer;
use offbeat::proto::{
    CloseMode, JobCredit, JobSettlements, LeasedJobs, NamedSpreadSpec, SettleAction, SettleOutcome,
    SettleResult, SpreadLimits, StreamJobsRequest, StreamJobsResponse, StreamJobsStart,
};
use redis_server::Redis;
use support::named::{
    Client, NAME, all, close, describe, group, limited, names, open, pull, seconds, settle, spec,
    start, submit, why,
};
use support::{Server, channel, config_with};
use tokio::sync::mpsc;
use tokio::time::Instant;
use tonic::{Code, Streaming};
use tonic_types::StatusExt as _;

/// A stream of jobs, and a sender for its requests.
async fn stream_jobs(
    client: &mut Client,
    consumer: &str,
    credit: i32,
) -> (mpsc::UnboundedSender<StreamJobsRequest>, Streaming<StreamJobsResponse>) {
    let (sender, receiver) = mpsc::unbounded_channel();
    let (spread_name, consumer_id) = (NAME.into(), consumer.into());
    say(
        &sender,
        RequestMessage::Start(StreamJobsStart {
            spread_name,
            consumer_id,
            credit: Some(of(credit)),
        }),
    );
    let requests = stream::unfold(receiver, async |mut receiver| {
        receiver.recv().await.map(|request| (request, receiver))
    });
    let mut answers = client.stream_jobs(requests).await.unwrap().into_inner();
    let first = answers.message().await.unwrap().unwrap().message.unwrap();
    assert!(matches!(first, Answer::Started(_)), "{first:?}");
    (sender, answers)
}

const fn of(job_count: i32) -> JobCredit {
    JobCredit { job_count }
}

fn say(sender: &mpsc::UnboundedSender<StreamJobsRequest>, message: RequestMessage) {
    sender.send(StreamJobsRequest { message: Some(message) }).unwrap();
}

async fn leased(answers: &mut Streaming<StreamJobsResponse>) -> LeasedJobs {
    match answers.message().await.unwrap().unwrap().message.unwrap() {
        Answer::Leased(leased) => leased,
        other => panic!("{other:?}"),
    }
}

async fn settled(answers: &mut Streaming<StreamJobsResponse>) -> Vec<SettleOutcome> {
    match answers.message().await.unwrap().unwrap().message.unwrap() {
        Answer::SettleResults(settled) => {
            settled.results.iter().map(SettleResult::outcome).collect()
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_stream_sends_jobs_up_to_its_credit_and_settles() {
    let (_server, mut client) = start().await;
    open(&mut client, spec()).await.unwrap();
    let (sender, mut answers) = stream_jobs(&mut client, "one", 2).await;
    submit(&mut client, vec![group("a", 5)]).await.unwrap();
    let first = leased(&mut answers).await;
    assert_eq!(names(&first), ["a0", "a1"]);
    say(&sender, RequestMessage::Settlements(all(&first, SettleAction::Ack)));
    assert_eq!(settled(&mut answers).await, [SettleOutcome::Acked; 2]);
    let nothing = tokio::time::timeout(Duration::from_millis(200), answers.message()).await;
    assert!(nothing.is_err(), "no credit is left: {nothing:?}");
    say(&sender, RequestMessage::Credit(of(10)));
    let rest = leased(&mut answers).await;
    assert_eq!(names(&rest), ["a2", "a3", "a4"]);
    say(&sender, RequestMessage::Settlements(all(&rest, SettleAction::Ack)));
    assert_eq!(settled(&mut answers).await.len(), 3);
    close(&mut client, CloseMode::Drain, 0).await.unwrap();
    assert!(answers.message().await.unwrap().is_none(), "the end of the spread ends the stream");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn messages_that_come_while_jobs_are_leased_give_none_back() {
    let redis = Redis::start(&[]).await;
    let server = Server::start(&config_with(&["--spread-store", &redis.url()]));
    let mut client = Client::new(channel(&server).await);
    open(&mut client, spec()).await.unwrap();
    let (sender, mut answers) = stream_jobs(&mut client, "one", 4).await;
    submit(&mut client, vec![group("a", 300)]).await.unwrap();
    let (mut jobs, mut done) = (Vec::new(), 0);
    while done < 300 {
        match answers.message().await.unwrap().unwrap().message.unwrap() {
            Answer::Leased(leased) => {
                for job in &leased.jobs {
                    // Messages follow each other, so some arrive while jobs are being leased.
                    let one = LeasedJobs { jobs: vec![job.clone()], ..leased.clone() };
                    say(&sender, RequestMessage::Credit(of(1)));
                    say(&sender, RequestMessage::Settlements(all(&one, SettleAction::Ack)));
                }
                jobs.extend(leased.jobs);
            }
            Answer::SettleResults(settled) => done += settled.results.len(),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(jobs.len(), 300);
    assert!(jobs.iter().all(|job| job.attempt == 1 && !job.redelivered));
}

#[tokio::test]
async fn a_server_that_stops_ends_idle_streams_at_once() {
    let (mut server, mut client) = start().await;
    open(&mut client, spec()).await.unwrap();
    let (_sender, mut answers) = stream_jobs(&mut client, "one", 2).await;
    tokio::time::sleep(Duration::from_millis(100)).await;
    let begun = Instant::now();
    server.signal();
    let ended = answers.message().await.unwrap_err();
    assert_eq!(why(&ended), (Code::Unavailable, "SHUTTING_DOWN".into()));
    drop((_sender, answers, client));
    tokio::task::spawn_blocking(move || server.join()).await.unwrap();
    assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
}

#[tokio::test]
async fn a_stream_that_ends_settles_nothing() {
    let (_server, mut client) = start().await;
    open(&mut client, NamedSpreadSpec { lease_duration: seconds(1), ..spec() }).await.unwrap();
    submit(&mut client, vec![group("a", 3)]).await.unwrap();
    let (sender, mut answers) = stream_jobs(&mut client, "one", 2).await;
    let lost = leased(&mut answers).await;
    drop((sender, answers)); // cancels the stream
    let next = pull(&mut client, 5, 0).await.unwrap().leased.unwrap();
    assert_eq!(names(&next), ["a2"], "two are leased until their leases end");
    settle(&mut client, &next, SettleAction::Ack).await.unwrap();
    let back = pull(&mut client, 5, 5).await.unwrap().leased.unwrap();
    assert_eq!(names(&back), names(&lost));
    assert!(back.jobs.iter().all(|job| job.redelivered && job.attempt == 2));
    assert_eq!(
        settle(&mut client, &lost, SettleAction::Ack).await.unwrap(),
        [SettleOutcome::Stale; 2]
    );
}

#[tokio::test]
async fn a_consumer_that_never_reads_holds_at_most_its_credit() {
    let (_server, mut client) = start().await;
    let spec = NamedSpreadSpec {
        lease_duration: seconds(1),
        ..limited(SpreadLimits { max_consumer_lease_count: Some(50), ..Default::default() })
    };
    open(&mut client, spec).await.unwrap();
    let groups = (0..40).map(|n| group(&format!("g{n}-"), 25)).collect();
    submit(&mut client, groups).await.unwrap();
    let (_sender, _answers) = stream_jobs(&mut client, "stalled", 100).await;
    tokio::time::sleep(Duration::from_millis(2_500)).await;
    let held = describe(&mut client).await.counts.unwrap();
    let touched = held.leased_job_count + held.returned_job_count;
    assert!((1..=100).contains(&touched), "{held:?}");
    // The other consumers get everything in time.
    let mut done = 0;
    let begun = Instant::now();
    while done < 1_000 {
        assert!(begun.elapsed() < Duration::from_secs(10), "{done}");
        let leased = pull(&mut client, 256, 1).await.unwrap().leased.unwrap();
        if !leased.jobs.is_empty() {
            let settled = settle(&mut client, &leased, SettleAction::Ack).await.unwrap();
            done += settled.iter().filter(|one| **one == SettleOutcome::Acked).count();
        }
    }
}

#[tokio::test]
async fn streams_refuse_invalid_messages() {
    let (_server, mut client) = start().await;
    open(&mut client, spec()).await.unwrap();
    let first = |message| StreamJobsRequest { message: Some(message) };
    let start = |credit| StreamJobsStart {
        spread_name: NAME.into(),
        consumer_id: "one".into(),
        credit: Some(of(credit)),
    };
    let nothing = JobSettlements { epoch: 1, settlements: vec![] };
    for (messages, field) in [
        (vec![], "start"),
        (vec![first(RequestMessage::Credit(of(1)))], "start"),
        (
            vec![first(RequestMessage::Start(StreamJobsStart {
                consumer_id: String::new(),
                ..start(1)
            }))],
            "consumer_id",
        ),
        (vec![first(RequestMessage::Start(start(-1)))], "start.credit.job_count"),
        (vec![first(RequestMessage::Start(start(65_537)))], "start.credit.job_count"),
        (
            vec![first(RequestMessage::Start(start(0))), first(RequestMessage::Credit(of(65_537)))],
            "credit.job_count",
        ),
        (
            vec![first(RequestMessage::Start(start(1))), first(RequestMessage::Start(start(1)))],
            "start",
        ),
        (
            vec![first(RequestMessage::Start(start(1))), first(RequestMessage::Credit(of(65_536)))],
            "credit.job_count",
        ),
        (
            vec![first(RequestMessage::Start(start(1))), first(RequestMessage::Credit(of(-1)))],
            "credit.job_count",
        ),
        (
            vec![
                first(RequestMessage::Start(start(1))),
                first(RequestMessage::Settlements(nothing)),
            ],
            "settlements.settlements",
        ),
    ] {
        let mut answers = client.stream_jobs(stream::iter(messages)).await.unwrap().into_inner();
        let refused = loop {
            match answers.message().await {
                Ok(answer) => assert!(answer.is_some(), "{field} was not refused"),
                Err(refused) => break refused,
            }
        };
        let violations = refused.get_details_bad_request().unwrap().field_violations;
        assert_eq!((refused.code(), &*violations[0].field), (Code::InvalidArgument, field));
    }
    let unknown = StreamJobsStart { spread_name: "other".into(), ..start(1) };
    let requests = stream::iter([first(RequestMessage::Start(unknown))]).chain(stream::pending());
    let mut answers = client.stream_jobs(requests).await.unwrap().into_inner();
    assert_eq!(answers.message().await.unwrap_err().code(), Code::NotFound);
}
