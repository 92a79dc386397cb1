//! Checks whether a Redis may hold spreads, and what it promises: at the start of a server, and in
//! `offbeat doctor`.

use std::collections::BTreeMap;

use redis::RedisError;

use super::engine::Engine;
use super::findings::{Finding, Level, RedisFacts, findings};
use crate::limits::NAMED_SPREADS;

/// The sections of `INFO` that say something about spreads.
const SECTIONS: [&str; 5] = ["server", "memory", "persistence", "replication", "cluster"];

/// Settings that only `CONFIG GET` reports.
const PARAMETERS: [&str; 6] = [
    "appendfsync",
    "appendonly",
    "maxmemory-policy",
    "min-replicas-to-write",
    "no-appendfsync-on-rewrite",
    "save",
];

/// Facts about a store.
#[derive(Debug)]
#[must_use = "a fatal finding refuses the start"]
pub(super) struct Findings {
    version: String,
    spreads: usize,
    pub(super) all: Vec<Finding>,
}

/// Checks a Redis; `replicas` is the server's `--spread-store-replicas`.
///
/// # Errors
/// When it does not answer, or does not describe itself.
pub(super) async fn examine(engine: &Engine, replicas: u32) -> Result<Findings, String> {
    let mut info = String::new();
    for section in SECTIONS {
        info += &engine.info(section).await.map_err(|error| error.to_string())?;
    }
    let mut facts = RedisFacts::new(&info);
    facts.config = if_it_answers(config(engine).await)?.ok();
    facts.layouts = if_it_answers(layouts(engine).await)?;
    let spreads = facts.layouts.as_ref().map_or(0, BTreeMap::len);
    Ok(Findings { version: facts.version(), spreads, all: findings(&facts, replicas) })
}

/// What Redis answered, a refusal included: it may not allow a command, or not now.
fn if_it_answers<T>(answer: Result<T, RedisError>) -> Result<Result<T, String>, String> {
    match answer {
        Err(error) if error.is_io_error() || error.is_timeout() => Err(error.to_string()),
        answer => Ok(answer.map_err(|error| error.to_string())),
    }
}

async fn config(engine: &Engine) -> Result<BTreeMap<String, String>, RedisError> {
    let mut command = redis::cmd("CONFIG");
    command.arg("GET").arg(&PARAMETERS).query_async(&mut engine.connection()).await
}

async fn layouts(engine: &Engine) -> Result<BTreeMap<String, String>, RedisError> {
    let names = engine.list("", NAMED_SPREADS.max_size()).await?;
    if names.is_empty() {
        return Ok(BTreeMap::new());
    }
    let mut step = redis::pipe();
    for name in &names {
        step.hget(engine.key(name, "state"), "layout");
    }
    let layouts: Vec<Option<String>> = step.query_async(&mut engine.connection()).await?;
    // A spread that was discarded meanwhile has none.
    Ok(names.into_iter().zip(layouts).filter_map(|(name, it)| Some((name, it?))).collect())
}

impl Findings {
    /// Logs the findings at the start of a server.
    ///
    /// # Errors
    /// When a server must not start.
    pub(super) fn accept(self) -> Result<(), String> {
        let Self { version, spreads, all } = self;
        let of = |level| all.iter().filter(move |found| found.level == level);
        let refused: Vec<&str> = of(Level::Fatal).map(|found| found.text.as_str()).collect();
        if !refused.is_empty() {
            return Err(refused.join("; "));
        }
        tracing::info!(store = version, spreads, "named spreads are kept in Redis");
        for found in of(Level::Warning) {
            tracing::warn!("{}", found.text);
        }
        Ok(())
    }
}
