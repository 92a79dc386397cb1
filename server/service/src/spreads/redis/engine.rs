//! Redis: the steps of a spread, each atomic, and the keys that they use.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use redis::aio::{ConnectionManager, PubSub};
use redis::{AsyncCommands as _, RedisError, ScriptInvocation, Value};

use super::calls::LAYOUT;
use super::connections::Connections;
use super::durability::Durability;
use super::failure::Failure;
use super::observer::{
    CALL, CLAIM, COMPACT, DISCARD, LIST, LISTEN, OPEN, ObserveStep as _, Observer, READ,
    READ_SNAPSHOT, SNAPSHOT_LENGTH, Step, UNCLAIM, WRITE_SNAPSHOT,
};
use super::replica::Life;
use super::scripts::Scripts;
use crate::config::SpreadStoreConfig;

/// How long a reader may take for a snapshot that has been replaced, in seconds.
const SNAPSHOT_GRACE: i64 = 60;
/// Bytes of entries of an answer to the one call that reads a journal; a larger entry comes alone.
const PAGE_BYTES: usize = 4 << 20;
/// Bytes of entries of an answer to a call, beside its own entry. Small, because a server that is
/// behind may have thousands of calls at once, and each would be sent the same entries.
const CALL_PAGE_BYTES: usize = 256 << 10;
/// Bytes of a piece of a snapshot.
const CHUNK_BYTES: usize = 1 << 20;
/// Seconds for which no other server takes a snapshot, also after one has failed.
const SNAPSHOT_CLAIM: u64 = 5;
/// Seconds after which an unfinished snapshot is dropped.
const UNFINISHED: i64 = 60;

/// The reply of Redis about a spread.
#[derive(Debug)]
pub(super) struct SpreadReply {
    pub(super) life: Life,
    /// The index of the first entry of the journal; those before it are in the snapshot.
    pub(super) first: u64,
    /// The index of the next entry.
    pub(super) next: u64,
    /// The time, by the clock of Redis.
    pub(super) millis: u64,
    /// Bytes of the entries since the snapshot.
    pub(super) bytes: u64,
    /// The key of the snapshot; empty, if there is none.
    pub(super) snapshot: String,
    /// Bytes of the snapshot.
    pub(super) snapshot_bytes: u64,
    /// The requested entries, as far as they fit into a reply.
    pub(super) entries: Vec<Vec<u8>>,
}

/// How many of the entries that a caller has not seen a step returns.
#[derive(Debug, Clone, Copy)]
pub(super) enum Page {
    /// For calls: as many as fit, perhaps none.
    Small,
    /// For the call that reads for all others: many, and at least one.
    Large,
}

#[derive(Clone)]
pub(super) struct Engine {
    connections: Connections,
    pub(super) durability: Arc<Durability>,
    prefix: String,
    scripts: Arc<Scripts>,
    /// Number of snapshots begun: no two have the same key.
    snapshots: Arc<AtomicU64>,
    observer: Arc<Observer>,
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine").field("prefix", &self.prefix).finish_non_exhaustive()
    }
}

impl Engine {
    pub(super) async fn connect(config: &SpreadStoreConfig, url: &str) -> Result<Self, String> {
        let connections = Connections::open(config, url).await?;
        let prefix = config.prefix.clone();
        let durability = Durability::new(connections.clone(), &prefix, config.replicas);
        let (durability, scripts) = (durability.into(), Scripts::new().into());
        let observer = Observer::new(&connections.current().client).into();
        Ok(Self { connections, durability, prefix, scripts, snapshots: Arc::default(), observer })
    }

    pub(super) fn observer(&self) -> &Observer {
        &self.observer
    }

    /// A connection for commands that are not steps.
    pub(super) fn connection(&self) -> ConnectionManager {
        self.connections.current().steps
    }

    /// Takes a step by a script.
    async fn run<T: redis::FromRedisValue>(
        &self,
        step: Step,
        script: &ScriptInvocation<'_>,
    ) -> Result<T, RedisError> {
        let connection = self.connections.current();
        let mut steps = connection.steps.clone();
        let result = script.invoke_async(&mut steps).observed(&self.observer, step).await;
        self.connections.heard(result, &connection).await
    }

    pub(super) fn key(&self, name: &str, part: &str) -> String {
        format!("{}spread:{name}:{part}", self.prefix)
    }

    fn names(&self) -> String {
        format!("{}spreads", self.prefix)
    }

    fn epochs(&self) -> String {
        format!("{}epoch", self.prefix)
    }

    fn channel(&self) -> String {
        format!("{}changed", self.prefix)
    }

    /// The text of a section of `INFO`.
    pub(super) async fn info(&self, section: &str) -> Result<String, RedisError> {
        let connection = self.connections.current();
        let result =
            redis::cmd("INFO").arg(section).query_async(&mut connection.steps.clone()).await;
        self.connections.heard(result, &connection).await
    }

    /// Opens a spread. `ended` is the life, and the number of entries, of an ended spread of the
    /// same name that it may replace. Returns whether it was opened; `None` if there are `most`
    /// spreads already.
    pub(super) async fn open(
        &self,
        name: &str,
        spec: &[u8],
        most: usize,
        ended: Option<(&str, u64)>,
    ) -> Result<Option<bool>, Failure> {
        let (life, next) = ended.unwrap_or(("", 0));
        let mut open = self.scripts.open.key(self.key(name, "state"));
        open.key(self.key(name, "journal")).key(self.names()).key(self.epochs());
        open.arg(name).arg(LAYOUT).arg(spec).arg(most).arg(life).arg(next);
        Ok(match self.run(OPEN, &open).await? {
            -1 => None,
            opened => Some(opened == 1),
        })
    }

    /// Adds an entry, unless it is empty, and returns the entries from an index on. An entry that
    /// `grows` the stored data is refused when the memory of Redis is full.
    pub(super) async fn call(
        &self,
        name: &str,
        from: u64,
        entry: &[u8],
        grows: bool,
        page: Page,
    ) -> Result<SpreadReply, Failure> {
        let Scripts { submit, call, .. } = &*self.scripts;
        let mut step = if grows { submit } else { call }.key(self.key(name, "state"));
        step.key(self.key(name, "journal")).key(self.epochs());
        let (most, at_least) = match page {
            Page::Small => (CALL_PAGE_BYTES + entry.len(), 0),
            Page::Large => (PAGE_BYTES, 1),
        };
        step.arg(LAYOUT).arg(self.channel()).arg(name).arg(from).arg(most).arg(at_least).arg(entry);
        let kind = if entry.is_empty() { READ } else { CALL };
        let mut reply = self.run::<Vec<Value>>(kind, &step).await?.into_iter();
        match reply.next() {
            Some(Value::Int(0)) => return Err(Failure::Unknown),
            Some(Value::Int(1)) => {}
            _ => {
                let other = "another release, with another layout, keeps this spread";
                return Err(Failure::Engine(other.to_owned()));
            }
        }
        let mut next = || reply.next().unwrap_or(Value::Nil);
        Ok(SpreadReply {
            life: Life {
                life: redis::from_redis_value(next()).map_err(RedisError::from)?,
                epoch: redis::from_redis_value(next()).map_err(RedisError::from)?,
                run: redis::from_redis_value(next()).map_err(RedisError::from)?,
            },
            first: redis::from_redis_value(next()).map_err(RedisError::from)?,
            next: redis::from_redis_value(next()).map_err(RedisError::from)?,
            millis: redis::from_redis_value(next()).map_err(RedisError::from)?,
            bytes: redis::from_redis_value(next()).map_err(RedisError::from)?,
            snapshot: redis::from_redis_value(next()).map_err(RedisError::from)?,
            snapshot_bytes: redis::from_redis_value(next()).map_err(RedisError::from)?,
            entries: redis::from_redis_value(next()).map_err(RedisError::from)?,
        })
    }

    /// The bytes of a snapshot; `None` if it has been replaced.
    pub(super) async fn snapshot(&self, key: &str) -> Result<Option<Vec<u8>>, RedisError> {
        let mut connection = self.connection();
        let chunks: isize = connection.llen(key).observed(&self.observer, SNAPSHOT_LENGTH).await?;
        let mut bytes = Vec::new();
        for place in 0..chunks {
            let Some(chunk): Option<Vec<u8>> =
                connection.lindex(key, place).observed(&self.observer, READ_SNAPSHOT).await?
            else {
                return Ok(None);
            };
            bytes.extend(chunk);
        }
        Ok((chunks > 0).then_some(bytes))
    }

    /// Claims the next snapshot for this process. Returns whether no other process has claimed it.
    pub(super) async fn claim_snapshot(&self, name: &str) -> Result<bool, RedisError> {
        let mut step = self.scripts.claim.key(self.key(name, "claim"));
        Ok(self.run::<i64>(CLAIM, step.arg(SNAPSHOT_CLAIM)).await? == 1)
    }

    /// Replaces the entries before `index`, which have `bytes` bytes, by a snapshot of this
    /// process. Returns whether Redis accepted it.
    pub(super) async fn compact(
        &self,
        name: &str,
        life: &Life,
        index: u64,
        snapshot: &[u8],
        process: u64,
        bytes: u64,
    ) -> Result<bool, RedisError> {
        let number = self.snapshots.fetch_add(1, Ordering::Relaxed);
        let key = self.key(name, &format!("snapshot:{index}:{process:x}:{number}"));
        let mut chunks = 0;
        for chunk in snapshot.chunks(CHUNK_BYTES) {
            let mut step = self.scripts.chunk.key(&key);
            let _: i64 = self.run(WRITE_SNAPSHOT, step.arg(chunk).arg(UNFINISHED)).await?;
            chunks += 1;
        }
        let mut step = self.scripts.compact.key(self.key(name, "state"));
        step.key(self.key(name, "journal")).key(&key);
        step.arg(&life.life).arg(&life.epoch).arg(index).arg(chunks).arg(snapshot.len());
        step.arg(bytes).arg(SNAPSHOT_GRACE);
        let taken: i64 = self.run(COMPACT, &step).await?;
        let _: i64 = self
            .connection()
            .del(self.key(name, "claim"))
            .observed(&self.observer, UNCLAIM)
            .await?;
        Ok(taken == 1)
    }

    /// Discards a spread. Returns whether there was one.
    pub(super) async fn discard(&self, name: &str) -> Result<bool, RedisError> {
        let mut step = self.scripts.discard.key(self.key(name, "state"));
        step.key(self.key(name, "journal")).key(self.names()).arg(self.channel()).arg(name);
        Ok(self.run::<i64>(DISCARD, &step).await? == 1)
    }

    /// Up to `count` names of spreads after `after`, in their order.
    pub(super) async fn list(&self, after: &str, count: usize) -> Result<Vec<String>, RedisError> {
        let after = if after.is_empty() { "-".to_owned() } else { format!("({after}") };
        let count = isize::try_from(count).unwrap_or(isize::MAX);
        let connection = self.connections.current();
        let mut steps = connection.steps.clone();
        let named = steps
            .zrangebylex_limit(self.names(), after, "+", 0, count)
            .observed(&self.observer, LIST)
            .await;
        self.connections.heard(named, &connection).await
    }

    /// Whether the connections have been replaced since the one with this number.
    pub(super) fn has_moved(&self, number: u64) -> bool {
        self.connections.current().number != number
    }

    /// Subscribes to the names of spreads that change. Also returns the number of the connection.
    pub(super) async fn changes(&self) -> Result<(PubSub, u64), RedisError> {
        let connection = self.connections.current();
        let changes = connection.client.get_async_pubsub().observed(&self.observer, LISTEN).await;
        let mut changes = self.connections.heard(changes, &connection).await?;
        changes.subscribe(self.channel()).observed(&self.observer, LISTEN).await?;
        Ok((changes, connection.number))
    }
}
