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
    DescribeSpreadRequest, EmptyReason, GroupCommit, GroupPart, GroupState, JobSettlement,
    JobSettlements, LeasedJobs, ListDeadLettersRequest, ListSpreadsRequest, NamedSpreadSpec,
    OpenSpreadRequest, PullJobsRequest, PullJobsResponse, SettleAction, SettleJobsRequest,
    SettleOutcome, SettleResult, SpreadDescription, SpreadLimits, SpreadOrder, SpreadState,
    StreamJobsRequest, StreamJobsResponse, StreamJobsStart, SubmitGroupsRequest,
    SubmitGroupsResponse, WaitForGroupsRequest,
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

fn with_feeders(feeder_count: i32) -> NamedSpreadSpec {
    let order = SpreadOrder { feeder_count: Some(feeder_count), ..SpreadOrder::default() };
    NamedSpreadSpec { order: Some(order), ..NamedSpreadSpec::default() }
}

fn limited(limits: SpreadLimits) -> NamedSpreadSpec {
    NamedSpreadSpec { limits: Some(limits), ..spec() }
}

fn spec() -> NamedSpreadSpec {
    with_feeders(2)
}

async fn open(client: &mut Client, spec: NamedSpreadSpec) -> Result<SpreadDescription, Status> {
    let request = OpenSpreadRequest { spread_name: NAME.into(), spec: Some(spec) };
    Ok(client.open_spread(request).await?.into_inner().description.unwrap())
}

fn group(id: &str, count: usize) -> GroupPart {
    let payloads: Vec<bytes::Bytes> = (0..count).map(|n| format!("{id}{n}").into()).collect();
    let mut hash = Sha256::new();
    for job in &payloads {
        hash.update((job.len() as u64).to_be_bytes());
        hash.update(job);
    }
    let job_count = count.try_into().unwrap();
    let commit =
        GroupCommit { job_count, sha256: hash.finalize().to_vec().into(), ..Default::default() };
    GroupPart { group_id: id.into(), payloads, commit: Some(commit), ..GroupPart::default() }
}

async fn submit(
    client: &mut Client,
    groups: Vec<GroupPart>,
) -> Result<SubmitGroupsResponse, Status> {
    let request = SubmitGroupsRequest { spread_name: NAME.into(), groups };
    Ok(client.submit_groups(request).await?.into_inner())
}

async fn pull(client: &mut Client, max_jobs: i32, wait: i64) -> Result<PullJobsResponse, Status> {
    let request = PullJobsRequest {
        spread_name: NAME.into(),
        consumer_id: "one".into(),
        max_pulled_job_count: Some(max_jobs),
        max_wait_duration: seconds(wait),
    };
    Ok(client.pull_jobs(request).await?.into_inner())
}

fn names(leased: &LeasedJobs) -> Vec<String> {
    leased.jobs.iter().map(|job| String::from_utf8(job.payload.to_vec()).unwrap()).collect()
}

fn all(leased: &LeasedJobs, action: SettleAction) -> JobSettlements {
    let settlements = leased.jobs.iter().map(|job| JobSettlement {
        sequence: job.sequence,
        attempt: job.attempt,
        action: action.into(),
        delay: None,
    });
    JobSettlements { epoch: leased.epoch, settlements: settlements.collect() }
}

async fn settle(
    client: &mut Client,
    leased: &LeasedJobs,
    action: SettleAction,
) -> Result<Vec<SettleOutcome>, Status> {
    let JobSettlements { epoch, settlements } = all(leased, action);
    let request = SettleJobsRequest { spread_name: NAME.into(), epoch, settlements };
    let settled = client.settle_jobs(request).await?.into_inner().results;
    Ok(settled.iter().map(SettleResult::outcome).collect())
}

async fn describe(client: &mut Client) -> SpreadDescription {
    let request = DescribeSpreadRequest { spread_name: NAME.into() };
    client.describe_spread(request).await.unwrap().into_inner().description.unwrap()
}

async fn close(client: &mut Client, mode: CloseMode, wait: i64) -> Result<i32, Status> {
    let request = CloseSpreadRequest {
        spread_name: NAME.into(),
        mode: mode.into(),
        max_wait_duration: seconds(wait),
    };
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
    assert_eq!(
        (with_defaults.lease_duration, with_defaults.limits.unwrap().max_attempts),
        (seconds(30), Some(5))
    );
    let again = open(&mut client, spec()).await.unwrap();
    assert_eq!(again.epoch, description.epoch);
    open(&mut client, with_defaults).await.unwrap();

    let submitted = submit(&mut client, vec![group("a", 3), group("b", 1)]).await.unwrap();
    assert_eq!(submitted.receipt.unwrap().epoch, description.epoch);
    assert!(submitted.groups.iter().all(|group| group.state == GroupState::Received as i32));
    submit(&mut client, vec![group("a", 3)]).await.unwrap();

    let leased = pull(&mut client, 10, 0).await.unwrap().leased.unwrap();
    assert_eq!(names(&leased), ["a0", "b0", "a1", "a2"]);
    assert_eq!((leased.epoch, leased.lease_duration), (description.epoch, seconds(30)));
    let settled = settle(&mut client, &leased, SettleAction::Ack).await.unwrap();
    assert_eq!(settled, [SettleOutcome::Acked; 4]);
    assert_eq!(settle(&mut client, &leased, SettleAction::Ack).await.unwrap(), settled);
    let late = settle(&mut client, &leased, SettleAction::Nack).await.unwrap();
    assert_eq!(late, [SettleOutcome::Stale; 4]);

    let now = describe(&mut client).await;
    let counts = now.counts.unwrap();
    assert_eq!((counts.group_count, counts.byte_count, counts.settled_job_count), (0, 0, 4));
    assert_eq!(now.certificate.unwrap().job_count, 4);
    assert_eq!(close(&mut client, CloseMode::Drain, 0).await.unwrap(), SpreadState::Closed as i32);
    let ended = pull(&mut client, 1, 20).await.unwrap();
    assert_eq!(ended.empty_reason(), EmptyReason::Ended);
    let late = submit(&mut client, vec![group("c", 1)]).await.unwrap_err();
    assert_eq!(why(&late), (Code::FailedPrecondition, "SPREAD_CLOSING".into()));
    let anew = open(&mut client, spec()).await.unwrap();
    assert_ne!(anew.epoch, description.epoch);
    let stale = settle(&mut client, &leased, SettleAction::Ack).await.unwrap();
    assert_eq!(
        stale,
        [SettleOutcome::Stale; 4],
        "leases of the closed one mean nothing to the new"
    );
}

#[tokio::test]
async fn refusals_say_what_is_wrong() {
    let (_server, mut client) = start().await;
    let unknown = pull(&mut client, 1, 0).await.unwrap_err();
    assert_eq!(why(&unknown), (Code::NotFound, "UNKNOWN_SPREAD".into()));
    open(&mut client, spec()).await.unwrap();
    let other = with_feeders(3);
    let refused = open(&mut client, other).await.unwrap_err();
    assert_eq!(why(&refused), (Code::FailedPrecondition, "SPREAD_DIFFERS".into()));
    assert!(refused.message().contains("order.feeder_count: 3 is refused: must be 2"), "{refused}");

    submit(&mut client, vec![group("a", 3)]).await.unwrap();
    let changed = GroupPart { group_id: "a".into(), ..group("x", 3) };
    let refused = submit(&mut client, vec![group("b", 1), changed]).await.unwrap_err();
    assert_eq!(why(&refused), (Code::FailedPrecondition, "GROUP_DIFFERS".into()));
    assert!(refused.message().starts_with("groups[1].group_id: a is refused"), "{refused}");

    for (field, request) in [
        ("max_pulled_job_count", PullJobsRequest { consumer_id: "c".into(), ..Default::default() }),
        (
            "max_pulled_job_count",
            PullJobsRequest { max_pulled_job_count: Some(4_097), ..Default::default() },
        ),
        ("consumer_id", PullJobsRequest { max_pulled_job_count: Some(1), ..Default::default() }),
        (
            "max_wait_duration",
            PullJobsRequest {
                max_pulled_job_count: Some(1),
                max_wait_duration: seconds(21),
                ..Default::default()
            },
        ),
        (
            "max_wait_duration",
            PullJobsRequest {
                max_pulled_job_count: Some(1),
                max_wait_duration: seconds(-1),
                ..Default::default()
            },
        ),
    ] {
        let request = PullJobsRequest { spread_name: NAME.into(), ..request };
        let refused = client.pull_jobs(request).await.unwrap_err();
        let violations = refused.get_details_bad_request().unwrap().field_violations;
        assert_eq!((refused.code(), &*violations[0].field), (Code::InvalidArgument, field));
    }
    let settled = |action: i32, delay| JobSettlement { sequence: 0, attempt: 1, action, delay };
    for (field, settlements) in [
        ("settlements", vec![]),
        ("settlements[0].action", vec![settled(0, None)]),
        ("settlements[1].action", vec![settled(1, None), settled(6, None)]),
        ("settlements[0].delay", vec![settled(1, seconds(1))]),
        ("settlements[0].delay", vec![settled(4, seconds(1))]),
        ("settlements[0].delay", vec![settled(2, seconds(86_401))]),
        ("settlements[0].delay", vec![settled(3, seconds(86_401))]),
        ("settlements[0].attempt", vec![JobSettlement { attempt: 0, ..settled(1, None) }]),
        ("settlements[0].sequence", vec![JobSettlement { sequence: -1, ..settled(1, None) }]),
    ] {
        let request = SettleJobsRequest { spread_name: NAME.into(), epoch: 0, settlements };
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
    open(&mut client, limited(SpreadLimits { max_job_count: Some(5), ..Default::default() }))
        .await
        .unwrap();
    submit(&mut client, vec![group("a", 3)]).await.unwrap();
    let full = submit(&mut client, vec![group("b", 1), group("c", 2)]).await.unwrap_err();
    assert_eq!(why(&full), (Code::ResourceExhausted, "LIMIT_REACHED".into()));
    assert!(full.get_details_retry_info().unwrap().retry_delay.unwrap() > Duration::ZERO);
    assert_eq!(
        full.get_details_quota_failure().unwrap().violations[0].subject,
        "groups[1].payloads"
    );
    assert_eq!(describe(&mut client).await.counts.unwrap().group_count, 1);
    let never = submit(&mut client, vec![group("d", 6)]).await.unwrap_err();
    assert_eq!(never.code(), Code::InvalidArgument, "waiting would not help");

    // All spreads together: some 600 bytes are held.
    let wide = GroupPart { commit: None, payloads: vec![vec![0; 1_900].into()], ..group("e", 1) };
    let full = submit(&mut client, vec![wide.clone()]).await.unwrap_err();
    assert_eq!(why(&full), (Code::ResourceExhausted, "LIMIT_REACHED".into()));
    let leased = pull(&mut client, 3, 0).await.unwrap().leased.unwrap();
    settle(&mut client, &leased, SettleAction::Ack).await.unwrap();
    submit(&mut client, vec![wide]).await.unwrap();
    assert_eq!(describe(&mut client).await.counts.unwrap().byte_count, 1_900 + 8 + 64 + 1);
}

#[tokio::test]
async fn dead_letters_can_be_read_and_deleted() {
    let (_server, mut client) = start().await;
    open(&mut client, limited(SpreadLimits { max_attempts: Some(1), ..Default::default() }))
        .await
        .unwrap();
    submit(&mut client, vec![group("a", 3)]).await.unwrap();
    let first = pull(&mut client, 1, 0).await.unwrap().leased.unwrap();
    let given_up = settle(&mut client, &first, SettleAction::DeadLetter).await.unwrap();
    assert_eq!(given_up, [SettleOutcome::DeadLettered]);
    let rest = pull(&mut client, 2, 0).await.unwrap().leased.unwrap();
    settle(&mut client, &rest, SettleAction::Nack).await.unwrap();
    let list =
        |page_token| ListDeadLettersRequest { spread_name: NAME.into(), page_size: 2, page_token };
    let page = client.list_dead_letters(list(String::new())).await.unwrap().into_inner();
    let shown: Vec<_> = page
        .dead_letters
        .iter()
        .map(|letter| (letter.number, &letter.payload[..], letter.attempt_count, letter.cause()))
        .collect();
    let (consumer, attempts) = (DeadLetterCause::Consumer, DeadLetterCause::AttemptsExhausted);
    assert_eq!(shown, [(0, &b"a0"[..], 1, consumer), (1, &b"a1"[..], 1, attempts)]);
    let next = list(page.next_page_token);
    let of_another = ListDeadLettersRequest { spread_name: "other".into(), ..next.clone() };
    let refused = client.list_dead_letters(of_another).await.unwrap_err();
    assert_eq!(why(&refused), (Code::InvalidArgument, "CONTRADICTORY".into()));
    let page = client.list_dead_letters(next).await.unwrap().into_inner();
    assert_eq!((page.dead_letters.len(), &*page.next_page_token), (1, ""));

    // They are kept: the spread cannot be opened again over them.
    assert_eq!(close(&mut client, CloseMode::Drain, 0).await.unwrap(), SpreadState::Closed as i32);
    let refused = open(&mut client, spec()).await.unwrap_err();
    assert_eq!(why(&refused), (Code::FailedPrecondition, "SPREAD_CLOSING".into()));
    let delete = DeleteDeadLettersRequest { spread_name: NAME.into(), numbers: vec![0, 1, 2, 9] };
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
        spread_name: NAME.into(),
        group_ids: vec!["a".into()],
        max_wait_duration: seconds(20),
    };
    let told = tokio::spawn(async move { waiting.wait_for_groups(wait).await });
    tokio::time::sleep(Duration::from_millis(100)).await;
    settle(&mut client, &leased, SettleAction::Ack).await.unwrap();
    let groups = told.await.unwrap().unwrap().into_inner().groups;
    assert_eq!(groups[0].state, GroupState::Settled as i32);

    let mut waiting = client.clone();
    submit(&mut client, vec![group("b", 1)]).await.unwrap();
    let leased = pull(&mut client, 1, 0).await.unwrap().leased.unwrap();
    let closed = tokio::spawn(async move { close(&mut waiting, CloseMode::Drain, 20).await });
    tokio::time::sleep(Duration::from_millis(100)).await;
    settle(&mut client, &leased, SettleAction::Ack).await.unwrap();
    assert_eq!(closed.await.unwrap().unwrap(), SpreadState::Closed as i32);

    // A stop is news, too.
    open(&mut client, spec()).await.unwrap();
    let mut waiting = client.clone();
    let pulled = tokio::spawn(async move { pull(&mut waiting, 5, 20).await });
    tokio::time::sleep(Duration::from_millis(100)).await;
    server.signal();
    let empty = pulled.await.unwrap().unwrap();
    assert_eq!(empty.empty_reason(), EmptyReason::NoReadyJob);
    assert_eq!(empty.leased.unwrap().jobs.len(), 0);
    server.join();
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
}

#[tokio::test]
async fn waits_see_leases_end_that_began_later() {
    let (_server, mut client) = start().await;
    let spec = NamedSpreadSpec {
        lease_duration: seconds(1),
        ..limited(SpreadLimits { max_attempts: Some(1), ..Default::default() })
    };
    open(&mut client, spec).await.unwrap();
    submit(&mut client, vec![group("a", 1)]).await.unwrap();
    let begun = Instant::now();
    let mut waiting = client.clone();
    let wait = WaitForGroupsRequest {
        spread_name: NAME.into(),
        group_ids: vec!["a".into()],
        max_wait_duration: seconds(13),
    };
    let told = tokio::spawn(async move { waiting.wait_for_groups(wait).await });
    tokio::time::sleep(Duration::from_millis(100)).await;
    pull(&mut client, 1, 0).await.unwrap();
    let groups = told.await.unwrap().unwrap().into_inner().groups;
    assert_eq!((groups[0].state(), groups[0].dead_letter_count), (GroupState::Settled, 1));
    assert!(begun.elapsed() < Duration::from_secs(4), "{:?}", begun.elapsed());
    let twice = WaitForGroupsRequest {
        spread_name: NAME.into(),
        group_ids: vec!["a".into(), "a".into()],
        max_wait_duration: None,
    };
    assert_eq!(client.wait_for_groups(twice).await.unwrap_err().code(), Code::InvalidArgument);
}

#[tokio::test]
async fn a_release_may_come_late_and_costs_no_attempt() {
    let (_server, mut client) = start().await;
    let spec = NamedSpreadSpec {
        lease_duration: seconds(1),
        ..limited(SpreadLimits { max_attempts: Some(2), ..Default::default() })
    };
    open(&mut client, spec).await.unwrap();
    submit(&mut client, vec![group("a", 1)]).await.unwrap();
    for attempt in 1..=3 {
        let lent = pull(&mut client, 1, 5).await.unwrap().leased.unwrap();
        assert_eq!(lent.jobs[0].attempt, attempt);
        tokio::time::sleep(Duration::from_millis(1_050)).await;
        for expected in [SettleOutcome::Returned, SettleOutcome::Stale] {
            let settled = settle(&mut client, &lent, SettleAction::Release).await.unwrap();
            assert_eq!(settled, [expected]);
        }
    }
    assert_eq!(describe(&mut client).await.counts.unwrap().dead_letter_count, 0);
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
    let (spread_name, consumer_id) = (NAME.into(), consumer.into());
    say(&sender, Asked::Start(StreamJobsStart { spread_name, consumer_id, credit }));
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

async fn settled(answers: &mut Streaming<StreamJobsResponse>) -> Vec<SettleOutcome> {
    match answers.message().await.unwrap().unwrap().message.unwrap() {
        Answer::Settled(settled) => settled.results.iter().map(SettleResult::outcome).collect(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_stream_sends_what_was_granted_and_settles() {
    let (_server, mut client) = start().await;
    open(&mut client, spec()).await.unwrap();
    let (sender, mut answers) = stream_jobs(&mut client, "one", 2).await;
    submit(&mut client, vec![group("a", 5)]).await.unwrap();
    let first = leased(&mut answers).await;
    assert_eq!(names(&first), ["a0", "a1"]);
    say(&sender, Asked::Settlements(all(&first, SettleAction::Ack)));
    assert_eq!(settled(&mut answers).await, [SettleOutcome::Acked; 2]);
    let nothing = tokio::time::timeout(Duration::from_millis(200), answers.message()).await;
    assert!(nothing.is_err(), "no credit is left: {nothing:?}");
    say(&sender, Asked::Credit(10));
    let rest = leased(&mut answers).await;
    assert_eq!(names(&rest), ["a2", "a3", "a4"]);
    say(&sender, Asked::Settlements(all(&rest, SettleAction::Ack)));
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
    open(&mut client, NamedSpreadSpec { lease_duration: seconds(1), ..spec() }).await.unwrap();
    submit(&mut client, vec![group("a", 3)]).await.unwrap();
    let (sender, mut answers) = stream_jobs(&mut client, "one", 2).await;
    let lost = leased(&mut answers).await;
    drop((sender, answers)); // cancelled
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
async fn a_consumer_who_never_reads_holds_what_it_granted() {
    let (_server, mut client) = start().await;
    let spec = NamedSpreadSpec {
        lease_duration: seconds(1),
        ..limited(SpreadLimits { max_consumer_leases: Some(50), ..Default::default() })
    };
    open(&mut client, spec).await.unwrap();
    let groups = (0..40).map(|n| group(&format!("g{n}-"), 25)).collect();
    submit(&mut client, groups).await.unwrap();
    let (_sender, _answers) = stream_jobs(&mut client, "stalled", 100).await;
    tokio::time::sleep(Duration::from_millis(2_500)).await;
    let held = describe(&mut client).await.counts.unwrap();
    let touched = held.leased_job_count + held.returned_job_count;
    assert!((1..=100).contains(&touched), "{held:?}");
    // The others get everything, in time.
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
async fn streams_refuse_what_makes_no_sense() {
    let (_server, mut client) = start().await;
    open(&mut client, spec()).await.unwrap();
    let first = |message| StreamJobsRequest { message: Some(message) };
    let start =
        |credit| StreamJobsStart { spread_name: NAME.into(), consumer_id: "one".into(), credit };
    let nothing = JobSettlements { epoch: 1, settlements: vec![] };
    for (messages, field) in [
        (vec![], "start"),
        (vec![first(Asked::Credit(1))], "start"),
        (
            vec![first(Asked::Start(StreamJobsStart { consumer_id: String::new(), ..start(1) }))],
            "consumer_id",
        ),
        (vec![first(Asked::Start(start(-1)))], "start.credit"),
        (vec![first(Asked::Start(start(65_537)))], "start.credit"),
        (vec![first(Asked::Start(start(0))), first(Asked::Credit(65_537))], "credit"),
        (vec![first(Asked::Start(start(1))), first(Asked::Start(start(1)))], "start"),
        (vec![first(Asked::Start(start(1))), first(Asked::Credit(65_536))], "credit"),
        (vec![first(Asked::Start(start(1))), first(Asked::Credit(-1))], "credit"),
        (
            vec![first(Asked::Start(start(1))), first(Asked::Settlements(nothing))],
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
    let requests = stream::iter([first(Asked::Start(unknown))]).chain(stream::pending());
    let mut answers = client.stream_jobs(requests).await.unwrap().into_inner();
    assert_eq!(answers.message().await.unwrap_err().code(), Code::NotFound);
}
