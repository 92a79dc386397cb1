//! Redis: the scripts that are the steps of a spread, each atomic, and the keys that they use.

use std::time::Duration;

use redis::aio::{ConnectionManager, ConnectionManagerConfig, PubSub};
use redis::{AsyncCommands as _, Client, RedisError, Script, Value};

use super::calls::LAYOUT;
use super::replica::Life;

/// How long Redis may take to answer, and to be connected to.
const ANSWER_TIME: Duration = Duration::from_secs(5);
/// How long a reader may take for a snapshot that has been replaced, in seconds.
const SNAPSHOT_GRACE: i64 = 60;
/// Bytes of entries of one answer; the last entries may exceed it.
const PAGE_BYTES: usize = 4 << 20;
/// Bytes of a piece of a snapshot.
const CHUNK_BYTES: usize = 1 << 20;
/// Seconds after which a snapshot that nobody has finished is dropped.
const UNFINISHED: i64 = 60;

/// What Redis tells of a spread.
#[derive(Debug)]
pub(super) struct Told {
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
    /// Those that were asked for, as far as they fit into an answer.
    pub(super) entries: Vec<Vec<u8>>,
}

/// Why a step failed.
#[derive(Debug)]
pub(super) enum Failure {
    /// There is no such spread.
    Unknown,
    /// The memory of Redis is full; nothing was done.
    Full,
    /// Redis did not answer, or as it should not. The step may have been taken.
    Engine(String),
}

impl From<RedisError> for Failure {
    fn from(error: RedisError) -> Self {
        match error.code() {
            Some("OOM") => Self::Full,
            _ => Self::Engine(error.to_string()),
        }
    }
}

#[derive(Clone)]
pub(super) struct Engine {
    client: Client,
    connection: ConnectionManager,
    prefix: String,
    scripts: std::sync::Arc<Scripts>,
}

#[derive(Debug)]
struct Scripts {
    open: Script,
    call: Script,
    compact: Script,
    discard: Script,
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine").field("prefix", &self.prefix).finish_non_exhaustive()
    }
}

fn script(text: &str) -> Script {
    Script::new(&format!("{}\n{text}", include_str!("scripts/common.lua")))
}

impl Engine {
    pub(super) async fn connect(url: &str, prefix: &str) -> Result<Self, RedisError> {
        let client = Client::open(url)?;
        let config = ConnectionManagerConfig::new()
            .set_response_timeout(Some(ANSWER_TIME))
            .set_connection_timeout(Some(ANSWER_TIME))
            .set_number_of_retries(1)
            .set_max_delay(Duration::from_millis(500));
        let connection = client.get_connection_manager_with_config(config).await?;
        let scripts = Scripts {
            open: script(include_str!("scripts/open.lua")),
            call: script(include_str!("scripts/call.lua")),
            compact: script(include_str!("scripts/compact.lua")),
            discard: script(include_str!("scripts/discard.lua")),
        };
        Ok(Self { client, connection, prefix: prefix.to_owned(), scripts: scripts.into() })
    }

    fn key(&self, name: &str, part: &str) -> String {
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

    /// What a section of `INFO` says.
    pub(super) async fn info(&self, section: &str) -> Result<String, RedisError> {
        redis::cmd("INFO").arg(section).query_async(&mut self.connection.clone()).await
    }

    /// Opens a spread with an entry, in the place of one that has ended: of which life, and with
    /// how many entries. Whether it was opened; `None` if there are as many spreads as may be.
    pub(super) async fn open(
        &self,
        name: &str,
        spec: &[u8],
        most: usize,
        ended: Option<(&str, u64)>,
    ) -> Result<Option<bool>, Failure> {
        let (life, next) = ended.unwrap_or(("", 0));
        let opened: i64 = self
            .scripts
            .open
            .key(self.key(name, "state"))
            .key(self.key(name, "journal"))
            .key(self.names())
            .key(self.epochs())
            .arg(name)
            .arg(LAYOUT)
            .arg(spec)
            .arg(most)
            .arg(life)
            .arg(next)
            .invoke_async(&mut self.connection.clone())
            .await?;
        Ok(match opened {
            -1 => None,
            opened => Some(opened == 1),
        })
    }

    /// Adds an entry, unless it is empty, and tells the entries from an index on.
    pub(super) async fn call(&self, name: &str, from: u64, entry: &[u8]) -> Result<Told, Failure> {
        let told: Vec<Value> = self
            .scripts
            .call
            .key(self.key(name, "state"))
            .key(self.key(name, "journal"))
            .key(self.epochs())
            .arg(LAYOUT)
            .arg(self.channel())
            .arg(name)
            .arg(from)
            .arg(PAGE_BYTES)
            .arg(entry)
            .invoke_async(&mut self.connection.clone())
            .await?;
        let mut told = told.into_iter();
        match told.next() {
            Some(Value::Int(0)) => return Err(Failure::Unknown),
            Some(Value::Int(1)) => {}
            _ => {
                let other = "another release, with another layout, keeps this spread";
                return Err(Failure::Engine(other.to_owned()));
            }
        }
        let mut next = || told.next().unwrap_or(Value::Nil);
        Ok(Told {
            life: Life {
                run: redis::from_redis_value(next()).map_err(RedisError::from)?,
                life: redis::from_redis_value(next()).map_err(RedisError::from)?,
            },
            first: redis::from_redis_value(next()).map_err(RedisError::from)?,
            next: redis::from_redis_value(next()).map_err(RedisError::from)?,
            millis: redis::from_redis_value(next()).map_err(RedisError::from)?,
            bytes: redis::from_redis_value(next()).map_err(RedisError::from)?,
            snapshot: redis::from_redis_value(next()).map_err(RedisError::from)?,
            entries: redis::from_redis_value(next()).map_err(RedisError::from)?,
        })
    }

    /// The bytes of a snapshot; `None` if it has been replaced.
    pub(super) async fn snapshot(&self, key: &str) -> Result<Option<Vec<u8>>, RedisError> {
        let mut connection = self.connection.clone();
        let chunks: isize = connection.llen(key).await?;
        let mut bytes = Vec::new();
        for place in 0..chunks {
            let Some(chunk): Option<Vec<u8>> = connection.lindex(key, place).await? else {
                return Ok(None);
            };
            bytes.extend(chunk);
        }
        Ok((chunks > 0).then_some(bytes))
    }

    /// Puts a snapshot of this process in the place of the entries before an index, which have so
    /// many bytes. Whether it was taken.
    pub(super) async fn compact(
        &self,
        name: &str,
        life: &Life,
        index: u64,
        snapshot: &[u8],
        process: u64,
        bytes: u64,
    ) -> Result<bool, RedisError> {
        let mut connection = self.connection.clone();
        let key = self.key(name, &format!("snapshot:{}:{index}:{process:x}", life.life));
        let mut chunks = 0;
        for chunk in snapshot.chunks(CHUNK_BYTES) {
            let _: i64 = connection.rpush(&key, chunk).await?;
            let _: bool = connection.expire(&key, UNFINISHED).await?;
            chunks += 1;
        }
        let taken: i64 = self
            .scripts
            .compact
            .key(self.key(name, "state"))
            .key(self.key(name, "journal"))
            .key(&key)
            .arg(&life.run)
            .arg(&life.life)
            .arg(index)
            .arg(chunks)
            .arg(bytes)
            .arg(SNAPSHOT_GRACE)
            .invoke_async(&mut connection)
            .await?;
        Ok(taken == 1)
    }

    /// Discards a spread; whether there was one.
    pub(super) async fn discard(&self, name: &str) -> Result<bool, RedisError> {
        let discarded: i64 = self
            .scripts
            .discard
            .key(self.key(name, "state"))
            .key(self.key(name, "journal"))
            .key(self.names())
            .arg(self.channel())
            .arg(name)
            .invoke_async(&mut self.connection.clone())
            .await?;
        Ok(discarded == 1)
    }

    /// Up to so many names after one.
    pub(super) async fn list(&self, after: &str, count: usize) -> Result<Vec<String>, RedisError> {
        let after = if after.is_empty() { "-".to_owned() } else { format!("({after}") };
        let count = isize::try_from(count).unwrap_or(isize::MAX);
        self.connection.clone().zrangebylex_limit(self.names(), after, "+", 0, count).await
    }

    /// The names of spreads that change, as they do.
    pub(super) async fn changes(&self) -> Result<PubSub, RedisError> {
        let mut changes = self.client.get_async_pubsub().await?;
        changes.subscribe(self.channel()).await?;
        Ok(changes)
    }
}
