//! Named spreads in Redis: callers that wait for jobs, for groups, and for the end.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

#[path = "support/redis.rs"]
mod redis_server;
#[path = "support/stores.rs"]
mod stores;

use std::sync::Arc;
use std::time::Duration;

use offbeat::spreads::{CloseMode, IfClosed, RedisStore, SpreadStore as _};
use offbeat_core::Reason;
use offbeat_core::spread::lease::{SettleAction, SettleOutcome};
use offbeat_core::spread::named::{EmptyReason, GroupState, SpreadState};
use redis_server::Redis;
use stores::{BYTES, NOW, at, connect, group, names, one, spec};
use tokio::time::Instant;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn waiting_calls_see_changes_by_another_process() {
    let redis = Redis::start(&[]).await;
    let (here, there) = (connect(&redis).await, connect(&redis).await);
    here.open("s".to_owned(), spec(1_000), IfClosed::Reopen).await.unwrap();
    let waiting = Arc::clone(&here);
    let pull = tokio::spawn(async move {
        waiting.pull("s", &one(), 4, Duration::from_secs(20)).await.unwrap()
    });
    tokio::time::sleep(Duration::from_millis(300)).await;
    let submitted = Instant::now();
    there.submit("s", vec![group("a", 3)]).await.unwrap();
    let pulled = pull.await.unwrap();
    assert!(submitted.elapsed() < Duration::from_secs(1), "{:?}", submitted.elapsed());
    assert_eq!(names(&pulled), ["a/0", "a/1", "a/2"]);

    let waiting = Arc::clone(&there);
    let groups = tokio::spawn(async move {
        waiting.groups("s", &["a".to_owned()], Duration::from_secs(20)).await.unwrap()
    });
    let waiting = Arc::clone(&here);
    let closed = tokio::spawn(async move {
        waiting.close("s", CloseMode::Drain, Duration::from_secs(20)).await.unwrap()
    });
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert!(!groups.is_finished() && !closed.is_finished());
    let settled = Instant::now();
    let acks = pulled.jobs.iter().map(|job| (job.id, SettleAction::Ack)).collect();
    here.settle("s", acks).await.unwrap();
    assert_eq!(groups.await.unwrap().0[0].state, GroupState::Settled);
    assert_eq!(closed.await.unwrap().state, SpreadState::Closed);
    assert!(settled.elapsed() < Duration::from_secs(1), "{:?}", settled.elapsed());
    let ended = there.pull("s", &one(), 1, Duration::from_secs(20)).await.unwrap();
    assert_eq!(ended.empty_reason, Some(EmptyReason::Ended));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn waiting_pulls_notice_an_expired_lease() {
    let redis = Redis::start(&[]).await;
    let (here, there) = (connect(&redis).await, connect(&redis).await);
    here.open("s".to_owned(), spec(1_000), IfClosed::Reopen).await.unwrap();
    here.submit("s", vec![group("a", 1)]).await.unwrap();
    let first = here.pull("s", &one(), 1, NOW).await.unwrap();
    let start = Instant::now();
    let second = there.pull("s", &"two".into(), 1, Duration::from_secs(20)).await.unwrap();
    let waited = start.elapsed();
    assert!((900..2_500).contains(&waited.as_millis()), "{waited:?}");
    assert_eq!((second.jobs[0].id.attempt, second.jobs[0].redelivered), (2, true));
    let late = here.settle("s", vec![(first.jobs[0].id, SettleAction::Ack)]).await.unwrap();
    assert_eq!(late.outcomes, [SettleOutcome::Stale]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn jobs_pulled_for_a_caller_that_left_are_released() {
    let redis = Redis::start(&[]).await;
    let store = connect(&redis).await;
    store.open("s".to_owned(), spec(600_000), IfClosed::Reopen).await.unwrap();
    store.submit("s", vec![group("a", 40)]).await.unwrap();
    // While Redis is frozen, a pull is in flight and its caller leaves.
    redis.freeze();
    let (store_of_caller, consumer) = (Arc::clone(&store), one());
    let caller = tokio::spawn(async move { store_of_caller.pull("s", &consumer, 8, NOW).await });
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert!(!caller.is_finished());
    caller.abort();
    redis.thaw();
    let mut pulls = 0;
    for _ in 0..100 {
        // Open, submit, pull and release.
        pulls = redis.command(&["LLEN", "test:spread:s:journal"]).await.parse().unwrap();
        if pulls == 4 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(pulls, 4);
    let leased = store.describe("s", 0).await.unwrap().0.counts.leased_jobs;
    assert_eq!(leased, 0);
}

/// The number of entries in the journal.
async fn entries(redis: &Redis) -> u64 {
    redis.command(&["LLEN", "test:spread:s:journal"]).await.parse().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_more_waiting_pulls_ask_than_there_are_jobs() {
    let redis = Redis::start(&[]).await;
    let (here, there) = (connect(&redis).await, connect(&redis).await);
    here.open("s".to_owned(), spec(600_000), IfClosed::Reopen).await.unwrap();
    let mut pulls = tokio::task::JoinSet::new();
    for number in 0..50 {
        let store = Arc::clone(&here);
        pulls.spawn(async move {
            let consumer: Arc<str> = format!("c{number}").into();
            names(&store.pull("s", &consumer, 1, Duration::from_secs(20)).await.unwrap())
        });
    }
    tokio::time::sleep(Duration::from_millis(300)).await;
    let before = entries(&redis).await;
    there.submit("s", vec![group("a", 1)]).await.unwrap();
    assert_eq!(pulls.join_next().await.unwrap().unwrap(), ["a/0"]);
    tokio::time::sleep(Duration::from_millis(300)).await;
    // The group and one pull.
    assert_eq!(entries(&redis).await - before, 2);
    // All other callers get a job as soon as there are enough.
    let start = Instant::now();
    there.submit("s", vec![group("b", 49)]).await.unwrap();
    let mut leased = pulls.join_all().await.concat();
    leased.sort_unstable();
    leased.dedup();
    assert_eq!(leased.len(), 49);
    assert!(start.elapsed() < Duration::from_secs(4), "{:?}", start.elapsed());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_is_done_when_jobs_that_nobody_heard_of_are_given_back() {
    let redis = Redis::start(&[]).await;
    let (here, there) = (connect(&redis).await, connect(&redis).await);
    here.open("s".to_owned(), spec(600_000), IfClosed::Reopen).await.unwrap();
    here.submit("s", vec![group("a", 1)]).await.unwrap();
    there.describe("s", 0).await.unwrap();
    redis.freeze();
    let store = Arc::clone(&here);
    let pull = tokio::spawn(async move { drop(store.pull("s", &one(), 1, NOW).await) });
    tokio::time::sleep(Duration::from_millis(200)).await;
    pull.abort();
    here.stop();
    redis.thaw();
    tokio::time::timeout(Duration::from_secs(10), here.finish()).await.unwrap();
    assert_eq!(names(&there.pull("s", &one(), 1, NOW).await.unwrap()), ["a/0"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn waiting_calls_end_when_their_spread_is_discarded() {
    let redis = Redis::start(&[]).await;
    let (here, there) = (connect(&redis).await, connect(&redis).await);
    here.open("s".to_owned(), spec(5_000), IfClosed::Reopen).await.unwrap();
    here.submit("s", vec![group("a", 1)]).await.unwrap();
    here.pull("s", &one(), 1, NOW).await.unwrap();
    let (puller, asker) = (Arc::clone(&here), Arc::clone(&here));
    let pull = tokio::spawn(async move {
        puller.pull("s", &"two".into(), 1, Duration::from_secs(20)).await.map(drop)
    });
    let groups = tokio::spawn(async move {
        asker.groups("s", &["a".to_owned()], Duration::from_secs(20)).await.map(drop)
    });
    tokio::time::sleep(Duration::from_millis(300)).await;
    let start = Instant::now();
    there.close("s", CloseMode::Discard, NOW).await.unwrap();
    for refused in [pull.await.unwrap().unwrap_err(), groups.await.unwrap().unwrap_err()] {
        assert_eq!(refused.reason, Reason::UnknownSpread, "{refused}");
    }
    assert!(start.elapsed() < Duration::from_secs(3), "{:?}", start.elapsed());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn waiting_calls_see_changes_read_by_another_call() {
    let redis = Redis::start(&[]).await;
    // This store is not subscribed to Redis.
    let here = RedisStore::connect(&at(&redis), &redis.url(), BYTES).await.unwrap();
    let there = connect(&redis).await;
    here.open("s".to_owned(), spec(5_000), IfClosed::Reopen).await.unwrap();
    let store = Arc::clone(&here);
    let pull =
        tokio::spawn(
            async move { store.pull("s", &one(), 1, Duration::from_secs(20)).await.map(drop) },
        );
    tokio::time::sleep(Duration::from_millis(300)).await;
    let start = Instant::now();
    there.close("s", CloseMode::Discard, NOW).await.unwrap();
    here.describe("s", 0).await.unwrap_err();
    assert_eq!(pull.await.unwrap().unwrap_err().reason, Reason::UnknownSpread);
    assert!(start.elapsed() < Duration::from_secs(3), "{:?}", start.elapsed());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn waiting_pulls_take_jobs_beyond_the_limit_of_another_consumer() {
    let redis = Redis::start(&[]).await;
    let (here, there) = (connect(&redis).await, connect(&redis).await);
    let mut spec = spec(600_000);
    spec.limits.max_consumer_lease_count = 1;
    here.open("s".to_owned(), spec, IfClosed::Reopen).await.unwrap();
    let mut pulls = tokio::task::JoinSet::new();
    for number in 0..10 {
        let store = Arc::clone(&here);
        pulls.spawn(async move {
            let consumer: Arc<str> = format!("c{number}").into();
            names(&store.pull("s", &consumer, 100, Duration::from_secs(20)).await.unwrap())
        });
    }
    tokio::time::sleep(Duration::from_millis(300)).await;
    let start = Instant::now();
    there.submit("s", vec![group("a", 10)]).await.unwrap();
    let leased = pulls.join_all().await;
    assert!(leased.iter().all(|jobs| jobs.len() == 1), "{leased:?}");
    assert!(start.elapsed() < Duration::from_secs(3), "{:?}", start.elapsed());
}
