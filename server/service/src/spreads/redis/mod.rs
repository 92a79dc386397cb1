//! Named spreads in Redis, for several processes, which all answer every call.
//!
//! Each spread has a journal: the calls that change it, in one order for all processes, with the
//! time of each by the clock of Redis. A process that has read it holds the same
//! [`NamedSpread`](offbeat_core::spread::named::NamedSpread) as in memory, so order, limits and
//! answers are the same. A call adds an entry: one atomic step, which returns all entries that the
//! process has not seen. Its own entry then gives the answer. From time to time a snapshot replaces
//! the entries before it.
//!
//! A new `run_id` shows that Redis was restarted, and a new `master_replid` that a replica took
//! over. The journal may have lost its end then, so the script begins another life of the spread
//! ([`restart`](offbeat_core::spread::named::NamedSpread::restart)).

mod address;
mod calls;
mod checks;
mod connections;
mod durability;
mod engine;
mod failure;
mod findings;
mod observer;
mod pulls;
mod replica;
mod scripts;
mod seam;
mod shared;

use std::collections::BTreeMap;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::StreamExt as _;
use offbeat_core::spread::named::BytesLeft;
use offbeat_core::{Moment, Reason, Rejection};
use tokio::sync::watch;
use tokio::time::{Instant, timeout};
use tokio_util::task::TaskTracker;

use self::calls::Call;
use self::engine::Engine;
use self::failure::Failure;
pub use self::findings::{Finding, Level};
use self::replica::CallResult;
use self::shared::SharedSpread;
use super::views::unknown;
use crate::config::SpreadStoreConfig;

/// Attempts to use or open a spread while others discard it or it is read again.
const TRIES: usize = 8;

/// Poll interval of waiting calls, because messages of Redis can be lost.
const LOOK: Duration = Duration::from_secs(5);
/// Timeout of the connection that listens to Redis.
const LISTEN_TIME: Duration = Duration::from_secs(5);
/// The pause before that connection is opened again.
const LISTEN_AGAIN: Duration = Duration::from_millis(500);

/// Holds named spreads in Redis.
#[derive(Debug)]
pub struct RedisStore {
    engine: Engine,
    /// Identifies this process in its entries.
    process: u64,
    /// Number of its calls, for call IDs.
    calls: Arc<AtomicU64>,
    max_byte_count: u64,
    spreads: Mutex<BTreeMap<String, Arc<SharedSpread>>>,
    stopped: watch::Sender<bool>,
    /// Pulls in flight, and releases of jobs whose caller has left.
    leasing: TaskTracker,
}

impl RedisStore {
    /// Connects to the Redis of a URL, and checks it. All spreads that this process works with may
    /// hold `max_byte_count` of jobs together.
    ///
    /// # Errors
    /// When Redis cannot be reached, or is unsuitable.
    pub async fn connect(
        config: &SpreadStoreConfig,
        url: &str,
        max_byte_count: u64,
    ) -> Result<Arc<Self>, String> {
        let engine = Engine::connect(config, url).await?;
        checks::examine(&engine, config.replicas).await?.accept()?;
        // Two processes with the same number would take each other's answers.
        let process = RandomState::new().hash_one(std::process::id());
        let (spreads, stopped) = (Mutex::default(), watch::Sender::new(false));
        let (calls, leasing) = (Arc::default(), TaskTracker::new());
        Ok(Arc::new(Self { engine, process, calls, max_byte_count, spreads, stopped, leasing }))
    }

    /// Checks a Redis like [`connect`](Self::connect), and changes nothing.
    ///
    /// # Errors
    /// When Redis cannot be reached.
    pub async fn examine(config: &SpreadStoreConfig, url: &str) -> Result<Vec<Finding>, String> {
        let engine = Engine::connect(config, url).await?;
        Ok(checks::examine(&engine, config.replicas).await?.all)
    }

    fn shared(&self, name: &str) -> Arc<SharedSpread> {
        let mut spreads = self.lock();
        if let Some(shared) = spreads.get(name) {
            return Arc::clone(shared);
        }
        let shared = Arc::new(SharedSpread::new(
            name,
            self.engine.clone(),
            self.process,
            Arc::clone(&self.calls),
        ));
        spreads.insert(name.to_owned(), Arc::clone(&shared));
        shared
    }

    /// Passes on the result of a step; forgets a spread that does not exist.
    fn heard<T>(&self, name: &str, step: Result<T, Failure>) -> Result<T, Rejection> {
        step.map_err(|failure| match failure {
            Failure::Unknown => {
                let forgotten = self.lock().remove(name);
                if let Some(shared) = forgotten {
                    shared.wake();
                }
                unknown(name)
            }
            Failure::Full => {
                let allowed = "there is no memory left in the store: give it more, or try again \
                               later, when others are settled (and dead letters deleted)";
                Rejection::new(Reason::LimitReached, "spread_store", name, allowed)
            }
            Failure::Engine(error) => {
                // Keeps nothing for names that may never have been opened.
                let shared = self.lock().get(name).cloned();
                if shared.is_some_and(|shared| !shared.is_read()) {
                    self.lock().remove(name);
                }
                tracing::warn!(spread = name, error, "the store of named spreads failed");
                let allowed = "must be reached: try again later";
                Rejection::new(Reason::StoreUnavailable, "spread_store", error, allowed)
            }
        })
    }

    /// The spread as it is now.
    async fn read(&self, name: &str) -> Result<Arc<SharedSpread>, Rejection> {
        let shared = self.shared(name);
        self.heard(name, shared.read().await)?;
        Ok(shared)
    }

    /// Asks the current spread. It may be forgotten or read again meanwhile.
    async fn ask<T>(
        &self,
        name: &str,
        question: impl Fn(&SharedSpread) -> Option<T>,
    ) -> Result<T, Rejection> {
        for _ in 0..TRIES {
            if let Some(answer) = question(&*self.read(name).await?) {
                return Ok(answer);
            }
        }
        Err(interrupted())
    }

    /// A call whose answer waits for the replicas that may take over.
    async fn call_held(&self, name: &str, call: &Call) -> Result<CallResult, Rejection> {
        let (_, result) = self.call(name, call).await?;
        self.heard(name, self.engine.durability.until_replicated(&result.run).await)?;
        Ok(result)
    }

    async fn call(
        &self,
        name: &str,
        call: &Call,
    ) -> Result<(Arc<SharedSpread>, CallResult), Rejection> {
        let shared = self.shared(name);
        let result = self.heard(name, shared.call(call).await)?;
        Ok((shared, result))
    }

    /// The bytes that the spreads of this process leave to a change. Forgets settled groups to make
    /// room.
    async fn bytes_left(&self, wanted: u64, overhead: u64) -> Result<BytesLeft, Rejection> {
        for shared in self.all() {
            let missing = (self.byte_count() + wanted).saturating_sub(self.max_byte_count);
            if missing == 0 {
                break;
            }
            let remembered = shared.with(|spread| spread.machine.remembered_memory());
            if remembered.is_some_and(|bytes| bytes > 0) {
                // The spread may be gone or out of reach: then there is less room.
                let _ = self.call(shared.name(), &Call::Forget { bytes: missing }).await;
            }
        }
        let left = self.max_byte_count.saturating_sub(self.byte_count());
        let now = if wanted > left { left.saturating_sub(overhead) } else { u64::MAX };
        Ok(BytesLeft { now, at_most: self.max_byte_count })
    }

    /// Bytes of the spreads that this process works with.
    fn byte_count(&self) -> u64 {
        let figures = self.all().into_iter().filter_map(|shared| shared.figures());
        figures.map(|held| held.bytes).sum()
    }

    /// Waits until a spread has changed, according to `changes`, or the time is over. Returns
    /// whether it must be read first.
    async fn wait(
        &self,
        shared: &SharedSpread,
        mut changes: watch::Receiver<u64>,
        end: Instant,
    ) -> bool {
        let mut stopped = self.stopped.subscribe();
        if *stopped.borrow() {
            return true;
        }
        let look = (Instant::now() + LOOK).min(end);
        let next = shared.next_event().map_or(look, |event| event.min(look));
        tokio::select! {
            _ = changes.changed() => false,
            () = tokio::time::sleep_until(next) => true,
            _ = stopped.changed() => true,
        }
    }

    fn is_over(&self, end: Instant) -> bool {
        Instant::now() >= end || *self.stopped.borrow()
    }

    /// Listens to Redis for changes of spreads until the server ends.
    async fn listen(&self) {
        loop {
            // The subscription has no timeouts of its own.
            match timeout(LISTEN_TIME, self.engine.changes()).await {
                Ok(Ok((changes, number))) => {
                    let mut changes = changes.into_on_message();
                    for shared in self.all() {
                        self.look(&shared).await; // changes may have been missed
                    }
                    loop {
                        let message = match timeout(LOOK, changes.next()).await {
                            Ok(Some(message)) => message,
                            Ok(None) => break,
                            // A broken connection may give no sign.
                            Err(_) if self.engine.has_moved(number) => break,
                            Err(_) => continue,
                        };
                        let Ok(text) = message.get_payload::<String>() else { continue };
                        let Some((next, name)) = text.split_once(' ') else { continue };
                        let shared = self.lock().get(name).cloned();
                        let Some(shared) = shared else { continue };
                        if !next.parse().is_ok_and(|next| shared.knows(next)) {
                            self.look(&shared).await;
                        }
                    }
                }
                Ok(Err(error)) => tracing::warn!(%error, "the store of named spreads is not heard"),
                Err(_) => tracing::warn!("the store of named spreads takes no listener"),
            }
            tokio::time::sleep(LISTEN_AGAIN).await;
        }
    }

    /// Reads a spread for the calls that wait for it, and wakes them even if that fails.
    async fn look(&self, shared: &Arc<SharedSpread>) {
        let _ = self.heard(shared.name(), shared.read().await);
        shared.wake();
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Arc<SharedSpread>>> {
        self.spreads.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn all(&self) -> Vec<Arc<SharedSpread>> {
        self.lock().values().cloned().collect()
    }
}

/// The refusal of a call that broke off, or whose spread was forgotten again and again.
fn interrupted() -> Rejection {
    let allowed = "must be answered: try again";
    Rejection::new(Reason::StoreUnavailable, "spread_store", "no answer", allowed)
}

fn moment(millis: u64) -> Option<Moment> {
    Moment::from_unix_millis(i64::try_from(millis).ok()?)
}
