//! One spread, shared by the calls of this process.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use offbeat_core::Rejection;
use offbeat_core::spread::named::{BytesLeft, GroupPart};
use tokio::sync::{oneshot, watch};
use tokio::time::Instant;

use super::calls::{Call, CallId, encoded};
use super::engine::{Engine, Page, SpreadReply};
use super::failure::Failure;
use super::replica::{CallResult, Life, LocalSpread, Replica};
use crate::spreads::SpreadFigures;

/// Maximum number of replies to read a spread: meanwhile entries arrive, and snapshots change.
const MOST_READS: usize = 10_000;

/// Number of unanswered calls at which those without a waiting caller are dropped.
const FORGOTTEN_AFTER: usize = 1_024;

/// Bytes of entries, or of unneeded data, after which a snapshot is taken; more if the snapshot, or
/// the spread, is larger.
const SNAPSHOT_AFTER: u64 = 1 << 20;

#[derive(Debug)]
pub(super) struct SharedSpread {
    name: String,
    engine: Engine,
    /// Identifies this process in its entries.
    process: u64,
    /// The calls of this process, of all spreads.
    calls: Arc<AtomicU64>,
    /// Held by the task that reads missing entries: the others wait, and then miss little.
    reading: tokio::sync::Mutex<()>,
    replica: Mutex<Replica>,
    /// Counts changes, for the calls that wait.
    changes: watch::Sender<u64>,
    is_compacting: AtomicBool,
    /// Number of jobs that unanswered pulls ask for.
    asked_for: AtomicU64,
}

/// A pull that has no answer yet.
#[derive(Debug)]
pub(super) struct PendingPull {
    shared: Arc<SharedSpread>,
    count: u64,
}

impl Drop for PendingPull {
    fn drop(&mut self) {
        self.shared.asked_for.fetch_sub(self.count, Ordering::Relaxed);
        // Another pull may ask for the rest.
        if self.shared.free_jobs() != Some(0) {
            self.shared.wake();
        }
    }
}

/// Missing data after a reply was applied.
enum MissingData {
    Nothing,
    Entries,
    Snapshot { key: String, index: u64, life: Life },
}

impl SharedSpread {
    pub(super) fn new(name: &str, engine: Engine, process: u64, calls: Arc<AtomicU64>) -> Self {
        Self {
            name: name.to_owned(),
            engine,
            process,
            calls,
            reading: tokio::sync::Mutex::default(),
            replica: Mutex::default(),
            changes: watch::Sender::new(0),
            is_compacting: AtomicBool::new(false),
            asked_for: AtomicU64::new(0),
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    fn lock(&self) -> MutexGuard<'_, Replica> {
        self.replica.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many jobs have no lease; `None` if that is not known.
    fn free_jobs(&self) -> Option<u64> {
        self.with(|spread| {
            let counts = spread.machine.counts();
            counts.ready_jobs + counts.returned_jobs
        })
    }

    /// Starts a pull of up to `count` jobs; `None` while other pulls ask for all jobs that there
    /// are, unless it `must_ask`.
    pub(super) fn begin_asking(
        self: &Arc<Self>,
        count: u64,
        must_ask: bool,
    ) -> Option<PendingPull> {
        // A spread that has ended has no jobs: each pull gets that answer.
        let most = if must_ask { u64::MAX } else { self.free_jobs().unwrap_or(0).max(1) };
        let add = |asked_for| (asked_for < most).then(|| asked_for + count);
        let added = self.asked_for.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add);
        added.ok().map(|_| PendingPull { shared: Arc::clone(self), count })
    }

    /// Subscribes to changes from now on.
    pub(super) fn subscribe(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// Wakes the calls that wait.
    pub(super) fn wake(&self) {
        self.changes.send_modify(|count| *count += 1);
    }

    /// Calls `ask` on the spread as of the last reply of Redis; `None` if it is not known, or
    /// entries are missing.
    pub(super) fn with<T>(&self, ask: impl FnOnce(&LocalSpread) -> T) -> Option<T> {
        self.with_life(|spread, _, _| ask(spread))
    }

    /// The same, with the time of the spread.
    pub(super) fn with_now<T>(&self, ask: impl FnOnce(&LocalSpread, u64) -> T) -> Option<T> {
        let mut replica = self.lock();
        replica.advance();
        let now = replica.now()?;
        Some(ask(replica.spread.as_ref()?, now))
    }

    /// The same, with its life and the number of its entries.
    pub(super) fn with_life<T>(
        &self,
        ask: impl FnOnce(&LocalSpread, &Life, u64) -> T,
    ) -> Option<T> {
        let mut replica = self.lock();
        replica.advance();
        replica.now()?;
        let Replica { spread, life, next, .. } = &*replica;
        Some(ask(spread.as_ref()?, life.as_ref()?, *next))
    }

    /// Whether the groups would be taken; `None` if the spread is not known yet.
    pub(super) fn check(
        &self,
        parts: &[GroupPart],
        elsewhere: BytesLeft,
    ) -> Option<Result<(), Rejection>> {
        let mut replica = self.lock();
        let now = replica.now()?;
        let spread = replica.spread.as_mut()?;
        Some(spread.machine.check_submission(now, parts, elsewhere))
    }

    /// The time of the next change without a call.
    pub(super) fn next_event(&self) -> Option<Instant> {
        self.lock().next_event()
    }

    /// Its contents in numbers, if they are known.
    pub(super) fn figures(&self) -> Option<SpreadFigures> {
        let replica = self.lock();
        let now = replica.now()?;
        Some(replica.spread.as_ref()?.figures(&self.name, now))
    }

    /// Whether any entry of it was read.
    pub(super) fn is_read(&self) -> bool {
        self.lock().life.is_some()
    }

    /// Whether all entries before an index are known.
    pub(super) fn knows(&self, index: u64) -> bool {
        self.lock().next >= index
    }

    /// Reads new entries from Redis.
    pub(super) async fn read(self: &Arc<Self>) -> Result<(), Failure> {
        let from = self.lock().next;
        let reply = self.engine.call(&self.name, from, &[], false, Page::Small).await?;
        self.take_all(reply, from, false).await
    }

    /// Adds a call to the journal, and returns its result.
    pub(super) async fn call(self: &Arc<Self>, call: &Call) -> Result<CallResult, Failure> {
        let number = self.calls.fetch_add(1, Ordering::Relaxed);
        let id = CallId { process: self.process, number };
        let entry = encoded(id, call).map_err(|error| Failure::Engine(error.to_string()))?;
        let (sender, mut answer) = oneshot::channel();
        let from = {
            let mut replica = self.lock();
            if replica.asked.len() >= FORGOTTEN_AFTER {
                replica.asked.retain(|_, asked| !asked.is_closed());
            }
            replica.asked.insert(id, sender);
            replica.next
        };
        let heard =
            match self.engine.call(&self.name, from, &entry, call.grows(), Page::Small).await {
                Ok(reply) => {
                    let run = reply.life.run.clone();
                    self.take_all(reply, from, true).await.map(|()| run)
                }
                Err(failure) => Err(failure),
            };
        self.lock().asked.remove(&id);
        let run = heard?;
        match answer.try_recv() {
            Ok(result) => Ok(CallResult { run, ..result }),
            // A snapshot of another process may include it.
            Err(_) => Err(Failure::Engine("the answer was lost: try again".to_owned())),
        }
    }

    /// Applies the reply of Redis about the entries from `from` on, to which this call may have
    /// `added` one, and asks again until none is missing.
    async fn take_all(
        self: &Arc<Self>,
        reply: SpreadReply,
        from: u64,
        added: bool,
    ) -> Result<(), Failure> {
        let (mut reply, mut from, mut added) = (reply, from, added);
        let mut reading = None;
        for _ in 0..MOST_READS {
            match self.take(&reply, from, added)? {
                MissingData::Nothing => {
                    self.compact_if_long(reply.bytes, reply.snapshot_bytes);
                    return Ok(());
                }
                missing if reading.is_some() => {
                    if let MissingData::Snapshot { key, index, life } = missing {
                        self.load(&key, index, life).await?;
                    }
                }
                MissingData::Entries | MissingData::Snapshot { .. } => {
                    reading = Some(self.reading.lock().await);
                    if self.has(&reply) {
                        return Ok(()); // the previous holder of the lock has read them
                    }
                }
            }
            (from, added) = (self.lock().next, false);
            reply = self.engine.call(&self.name, from, &[], false, Page::Large).await?;
        }
        Err(Failure::Engine("the journal grows faster than it can be read".to_owned()))
    }

    /// Whether all entries of a reply are known.
    fn has(&self, reply: &SpreadReply) -> bool {
        let replica = self.lock();
        replica.life.as_ref() == Some(&reply.life) && replica.next >= reply.next
    }

    fn take(&self, reply: &SpreadReply, from: u64, added: bool) -> Result<MissingData, Failure> {
        let mut replica = self.lock();
        // Redis may also have fewer entries than were seen, even with the one that was added.
        let is_behind = from.saturating_add(u64::from(added)) > reply.next;
        if replica.life.as_ref() != Some(&reply.life) || is_behind {
            replica.forget();
            replica.life = Some(reply.life.clone());
        }
        if replica.next < reply.first {
            replica.seen = None;
            let (key, index) = (reply.snapshot.clone(), reply.first);
            return Ok(MissingData::Snapshot { key, index, life: reply.life.clone() });
        }
        let before = replica.next;
        for (index, entry) in (from..).zip(&reply.entries) {
            if index == replica.next
                && let Err(error) = replica.take(entry)
            {
                replica.forget();
                return Err(Failure::Engine(error));
            }
        }
        if replica.next < reply.next {
            replica.seen = None;
            return Ok(MissingData::Entries);
        }
        replica.hear(reply.millis);
        let is_changed = replica.next != before;
        drop(replica);
        if is_changed {
            self.wake();
        }
        Ok(MissingData::Nothing)
    }

    /// Reads a snapshot, unless it has been replaced meanwhile.
    async fn load(&self, key: &str, index: u64, life: Life) -> Result<(), Failure> {
        let Some(bytes) = self.engine.snapshot(key).await? else { return Ok(()) };
        // Hundreds of thousands of groups take a while.
        let spread =
            tokio::task::spawn_blocking(move || postcard::from_bytes::<LocalSpread>(&bytes)).await;
        let spread = spread.map_err(|error| Failure::Engine(error.to_string()))?;
        let spread = spread
            .map_err(|_| Failure::Engine("a snapshot that this release cannot read".to_owned()))?;
        let mut replica = self.lock();
        if replica.life.as_ref() == Some(&life) && replica.next < index {
            (replica.spread, replica.next, replica.seen) = (Some(spread), index, None);
        }
        Ok(())
    }

    /// Replaces a long journal and an older snapshot by a new snapshot, in the background. Only
    /// this frees the memory of jobs: a snapshot may hold many that were settled since.
    fn compact_if_long(self: &Arc<Self>, bytes: u64, snapshot_bytes: u64) {
        let needed = self.with(|spread| spread.machine.memory()).unwrap_or(u64::MAX);
        let is_long = bytes >= SNAPSHOT_AFTER.max(snapshot_bytes);
        let unneeded = (bytes + snapshot_bytes).saturating_sub(needed);
        let is_loose = unneeded >= SNAPSHOT_AFTER.max(needed);
        if !(is_long || is_loose) || self.is_compacting.swap(true, Ordering::Relaxed) {
            return;
        }
        let shared = Arc::clone(self);
        tokio::spawn(async move {
            if let Err(error) = shared.compact(bytes).await {
                tracing::warn!(spread = shared.name, error, "no snapshot was taken");
            }
            shared.is_compacting.store(false, Ordering::Relaxed);
        });
    }

    async fn compact(self: &Arc<Self>, bytes: u64) -> Result<(), String> {
        if !self.engine.claim_snapshot(&self.name).await.map_err(|error| error.to_string())? {
            return Ok(());
        }
        // The snapshot is made of another copy of the spread: the calls need this one.
        let copy = Self::new(&self.name, self.engine.clone(), self.process, Arc::default());
        let copy = Arc::new(copy);
        copy.is_compacting.store(true, Ordering::Relaxed);
        copy.read().await.map_err(|failure| format!("{failure:?}"))?;
        let taken = tokio::task::spawn_blocking(move || {
            let replica = copy.lock();
            replica.now()?;
            let Replica { spread: Some(spread), life: Some(life), next, .. } = &*replica else {
                return None;
            };
            Some((postcard::to_stdvec(spread), life.clone(), *next))
        });
        let Some((snapshot, life, index)) = taken.await.map_err(|error| error.to_string())? else {
            return Ok(());
        };
        let snapshot = snapshot.map_err(|error| error.to_string())?;
        let taken = self.engine.compact(&self.name, &life, index, &snapshot, self.process, bytes);
        taken.await.map(drop).map_err(|error| error.to_string())
    }
}
