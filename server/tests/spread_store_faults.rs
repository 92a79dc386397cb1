//! Named spreads in Redis: what callers learn, and what happens to spreads when Redis or a caller
//! fails.
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
use offbeat_core::spread::named::{GroupState, Receipt, SpreadState};
use redis_server::{Redis, free_port};
use stores::{BYTES, NOW, at, connect, group, large, names, one, spec};
use tokio::time::Instant;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_spread_that_is_opened_anew_leaves_nothing_behind() {
    let redis = Redis::start(&[]).await;
    let store = connect(&redis).await;
    for round in 0..3 {
        let opened = store.open("s".to_owned(), spec(600_000), IfClosed::Reopen).await.unwrap();
        assert!(opened.1, "round {round}");
        for number in 0..8 {
            store.submit("s", vec![large(format!("g{number}"), 1)]).await.unwrap();
            let leased = store.pull("s", &one(), 1, NOW).await.unwrap();
            let ack = vec![(leased.jobs[0].id, SettleAction::Ack)];
            store.settle("s", ack).await.unwrap();
        }
        tokio::time::sleep(Duration::from_millis(300)).await;
        let closed = store.close("s", CloseMode::Drain, NOW).await.unwrap();
        assert_eq!(closed.state, SpreadState::Closed);
    }
    store.close("s", CloseMode::Discard, NOW).await.unwrap();
    let keys = redis.command(&["KEYS", "test:spread:*"]).await;
    let left: Vec<&str> = keys.lines().filter(|key| !key.ends_with(":claim")).collect();
    for key in left {
        let ttl: i64 = redis.command(&["TTL", key]).await.parse().unwrap();
        assert!(ttl > 0, "{key} stays for ever");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_catches_up_does_not_run_ahead_of_its_journal() {
    let redis = Redis::start(&[]).await;
    let store = connect(&redis).await;
    store.open("s".to_owned(), spec(8_000), IfClosed::Reopen).await.unwrap();
    // No snapshot is taken, so the journal is read page by page. Leases from the first pages are
    // settled on the last page, before they expire.
    redis.command(&["SET", "test:spread:s:claim", "1"]).await;
    store.submit("s", vec![group("small", 1)]).await.unwrap();
    let mut leased = Vec::new();
    for number in 0..24 {
        store.submit("s", vec![large(format!("g{number}"), 2)]).await.unwrap();
        leased.push(store.pull("s", &one(), 1, NOW).await.unwrap().jobs[0].id);
    }
    let acks = leased.into_iter().map(|id| (id, SettleAction::Ack)).collect();
    let settled = store.settle("s", acks).await.unwrap();
    assert_eq!(settled.outcomes, [SettleOutcome::Acked; 24]);
    tokio::time::sleep(Duration::from_millis(8_200)).await;
    let others = [connect(&redis).await, connect(&redis).await];
    for other in &others {
        // Other processes submit meanwhile, and check first whether they would be refused.
        let submit = |after: u64| {
            let other = Arc::clone(other);
            tokio::spawn(async move {
                tokio::time::sleep(Duration::from_millis(5 * after)).await;
                other.submit("s", vec![group("small", 1)]).await.map(drop)
            })
        };
        let calls: Vec<_> = (0..60).map(submit).collect();
        for call in calls {
            call.await.unwrap().unwrap();
        }
        let (found, expected) =
            (other.describe("s", 0).await.unwrap().0, store.describe("s", 0).await.unwrap().0);
        assert_eq!(found.counts, expected.counts);
        assert_eq!(found.counts.settled_jobs, 24);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_of_a_server_that_is_behind_are_not_all_sent_its_journal() {
    let redis = Redis::start(&[]).await;
    let store = connect(&redis).await;
    store.open("s".to_owned(), spec(600_000), IfClosed::Reopen).await.unwrap();
    redis.command(&["SET", "test:spread:s:claim", "1"]).await; // no snapshot is taken
    for number in 0..24 {
        store.submit("s", vec![large(format!("g{number}"), 1)]).await.unwrap();
    }
    let other = connect(&redis).await;
    let before = bytes_sent(&redis).await;
    let calls: Vec<_> = (0..60)
        .map(|_| {
            let other = Arc::clone(&other);
            tokio::spawn(async move { other.describe("s", 0).await })
        })
        .collect();
    for call in calls {
        assert_eq!(call.await.unwrap().unwrap().0.counts.ready_jobs, 24);
    }
    // The journal once, and for each call no more than an entry.
    let sent = bytes_sent(&redis).await - before;
    assert!(sent < (24 + 60 + 2) * (200 << 10) + (1 << 20), "{sent} bytes");
}

/// Bytes that a Redis has sent.
async fn bytes_sent(redis: &Redis) -> u64 {
    let stats = redis.command(&["INFO", "stats"]).await;
    let line = stats.lines().find_map(|line| line.strip_prefix("total_net_output_bytes:"));
    line.unwrap().trim().parse().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn spreads_outlive_redis_and_no_lease_of_before_settles_anything() {
    let mut redis = Redis::start(&["--appendonly", "yes", "--appendfsync", "always"]).await;
    let store = connect(&redis).await;
    let before = store.open("s".to_owned(), spec(5_000), IfClosed::Reopen).await.unwrap().0;
    store.submit("s", vec![group("a", 2), group("b", 2)]).await.unwrap();
    let leased = store.pull("s", &one(), 3, NOW).await.unwrap();
    store.settle("s", vec![(leased.jobs[0].id, SettleAction::Ack)]).await.unwrap();
    redis.restart().await;

    let after = loop {
        match store.describe("s", 0).await {
            Ok((after, _)) => break after,
            Err(refused) => assert_eq!(refused.reason, Reason::StoreUnavailable, "{refused}"),
        }
    };
    assert!(after.epoch > before.epoch);
    assert_eq!((after.counts.quarantined_groups, after.counts.ready_jobs), (2, 3));
    let stale = store.settle("s", vec![(leased.jobs[1].id, SettleAction::Ack)]).await.unwrap();
    assert_eq!(stale.outcomes, [SettleOutcome::Stale]);
    assert!(store.pull("s", &one(), 9, NOW).await.unwrap().jobs.is_empty());
    let again = store.pull("s", &one(), 9, Duration::from_secs(20)).await.unwrap();
    let mut came = names(&again);
    came.sort();
    let done = names(&leased)[0].clone();
    let mut expected = vec!["a/0", "a/1", "b/0", "b/1"];
    expected.retain(|name| *name != done);
    assert_eq!(came, expected);
    assert!(again.jobs.iter().all(|job| job.redelivered));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn changes_lost_by_redis_are_lost_for_all_servers() {
    let mut redis = Redis::start(&[]).await;
    let (here, there) = (connect(&redis).await, connect(&redis).await);
    let before = here.open("s".to_owned(), spec(5_000), IfClosed::Reopen).await.unwrap().0;
    here.submit("s", vec![group("kept", 2)]).await.unwrap();
    redis.command(&["SAVE"]).await;
    for number in 0..5 {
        here.submit("s", vec![group(&format!("lost-{number}"), 2)]).await.unwrap();
    }
    let leased = here.pull("s", &one(), 3, NOW).await.unwrap();
    assert_eq!(leased.jobs.len(), 3);
    there.describe("s", 0).await.unwrap();
    redis.restart().await;

    while here.describe("s", 0).await.is_err() {}
    let lost = ["kept".to_owned(), "lost-0".to_owned()];
    let (statuses, epoch) = here.groups("s", &lost, NOW).await.unwrap();
    let states: Vec<GroupState> = statuses.iter().map(|status| status.state).collect();
    assert_eq!(states, [GroupState::Received, GroupState::Unknown]);
    // As many entries as were lost are added, and none is mistaken for a lost one.
    for number in 0..8 {
        let mut again = group(&format!("lost-{number}"), 2);
        let first_receipt = Some(Receipt { epoch: before.epoch, lease_millis: 5_000 });
        again.commit.as_mut().unwrap().first_receipt = first_receipt;
        here.submit("s", vec![again]).await.unwrap();
    }
    while there.describe("s", 0).await.is_err() {}
    let (here_now, there_now) =
        (here.describe("s", 0).await.unwrap().0, there.describe("s", 0).await.unwrap().0);
    assert_eq!(format!("{there_now:?}"), format!("{here_now:?}"));
    assert_eq!(
        (here_now.epoch, here_now.counts.groups, here_now.counts.leased_jobs),
        (epoch, 9, 0)
    );
    let at_once = there.pull("s", &one(), 30, NOW).await.unwrap();
    assert!(at_once.jobs.is_empty(), "the leases of before may last: {:?}", names(&at_once));
    let then = there.pull("s", &one(), 30, Duration::from_secs(20)).await.unwrap();
    assert_eq!(then.jobs.len(), 18);
    assert!(then.jobs.iter().all(|job| job.redelivered));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_long_journal_gives_way_to_a_snapshot_that_others_read() {
    let redis = Redis::start(&[]).await;
    let store = connect(&redis).await;
    store.open("s".to_owned(), spec(600_000), IfClosed::Reopen).await.unwrap();
    for number in 0..40 {
        store.submit("s", vec![large(format!("g{number}"), 4)]).await.unwrap();
        let pulled = store.pull("s", &one(), 3, NOW).await.unwrap();
        let acks = pulled.jobs.iter().skip(1).map(|job| (job.id, SettleAction::Ack));
        store.settle("s", acks.collect()).await.unwrap();
    }
    let mut entries = u64::MAX;
    for _ in 0..100 {
        entries = redis.command(&["LLEN", "test:spread:s:journal"]).await.parse().unwrap();
        if entries < 60 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert!(entries < 60, "{entries} entries of 121");
    let other = connect(&redis).await;
    let (expected, found) =
        (store.describe("s", 0).await.unwrap().0, other.describe("s", 0).await.unwrap().0);
    assert_eq!(format!("{found:?}"), format!("{expected:?}"));
    let pulled = other.pull("s", &"two".into(), 4, NOW).await.unwrap();
    assert_eq!(pulled.jobs.len(), 4);
    assert!(
        store.describe("s", 0).await.unwrap().0.counts.leased_jobs > expected.counts.leased_jobs
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_redis_that_does_not_answer_is_unavailable_and_then_answers_again() {
    let redis = Redis::start(&[]).await;
    let store = connect(&redis).await;
    store.open("s".to_owned(), spec(1_000), IfClosed::Reopen).await.unwrap();
    store.submit("s", vec![group("a", 1)]).await.unwrap();
    redis.freeze();
    let refused = store.pull("s", &one(), 1, NOW).await.unwrap_err();
    assert_eq!(refused.reason, Reason::StoreUnavailable, "{refused}");
    redis.thaw();
    let leased = store.pull("s", &one(), 1, Duration::from_secs(20)).await.unwrap();
    assert_eq!(names(&leased), ["a/0"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_redis_that_refuses_connections_for_a_while_is_asked_again() {
    let redis = Redis::start(&["--requirepass", "one"]).await;
    let url = format!("{}?pass=one", redis.url());
    let store = RedisStore::connect(&at(&redis), &url, BYTES).await.unwrap();
    store.open("s".to_owned(), spec(1_000), IfClosed::Reopen).await.unwrap();
    let say = async |password: &str, words: &[&str]| {
        redis.command(&[&["--no-auth-warning", "-a", password], words].concat()).await
    };
    say("one", &["CONFIG", "SET", "requirepass", "two"]).await;
    say("two", &["CLIENT", "KILL", "TYPE", "normal"]).await;
    let mut refused = 0;
    for _ in 0..6 {
        refused += usize::from(store.describe("s", 0).await.is_err());
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert!(refused >= 4, "{refused}");
    say("two", &["CONFIG", "SET", "requirepass", "one"]).await;
    let start = Instant::now();
    while let Err(refused) = store.describe("s", 0).await {
        assert_eq!(refused.reason, Reason::StoreUnavailable);
        assert!(start.elapsed() < Duration::from_secs(10), "{refused}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_redis_without_memory_refuses_groups_and_loses_none() {
    let redis = Redis::start(&["--maxmemory", "8mb", "--maxmemory-policy", "noeviction"]).await;
    let store = connect(&redis).await;
    store.open("s".to_owned(), spec(600_000), IfClosed::Reopen).await.unwrap();
    let mut taken = 0;
    let refused = loop {
        match store.submit("s", vec![large(format!("g{taken}"), 1)]).await {
            Ok(_) => taken += 1,
            Err(refused) => break refused,
        }
    };
    assert!((5..60).contains(&taken), "{taken}");
    assert_eq!(refused.reason, Reason::LimitReached, "{refused}");
    // Calls that free memory are still accepted.
    redis.command(&["CONFIG", "SET", "maxmemory", "3mb"]).await;
    let leased = store.pull("s", &one(), 1, NOW).await.unwrap();
    let ack = vec![(leased.jobs[0].id, SettleAction::Ack)];
    assert_eq!(store.settle("s", ack).await.unwrap().outcomes, [SettleOutcome::Acked]);
    taken -= 1;
    redis.command(&["CONFIG", "SET", "maxmemory", "64mb"]).await;
    assert_eq!(store.describe("s", 0).await.unwrap().0.counts.groups, taken);
    store.submit("s", vec![large("more".to_owned(), 1)]).await.unwrap();
}

/// A number from `INFO`.
async fn told(redis: &Redis, name: &str) -> u64 {
    let info = redis.command(&["INFO"]).await;
    let found = info.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    found.unwrap().trim().parse().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_redis_without_memory_makes_room_by_itself() {
    const STATE: &str = "test:spread:s:state";
    let redis = Redis::start(&["--maxmemory-policy", "noeviction"]).await;
    let store = connect(&redis).await;
    store.open("s".to_owned(), spec(600_000), IfClosed::Reopen).await.unwrap();
    let empty = told(&redis, "used_memory").await;
    for number in 0..24 {
        store.submit("s", vec![large(format!("g{number}"), 1)]).await.unwrap();
    }
    // A snapshot holds the jobs, so it keeps its size when they are settled.
    let start = Instant::now();
    while redis.command(&["HGET", STATE, "snapshot"]).await.is_empty() {
        assert!(start.elapsed() < Duration::from_secs(20), "no snapshot was taken");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    // A second copy of the jobs exceeds the limit. A megabyte of settled jobs may remain, and the
    // memory of the scripts grows.
    let limit = (empty + (4 << 20)).to_string();
    redis.command(&["CONFIG", "SET", "maxmemory", &limit]).await;
    let refused = store.submit("s", vec![large("more".to_owned(), 1)]).await.unwrap_err();
    assert_eq!(refused.reason, Reason::LimitReached, "{refused}");
    for _ in 0..24 {
        let leased = store.pull("s", &one(), 1, NOW).await.unwrap();
        let acks = leased.jobs.iter().map(|job| (job.id, SettleAction::Ack));
        store.settle("s", acks.collect()).await.unwrap();
    }
    let start = Instant::now();
    loop {
        let held = redis.command(&["HMGET", STATE, "bytes", "size"]).await;
        if held.lines().map(|bytes| bytes.parse::<u64>().unwrap()).sum::<u64>() < 1_100_000 {
            break;
        }
        assert!(start.elapsed() < Duration::from_secs(30), "{held} bytes");
        store.describe("s", 0).await.unwrap();
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    // The snapshot that other processes may still read is gone after a minute.
    let replaced = redis.command(&["HGET", STATE, "replaced"]).await;
    let lives: i64 = redis.command(&["TTL", &replaced]).await.parse().unwrap();
    assert!((1..=60).contains(&lives), "{replaced}: {lives} s");
    redis.command(&["DEL", &replaced]).await;
    let start = Instant::now();
    while let Err(refused) = store.submit("s", vec![large("more".to_owned(), 1)]).await {
        let info = redis.command(&["INFO", "memory"]).await;
        assert!(start.elapsed() < Duration::from_secs(30), "{refused}: {info}");
        tokio::time::sleep(Duration::from_millis(200)).await; // buffers shrink over time
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_redis_that_was_replaced_for_a_while_begins_another_life() {
    let redis = Redis::start(&[]).await;
    let store = connect(&redis).await;
    let before = store.open("s".to_owned(), spec(5_000), IfClosed::Reopen).await.unwrap().0;
    store.submit("s", vec![group("a", 1)]).await.unwrap();
    let leased = store.pull("s", &one(), 1, NOW).await.unwrap();
    // This Redis was not restarted, but another one may have answered meanwhile.
    redis.command(&["REPLICAOF", "127.0.0.1", "1"]).await;
    redis.command(&["REPLICAOF", "NO", "ONE"]).await;
    let after = store.describe("s", 0).await.unwrap().0;
    assert!(after.epoch > before.epoch);
    let stale = store.settle("s", vec![(leased.jobs[0].id, SettleAction::Ack)]).await.unwrap();
    assert_eq!(stale.outcomes, [SettleOutcome::Stale]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn settled_groups_are_forgotten_where_room_is_wanted() {
    let redis = Redis::start(&[]).await;
    let store = RedisStore::connect(&at(&redis), &redis.url(), 100_000).await.unwrap();
    for name in ["s", "t"] {
        store.open(name.to_owned(), spec(600_000), IfClosed::Reopen).await.unwrap();
    }
    // The memory of each settled group takes more than 160 bytes.
    for number in 0..1_500 {
        let mut settled = group(&format!("g{number}"), 1);
        settled.commit.as_mut().unwrap().settled_ranges = vec![(0, 1)];
        store.submit("s", vec![settled]).await.unwrap();
    }
    let held: u64 = store.figures().iter().map(|held| held.bytes).sum();
    assert!(held <= 100_000, "{held}");
    store.submit("t", vec![group("a", 200)]).await.unwrap();
    let (statuses, _) =
        store.groups("s", &["g0".to_owned(), "g1499".to_owned()], NOW).await.unwrap();
    let states: Vec<GroupState> = statuses.iter().map(|status| status.state).collect();
    assert_eq!(states, [GroupState::Unknown, GroupState::Settled]);
}

#[tokio::test]
async fn a_redis_that_would_lose_spreads_is_refused() {
    // The default cluster port is the same for all servers that listen only on a socket.
    let cluster_port = free_port().to_string();
    for (flags, said) in [
        (vec!["--maxmemory-policy", "allkeys-lru"], "must be noeviction"),
        (vec!["--cluster-enabled", "yes", "--cluster-port", &cluster_port], "is a Redis Cluster"),
    ] {
        let redis = Redis::start(&flags).await;
        let refused = RedisStore::connect(&at(&redis), &redis.url(), BYTES).await.unwrap_err();
        assert!(refused.contains(said), "{refused}");
    }
}

#[tokio::test]
async fn spreads_of_a_later_release_are_left_alone() {
    let redis = Redis::start(&[]).await;
    let store = connect(&redis).await;
    store.open("s".to_owned(), spec(1_000), IfClosed::Reopen).await.unwrap();
    redis.command(&["HSET", "test:spread:s:state", "layout", "2"]).await;
    let refused = store.submit("s", vec![group("a", 1)]).await.unwrap_err();
    assert_eq!(refused.reason, Reason::StoreUnavailable);
    assert!(refused.value.contains("another layout"), "{refused}");
    assert_eq!(redis.command(&["LLEN", "test:spread:s:journal"]).await, "1");
}
