//! Answers that are withheld until the changes that they confirm are safe.
//!
//! How safe depends on the configuration of Redis, and on how many of its replicas may be promoted.
//! `WAIT` and `WAITAOF` say something about a change only if the same Redis made it, without a
//! restart since. So a write of our own precedes them, and returns which Redis it is.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use redis::aio::ConnectionManager;
use redis::{RedisError, Value};
use tokio::time::Instant;

use super::connections::{Connection, Connections, HOLD_MILLIS};
use super::failure::Failure;
use super::scripts::COMMON;

/// How long the configuration that Redis reports is trusted; it may change.
const ASK_AGAIN: Duration = Duration::from_secs(60);

/// What a Redis can say about the safety of groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Safety {
    /// Nothing.
    Unknown,
    /// Each answer comes after the write to disk.
    Always,
    /// A command returns whether it has written to disk.
    Asked,
}

impl Safety {
    /// The safety of a Redis with `replicas` that may be promoted, by what it reports about itself.
    fn of(info: &str, config: &BTreeMap<String, String>, replicas: u32) -> Self {
        let value = |name| value(info, name);
        let is_set = |name, wanted| config.get(name).is_some_and(|found| found == wanted);
        // With no-appendfsync-on-rewrite, Redis does not sync while a child process writes.
        let is_always =
            is_set("appendfsync", "always") && is_set("no-appendfsync-on-rewrite", "no");
        // Valkey also reports the version of Redis that it is compatible with: 7.2.
        let version = value("redis_version").unwrap_or_default();
        let mut numbers = version.split('.').map(|number| number.parse::<u32>().unwrap_or(0));
        let version = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
        match value("aof_enabled") {
            Some("1") if is_always && replicas == 0 => Self::Always,
            // Whether replicas have written can only be asked.
            Some("1") if version >= (7, 2) => Self::Asked,
            _ => Self::Unknown,
        }
    }
}

/// A value in the text of `INFO`.
fn value<'a>(info: &'a str, name: &str) -> Option<&'a str> {
    let line = info.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    line.map(str::trim)
}

/// Waits for replicas and disks.
pub(super) struct Durability {
    connections: Connections,
    /// The key that is written.
    mark: String,
    /// How many replicas may be promoted.
    replicas: u32,
    replicas_gate: Gate,
    disk_gate: Gate,
    /// Which Redis was asked last, what it said, and when.
    known: Mutex<Option<(String, Safety, Instant)>>,
}

/// The result of a wait, and the Redis that answered.
#[derive(Debug, Clone)]
struct WaitResult {
    run: String,
    is_reached: bool,
}

/// Calls that wait at the same time share one answer, which was requested after they came.
#[derive(Debug, Default)]
struct Gate {
    came: AtomicU64,
    passed: tokio::sync::Mutex<(u64, Option<Result<WaitResult, String>>)>,
}

impl Gate {
    async fn pass(
        &self,
        ask: impl Future<Output = Result<WaitResult, RedisError>>,
    ) -> Result<WaitResult, Failure> {
        let place = self.came.fetch_add(1, Ordering::SeqCst) + 1;
        let mut passed = self.passed.lock().await;
        if passed.0 < place || passed.1.is_none() {
            let all = self.came.load(Ordering::SeqCst);
            *passed = (all, Some(ask.await.map_err(|error| error.to_string())));
        }
        match &passed.1 {
            Some(Ok(result)) => Ok(result.clone()),
            Some(Err(error)) => Err(Failure::Engine(error.clone())),
            None => Err(Failure::Engine("no answer was requested".to_owned())),
        }
    }
}

impl Durability {
    pub(super) fn new(connections: Connections, prefix: &str, replicas: u32) -> Self {
        let (replicas_gate, disk_gate) = (Gate::default(), Gate::default());
        let (mark, known) = (format!("{prefix}mark"), Mutex::default());
        Self { connections, mark, replicas, replicas_gate, disk_gate, known }
    }

    /// Waits until as many replicas as may be promoted have all changes of a Redis so far.
    pub(super) async fn until_replicated(&self, run: &str) -> Result<(), Failure> {
        if self.replicas == 0 {
            return Ok(());
        }
        let passed = self.replicas_gate.pass(self.ask_replicas()).await?;
        same(run, &passed)?;
        if passed.is_reached {
            return Ok(());
        }
        let count = self.replicas;
        Err(Failure::Engine(format!("{count} replicas of Redis have not confirmed it in time")))
    }

    /// The same for groups; also waits until they are written to disk, if Redis can report that.
    /// Returns whether they are.
    pub(super) async fn until_stored(&self, run: &str) -> Result<bool, Failure> {
        let replicated = self.until_replicated(run);
        let (stored, replicated) = tokio::join!(self.is_stored(run), replicated);
        if stored? {
            return Ok(true);
        }
        replicated.map(|()| false)
    }

    /// Whether the groups that a Redis has are written to disk; waits until it can report that.
    pub(super) async fn is_stored(&self, run: &str) -> Result<bool, Failure> {
        match self.safety(run).await? {
            Safety::Always => Ok(true),
            Safety::Unknown => Ok(false),
            // If the question fails, an ACL may forbid it: then nothing is promised.
            Safety::Asked => match self.disk_gate.pass(self.ask_disk()).await {
                Ok(passed) => same(run, &passed).map(|()| passed.is_reached),
                Err(_) => Ok(false),
            },
        }
    }

    /// The [`Safety`] of the Redis of `run`.
    async fn safety(&self, run: &str) -> Result<Safety, Failure> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some((known, safety, at)) = known
            && known == run
            && at.elapsed() < ASK_AGAIN
        {
            return Ok(safety);
        }
        let connection = self.connections.current();
        let mut step = redis::pipe();
        for section in ["server", "replication", "persistence"] {
            step.cmd("INFO").arg(section);
        }
        let info = step.query_async::<Vec<String>>(&mut connection.steps.clone()).await;
        let info = self.connections.heard(info, &connection).await?.concat();
        let there = value(&info, "run_id").zip(value(&info, "master_replid"));
        if there.is_none_or(|(run_id, replication)| format!("{run_id}/{replication}") != run) {
            return Err(another());
        }
        let mut command = redis::cmd("CONFIG");
        command.arg("GET").arg(&["appendfsync", "no-appendfsync-on-rewrite"]);
        let config = match command.query_async(&mut connection.steps.clone()).await {
            // Managed services often forbid CONFIG: then nothing is promised.
            Err(error) if error.code().is_some() => BTreeMap::new(),
            result => self.connections.heard(result, &connection).await?,
        };
        let safety = Safety::of(&info, &config, self.replicas);
        let known = Some((run.to_owned(), safety, Instant::now()));
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) = known;
        Ok(safety)
    }

    async fn ask_replicas(&self) -> Result<WaitResult, RedisError> {
        let connection = self.connections.current();
        let mut wait = redis::cmd("WAIT");
        wait.arg(self.replicas);
        let (run, count) = self.ask(&connection, connection.replicas.clone(), wait).await?;
        let count: u32 = redis::from_redis_value(count)?;
        Ok(WaitResult { run, is_reached: count >= self.replicas })
    }

    async fn ask_disk(&self) -> Result<WaitResult, RedisError> {
        let connection = self.connections.current();
        let mut wait = redis::cmd("WAITAOF");
        wait.arg(1).arg(self.replicas);
        let (run, counts) = self.ask(&connection, connection.disk.clone(), wait).await?;
        let (here, replicas): (u32, u32) = redis::from_redis_value(counts)?;
        Ok(WaitResult { run, is_reached: here >= 1 && replicas >= self.replicas })
    }

    /// Writes the mark and runs `wait`, on one connection. Tries again if the connection has broken
    /// since its last use.
    async fn ask(
        &self,
        connection: &Connection,
        manager: ConnectionManager,
        mut wait: redis::Cmd,
    ) -> Result<(String, Value), RedisError> {
        wait.arg(HOLD_MILLIS);
        let mut step = redis::pipe();
        step.cmd("EVAL").arg(mark()).arg(1).arg(&self.mark).add_command(wait);
        let result = match step.query_async(&mut manager.clone()).await {
            Err(error) if error.is_connection_dropped() => {
                step.query_async(&mut manager.clone()).await
            }
            result => result,
        };
        self.connections.heard(result, connection).await
    }
}

/// A script that writes the mark and returns which Redis it is; it runs even when memory is full.
fn mark() -> String {
    format!("#!lua flags=allow-oom\n{COMMON}\nredis.call('SET', KEYS[1], 1)\nreturn run()")
}

fn same(run: &str, passed: &WaitResult) -> Result<(), Failure> {
    if passed.run == run { Ok(()) } else { Err(another()) }
}

fn another() -> Failure {
    Failure::Engine("Redis was restarted, or another one took over".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unreported_durability_counts_as_none() {
        let info = |version: &str, aof: u8| {
            format!("# Server\r\nredis_version:{version}\r\naof_enabled:{aof}\r\n")
        };
        for (version, aof, appendfsync, replicas, safety) in [
            ("7.0.15", 1, Some(("always", "no")), 0, Safety::Always),
            ("7.0.15", 1, Some(("always", "yes")), 0, Safety::Unknown),
            ("7.0.15", 1, Some(("always", "no")), 1, Safety::Unknown),
            ("7.0.15", 1, Some(("everysec", "no")), 0, Safety::Unknown),
            ("7.0.15", 1, None, 0, Safety::Unknown),
            ("7.0.15", 0, Some(("always", "no")), 0, Safety::Unknown),
            ("7.2.4", 1, Some(("everysec", "no")), 0, Safety::Asked),
            ("8.0.2", 1, None, 1, Safety::Asked),
            ("8.0.2", 0, Some(("always", "no")), 0, Safety::Unknown),
            ("10.1", 1, Some(("always", "no")), 0, Safety::Always),
            ("10.1", 1, Some(("always", "yes")), 0, Safety::Asked),
            ("10.1", 1, Some(("always", "no")), 2, Safety::Asked),
        ] {
            let mut config = BTreeMap::new();
            if let Some((appendfsync, on_rewrite)) = appendfsync {
                config.insert("appendfsync".to_owned(), appendfsync.to_owned());
                config.insert("no-appendfsync-on-rewrite".to_owned(), on_rewrite.to_owned());
            }
            let found = Safety::of(&info(version, aof), &config, replicas);
            assert_eq!(found, safety, "{version} {aof} {appendfsync:?} {replicas}");
        }
        assert_eq!(Safety::of("", &BTreeMap::new(), 0), Safety::Unknown);
    }

    #[tokio::test]
    async fn calls_during_a_request_share_the_answer_to_the_next_one() {
        let gate = std::sync::Arc::new(Gate::default());
        let asked = std::sync::Arc::new(AtomicU64::new(0));
        let (go, wait) = tokio::sync::watch::channel(false);
        let pass = || {
            let (gate, asked, mut wait) = (gate.clone(), asked.clone(), wait.clone());
            tokio::spawn(async move {
                let ask = async {
                    let number = asked.fetch_add(1, Ordering::SeqCst) + 1;
                    let _ = wait.wait_for(|go| *go).await;
                    Ok(WaitResult { run: number.to_string(), is_reached: true })
                };
                gate.pass(ask).await.unwrap().run
            })
        };
        let first = pass();
        while asked.load(Ordering::SeqCst) == 0 {
            tokio::task::yield_now().await;
        }
        let later: Vec<_> = (0..20).map(|_| pass()).collect();
        while gate.came.load(Ordering::SeqCst) < 21 {
            tokio::task::yield_now().await;
        }
        go.send_replace(true);
        assert_eq!(first.await.unwrap(), "1");
        for one in later {
            assert_eq!(one.await.unwrap(), "2", "not what was asked before it came");
        }
        assert_eq!(asked.load(Ordering::SeqCst), 2);
    }
}
