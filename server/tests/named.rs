//! `NamedSpreadService` over the wire: the life of a spread, refusals, limits, dead letters.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod support;

use std::time::Duration;

use offbeat::proto::{
    CloseMode, DeadLetterCause, DeleteDeadLettersRequest, EmptyReason, GroupPart, GroupState,
    JobSettlement, ListDeadLettersRequest, ListSpreadsRequest, NamedSpreadSpec, PullJobsRequest,
    SettleAction, SettleJobsRequest, SettleOutcome, SpreadLimits, SpreadState, SubmittedJob,
};
use support::named::{
    Client, NAME, close, describe, group, limited, names, next_jobs, open, pull, seconds, settle,
    spec, start, submit, why, with_feeders,
};
use support::{Server, channel, config};
use tonic::Code;
use tonic_types::StatusExt as _;

#[tokio::test]
async fn a_spread_lives_from_open_to_closed() {
    let (_server, mut client) = start().await;
    let description = open(&mut client, spec()).await.unwrap();
    let with_defaults = description.spec.unwrap();
    assert_eq!(
        (with_defaults.lease_duration, with_defaults.limits.unwrap().max_attempt_count),
        (seconds(30), Some(5))
    );
    let again = open(&mut client, spec()).await.unwrap();
    assert_eq!(again.epoch, description.epoch);
    open(&mut client, with_defaults).await.unwrap();

    let submitted = submit(&mut client, vec![group("a", 3), group("b", 1)]).await.unwrap();
    assert_eq!(submitted.receipt.unwrap().epoch, description.epoch);
    assert!(submitted.groups.iter().all(|group| group.state == GroupState::Received as i32));
    submit(&mut client, vec![group("a", 3)]).await.unwrap();

    assert_eq!(next_jobs(&mut client, 3).await.unwrap(), ["a0", "b0", "a1"]);
    assert_eq!(next_jobs(&mut client, 1_000).await.unwrap().len(), 4);
    let refused = next_jobs(&mut client, 1_001).await.unwrap_err();
    assert_eq!(why(&refused), (Code::InvalidArgument, "OUT_OF_RANGE".into()));
    let leased = pull(&mut client, 10, 0).await.unwrap().leased.unwrap();
    assert_eq!(names(&leased), ["a0", "b0", "a1", "a2"]);
    assert_eq!(next_jobs(&mut client, 3).await.unwrap(), [""; 0]);
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
    assert_eq!(ended.empty_reason(), EmptyReason::SpreadClosed);
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
async fn refusals_name_the_reason() {
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
    config.limits.spread_bytes = 3_000; // a few small groups, and a larger one
    let server = Server::start(&config);
    let mut client = Client::new(channel(&server).await);
    open(&mut client, limited(SpreadLimits { max_job_count: Some(5), ..Default::default() }))
        .await
        .unwrap();
    submit(&mut client, vec![group("a", 3)]).await.unwrap();
    let full = submit(&mut client, vec![group("b", 1), group("c", 2)]).await.unwrap_err();
    assert_eq!(why(&full), (Code::ResourceExhausted, "LIMIT_REACHED".into()));
    assert!(full.get_details_retry_info().unwrap().retry_delay.unwrap() > Duration::ZERO);
    assert_eq!(full.get_details_quota_failure().unwrap().violations[0].subject, "groups[1].jobs");
    assert_eq!(describe(&mut client).await.counts.unwrap().group_count, 1);
    let never = submit(&mut client, vec![group("d", 6)]).await.unwrap_err();
    assert_eq!(never.code(), Code::InvalidArgument, "waiting would not help");

    // The limit counts all spreads together: about 600 bytes are held.
    let wide = GroupPart {
        commit: None,
        jobs: vec![SubmittedJob { payload: vec![0; 1_900].into() }],
        ..group("e", 1)
    };
    let full = submit(&mut client, vec![wide.clone()]).await.unwrap_err();
    assert_eq!(why(&full), (Code::ResourceExhausted, "LIMIT_REACHED".into()));
    let leased = pull(&mut client, 3, 0).await.unwrap().leased.unwrap();
    settle(&mut client, &leased, SettleAction::Ack).await.unwrap();
    submit(&mut client, vec![wide]).await.unwrap();
    assert_eq!(describe(&mut client).await.counts.unwrap().byte_count, 1_900 + 8 + 64 + 1);
}

#[tokio::test]
async fn a_spread_that_is_opened_again_takes_no_room_for_its_earlier_lives() {
    let mut config = config();
    config.limits.spread_bytes = 3_000;
    let server = Server::start(&config);
    let mut client = Client::new(channel(&server).await);
    for life in 0..40 {
        open(&mut client, spec()).await.unwrap();
        let submitted = submit(&mut client, vec![group("a", 1)]).await;
        assert!(submitted.is_ok(), "life {life}: {submitted:?}");
        let leased = pull(&mut client, 1, 1).await.unwrap().leased.unwrap();
        settle(&mut client, &leased, SettleAction::Ack).await.unwrap();
        let closed = close(&mut client, CloseMode::Drain, 1).await.unwrap();
        assert_eq!(closed, SpreadState::Closed as i32);
    }
}

#[tokio::test]
async fn dead_letters_can_be_read_and_deleted() {
    let (_server, mut client) = start().await;
    open(&mut client, limited(SpreadLimits { max_attempt_count: Some(1), ..Default::default() }))
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

    // Dead letters are kept, and the spread cannot be opened again while they exist.
    assert_eq!(close(&mut client, CloseMode::Drain, 0).await.unwrap(), SpreadState::Closed as i32);
    let refused = open(&mut client, spec()).await.unwrap_err();
    assert_eq!(why(&refused), (Code::FailedPrecondition, "SPREAD_CLOSING".into()));
    let (spread_name, numbers) = (NAME.into(), vec![0, 1, 2, 9]);
    let delete = DeleteDeadLettersRequest { spread_name, epoch: page.epoch, numbers };
    assert_eq!(client.delete_dead_letters(delete).await.unwrap().into_inner().deleted_count, 3);
    open(&mut client, spec()).await.unwrap();
}

#[tokio::test]
async fn a_release_may_come_late_and_costs_no_attempt() {
    let (_server, mut client) = start().await;
    let spec = NamedSpreadSpec {
        lease_duration: seconds(1),
        ..limited(SpreadLimits { max_attempt_count: Some(2), ..Default::default() })
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
