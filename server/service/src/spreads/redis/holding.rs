//! Answers that are withheld until what they say is safe.
//!
//! How safe depends on how Redis is configured, and on how many of its replicas may be promoted, as
//! the server was told. A write that is waited for by `WAIT` or `WAITAOF` must have been made
//! by the same Redis: so a write of our own goes before, and tells by its `run_id` which one it is.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use redis::{RedisError, Value};

use super::connections::{Connection, Connections, HOLD_MILLIS};
use super::engine::Failure;

/// Writes, and tells which Redis it is; also when its memory is full.
const MARK: &str = "#!lua flags=allow-oom
redis.call('SET', KEYS[1], 1)
return string.match(redis.call('INFO', 'server'), 'run_id:(%x+)')";

/// How safe a Redis can say that groups are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Safety {
    /// It cannot say.
    Unknown,
    /// Each answer comes after the write to disk.
    Always,
    /// It can be asked until when it has written to disk.
    Asked,
}

impl Safety {
    /// Of a Redis and the replicas that may be promoted, by what it says of itself.
    fn of(info: &str, appendfsync: Option<&str>, replicas: u32) -> Self {
        let value = |name: &str| {
            let line = info.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
            line.map(str::trim)
        };
        // Valkey tells the version of Redis that it is compatible with, too: 7.2.
        let version = value("redis_version").unwrap_or_default();
        let mut numbers = version.split('.').map(|number| number.parse::<u32>().unwrap_or(0));
        let version = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
        match (value("aof_enabled"), appendfsync) {
            (Some("1"), Some("always")) if replicas == 0 => Self::Always,
            // What replicas write can only be asked.
            (Some("1"), _) if version >= (7, 2) => Self::Asked,
            _ => Self::Unknown,
        }
    }
}

/// Waits for replicas and disks.
pub(super) struct Holding {
    connections: Connections,
    /// The key that is written.
    mark: String,
    /// How many replicas may be promoted.
    replicas: u32,
    replicas_gate: Gate,
    disk_gate: Gate,
    /// Which Redis was asked last, and what it said.
    known: Mutex<Option<(String, Safety)>>,
}

/// What was waited for, and by which Redis.
#[derive(Debug, Clone)]
struct Passed {
    run: String,
    is_reached: bool,
}

/// Those who wait at the same time wait for one answer, which was asked for after they came.
#[derive(Debug, Default)]
struct Gate {
    came: AtomicU64,
    passed: tokio::sync::Mutex<(u64, Option<Result<Passed, String>>)>,
}

impl Gate {
    async fn pass(
        &self,
        ask: impl Future<Output = Result<Passed, RedisError>>,
    ) -> Result<Passed, Failure> {
        let place = self.came.fetch_add(1, Ordering::SeqCst) + 1;
        let mut passed = self.passed.lock().await;
        if passed.0 < place || passed.1.is_none() {
            let all = self.came.load(Ordering::SeqCst);
            *passed = (all, Some(ask.await.map_err(|error| error.to_string())));
        }
        match &passed.1 {
            Some(Ok(told)) => Ok(told.clone()),
            Some(Err(error)) => Err(Failure::Engine(error.clone())),
            None => Err(Failure::Engine("nobody asked".to_owned())),
        }
    }
}

impl Holding {
    pub(super) fn new(connections: Connections, prefix: &str, replicas: u32) -> Self {
        let (replicas_gate, disk_gate) = (Gate::default(), Gate::default());
        let (mark, known) = (format!("{prefix}mark"), Mutex::default());
        Self { connections, mark, replicas, replicas_gate, disk_gate, known }
    }

    /// Waits until as many replicas as may be promoted have what a Redis was told so far.
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

    /// The same for groups; and waits until they are written to disk, where Redis can say so.
    /// Whether they are.
    pub(super) async fn until_stored(&self, run: &str) -> Result<bool, Failure> {
        match self.safety(run).await? {
            Safety::Always => return Ok(true),
            Safety::Asked => {
                // Where the question fails, an ACL may forbid it: then nothing is promised.
                if let Ok(passed) = self.disk_gate.pass(self.ask_disk()).await {
                    same(run, &passed)?;
                    if passed.is_reached {
                        return Ok(true);
                    }
                }
            }
            Safety::Unknown => {}
        }
        self.until_replicated(run).await?;
        Ok(false)
    }

    /// How safe a Redis can say that groups are: it is asked once in its life.
    async fn safety(&self, run: &str) -> Result<Safety, Failure> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some((known, safety)) = known
            && known == run
        {
            return Ok(safety);
        }
        let connection = self.connections.current();
        let mut steps = connection.steps.clone();
        let info =
            redis::cmd("INFO").arg("server").arg("persistence").query_async(&mut steps).await;
        let info: String = self.connections.heard(info, &connection).await?;
        if !info.contains(&format!("run_id:{run}")) {
            return Err(another());
        }
        // Services that manage Redis forbid it: then nothing is promised.
        let appendfsync: Result<Vec<String>, RedisError> =
            redis::cmd("CONFIG").arg("GET").arg("appendfsync").query_async(&mut steps).await;
        let appendfsync = appendfsync.ok().and_then(|pair| pair.into_iter().nth(1));
        let safety = Safety::of(&info, appendfsync.as_deref(), self.replicas);
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) = Some((run.to_owned(), safety));
        Ok(safety)
    }

    async fn ask_replicas(&self) -> Result<Passed, RedisError> {
        let connection = self.connections.current();
        let mut wait = redis::cmd("WAIT");
        wait.arg(self.replicas);
        let (run, count) = self.ask(&connection, connection.replicas.clone(), wait).await?;
        let count: u32 = redis::from_redis_value(count)?;
        Ok(Passed { run, is_reached: count >= self.replicas })
    }

    async fn ask_disk(&self) -> Result<Passed, RedisError> {
        let connection = self.connections.current();
        let mut wait = redis::cmd("WAITAOF");
        wait.arg(1).arg(self.replicas);
        let (run, counts) = self.ask(&connection, connection.disk.clone(), wait).await?;
        let (here, replicas): (u32, u32) = redis::from_redis_value(counts)?;
        Ok(Passed { run, is_reached: here >= 1 && replicas >= self.replicas })
    }

    /// Writes, and waits as a command says, on one connection.
    async fn ask(
        &self,
        connection: &Connection,
        mut manager: redis::aio::ConnectionManager,
        mut wait: redis::Cmd,
    ) -> Result<(String, Value), RedisError> {
        wait.arg(HOLD_MILLIS);
        let mut step = redis::pipe();
        step.cmd("EVAL").arg(MARK).arg(1).arg(&self.mark).add_command(wait);
        let said = step.query_async(&mut manager).await;
        self.connections.heard(said, connection).await
    }
}

fn same(run: &str, passed: &Passed) -> Result<(), Failure> {
    if passed.run == run { Ok(()) } else { Err(another()) }
}

fn another() -> Failure {
    Failure::Engine("Redis was restarted, or another one took over".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_redis_does_not_say_counts_as_not_held() {
        let info = |version: &str, aof: u8| {
            format!("# Server\r\nredis_version:{version}\r\naof_enabled:{aof}\r\n")
        };
        for (version, aof, appendfsync, replicas, safety) in [
            ("7.0.15", 1, Some("always"), 0, Safety::Always),
            ("7.0.15", 1, Some("always"), 1, Safety::Unknown),
            ("7.0.15", 1, Some("everysec"), 0, Safety::Unknown),
            ("7.0.15", 1, None, 0, Safety::Unknown),
            ("7.0.15", 0, Some("always"), 0, Safety::Unknown),
            ("7.2.4", 1, Some("everysec"), 0, Safety::Asked),
            ("8.0.2", 1, None, 1, Safety::Asked),
            ("8.0.2", 0, Some("always"), 0, Safety::Unknown),
            ("10.1", 1, Some("always"), 0, Safety::Always),
            ("10.1", 1, Some("always"), 2, Safety::Asked),
        ] {
            let found = Safety::of(&info(version, aof), appendfsync, replicas);
            assert_eq!(found, safety, "{version} {aof} {appendfsync:?} {replicas}");
        }
        assert_eq!(Safety::of("", None, 0), Safety::Unknown);
    }

    #[tokio::test]
    async fn those_who_come_while_one_asks_are_answered_by_the_next() {
        let gate = std::sync::Arc::new(Gate::default());
        let asked = std::sync::Arc::new(AtomicU64::new(0));
        let (go, wait) = tokio::sync::watch::channel(false);
        let pass = || {
            let (gate, asked, mut wait) = (gate.clone(), asked.clone(), wait.clone());
            tokio::spawn(async move {
                let ask = async {
                    let number = asked.fetch_add(1, Ordering::SeqCst) + 1;
                    let _ = wait.wait_for(|go| *go).await;
                    Ok(Passed { run: number.to_string(), is_reached: true })
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
