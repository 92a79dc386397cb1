//! The facts that a Redis reports about itself, and their meaning for the spreads in it.

use std::collections::BTreeMap;
use std::fmt;

use super::calls::LAYOUT;

/// Maximum number of spreads that a finding names.
const SHOWN_SPREADS: usize = 5;

/// What a finding means for a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// As it should be.
    Fine,
    /// Something is not promised, or will fail.
    Warning,
    /// A server does not start.
    Fatal,
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Fine => "ok",
            Self::Warning => "warning",
            Self::Fatal => "error",
        })
    }
}

/// A fact about a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What it means for a server.
    pub level: Level,
    /// A sentence about the fact, and what it means for spreads.
    pub text: String,
}

fn fine(text: impl Into<String>) -> Finding {
    Finding { level: Level::Fine, text: text.into() }
}

fn warning(text: impl Into<String>) -> Finding {
    Finding { level: Level::Warning, text: text.into() }
}

fn fatal(text: impl Into<String>) -> Finding {
    Finding { level: Level::Fatal, text: text.into() }
}

/// The facts that a Redis reports about itself.
#[derive(Debug, Clone)]
pub(super) struct RedisFacts {
    /// The lines of `INFO`.
    info: BTreeMap<String, String>,
    /// What `CONFIG GET` answered; `None` if it is not allowed.
    pub(super) config: Option<BTreeMap<String, String>>,
    /// The layout of each spread by its name, or why they are not known.
    pub(super) layouts: Result<BTreeMap<String, String>, String>,
}

impl RedisFacts {
    pub(super) fn new(info: &str) -> Self {
        let lines = info.lines().filter_map(|line| line.trim().split_once(':'));
        let info = lines.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        Self { info, config: None, layouts: Ok(BTreeMap::new()) }
    }

    fn info(&self, name: &str) -> Option<&str> {
        self.info.get(name).map(String::as_str)
    }

    fn number(&self, name: &str) -> Option<u64> {
        self.info(name)?.parse().ok()
    }

    fn config(&self, name: &str) -> Option<&str> {
        self.config.as_ref()?.get(name).map(String::as_str)
    }

    /// Its name and release.
    pub(super) fn version(&self) -> String {
        match (self.info("valkey_version"), self.info("redis_version")) {
            (Some(version), _) => format!("Valkey {version}"),
            (None, version) => format!("Redis {}", version.unwrap_or("of an unknown version")),
        }
    }

    /// Replicas that have all data, and get each change.
    fn online_replicas(&self) -> usize {
        let count = self.number("connected_slaves").unwrap_or(0);
        let lines = (0..count).filter_map(|number| self.info(&format!("slave{number}")));
        lines.filter(|line| line.split(',').any(|part| part == "state=online")).count()
    }
}

/// The findings about a Redis; `replicas` is the server's `--spread-store-replicas`.
pub(super) fn findings(facts: &RedisFacts, replicas: u32) -> Vec<Finding> {
    let mut found = vec![version(facts), place(facts)];
    if facts.info("loading").is_some_and(|loading| loading != "0") {
        found.push(fatal(
            "the store still loads what it has on disk, and answers no call before it has: try \
             again then",
        ));
    }
    found.extend([eviction(facts), memory(facts), persistence(facts)]);
    found.extend(failed_writes(facts));
    found.extend(copies(facts, replicas));
    // A Redis that is refused anyway need not list spreads.
    if facts.layouts.is_ok() || found.iter().all(|found| found.level < Level::Fatal) {
        found.extend(layouts(facts));
    }
    if facts.config.is_none() {
        found.push(warning(
            "the store does not allow CONFIG, as many managed services do not: what INFO does not \
             say is taken as not promised",
        ));
    }
    found
}

fn version(facts: &RedisFacts) -> Finding {
    let version = facts.version();
    let major = |name| facts.info(name)?.split('.').next()?.parse::<u32>().ok();
    if facts.info("valkey_version").is_some() || major("redis_version").is_some_and(|it| it >= 7) {
        return fine(format!("the store is {version}"));
    }
    fatal(format!("the store is {version}: must be Redis 7.0 or later, or Valkey"))
}

/// Whether it is the one that takes writes.
fn place(facts: &RedisFacts) -> Finding {
    if facts.info("cluster_enabled") == Some("1") {
        return fatal(
            "the store is a Redis Cluster: must be one Redis; a spread is in one shard, and names \
             of all spreads are in one key",
        );
    }
    if facts.info("redis_mode") == Some("sentinel") {
        return fatal("the store is a Sentinel: must be a Redis that holds data");
    }
    match facts.info("role") {
        Some("master") => fine("the store is one Redis that takes writes"),
        Some("slave") => fatal("the store is a replica: must be the Redis that takes writes"),
        _ => warning("the store does not say its role: must be the Redis that takes writes"),
    }
}

fn eviction(facts: &RedisFacts) -> Finding {
    match facts.info("maxmemory_policy").or_else(|| facts.config("maxmemory-policy")) {
        Some("noeviction") => {
            fine("maxmemory-policy is noeviction: no spread is dropped when memory is full")
        }
        Some(policy) => fatal(format!(
            "the store has maxmemory-policy {policy}: must be noeviction, or Redis drops spreads \
             when its memory is full"
        )),
        None => warning("the store does not say its maxmemory-policy: must be noeviction"),
    }
}

fn memory(facts: &RedisFacts) -> Finding {
    match facts.number("maxmemory") {
        Some(0) => warning(
            "maxmemory is not set: groups are taken until the machine has no memory left, and \
             then the system may kill Redis",
        ),
        Some(bytes) => fine(format!(
            "maxmemory is {} MiB: when they are full, groups are refused and jobs are still dealt",
            bytes >> 20
        )),
        None => warning("the store does not say its maxmemory: it may have no limit of memory"),
    }
}

/// What a restart of Redis costs.
fn persistence(facts: &RedisFacts) -> Finding {
    let aof = facts.info("aof_enabled").map(|enabled| enabled == "1");
    let aof = aof.or_else(|| facts.config("appendonly").map(|enabled| enabled == "yes"));
    match aof {
        Some(true) => append_only_file(facts),
        Some(false) => data_set(facts),
        None => warning(
            "the store does not say whether it writes an append-only file: a restart of Redis may \
             lose all spreads",
        ),
    }
}

fn append_only_file(facts: &RedisFacts) -> Finding {
    match facts.config("appendfsync") {
        Some("always") if facts.config("no-appendfsync-on-rewrite") == Some("yes") => warning(
            "appendfsync is always, but no-appendfsync-on-rewrite is yes: a crash while the \
             append-only file is rewritten loses what has happened since that began",
        ),
        Some("always") => {
            fine("appendfsync is always: a restart of Redis loses nothing that was answered")
        }
        Some("everysec") => warning(
            "appendfsync is everysec: a restart of Redis may lose the last second or two: groups, \
             settlements and leases",
        ),
        Some(other) => warning(format!(
            "appendfsync is {other}: a crash of the machine loses what the system has not written \
             yet, half a minute or more"
        )),
        None => warning(
            "the store writes an append-only file, and does not say its appendfsync, which is \
             taken as everysec: a restart of Redis may lose the last second or two",
        ),
    }
}

fn data_set(facts: &RedisFacts) -> Finding {
    match facts.config("save") {
        Some("") => warning(
            "the store writes nothing to disk: a restart of Redis loses all spreads, and producers \
             submit again what was not settled",
        ),
        Some(save) => warning(format!(
            "the store writes no append-only file, and saves its data set from time to time (save \
             {save}): a restart of Redis loses what has happened since it last did"
        )),
        None => warning(
            "the store writes no append-only file, and does not say whether it saves its data set: \
             a restart of Redis may lose all spreads",
        ),
    }
}

/// What could not be written to disk.
fn failed_writes(facts: &RedisFacts) -> Vec<Finding> {
    let failed = |name| facts.info(name).is_some_and(|status| status != "ok");
    let texts = [
        (
            "aof_last_write_status",
            "the last write to the append-only file failed: Redis refuses changes until one \
             succeeds, so calls about spreads fail",
        ),
        (
            "aof_last_bgrewrite_status",
            "the append-only file could not be rewritten: it grows until it can, or the disk is \
             full",
        ),
        (
            "rdb_last_bgsave_status",
            "the last save of the data set failed: with stop-writes-on-bgsave-error Redis refuses \
             changes until one succeeds, so calls about spreads fail",
        ),
    ];
    texts.into_iter().filter(|(name, _)| failed(name)).map(|(_, text)| warning(text)).collect()
}

/// What the loss of its machine, or a failover, costs.
fn copies(facts: &RedisFacts, wanted: u32) -> Vec<Finding> {
    let online = facts.online_replicas();
    let there = match online {
        0 => "no replica is connected".to_owned(),
        1 => "1 replica is connected".to_owned(),
        _ => format!("{online} replicas are connected"),
    };
    let is_enough = usize::try_from(wanted).is_ok_and(|wanted| online >= wanted);
    let mut found = vec![match (wanted, online) {
        (0, 0) => fine(format!("{there}: what is lost with the machine of the store is lost")),
        (0, _) => warning(format!(
            "{there}, and no answer waits for any (--spread-store-replicas is 0): a failover loses \
             what the replica had not received"
        )),
        _ if is_enough => fine(format!(
            "{there}, and --spread-store-replicas is {wanted}: a failover to one that has received \
             everything loses nothing that was confirmed"
        )),
        _ => warning(format!(
            "{there}, and --spread-store-replicas is {wanted}: nothing can be confirmed by so many \
             until they are there"
        )),
    }];
    let least = facts.config("min-replicas-to-write").and_then(|least| least.parse::<u32>().ok());
    if let Some(least) = least
        && usize::try_from(least).is_ok_and(|least| least > online)
    {
        found.push(warning(format!(
            "{there}, and min-replicas-to-write is {least}: Redis refuses changes, so calls about \
             spreads fail"
        )));
    } else if wanted > 0 && least.is_some_and(|least| least < wanted) {
        let least = least.unwrap_or_default();
        found.push(warning(format!(
            "min-replicas-to-write is {least}, below --spread-store-replicas ({wanted}): a Redis \
             that is cut off from its replicas still takes settlements, and the one after it does \
             those jobs again"
        )));
    }
    found
}

/// Whether this release can answer for the spreads that are there.
fn layouts(facts: &RedisFacts) -> Vec<Finding> {
    let layouts = match &facts.layouts {
        Ok(layouts) => layouts,
        Err(why) => return vec![fatal(format!("the spreads in the store cannot be read: {why}"))],
    };
    let (mut of_later, mut of_others) = (Vec::new(), Vec::new());
    for (name, layout) in layouts {
        match layout.parse::<u32>().ok() {
            Some(layout) if layout == LAYOUT => {}
            Some(layout) if layout < LAYOUT => of_others.push(name.as_str()),
            _ => of_later.push(name.as_str()),
        }
    }
    let mut found = Vec::new();
    if !of_later.is_empty() {
        found.push(fatal(format!(
            "a later release keeps spreads in the store, with a layout that this one does not \
             know: {}; must be that release, or another --spread-store-prefix",
            names(&of_later)
        )));
    }
    if !of_others.is_empty() {
        found.push(warning(format!(
            "an earlier release keeps spreads in the store, with another layout, and this one \
             refuses calls about them: {}; let servers of that release end them",
            names(&of_others)
        )));
    }
    if found.is_empty() {
        found.push(match layouts.len() {
            0 => fine("no spread is in the store"),
            1 => fine("1 spread is in the store, which this release can read"),
            count => fine(format!("{count} spreads are in the store, which this release can read")),
        });
    }
    found
}

fn names(names: &[&str]) -> String {
    let shown = names.iter().take(SHOWN_SPREADS).map(|name| format!("{name:?}"));
    let shown = shown.collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(SHOWN_SPREADS) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

#[cfg(test)]
mod tests;
