//! `offbeat doctor` as a process, and the start of a server, with Redis in various states.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, clippy::disallowed_methods)]

mod command;
#[path = "support/redis.rs"]
mod redis_server;

use std::time::Duration;

use command::offbeat_with;
use redis_server::Redis;

/// The exit status, standard output and standard error.
fn run(arguments: &[&str], variables: &[(&str, &str)]) -> (i32, String, String) {
    let output = offbeat_with(arguments, b"", variables);
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

fn doctor(redis: &Redis) -> (i32, String, String) {
    run(&["doctor"], &[("OFFBEAT_SPREAD_STORE", &redis.url())])
}

/// The error message of a server that must not start.
fn refused(redis: &Redis) -> String {
    let flags = ["serve", "--listen", "127.0.0.1:0", "--admin-listen", "off"];
    let store = ["--spread-store", &redis.url(), "--spread-store-prefix", "test:"];
    let (status, _, said) = run(&[&flags[..], &store].concat(), &[]);
    assert_eq!(status, 1, "{said}");
    said
}

/// A line of the output must have this level and this text.
#[track_caller]
fn has(output: &str, level: &str, part: &str) {
    let found = output.lines().any(|line| line.starts_with(level) && line.contains(part));
    assert!(found, "{level} {part}: {output}");
}

#[test]
fn without_a_store_spreads_are_in_memory() {
    let (status, output, said) = run(&["doctor"], &[]);
    assert_eq!((status, said.as_str()), (0, ""));
    assert!(output.starts_with("ok       named spreads are kept in memory: "), "{output}");
}

#[tokio::test]
async fn a_redis_that_promises_everything_has_nothing_to_warn_of() {
    let flags = ["--appendonly", "yes", "--appendfsync", "always", "--maxmemory", "64mb"];
    let redis = Redis::start(&flags).await;
    let (status, output, said) = doctor(&redis);
    assert_eq!((status, said.as_str()), (0, ""), "{output}");
    assert!(output.lines().all(|line| line.starts_with("ok       ")), "{output}");
    has(&output, "ok", "the store is Redis 7");
    has(&output, "ok", "appendfsync is always");
    has(&output, "ok", "maxmemory is 64 MiB");
    has(&output, "ok", "no spread is in the store");
    assert_eq!(redis.command(&["DBSIZE"]).await, "0", "it changes nothing");
}

#[tokio::test]
async fn missing_guarantees_are_warnings() {
    let redis = Redis::start(&[]).await;
    let (status, output, said) = doctor(&redis);
    assert_eq!((status, said.as_str()), (0, ""), "{output}");
    has(&output, "warning", "writes nothing to disk");
    has(&output, "warning", "maxmemory is not set");
    redis.command(&["CONFIG", "SET", "appendonly", "yes"]).await;
    has(&doctor(&redis).1, "warning", "appendfsync is everysec");
    redis.command(&["CONFIG", "SET", "appendonly", "no", "save", "3600 1"]).await;
    has(&doctor(&redis).1, "warning", "(save 3600 1)");
    redis.command(&["CONFIG", "SET", "min-replicas-to-write", "1"]).await;
    has(&doctor(&redis).1, "warning", "min-replicas-to-write is 1");
}

#[tokio::test]
async fn a_redis_without_config_is_not_believed_to_promise_more_than_it_says() {
    let flags =
        ["--appendonly", "yes", "--appendfsync", "always", "--rename-command", "CONFIG", ""];
    let redis = Redis::start(&flags).await;
    let (status, output, _) = doctor(&redis);
    assert_eq!(status, 0, "{output}");
    has(&output, "warning", "does not allow CONFIG");
    has(&output, "warning", "does not say its appendfsync");
    has(&output, "ok", "maxmemory-policy is noeviction");
}

#[tokio::test]
async fn a_save_that_fails_is_a_warning() {
    let redis = Redis::start(&[]).await;
    redis.command(&["CONFIG", "SET", "save", "3600 1"]).await;
    redis.command(&["SET", "some", "thing"]).await;
    // A folder of that name blocks the file.
    std::fs::create_dir(redis.folder().join("dump.rdb")).unwrap();
    redis.command(&["BGSAVE"]).await;
    for _ in 0..100 {
        if redis.command(&["INFO", "persistence"]).await.contains("rdb_last_bgsave_status:err") {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    has(&doctor(&redis).1, "warning", "the last save of the data set failed");
}

#[tokio::test]
async fn replicas_are_counted_and_are_no_stores_themselves() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let port = port.to_string();
    let here = ["--port", &port, "--bind", "127.0.0.1", "--repl-diskless-sync-delay", "0"];
    let redis = Redis::start(&here).await;
    let replica = Redis::start(&["--replicaof", "127.0.0.1", &port]).await;
    for _ in 0..200 {
        if redis.command(&["INFO", "replication"]).await.contains("state=online") {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    has(&doctor(&redis).1, "warning", "1 replica is connected, and no answer waits");
    let (status, output, said) = doctor(&replica);
    assert_eq!(status, 1, "{output}");
    has(&output, "error", "the store is a replica");
    assert!(said.contains("--spread-store: a server does not start"), "{said}");
    assert!(refused(&replica).contains("is a replica"));
}

#[tokio::test]
async fn spreads_of_a_later_release_refuse_the_start() {
    let redis = Redis::start(&[]).await;
    for (name, layout) in [("ours", "1"), ("theirs", "2")] {
        redis.command(&["ZADD", "test:spreads", "0", name]).await;
        redis.command(&["HSET", &format!("test:spread:{name}:state"), "layout", layout]).await;
    }
    redis.command(&["ZADD", "test:spreads", "0", "gone"]).await;
    let said = refused(&redis);
    assert!(said.contains("does not know: \"theirs\"; must be"), "{said}");
    let prefix = [("OFFBEAT_SPREAD_STORE_PREFIX", "test:")];
    let (status, output, _) = run(&["doctor", "--spread-store", &redis.url()], &prefix);
    assert_eq!(status, 1);
    has(&output, "error", "\"theirs\"");
    // Under another prefix there are no spreads.
    assert_eq!(doctor(&redis).0, 0);
}

#[tokio::test]
async fn a_redis_that_cannot_hold_spreads_is_an_error() {
    for (flags, part) in [
        (["--maxmemory-policy", "allkeys-lru"], "must be noeviction"),
        (["--cluster-enabled", "yes"], "is a Redis Cluster"),
    ] {
        let redis = Redis::start(&flags).await;
        let (status, output, said) = doctor(&redis);
        assert_eq!(status, 1, "{output}{said}");
        has(&output, "error", part);
        assert_eq!(output.lines().filter(|line| line.starts_with("error")).count(), 1, "{output}");
        assert!(refused(&redis).contains(part));
    }
}

#[test]
fn a_redis_that_is_not_there_is_named_without_its_password() {
    let url = "redis://:secret@127.0.0.1:1";
    let (status, output, said) = run(&["doctor", "--spread-store", url], &[]);
    assert_eq!((status, output.as_str()), (1, ""));
    assert!(said.starts_with("offbeat: --spread-store: "), "{said}");
    assert!(!said.contains("secret"), "{said}");
}
