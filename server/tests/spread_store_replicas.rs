//! Named spreads in a Redis with replicas: which answers wait for the replicas, which groups are
//! reported as stored, and Sentinels that locate Redis.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

#[path = "support/authority.rs"]
mod authority;
#[path = "support/redis.rs"]
mod redis_server;
#[path = "support/stores.rs"]
mod stores;

use std::panic::Location;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use authority::Authority;
use offbeat::config::SpreadStoreConfig;
use offbeat::spreads::{IfClosed, RedisStore, SpreadStore as _};
use offbeat_core::Reason;
use offbeat_core::spread::lease::{SettleAction, SettleOutcome};
use offbeat_core::spread::named::GroupState;
use redis_server::Redis;
use stores::{BYTES, NOW, at, connect_by, group, names, one, spec};
use tokio::time::Instant;

const ALWAYS: [&str; 4] = ["--appendonly", "yes", "--appendfsync", "always"];
/// The longest wait for events that usually take a second or two.
const SOON: Duration = Duration::from_secs(30);

/// A Redis on a port, and a replica of it.
async fn pair(flags: &[&str]) -> (Redis, Redis) {
    let primary = Redis::on_a_port(flags).await;
    let port = primary.port().to_string();
    let replica = Redis::on_a_port(&[flags, &["--replicaof", "127.0.0.1", &port]].concat()).await;
    eventually(|| async {
        primary.command(&["INFO", "replication"]).await.contains("state=online")
    })
    .await;
    (primary, replica)
}

#[track_caller]
fn eventually<F: Future<Output = bool>>(condition: impl Fn() -> F) -> impl Future<Output = ()> {
    let (start, caller) = (Instant::now(), Location::caller());
    async move {
        while !condition().await {
            assert!(start.elapsed() < SOON, "it takes too long: {caller}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

/// Submits a group and returns its state, which a later query must repeat.
async fn submitted(store: &Arc<RedisStore>, id: &str) -> GroupState {
    let (statuses, _) = store.submit("s", vec![group(id, 2)]).await.unwrap();
    let (again, _) = store.groups("s", &[id.to_owned()], NOW).await.unwrap();
    assert_eq!(again[0].state, statuses[0].state);
    statuses[0].state
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn groups_are_stored_where_redis_writes_each_change_to_disk() {
    for (flags, state) in [
        (&ALWAYS[..], GroupState::Stored),
        (&[], GroupState::Received),
        (&["--appendonly", "no", "--appendfsync", "always"], GroupState::Received),
        // A managed Redis that does not allow CONFIG.
        (&[&ALWAYS[..], &["--rename-command", "CONFIG", ""]].concat(), GroupState::Received),
    ] {
        let redis = Redis::start(flags).await;
        let store = connect_by(&at(&redis)).await;
        store.open("s".to_owned(), spec(5_000), IfClosed::Reopen).await.unwrap();
        let can_ask = !redis.command(&["WAITAOF", "0", "0", "1"]).await.contains("unknown command");
        let is_written = flags.contains(&"yes");
        let expected = if is_written && can_ask { GroupState::Stored } else { state };
        assert_eq!(submitted(&store, "a").await, expected, "{flags:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn groups_reported_as_stored_survive_a_kill_of_redis() {
    let mut redis = Redis::start(&["--appendonly", "yes", "--appendfsync", "everysec"]).await;
    let store = connect_by(&at(&redis)).await;
    store.open("s".to_owned(), spec(1_000), IfClosed::Reopen).await.unwrap();
    let (mut stored, mut ids) = (Vec::new(), Vec::new());
    for round in 0..3 {
        for number in 0..8 {
            let id = format!("{round}-{number}");
            let (statuses, _) = store.submit("s", vec![group(&id, 2)]).await.unwrap();
            if statuses[0].state == GroupState::Stored {
                stored.push(id.clone());
            }
            ids.push(id);
        }
        redis.restart().await;
        eventually(|| async { store.describe("s", 0).await.is_ok() }).await;
        let (statuses, _) = store.groups("s", &stored, NOW).await.unwrap();
        assert!(statuses.iter().all(|status| status.state != GroupState::Unknown), "{statuses:?}");
    }
    let can_ask = !redis.command(&["WAITAOF", "0", "0", "1"]).await.contains("unknown command");
    assert_eq!(stored.len(), if can_ask { ids.len() } else { 0 });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_are_withheld_until_replicas_have_their_changes() {
    let (primary, replica) = pair(&[]).await;
    let config = SpreadStoreConfig { replicas: 1, ..at(&primary) };
    let store = connect_by(&config).await;
    store.open("s".to_owned(), spec(600_000), IfClosed::Reopen).await.unwrap();
    assert_eq!(submitted(&store, "a").await, GroupState::Received);
    let leased = store.pull("s", &one(), 1, NOW).await.unwrap();
    assert_eq!(names(&leased), ["a/0"]);

    let two = "two".into();
    replica.freeze();
    let start = Instant::now();
    let (submitted, pulled) =
        tokio::join!(store.submit("s", vec![group("b", 1)]), store.pull("s", &two, 4, NOW));
    let (submitted, pulled) = (submitted.unwrap_err(), pulled.unwrap_err());
    assert!(start.elapsed() < Duration::from_secs(12), "{:?}", start.elapsed());
    for refused in [submitted, pulled] {
        assert_eq!(refused.reason, Reason::StoreUnavailable);
        assert!(refused.value.contains("1 replicas of Redis have not confirmed"), "{refused}");
    }
    let extension = vec![(leased.jobs[0].id, SettleAction::ExtendLease)];
    let refused = store.settle("s", extension).await.unwrap_err();
    assert_eq!(refused.reason, Reason::StoreUnavailable);
    // Other settlements are not withheld: running a job again does no harm.
    let ack = vec![(leased.jobs[0].id, SettleAction::Ack)];
    assert_eq!(store.settle("s", ack).await.unwrap().outcomes, [SettleOutcome::Acked]);

    replica.thaw();
    eventually(|| async { store.submit("s", vec![group("b", 1)]).await.is_ok() }).await;
    // Leases that were not reported to a consumer are released.
    let pulled = store.pull("s", &one(), 4, SOON).await.unwrap();
    assert!(!pulled.jobs.is_empty());
    eventually(|| async {
        let more = store.pull("s", &one(), 4, NOW).await.unwrap();
        drop(more);
        store.describe("s", 0).await.unwrap().0.counts.ready_jobs == 0
    })
    .await;
    assert_eq!(store.describe("s", 0).await.unwrap().0.counts.leased_jobs, 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn groups_are_stored_where_the_replicas_that_may_take_over_say_so() {
    let (primary, replica) = pair(&ALWAYS).await;
    let config = SpreadStoreConfig { replicas: 1, ..at(&primary) };
    let store = connect_by(&config).await;
    store.open("s".to_owned(), spec(5_000), IfClosed::Reopen).await.unwrap();
    // Redis 7.0 cannot report what its replicas have written.
    let can_ask = !primary.command(&["WAITAOF", "0", "0", "1"]).await.contains("unknown command");
    let expected = if can_ask { GroupState::Stored } else { GroupState::Received };
    assert_eq!(submitted(&store, "a").await, expected);
    drop(replica);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sentinels_say_where_redis_is_also_after_a_failover() {
    let (mut primary, replica) = pair(&[]).await;
    let mut sentinels = Vec::new();
    for _ in 0..3 {
        let watch = format!("main 127.0.0.1 {} 2", primary.port());
        // Who is outvoted tries again after twice the time for a failover, by default six minutes.
        let settings = ["down-after-milliseconds main 1500", "failover-timeout main 2000"];
        sentinels.push(Redis::sentinel(&watch, &settings).await);
    }
    for sentinel in &sentinels {
        eventually(|| async {
            let said = sentinel.command(&["SENTINEL", "MASTER", "main"]).await;
            said.contains("num-other-sentinels\n2") && said.contains("num-slaves\n1")
        })
        .await;
    }
    let ports: Vec<String> =
        sentinels.iter().map(|one| format!("127.0.0.1:{}", one.port())).collect();
    let url = format!("redis+sentinel://127.0.0.1:1,{}/main", ports.join(","));
    let config = SpreadStoreConfig { replicas: 1, ..SpreadStoreConfig::at(&url, "test:") };
    let store = connect_by(&config).await;
    let before = store.open("s".to_owned(), spec(2_000), IfClosed::Reopen).await.unwrap().0;
    submitted(&store, "a").await;
    let leased = store.pull("s", &one(), 1, NOW).await.unwrap();
    let waiting = Arc::clone(&store);
    primary.kill();

    // The new primary has no replica that could take over, so nothing is promised.
    eventually(|| async { store.describe("s", 0).await.is_ok() }).await;
    let after = store.describe("s", 0).await.unwrap().0;
    assert!(after.epoch > before.epoch);
    assert_eq!(after.counts.groups, 1);
    assert!(replica.command(&["INFO", "replication"]).await.contains("role:master"));
    let refused = store.submit("s", vec![group("b", 1)]).await.unwrap_err();
    assert_eq!(refused.reason, Reason::StoreUnavailable, "{refused}");
    let port = replica.port().to_string();
    let third = Redis::on_a_port(&["--replicaof", "127.0.0.1", &port]).await;
    eventually(|| async { store.submit("s", vec![group("b", 1)]).await.is_ok() }).await;
    let stale = store.settle("s", vec![(leased.jobs[0].id, SettleAction::Ack)]).await.unwrap();
    assert_eq!(stale.outcomes, [SettleOutcome::Stale]);
    // Waiting callers learn of changes in the new primary.
    let pulled = waiting.pull("s", &one(), 9, SOON).await.unwrap();
    assert!(!pulled.jobs.is_empty());
    drop(third);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn redis_is_asked_over_tls_and_shown_a_certificate() {
    let (authority, folder) = (Authority::new(), tempfile::tempdir().unwrap());
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let (certificate, key) = authority.sign("localhost");
    let (certificate, key) = (write("server.pem", &certificate), write("server.key", &key));
    let ca = write("ca.pem", &authority.pem());
    let shown = |path: &Path| path.display().to_string();
    let flags = [
        ["--tls-port", "0"].map(str::to_owned),
        ["--tls-cert-file".to_owned(), shown(&certificate)],
        ["--tls-key-file".to_owned(), shown(&key)],
        ["--tls-ca-cert-file".to_owned(), shown(&ca)],
    ];
    let flags: Vec<&str> = flags.iter().flatten().map(String::as_str).collect();
    let redis = Redis::on_a_port(&flags).await;
    // Redis turns its port into a TLS port once the plain one is closed.
    let port = redis.port().to_string();
    redis.command(&["CONFIG", "SET", "port", "0", "tls-port", &port]).await;
    let url = format!("rediss://localhost:{port}");

    let (certificate, key) = authority.sign("client");
    let (certificate, key) = (write("client.pem", &certificate), write("client.key", &key));
    let with = |ca: Option<&Path>, certificate: Option<&Path>, key: Option<&Path>| {
        let path = |path: Option<&Path>| path.map(Path::to_owned);
        let (ca, certificate, key) = (path(ca), path(certificate), path(key));
        SpreadStoreConfig { ca, certificate, key, ..SpreadStoreConfig::at(&url, "test:") }
    };
    let store = connect_by(&with(Some(&ca), Some(&certificate), Some(&key))).await;
    store.open("s".to_owned(), spec(5_000), IfClosed::Reopen).await.unwrap();
    submitted(&store, "a").await;
    assert_eq!(store.pull("s", &one(), 9, SOON).await.unwrap().jobs.len(), 2);

    for refused in [with(Some(&ca), None, None), with(None, Some(&certificate), Some(&key))] {
        let refused = RedisStore::connect(&refused, &url, BYTES).await.map(drop);
        assert!(refused.is_err(), "without a certificate, or by an authority that nobody knows");
    }
}

#[tokio::test]
async fn invalid_store_settings_are_refused_with_a_reason() {
    let at = |url: &str| SpreadStoreConfig::at(url, "test:");
    let ca = Some("/no/such/file".into());
    for (config, said) in [
        (at("redis+sentinel://127.0.0.1:1"), "must be redis+sentinel://"),
        (at("redis+sentinel://127.0.0.1:1/main"), "Connection refused"),
        (SpreadStoreConfig { ca: ca.clone(), ..at("redis://127.0.0.1") }, "must be rediss://"),
        (SpreadStoreConfig { ca, ..at("rediss://127.0.0.1") }, "/no/such/file cannot be read"),
    ] {
        let url = config.url.clone().unwrap();
        let refused = RedisStore::connect(&config, &url, BYTES).await.unwrap_err();
        assert!(refused.contains(said), "{refused}");
    }
}
