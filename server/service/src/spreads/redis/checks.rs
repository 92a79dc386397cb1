//! What a Redis must be to hold spreads.

use super::engine::Engine;

/// Refuses a Redis that is too old, is a cluster, or drops keys when its memory is full.
pub(super) async fn check(engine: &Engine) -> Result<(), String> {
    let mut info = String::new();
    for section in ["server", "memory", "persistence", "replication", "cluster"] {
        info += &engine.info(section).await.map_err(|error| error.to_string())?;
    }
    let value = |name: &str| {
        let line = info.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        line.map(str::trim)
    };
    let version = value("valkey_version").or_else(|| value("redis_version")).unwrap_or("unknown");
    let major = version.split('.').next().and_then(|major| major.parse::<u32>().ok());
    if major.is_none_or(|major| major < 7) {
        return Err(format!("the store is Redis {version}: must be Redis 7.0 or later, or Valkey"));
    }
    if value("cluster_enabled") == Some("1") {
        return Err("the store is a Redis Cluster: must be one Redis; a spread is in one shard, \
                    and names of all spreads are in one key"
            .to_owned());
    }
    match value("maxmemory_policy") {
        Some("noeviction") => {}
        Some(policy) => {
            return Err(format!(
                "the store has maxmemory-policy {policy}: must be noeviction, or Redis drops \
                 spreads when its memory is full"
            ));
        }
        None => tracing::warn!("the store does not say its maxmemory-policy: must be noeviction"),
    }
    if value("role") == Some("slave") {
        return Err("the store is a replica: must be the Redis that takes writes".to_owned());
    }
    let persists = value("aof_enabled") == Some("1");
    tracing::info!(version, aof = persists, "named spreads are kept in Redis");
    if !persists {
        tracing::warn!(
            "the store writes no append-only file: a restart of Redis loses what it has not saved"
        );
    }
    Ok(())
}
