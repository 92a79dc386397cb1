//! What Redis and Valkey say of themselves, and what is found in it.

use super::*;

/// `INFO` of a Redis 7.0.15 with an append-only file, without lines that do not matter to spreads.
const INFO: &str = "\
# Server\r
redis_version:7.0.15\r
redis_mode:standalone\r
run_id:8232456c9ebffb80d04c15a6197b01a1e376209b\r
# Memory\r
used_memory:917200\r
maxmemory:0\r
maxmemory_human:0B\r
maxmemory_policy:noeviction\r
# Persistence\r
loading:0\r
async_loading:0\r
rdb_last_bgsave_status:ok\r
aof_enabled:1\r
aof_last_bgrewrite_status:ok\r
aof_last_write_status:ok\r
# Replication\r
role:master\r
connected_slaves:2\r
slave0:ip=127.0.0.1,port=6380,state=online,offset=14,lag=0\r
slave1:ip=127.0.0.1,port=6381,state=wait_bgsave,offset=0,lag=0\r
master_failover_state:no-failover\r
# Cluster\r
cluster_enabled:0\r
";

/// The same with changes, where CONFIG is allowed.
fn facts(changes: &[(&str, &str)], config: &[(&str, &str)]) -> RedisFacts {
    let mut info = INFO.to_owned();
    for (from, to) in changes {
        assert!(info.contains(from), "{from}");
        info = info.replace(from, to);
    }
    let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    let known = [("appendfsync", "everysec"), ("save", ""), ("min-replicas-to-write", "0")];
    let config = known.iter().chain(config).map(owned).collect();
    RedisFacts { config: Some(config), ..RedisFacts::new(&info) }
}

/// The texts of a level, on lines.
fn of(level: Level, found: &[Finding]) -> String {
    let texts = found.iter().filter(|found| found.level == level);
    texts.map(|found| found.text.as_str()).collect::<Vec<_>>().join("\n")
}

#[track_caller]
fn check(facts: &RedisFacts, replicas: u32, level: Level, part: &str) {
    let found = findings(facts, replicas);
    let texts = of(level, &found);
    assert!(texts.contains(part), "{part:?} is not among {level:?}: {found:#?}");
    let is_refused = found.iter().any(|found| found.level == Level::Fatal);
    assert_eq!(is_refused, level == Level::Fatal, "{found:#?}");
}

#[test]
fn unsuitable_stores_are_refused() {
    for (from, to, part) in [
        ("redis_version:7.0.15", "redis_version:6.2.14", "must be Redis 7.0 or later"),
        ("redis_version:7.0.15", "redis_version:next", "must be Redis 7.0 or later"),
        ("redis_version:7.0.15\r\n", "", "of an unknown version"),
        ("cluster_enabled:0", "cluster_enabled:1", "is a Redis Cluster"),
        ("redis_mode:standalone", "redis_mode:sentinel", "is a Sentinel"),
        ("role:master", "role:slave", "is a replica"),
        ("maxmemory_policy:noeviction", "maxmemory_policy:volatile-lru", "must be noeviction"),
        ("\nloading:0", "\nloading:1", "still loads"),
    ] {
        check(&facts(&[(from, to)], &[]), 0, Level::Fatal, part);
    }
}

#[test]
fn a_valkey_is_as_good_as_any_redis_that_it_says_it_is() {
    let valkey = "server_name:valkey\r\nvalkey_version:8.1.1\r\nredis_version:7.2.4";
    let facts = facts(&[("redis_version:7.0.15", valkey)], &[]);
    check(&facts, 0, Level::Fine, "the store is Valkey 8.1.1");
}

#[test]
fn the_loss_at_a_restart_follows_from_the_persistence_settings() {
    let fsync = |value| ("appendfsync", value);
    let off = [("aof_enabled:1", "aof_enabled:0")];
    check(&facts(&[], &[fsync("always")]), 0, Level::Fine, "loses nothing that was answered");
    check(&facts(&[], &[]), 0, Level::Warning, "may lose the last second or two");
    check(&facts(&[], &[fsync("no")]), 0, Level::Warning, "half a minute or more");
    let not_then = ("no-appendfsync-on-rewrite", "yes");
    let part = "no-appendfsync-on-rewrite is yes";
    check(&facts(&[], &[fsync("always"), not_then]), 0, Level::Warning, part);
    check(&facts(&off, &[]), 0, Level::Warning, "writes nothing to disk");
    check(&facts(&off, &[("save", "3600 1")]), 0, Level::Warning, "(save 3600 1)");
    let unsaid = [("aof_enabled:1\r\n", "")];
    check(&facts(&unsaid, &[]), 0, Level::Warning, "does not say whether it writes");
    check(&facts(&unsaid, &[("appendonly", "yes")]), 0, Level::Warning, "is everysec");
}

#[test]
fn writes_that_failed_are_warned_of() {
    for (status, part) in [
        ("aof_last_write_status", "the last write to the append-only file failed"),
        ("aof_last_bgrewrite_status", "could not be rewritten"),
        ("rdb_last_bgsave_status", "the last save of the data set failed"),
    ] {
        let (ok, failed) = (format!("{status}:ok"), format!("{status}:err"));
        let facts = facts(&[(&ok, &failed)], &[]);
        check(&facts, 0, Level::Warning, part);
        let before = of(Level::Warning, &findings(&self::facts(&[], &[]), 0)).lines().count();
        let after = of(Level::Warning, &findings(&facts, 0)).lines().count();
        assert_eq!(after, before + 1);
    }
}

#[test]
fn memory_without_a_limit_is_warned_of() {
    check(&facts(&[], &[]), 0, Level::Warning, "maxmemory is not set");
    let limited = facts(&[("maxmemory:0", "maxmemory:67108864")], &[]);
    check(&limited, 0, Level::Fine, "maxmemory is 64 MiB");
    let unsaid = facts(&[("maxmemory:0\r\n", ""), ("maxmemory_policy:noeviction\r\n", "")], &[]);
    check(&unsaid, 0, Level::Warning, "does not say its maxmemory:");
    check(&unsaid, 0, Level::Warning, "does not say its maxmemory-policy");
    let policy = [("maxmemory-policy", "allkeys-lru")];
    let unsaid = facts(&[("maxmemory_policy:noeviction\r\n", "")], &policy);
    check(&unsaid, 0, Level::Fatal, "must be noeviction");
}

#[test]
fn only_replicas_that_are_online_count() {
    let alone = [("connected_slaves:2", "connected_slaves:0")];
    let both = [("wait_bgsave", "online")];
    check(&facts(&alone, &[]), 0, Level::Fine, "no replica is connected: what is lost");
    check(&facts(&[], &[]), 0, Level::Warning, "1 replica is connected, and no answer waits");
    check(&facts(&[], &[]), 1, Level::Fine, "1 replica is connected, and");
    check(&facts(&[], &[]), 2, Level::Warning, "nothing can be confirmed by so many");
    check(&facts(&both, &[]), 2, Level::Fine, "2 replicas are connected");
    let least = |count| [("min-replicas-to-write", count)];
    check(&facts(&[], &least("2")), 1, Level::Warning, "Redis refuses changes");
    check(&facts(&both, &least("1")), 2, Level::Warning, "below --spread-store-replicas (2)");
    let enough = findings(&facts(&both, &least("2")), 2);
    assert!(!of(Level::Warning, &enough).contains("replicas"), "{enough:#?}");
}

#[test]
fn unreported_settings_of_a_managed_redis_are_not_promised() {
    let facts = RedisFacts { config: None, ..facts(&[], &[]) };
    check(&facts, 0, Level::Warning, "does not allow CONFIG");
    check(&facts, 0, Level::Warning, "does not say its appendfsync");
    let off = INFO.replace("aof_enabled:1", "aof_enabled:0");
    let part = "does not say whether it saves its data set";
    check(&RedisFacts::new(&off), 0, Level::Warning, part);
}

#[test]
fn spreads_of_a_later_release_refuse_the_start_and_others_do_not() {
    let of_layouts = |layouts: &[(&str, &str)]| {
        let owned = layouts.iter().map(|(name, it)| ((*name).to_owned(), (*it).to_owned()));
        RedisFacts { layouts: Ok(owned.collect()), ..facts(&[], &[]) }
    };
    let (now, later) = (LAYOUT.to_string(), (LAYOUT + 1).to_string());
    check(&of_layouts(&[]), 0, Level::Fine, "no spread is in the store");
    check(&of_layouts(&[("a", &now)]), 0, Level::Fine, "1 spread is in the store");
    check(&of_layouts(&[("a", &now), ("b", "0")]), 0, Level::Warning, "about them: \"b\";");
    let both = of_layouts(&[("a", &now), ("b\n", &later)]);
    check(&both, 0, Level::Fatal, "does not know: \"b\\n\";");
    check(&of_layouts(&[("a", "new")]), 0, Level::Fatal, "a later release");
    let names: Vec<String> = (0..7).map(|number| format!("s{number}")).collect();
    let many: Vec<_> = names.iter().map(|name| (name.as_str(), later.as_str())).collect();
    check(&of_layouts(&many), 0, Level::Fatal, "\"s4\" and 2 more");
    let unread = RedisFacts { layouts: Err("NOPERM".to_owned()), ..facts(&[], &[]) };
    check(&unread, 0, Level::Fatal, "cannot be read: NOPERM");
}

#[test]
fn a_redis_that_cannot_hold_spreads_is_not_refused_for_those_it_cannot_show() {
    let cluster = facts(&[("cluster_enabled:0", "cluster_enabled:1")], &[]);
    let cluster = RedisFacts { layouts: Err("CLUSTERDOWN".to_owned()), ..cluster };
    let found = findings(&cluster, 0);
    assert_eq!(of(Level::Fatal, &found).lines().count(), 1, "{found:#?}");
}
