//! `NamedSpreadService` over the wire: the life of a spread, limits, waits, streams.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod support;

use std::time::Duration;

use futures_util::{StreamExt as _, stream};
use offbeat::proto::named_spread_service_client::NamedSpreadServiceClient;
use offbeat::proto::stream_jobs_request::Message as Asked;
use offbeat::proto::stream_jobs_response::Message as Answer;
use offbeat::proto::{
    CloseMode, CloseSpreadRequest, DeadLetterCause, DeleteDeadLettersRequest,
    DescribeSpreadRequest, GroupCommit, GroupPart, GroupState, JobVerdict, JobVerdicts, LeasedJobs,
    ListDeadLettersRequest, ListSpreadsRequest, NamedSpreadSpec, OpenSpreadRequest,
    PullJobsRequest, PullJobsResponse, SettleJobsRequest, Settlement, SpreadDescription,
    SpreadState, StreamJobsRequest, StreamJobsResponse, StreamJobsStart, SubmitGroupsRequest,
    SubmitGroupsResponse, Verdict, WaitForGroupsRequest,
};
use sha2::{Digest as _, Sha256};
use support::{Server, channel, config};
use tokio::sync::mpsc;
use tokio::time::Instant;
use tonic::transport::Channel;
use tonic::{Code, Status, Streaming};
use tonic_types::StatusExt as _;

type Client = NamedSpreadServiceClient<Channel>;

const NAME: &str = "mail";

fn seconds(seconds: i64) -> Option<prost_types::Duration> {
    Some(prost_types::Duration { seconds, nanos: 0 })
}

fn spec() -> NamedSpreadSpec {
    NamedSpreadSpec { feeder_count: Some(2), ..NamedSpreadSpec::default() }
}

async fn open(client: &mut Client, spec: NamedSpreadSpec) -> Result<SpreadDescription, Status> {
    let request = OpenSpreadRequest { spread: NAME.into(), spec: Some(spec) };
    Ok(client.open_spread(request).await?.into_inner().description.unwrap())
}

fn group(id: &str, count: usize) -> GroupPart {
    let jobs: Vec<bytes::Bytes> = (0..count).map(|n| format!("{id}{n}").into()).collect();
    let mut hash = Sha256::new();
    for job in &jobs {
        hash.update((job.len() as u64).to_be_bytes());
        hash.update(job);
    }
    let job_count = count.try_into().unwrap();
    let commit = GroupCommit { job_count, sha256: hash.finalize().to_vec().into() };
    GroupPart { group_id: id.into(), jobs, commit: Some(commit), ..GroupPart::default() }
}

async fn submit(
    client: &mut Client,
    groups: Vec<GroupPart>,
) -> Result<SubmitGroupsResponse, Status> {
    let request = SubmitGroupsRequest { spread: NAME.into(), groups };
    Ok(client.submit_groups(request).await?.into_inner())
}

async fn pull(client: &mut Client, max_jobs: i32, wait: i64) -> Result<PullJobsResponse, Status> {
    let request = PullJobsRequest {
        spread: NAME.into(),
        consumer: "one".into(),
        max_jobs: Some(max_jobs),
        wait: seconds(wait),
    };
    Ok(client.pull_jobs(request).await?.into_inner())
}

fn names(leased: &LeasedJobs) -> Vec<String> {
    leased.jobs.iter().map(|job| String::from_utf8(job.job.to_vec()).unwrap()).collect()
}

fn all(leased: &LeasedJobs, verdict: Verdict) -> JobVerdicts {
    let verdicts = leased.jobs.iter().map(|job| JobVerdict {
        sequence: job.sequence,
        attempt: job.attempt,
        verdict: verdict.into(),
        delay: None,
    });
    JobVerdicts { epoch: leased.epoch, verdicts: verdicts.collect() }
}

async fn settle(
    client: &mut Client,
    leased: &LeasedJobs,
    verdict: Verdict,
) -> Result<Vec<Settlement>, Status> {
    let JobVerdicts { epoch, verdicts } = all(leased, verdict);
    let request = SettleJobsRequest { spread: NAME.into(), epoch, verdicts };
    let settled = client.settle_jobs(request).await?.into_inner().settlements;
    Ok(settled.into_iter().map(|number| Settlement::try_from(number).unwrap()).collect())
}

async fn describe(client: &mut Client) -> SpreadDescription {
    let request = DescribeSpreadRequest { spread: NAME.into() };
    client.describe_spread(request).await.unwrap().into_inner().description.unwrap()
}

async fn close(client: &mut Client, mode: CloseMode, wait: i64) -> Result<i32, Status> {
    let request =
        CloseSpreadRequest { spread: NAME.into(), mode: mode.into(), wait: seconds(wait) };
    Ok(client.close_spread(request).await?.into_inner().description.unwrap().state)
}

/// The code and the reason, shortened, of a refusal.
fn why(status: &Status) -> (Code, String) {
    let info = status.get_details_error_info().unwrap();
    (status.code(), info.reason.trim_start_matches("ERROR_REASON_").to_owned())
}

async fn start() -> (Server, Client) {
    let server = Server::start(&config());
    let client = Client::new(channel(&server).await);
    (server, client)
}

#[tokio::test]
async fn a_spread_lives_from_open_to_closed() {
    let (_server, mut client) = start().await;
    let description = open(&mut client, spec()).await.unwrap();
    let with_defaults = description.spec.unwrap();
    assert_eq!((with_defaults.lease, with_defaults.max_attempts), (seconds(30), Some(5)));
    let again = open(&mut client, spec()).await.unwrap();
    assert_eq!(again.epoch, description.epoch);
    open(&mut client, with_defaults).await.unwrap();

    let submitted = submit(&mut client, vec![group("a", 3), group("b", 1)]).await.unwrap();
    assert_eq!(submitted.receipt.unwrap().epoch, description.epoch);
    assert!(submitted.groups.iter().all(|group| group.state == GroupState::Received as i32));
    submit(&mut client, vec![group("a", 3)]).await.unwrap();

    let leased = pull(&mut client, 10, 0).await.unwrap().leased.unwrap();
    assert_eq!(names(&leased), ["a0", "b0", "a1", "a2"]);
    assert_eq!((leased.epoch, leased.lease), (description.epoch, seconds(30)));
    let settled = settle(&mut client, &leased, Verdict::Ack).await.unwrap();
    assert_eq!(settled, [Settlement::Settled; 4]);
    assert_eq!(settle(&mut client, &leased, Verdict::Ack).await.unwrap(), settled);
    let late = settle(&mut client, &leased, Verdict::Nack).await.unwrap();
    assert_eq!(late, [Settlement::Stale; 4]);

    let now = describe(&mut client).await;
    assert_eq!((now.group_count, now.byte_count, now.settled_job_count), (0, 0, 4));
    assert_eq!(now.certificate.unwrap().job_count, 4);
    assert_eq!(close(&mut client, CloseMode::Drain, 0).await.unwrap(), SpreadState::Closed as i32);
    assert!(pull(&mut client, 1, 20).await.unwrap().ended);
    let late = submit(&mut client, vec![group("c", 1)]).await.unwrap_err();
    assert_eq!(why(&late), (Code::FailedPrecondition, "SPREAD_CLOSING".into()));
    let anew = open(&mut client, spec()).await.unwrap();
    assert_ne!(anew.epoch, description.epoch);
    let stale = settle(&mut client, &leased, Verdict::Ack).await.unwrap();
    assert_eq!(stale, [Settlement::Stale; 4], "leases of the closed one mean nothing to the new");
}

#[tokio::test]
async fn refusals_say_what_is_wrong() {
    let (_server, mut client) = start().await;
    let unknown = pull(&mut client, 1, 0).await.unwrap_err();
    assert_eq!(why(&unknown), (Code::NotFound, "UNKNOWN_SPREAD".into()));
    open(&mut client, spec()).await.unwrap();
    let other = NamedSpreadSpec { feeder_count: Some(3), ..spec() };
    let refused = open(&mut client, other).await.unwrap_err();
    assert_eq!(why(&refused), (Code::FailedPrecondition, "SPREAD_DIFFERS".into()));
    assert!(refused.message().contains("feeder_count: 3 is refused: must be 2"), "{refused}");

    submit(&mut client, vec![group("a", 3)]).await.unwrap();
    let changed = GroupPart { group_id: "a".into(), ..group("x", 3) };
    let refused = submit(&mut client, vec![group("b", 1), changed]).await.unwrap_err();
    assert_eq!(why(&refused), (Code::FailedPrecondition, "GROUP_DIFFERS".into()));
    assert!(refused.message().starts_with("groups[1].group_id: a is refused"), "{refused}");

    for (field, request) in [
        ("max_jobs", PullJobsRequest { consumer: "c".into(), ..Default::default() }),
        ("max_jobs", PullJobsRequest { max_jobs: Some(4_097), ..Default::default() }),
        ("consumer", PullJobsRequest { max_jobs: Some(1), ..Default::default() }),
        ("wait", PullJobsRequest { max_jobs: Some(1), wait: seconds(21), ..Default::default() }),
        ("wait", PullJobsRequest { max_jobs: Some(1), wait: seconds(-1), ..Default::default() }),
    ] {
        let request = PullJobsRequest { spread: NAME.into(), ..request };
        let refused = client.pull_jobs(request).await.unwrap_err();
        let violations = refused.get_details_bad_request().unwrap().field_violations;
        assert_eq!((refused.code(), &*violations[0].field), (Code::InvalidArgument, field));
    }
    let verdict = |verdict: i32, delay| JobVerdict { sequence: 0, attempt: 1, verdict, delay };
    for (field, verdicts) in [
        ("verdicts", vec![]),
        ("verdicts[0].verdict", vec![verdict(0, None)]),
        ("verdicts[1].verdict", vec![verdict(1, None), verdict(6, None)]),
        ("verdicts[0].delay", vec![verdict(1, seconds(1))]),
        ("verdicts[0].delay", vec![verdict(2, seconds(86_401))]),
        ("verdicts[0].attempt", vec![JobVerdict { attempt: 0, ..verdict(1, None) }]),
        ("verdicts[0].sequence", vec![JobVerdict { sequence: -1, ..verdict(1, None) }]),
    ] {
        let request = SettleJobsRequest { spread: NAME.into(), epoch: 0, verdicts };
        let refused = client.settle_jobs(request).await.unwrap_err();
        let violations = refused.get_details_bad_request().unwrap().field_violations;
        assert_eq!((refused.code(), &*violations[0].field), (Code::InvalidArgument, field));
    }
}

#[tokio::test]
async fn at_a_limit_producers_wait_and_nothing_is_dropped() {
    let mut config = config();
    config.limits.spread_bytes = 3_000; // some small groups, and a larger one
    let server = Server::start(&config);
    let mut client = Client::new(channel(&server).await);
    open(&mut client, NamedSpreadSpec { max_jobs: Some(5), ..spec() }).await.unwrap();
    submit(&mut client, vec![group("a", 3)]).await.unwrap();
    let full = submit(&mut client, vec![group("b", 1), group("c", 2)]).await.unwrap_err();
    assert_eq!(why(&full), (Code::ResourceExhausted, "LIMIT_REACHED".into()));
    assert!(full.get_details_retry_info().unwrap().retry_delay.unwrap() > Duration::ZERO);
    assert_eq!(full.get_details_quota_failure().unwrap().violations[0].subject, "groups[1].jobs");
    assert_eq!(describe(&mut client).await.group_count, 1);
    let never = submit(&mut client, vec![group("d", 6)]).await.unwrap_err();
    assert_eq!(never.code(), Code::InvalidArgument, "waiting would not help");

    // All spreads together: some 600 bytes are held.
    let wide = GroupPart { commit: None, jobs: vec![vec![0; 1_900].into()], ..group("e", 1) };
    let full = submit(&mut client, vec![wide.clone()]).await.unwrap_err();
    assert_eq!(why(&full), (Code::ResourceExhausted, "LIMIT_REACHED".into()));
    let leased = pull(&mut client, 3, 0).await.unwrap().leased.unwrap();
    settle(&mut client, &leased, Verdict::Ack).await.unwrap();
    submit(&mut client, vec![wide]).await.unwrap();
    assert_eq!(describe(&mut client).await.byte_count, 1_900 + 8 + 64 + 1);
}

#[tokio::test]
async fn dead_letters_can_be_read_and_deleted() {
    let (_server, mut client) = start().await;
    open(&mut client, NamedSpreadSpec { max_attempts: Some(1), ..spec() }).await.unwrap();
    submit(&mut client, vec![group("a", 3)]).await.unwrap();
    let first = pull(&mut client, 1, 0).await.unwrap().leased.unwrap();
    let given_up = settle(&mut client, &first, Verdict::Terminate).await.unwrap();
    assert_eq!(given_up, [Settlement::DeadLettered]);
    let rest = pull(&mut client, 2, 0).await.unwrap().leased.unwrap();
    settle(&mut client, &rest, Verdict::Nack).await.unwrap();
    let list = |page_size, after_number| ListDeadLettersRequest {
        spread: NAME.into(),
        page_size: Some(page_size),
        after_number,
    };
    let page = client.list_dead_letters(list(2, None)).await.unwrap().into_inner();
    let shown: Vec<_> = page
        .dead_letters
        .iter()
        .map(|letter| (letter.number, &letter.job[..], letter.attempt_count, letter.cause()))
        .collect();
    let (terminated, attempts) = (DeadLetterCause::Terminated, DeadLetterCause::Attempts);
    assert_eq!(shown, [(0, &b"a0"[..], 1, terminated), (1, &b"a1"[..], 1, attempts)]);
    assert!(page.has_more);
    let page = client.list_dead_letters(list(2, Some(1))).await.unwrap().into_inner();
    assert_eq!((page.dead_letters.len(), page.has_more), (1, false));

    // They are kept: the spread cannot be opened again over them.
    assert_eq!(close(&mut client, CloseMode::Drain, 0).await.unwrap(), SpreadState::Closed as i32);
    let refused = open(&mut client, spec()).await.unwrap_err();
    assert_eq!(why(&refused), (Code::FailedPrecondition, "SPREAD_CLOSING".into()));
    let delete = DeleteDeadLettersRequest { spread: NAME.into(), numbers: vec![0, 1, 2, 9] };
    assert_eq!(client.delete_dead_letters(delete).await.unwrap().into_inner().deleted_count, 3);
    open(&mut client, spec()).await.unwrap();
}

#[tokio::test]
async fn waits_end_when_there_is_news() {
    let (mut server, mut client) = start().await;
    open(&mut client, spec()).await.unwrap();
    let mut waiting = client.clone();
    let pulled = tokio::spawn(async move { pull(&mut waiting, 5, 20).await });
    tokio::time::sleep(Duration::from_millis(100)).await;
    let begun = Instant::now();
    submit(&mut client, vec![group("a", 1)]).await.unwrap();
    let leased = pulled.await.unwrap().unwrap().leased.unwrap();
    assert_eq!(names(&leased), ["a0"]);

    let mut waiting = client.clone();
    let wait = WaitForGroupsRequest {
        spread: NAME.into(),
        group_ids: vec!["a".into()],
        wait: seconds(20),
    };
    let told = tokio::spawn(async move { waiting.wait_for_groups(wait).await });
    tokio::time::sleep(Duration::from_millis(100)).await;
    settle(&mut client, &leased, Verdict::Ack).await.unwrap();
    let groups = told.await.unwrap().unwrap().into_inner().groups;
    assert_eq!(groups[0].state, GroupState::Settled as i32);

    let mut waiting = client.clone();
    submit(&mut client, vec![group("b", 1)]).await.unwrap();
    let leased = pull(&mut client, 1, 0).await.unwrap().leased.unwrap();
    let closed = tokio::spawn(async move { close(&mut waiting, CloseMode::Drain, 20).await });
    tokio::time::sleep(Duration::from_millis(100)).await;
    settle(&mut client, &leased, Verdict::Ack).await.unwrap();
    assert_eq!(closed.await.unwrap().unwrap(), SpreadState::Closed as i32);

    // A stop is news, too.
    open(&mut client, spec()).await.unwrap();
    let mut waiting = client.clone();
    let pulled = tokio::spawn(async move { pull(&mut waiting, 5, 20).await });
    tokio::time::sleep(Duration::from_millis(100)).await;
    server.signal();
    let empty = pulled.await.unwrap().unwrap();
    assert_eq!((empty.leased.unwrap().jobs.len(), empty.ended), (0, false));
    server.join();
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
}

#[tokio::test]
async fn waits_see_leases_end_that_began_later() {
    let (_server, mut client) = start().await;
    let spec = NamedSpreadSpec { lease: seconds(1), max_attempts: Some(1), ..spec() };
    open(&mut client, spec).await.unwrap();
    submit(&mut client, vec![group("a", 1)]).await.unwrap();
    let begun = Instant::now();
    let mut waiting = client.clone();
    let wait = WaitForGroupsRequest {
        spread: NAME.into(),
        group_ids: vec!["a".into()],
        wait: seconds(13),
    };
    let told = tokio::spawn(async move { waiting.wait_for_groups(wait).await });
    tokio::time::sleep(Duration::from_millis(100)).await;
    pull(&mut client, 1, 0).await.unwrap();
    let groups = told.await.unwrap().unwrap().into_inner().groups;
    assert_eq!((groups[0].state(), groups[0].dead_letter_count), (GroupState::Settled, 1));
    assert!(begun.elapsed() < Duration::from_secs(4), "{:?}", begun.elapsed());
    let twice = WaitForGroupsRequest {
        spread: NAME.into(),
        group_ids: vec!["a".into(), "a".into()],
        wait: None,
    };
    assert_eq!(client.wait_for_groups(twice).await.unwrap_err().code(), Code::InvalidArgument);
}

#[tokio::test]
async fn a_release_may_come_late_and_costs_no_attempt() {
    let (_server, mut client) = start().await;
    let spec = NamedSpreadSpec { lease: seconds(1), max_attempts: Some(2), ..spec() };
    open(&mut client, spec).await.unwrap();
    submit(&mut client, vec![group("a", 1)]).await.unwrap();
    for attempt in 1..=3 {
        let lent = pull(&mut client, 1, 5).await.unwrap().leased.unwrap();
        assert_eq!(lent.jobs[0].attempt, attempt);
        tokio::time::sleep(Duration::from_millis(1_050)).await;
        for expected in [Settlement::Returned, Settlement::Stale] {
            let settled = settle(&mut client, &lent, Verdict::Release).await.unwrap();
            assert_eq!(settled, [expected]);
        }
    }
    assert_eq!(describe(&mut client).await.dead_letter_count, 0);
}

#[tokio::test]
async fn a_discarded_spread_is_gone_at_once() {
    let (_server, mut client) = start().await;
    open(&mut client, spec()).await.unwrap();
    submit(&mut client, vec![group("a", 3)]).await.unwrap();
    let mut waiting = client.clone();
    pull(&mut client, 3, 0).await.unwrap();
    let pulled = tokio::spawn(async move { pull(&mut waiting, 5, 20).await });
    tokio::time::sleep(Duration::from_millis(100)).await;
    close(&mut client, CloseMode::Discard, 0).await.unwrap();
    assert_eq!(pulled.await.unwrap().unwrap_err().code(), Code::NotFound);
    let list = ListSpreadsRequest::default();
    assert!(client.list_spreads(list).await.unwrap().into_inner().spreads.is_empty());
}

/// A stream of jobs that a test sends into as it likes.
async fn stream_jobs(
    client: &mut Client,
    consumer: &str,
    credit: i32,
) -> (mpsc::UnboundedSender<StreamJobsRequest>, Streaming<StreamJobsResponse>) {
    let (sender, receiver) = mpsc::unbounded_channel();
    let (spread, consumer) = (NAME.into(), consumer.into());
    say(&sender, Asked::Start(StreamJobsStart { spread, consumer, credit }));
    let requests = stream::unfold(receiver, async |mut receiver| {
        receiver.recv().await.map(|request| (request, receiver))
    });
    let mut answers = client.stream_jobs(requests).await.unwrap().into_inner();
    let first = answers.message().await.unwrap().unwrap().message.unwrap();
    assert!(matches!(first, Answer::Started(_)), "{first:?}");
    (sender, answers)
}

fn say(sender: &mpsc::UnboundedSender<StreamJobsRequest>, message: Asked) {
    sender.send(StreamJobsRequest { message: Some(message) }).unwrap();
}

async fn leased(answers: &mut Streaming<StreamJobsResponse>) -> LeasedJobs {
    match answers.message().await.unwrap().unwrap().message.unwrap() {
        Answer::Leased(leased) => leased,
        other => panic!("{other:?}"),
    }
}

async fn settled(answers: &mut Streaming<StreamJobsResponse>) -> Vec<i32> {
    match answers.message().await.unwrap().unwrap().message.unwrap() {
        Answer::Settled(settled) => settled.settlements,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_stream_sends_what_was_granted_and_takes_verdicts() {
    let (_server, mut client) = start().await;
    open(&mut client, spec()).await.unwrap();
    let (sender, mut answers) = stream_jobs(&mut client, "one", 2).await;
    submit(&mut client, vec![group("a", 5)]).await.unwrap();
    let first = leased(&mut answers).await;
    assert_eq!(names(&first), ["a0", "a1"]);
    say(&sender, Asked::Verdicts(all(&first, Verdict::Ack)));
    assert_eq!(settled(&mut answers).await, [Settlement::Settled as i32; 2]);
    let nothing = tokio::time::timeout(Duration::from_millis(200), answers.message()).await;
    assert!(nothing.is_err(), "no credit is left: {nothing:?}");
    say(&sender, Asked::Credit(10));
    let rest = leased(&mut answers).await;
    assert_eq!(names(&rest), ["a2", "a3", "a4"]);
    say(&sender, Asked::Verdicts(all(&rest, Verdict::Ack)));
    assert_eq!(settled(&mut answers).await.len(), 3);
    close(&mut client, CloseMode::Drain, 0).await.unwrap();
    assert!(answers.message().await.unwrap().is_none(), "the end of the spread ends the stream");
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
    open(&mut client, NamedSpreadSpec { lease: seconds(1), ..spec() }).await.unwrap();
    submit(&mut client, vec![group("a", 3)]).await.unwrap();
    let (sender, mut answers) = stream_jobs(&mut client, "one", 2).await;
    let lost = leased(&mut answers).await;
    drop((sender, answers)); // cancelled
    let next = pull(&mut client, 5, 0).await.unwrap().leased.unwrap();
    assert_eq!(names(&next), ["a2"], "two are leased until their leases end");
    settle(&mut client, &next, Verdict::Ack).await.unwrap();
    let back = pull(&mut client, 5, 5).await.unwrap().leased.unwrap();
    assert_eq!(names(&back), names(&lost));
    assert!(back.jobs.iter().all(|job| job.redelivered && job.attempt == 2));
    assert_eq!(settle(&mut client, &lost, Verdict::Ack).await.unwrap(), [Settlement::Stale; 2]);
}

#[tokio::test]
async fn a_consumer_who_never_reads_holds_what_it_granted() {
    let (_server, mut client) = start().await;
    let spec = NamedSpreadSpec { lease: seconds(1), max_consumer_leases: Some(50), ..spec() };
    open(&mut client, spec).await.unwrap();
    let groups = (0..40).map(|n| group(&format!("g{n}-"), 25)).collect();
    submit(&mut client, groups).await.unwrap();
    let (_sender, _answers) = stream_jobs(&mut client, "stalled", 100).await;
    tokio::time::sleep(Duration::from_millis(2_500)).await;
    let held = describe(&mut client).await;
    let touched = held.leased_job_count + held.returned_job_count;
    assert!((1..=100).contains(&touched), "{held:?}");
    // The others get everything, in time.
    let mut done = 0;
    let begun = Instant::now();
    while done < 1_000 {
        assert!(begun.elapsed() < Duration::from_secs(10), "{done}");
        let leased = pull(&mut client, 256, 1).await.unwrap().leased.unwrap();
        if !leased.jobs.is_empty() {
            let settled = settle(&mut client, &leased, Verdict::Ack).await.unwrap();
            done += settled.iter().filter(|one| **one == Settlement::Settled).count();
        }
    }
}

#[tokio::test]
async fn streams_refuse_what_makes_no_sense() {
    let (_server, mut client) = start().await;
    open(&mut client, spec()).await.unwrap();
    let first = |message| StreamJobsRequest { message: Some(message) };
    let start = |credit| StreamJobsStart { spread: NAME.into(), consumer: "one".into(), credit };
    let verdicts = JobVerdicts { epoch: 1, verdicts: vec![] };
    for (messages, field) in [
        (vec![], "start"),
        (vec![first(Asked::Credit(1))], "start"),
        (
            vec![first(Asked::Start(StreamJobsStart { consumer: String::new(), ..start(1) }))],
            "consumer",
        ),
        (vec![first(Asked::Start(start(-1)))], "start.credit"),
        (vec![first(Asked::Start(start(65_537)))], "start.credit"),
        (vec![first(Asked::Start(start(0))), first(Asked::Credit(65_537))], "credit"),
        (vec![first(Asked::Start(start(1))), first(Asked::Start(start(1)))], "start"),
        (vec![first(Asked::Start(start(1))), first(Asked::Credit(65_536))], "credit"),
        (vec![first(Asked::Start(start(1))), first(Asked::Credit(-1))], "credit"),
        (
            vec![first(Asked::Start(start(1))), first(Asked::Verdicts(verdicts))],
            "verdicts.verdicts",
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
    let unknown = StreamJobsStart { spread: "other".into(), ..start(1) };
    let requests = stream::iter([first(Asked::Start(unknown))]).chain(stream::pending());
    let mut answers = client.stream_jobs(requests).await.unwrap().into_inner();
    assert_eq!(answers.message().await.unwrap_err().code(), Code::NotFound);
}
