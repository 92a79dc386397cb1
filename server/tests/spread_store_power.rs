//! Named spreads in a Redis whose append-only file was torn by a loss of power.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

#[path = "support/redis.rs"]
mod redis_server;
#[path = "support/stores.rs"]
mod stores;

use std::sync::Arc;
use std::time::Duration;

use offbeat::spreads::{Description, IfClosed, RedisStore, SpreadStore as _};
use offbeat_core::spread::lease::SettleAction;
use redis_server::Redis;
use stores::{NOW, connect, group, large, names, one, spec};

/// A spread with leases of a second, in a Redis that writes each change to disk.
async fn opened() -> (Redis, Arc<RedisStore>) {
    let redis = Redis::start(&["--appendonly", "yes", "--appendfsync", "always"]).await;
    let store = connect(&redis).await;
    store.open("s".to_owned(), spec(1_000), IfClosed::Reopen).await.unwrap();
    (redis, store)
}

/// The spread, once Redis answers again.
async fn described(store: &Arc<RedisStore>) -> Description {
    loop {
        if let Ok((description, _)) = store.describe("s", 0).await {
            return description;
        }
    }
}

/// Kills Redis and cuts its file off a few bytes after the last occurrence of a text, as a loss of
/// power may. Redis leaves a transaction that ends within a command in the file, and executes it
/// at the next load.
async fn tear(redis: &mut Redis, last: &str, behind: usize) {
    redis.kill();
    let folder = std::fs::read_dir(redis.folder().join("appendonlydir")).unwrap();
    let mut files = folder.map(|file| file.unwrap().path());
    let file = files.find(|file| file.to_string_lossy().ends_with(".incr.aof")).unwrap();
    let mut bytes = std::fs::read(&file).unwrap();
    let found = bytes.windows(last.len()).rposition(|window| window == last.as_bytes());
    bytes.truncate(found.unwrap() + behind);
    std::fs::write(&file, bytes).unwrap();
    redis.restart().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_torn_call_does_not_come_back_at_a_later_restart() {
    let (mut redis, store) = opened().await;
    store.submit("s", vec![group("a", 6)]).await.unwrap();
    for round in 0..3 {
        let pulled = store.pull("s", &one(), 1, Duration::from_secs(20)).await.unwrap();
        let ack = vec![(pulled.jobs[0].id, SettleAction::Ack)];
        store.settle("s", ack).await.unwrap();
        // The cut is within the end of the settlement's transaction, then within the command
        // before it.
        tear(&mut redis, if round % 2 == 0 { "EXEC" } else { "HINCRBY" }, 2).await;
        described(&store).await;
        let (before, _) = store.groups("s", &["a".to_owned()], NOW).await.unwrap();
        assert_eq!(before[0].settled_ranges, if round == 0 { vec![] } else { vec![(0, round)] });

        let pulled = store.pull("s", &one(), 1, Duration::from_secs(20)).await.unwrap();
        assert_eq!(names(&pulled), [format!("a/{round}")]);
        let ack = vec![(pulled.jobs[0].id, SettleAction::Ack)];
        store.settle("s", ack).await.unwrap();
        redis.restart().await;
        described(&store).await;
        let (after, _) = store.groups("s", &["a".to_owned()], NOW).await.unwrap();
        assert_eq!(after[0].settled_ranges, [(0, round + 1)], "a job that nobody did is settled");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_torn_snapshot_does_not_come_back_at_a_later_restart() {
    let (mut redis, store) = opened().await;
    let snapshot = ["HGET", "test:spread:s:state", "snapshot"];
    let (mut seen, mut number) = (vec![String::new()], 0);
    while seen.len() < 3 {
        store.submit("s", vec![large(format!("g{number}"), 4)]).await.unwrap();
        let now = redis.command(&snapshot).await;
        if !seen.contains(&now) {
            seen.push(now);
        }
        number += 1;
        assert!(number < 500, "no snapshot is taken");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    tear(&mut redis, "LTRIM", 2).await;
    let before = described(&store).await;
    assert_eq!(redis.command(&snapshot).await, seen[1]);
    redis.restart().await;
    described(&store).await;
    assert_eq!(redis.command(&snapshot).await, seen[1]);
    assert_eq!(redis.command(&["TTL", &seen[1]]).await, "-1");
    let after = connect(&redis).await.describe("s", 0).await.unwrap().0;
    assert_eq!(after.counts.groups, before.counts.groups);
}
