//! Waits of `NamedSpreadService` over the wire: a wait ends when something changes, and not
//! before.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod support;

use std::time::Duration;

use offbeat::proto::{
    CloseMode, EmptyReason, GroupState, NamedSpreadSpec, SettleAction, SpreadLimits, SpreadState,
    WaitForGroupsRequest,
};
use support::named::{
    NAME, close, group, limited, names, open, pull, seconds, settle, spec, start, submit,
};
use tokio::time::Instant;
use tonic::Code;

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

    // A stop of the server ends a wait, too.
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
        ..limited(SpreadLimits { max_attempt_count: Some(1), ..Default::default() })
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
