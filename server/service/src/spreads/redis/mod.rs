//! Named spreads in Redis, for several processes, which all answer every call.
//!
//! Each spread has a journal: the calls that change it, in one order for all processes, with the
//! time of each by the clock of Redis. A process that has read it holds the spread as
//! [`NamedSpread`] does in memory; so the order of jobs, the limits and the answers are the same.
//! To call is to add an entry: one atomic step, which answers with all that the process has not
//! seen. Its own entry then gives the answer. From time to time a snapshot takes the place of the
//! entries before it.
//!
//! Redis tells by its `run_id` that it was restarted or that another one took over. The journal may
//! have lost its end then, so the script begins another life of the spread
//! ([`NamedSpread::restart`]).

mod calls;
mod checks;
mod engine;
mod replica;
mod shared;

use std::collections::BTreeMap;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::StreamExt as _;
use offbeat_core::limits::SPREAD_NAME;
use offbeat_core::spread::lease::{LeaseId, SettleAction};
use offbeat_core::spread::named::{
    BytesLeft, EmptyReason, GroupPart, GroupStatus, LeasedJob, LimitChanges, NamedSpread,
    NamedSpreadSpec, Receipt, SpreadState,
};
use offbeat_core::{Moment, Reason, Rejection};
use tokio::sync::{oneshot, watch};
use tokio::time::Instant;

use self::calls::{Answer, Call, empty_reason};
use self::engine::{Engine, Failure};
use self::replica::Kept;
use self::shared::Shared;
use super::views::{check_same, unknown};
use super::{
    CloseMode, DeadLetterIds, DeadLetterPage, Description, Leased, Settled, SpreadFigures,
    SpreadStore,
};
use crate::limits::NAMED_SPREADS;

/// How often those who wait look, if Redis says nothing: its words may have been lost.
const LOOK: Duration = Duration::from_secs(5);
/// The pause before Redis is listened to again.
const LISTEN_AGAIN: Duration = Duration::from_millis(500);
/// How often a spread is opened or read while others discard it and open it again.
const TRIES: usize = 8;

/// Holds named spreads in Redis.
#[derive(Debug)]
pub struct RedisStore {
    engine: Engine,
    /// Of this process, in what it writes.
    process: u64,
    max_byte_count: u64,
    spreads: Mutex<BTreeMap<String, Arc<Shared>>>,
    stopped: watch::Sender<bool>,
}

impl RedisStore {
    /// Connects to a Redis, and checks it. All keys begin with the prefix. All spreads that this
    /// process works with may have `max_byte_count` of jobs together.
    ///
    /// # Errors
    /// When Redis cannot be reached, or is not as it must be.
    pub async fn connect(
        url: &str,
        prefix: &str,
        max_byte_count: u64,
    ) -> Result<Arc<Self>, String> {
        let engine = Engine::connect(url, prefix).await.map_err(|error| error.to_string())?;
        checks::check(&engine).await?;
        // Two processes with one number would take each other's answers.
        let process = RandomState::new().hash_one(std::process::id());
        let (spreads, stopped) = (Mutex::default(), watch::Sender::new(false));
        Ok(Arc::new(Self { engine, process, max_byte_count, spreads, stopped }))
    }

    fn shared(&self, name: &str) -> Arc<Shared> {
        let mut spreads = self.lock();
        if let Some(shared) = spreads.get(name) {
            return Arc::clone(shared);
        }
        let shared = Arc::new(Shared::new(name, self.engine.clone(), self.process));
        spreads.insert(name.to_owned(), Arc::clone(&shared));
        shared
    }

    /// What a step says; where there is no spread, nothing is kept of it.
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
                // Nothing is kept of names that nobody may ever have opened.
                let is_unread = |shared: &Arc<Shared>| shared.with(|_| ()).is_none();
                let mut spreads = self.lock();
                if spreads.get(name).is_some_and(is_unread) {
                    spreads.remove(name);
                }
                drop(spreads);
                tracing::warn!(spread = name, error, "the store of named spreads failed");
                let allowed = "must be reached: try again later";
                Rejection::new(Reason::StoreUnavailable, "spread_store", error, allowed)
            }
        })
    }

    /// The spread as it is now.
    async fn read(&self, name: &str) -> Result<Arc<Shared>, Rejection> {
        let shared = self.shared(name);
        self.heard(name, shared.read().await)?;
        Ok(shared)
    }

    async fn call(&self, name: &str, call: &Call) -> Result<(Arc<Shared>, Answer, u64), Rejection> {
        let shared = self.shared(name);
        let (answer, millis) = self.heard(name, shared.call(call).await)?;
        Ok((shared, answer, millis))
    }

    /// What other spreads of this process leave to one that wants so much; settled groups are
    /// forgotten for it.
    async fn bytes_left(&self, wanted: u64, overhead: u64) -> Result<BytesLeft, Rejection> {
        for shared in self.all() {
            let missing = (self.byte_count() + wanted).saturating_sub(self.max_byte_count);
            if missing == 0 {
                break;
            }
            let remembered = shared.with(|kept| kept.machine.remembered_memory());
            if remembered.is_some_and(|bytes| bytes > 0) {
                self.call(shared.name(), &Call::Forget { bytes: missing }).await?;
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

    /// Waits until a spread has changed, as `changes` tells, or the time is over. Whether it has to
    /// be read first.
    async fn wait(&self, shared: &Shared, mut changes: watch::Receiver<u64>, end: Instant) -> bool {
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

    /// Hears from Redis which spreads change, for as long as the server runs.
    async fn listen(&self) {
        loop {
            match self.engine.changes().await {
                Ok(changes) => {
                    let mut changes = changes.into_on_message();
                    for shared in self.all() {
                        self.look(&shared).await; // of what was missed
                    }
                    while let Some(message) = changes.next().await {
                        let Ok(text) = message.get_payload::<String>() else { continue };
                        let Some((next, name)) = text.split_once(' ') else { continue };
                        let shared = self.lock().get(name).cloned();
                        let Some(shared) = shared else { continue };
                        if !next.parse().is_ok_and(|next| shared.knows(next)) {
                            self.look(&shared).await;
                        }
                    }
                }
                Err(error) => tracing::warn!(%error, "the store of named spreads is not heard"),
            }
            tokio::time::sleep(LISTEN_AGAIN).await;
        }
    }

    /// Reads a spread for those who wait for it, and wakes them even if that fails.
    async fn look(&self, shared: &Arc<Shared>) {
        let _ = self.heard(shared.name(), shared.read().await);
        shared.wake();
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Arc<Shared>>> {
        self.spreads.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn all(&self) -> Vec<Arc<Shared>> {
        self.lock().values().cloned().collect()
    }

    /// One pull, which is not interrupted: what it leases is released if nobody waits for it any
    /// more. And whether a consumer need not wait for more.
    async fn pull_once(
        self: &Arc<Self>,
        name: &str,
        consumer: &Arc<str>,
        count: usize,
    ) -> Result<(Leased, bool), Rejection> {
        let (sender, receiver) = oneshot::channel();
        let (store, name) = (Arc::clone(self), name.to_owned());
        let consumer = Arc::clone(consumer);
        tokio::spawn(async move {
            let pulled = store.lease(&name, consumer, count).await;
            let _ = sender.send(Unheard { store, name, pulled: Some(pulled) });
        });
        let heard = receiver.await.ok().and_then(|mut unheard| unheard.pulled.take());
        heard.unwrap_or_else(|| Err(interrupted()))
    }

    async fn lease(
        &self,
        name: &str,
        consumer: Arc<str>,
        count: usize,
    ) -> Result<(Leased, bool), Rejection> {
        let start = Instant::now();
        let (shared, answer, millis) = self.call(name, &Call::Pull { consumer, count }).await?;
        let Answer::Jobs(jobs) = answer else { return Err(interrupted()) };
        let (jobs, empty_reason) = jobs?;
        shared
            .with(|kept| {
                let lease_millis = kept.lease_millis();
                let is_final = !jobs.is_empty() || empty_reason == Some(EmptyReason::Ended);
                let leased = Leased {
                    epoch: jobs.first().map_or(kept.epoch, |job| job.id.epoch),
                    lease_millis,
                    end_time: moment(millis + lease_millis - 1),
                    jobs,
                    empty_reason,
                    stopped: *self.stopped.borrow(),
                    start,
                };
                (leased, is_final)
            })
            .ok_or_else(|| unknown(name))
    }
}

/// What a pull leased, until its caller has it.
struct Unheard {
    store: Arc<RedisStore>,
    name: String,
    pulled: Option<Result<(Leased, bool), Rejection>>,
}

impl Drop for Unheard {
    fn drop(&mut self) {
        let Some(Ok((leased, _))) = self.pulled.take() else { return };
        let release = |job: LeasedJob| (job.id, SettleAction::Release { delay: 0 });
        let settlements: Vec<_> = leased.jobs.into_iter().map(release).collect();
        if settlements.is_empty() {
            return;
        }
        let (store, name) = (Arc::clone(&self.store), std::mem::take(&mut self.name));
        tokio::spawn(async move { drop(store.call(&name, &Call::Settle(settlements)).await) });
    }
}

/// A call of this process broke off: a bug.
fn interrupted() -> Rejection {
    let allowed = "must be answered: try again";
    Rejection::new(Reason::StoreUnavailable, "spread_store", "no answer", allowed)
}

fn moment(millis: u64) -> Option<Moment> {
    Moment::from_unix_millis(i64::try_from(millis).ok()?)
}

#[tonic::async_trait]
impl SpreadStore for Arc<RedisStore> {
    async fn open(
        &self,
        name: String,
        spec: NamedSpreadSpec,
    ) -> Result<(Description, bool), Rejection> {
        if !SPREAD_NAME.allows(name.len() as i128) {
            let allowed = format!("must be {SPREAD_NAME}");
            return Err(Rejection::new(Reason::OutOfRange, "spread_name", name, allowed));
        }
        let checked = NamedSpread::try_new(0, &spec).map_err(|refused| refused.under("spec"))?;
        let bytes = postcard::to_stdvec(&spec).map_err(|_| interrupted())?;
        let mut ended: Option<(String, u64)> = None;
        for _ in 0..TRIES {
            let place = ended.as_ref().map(|(life, next)| (&**life, *next));
            let most = NAMED_SPREADS.max_size();
            let opened = self.engine.open(&name, &bytes, most, place).await;
            let Some(created) = self.heard(&name, opened)? else {
                let allowed = format!("must be {NAMED_SPREADS}: discard one");
                return Err(Rejection::new(Reason::LimitReached, "spread_name", name, allowed));
            };
            let shared = match self.read(&name).await {
                Err(refused) if refused.reason == Reason::UnknownSpread => continue,
                read => read?,
            };
            let found = shared.with_life(|kept, life, next| {
                if !created && kept.machine.is_spent() {
                    ended = Some((life.life.clone(), next));
                    return Ok(None);
                }
                if !created {
                    check_same(&name, &kept.machine, checked.spec())?;
                }
                Ok::<_, Rejection>(Some(kept.describe(&name)))
            });
            if let Some(description) = found.ok_or_else(|| unknown(&name))?? {
                return Ok((description, created));
            }
        }
        Err(interrupted())
    }

    async fn update(&self, name: &str, changes: LimitChanges) -> Result<Description, Rejection> {
        let (shared, answer, _) = self.call(name, &Call::Update(changes)).await?;
        let Answer::Done(done) = answer else { return Err(interrupted()) };
        done?;
        shared.with(|kept| kept.describe(name)).ok_or_else(|| unknown(name))
    }

    async fn submit(
        &self,
        name: &str,
        parts: Vec<GroupPart>,
    ) -> Result<(Vec<GroupStatus>, Receipt), Rejection> {
        let wanted = parts.iter().map(GroupPart::memory).sum::<u64>();
        let payloads = parts.iter().flat_map(|part| &part.payloads);
        let payloads = payloads.map(|payload| payload.len() as u64).sum::<u64>();
        let elsewhere = self.bytes_left(wanted, wanted - payloads).await?;
        let shared = self.shared(name);
        // What would be refused does not become an entry.
        if !matches!(shared.check(&parts, elsewhere), Some(Ok(()))) {
            self.read(name).await?;
            shared.check(&parts, elsewhere).ok_or_else(|| unknown(name))??;
        }
        let call = Call::Submit { parts, elsewhere };
        let (shared, answer, _) = self.call(name, &call).await?;
        let Answer::Statuses(statuses) = answer else { return Err(interrupted()) };
        let receipt = shared.with(|kept| Receipt {
            epoch: kept.epoch,
            lease_millis: kept.machine.spec().lease_millis,
        });
        Ok((statuses?, receipt.ok_or_else(|| unknown(name))?))
    }

    async fn groups(
        &self,
        name: &str,
        ids: &[String],
        wait: Duration,
    ) -> Result<(Vec<GroupStatus>, u64), Rejection> {
        let end = Instant::now() + wait;
        let mut is_stale = true;
        loop {
            let shared = self.shared(name);
            let changes = shared.subscribe();
            if is_stale {
                self.read(name).await?;
            }
            let is_last = self.is_over(end);
            let answer = shared.with(|kept| {
                let is_news = ids.iter().any(|id| kept.machine.is_over(id));
                let statuses = (is_news || is_last)
                    .then(|| kept.machine.groups(ids.iter().map(String::as_str)));
                statuses.map(|statuses| (statuses, kept.epoch))
            });
            if let Some(answer) = answer.ok_or_else(|| unknown(name))? {
                return Ok(answer);
            }
            is_stale = self.wait(&shared, changes, end).await;
        }
    }

    async fn pull(
        &self,
        name: &str,
        consumer: &Arc<str>,
        count: usize,
        wait: Duration,
    ) -> Result<Leased, Rejection> {
        let end = Instant::now() + wait;
        let mut is_stale = false; // at first, what is known here may do
        loop {
            let shared = self.shared(name);
            let changes = shared.subscribe();
            let is_last = self.is_over(end);
            // A pull that leases nothing is no entry.
            let may_lease = || shared.with_now(|kept, now| kept.may_lease(now, consumer));
            if is_stale || !matches!(may_lease(), Some(Ok(true))) {
                self.read(name).await?;
            }
            if may_lease().ok_or_else(|| unknown(name))?? {
                let (leased, is_final) = self.pull_once(name, consumer, count).await?;
                if is_final || is_last {
                    return Ok(leased);
                }
            } else if is_last {
                let none = |kept: &Kept| Leased {
                    epoch: kept.epoch,
                    lease_millis: kept.lease_millis(),
                    end_time: None,
                    jobs: Vec::new(),
                    empty_reason: Some(empty_reason(&kept.machine, consumer)),
                    stopped: *self.stopped.borrow(),
                    start: Instant::now(),
                };
                return shared.with(none).ok_or_else(|| unknown(name));
            }
            is_stale = self.wait(&shared, changes, end).await;
        }
    }

    async fn settle(
        &self,
        name: &str,
        settlements: Vec<(LeaseId, SettleAction)>,
    ) -> Result<Settled, Rejection> {
        let (shared, answer, millis) = self.call(name, &Call::Settle(settlements)).await?;
        let Answer::Outcomes(outcomes) = answer else { return Err(interrupted()) };
        let lease = shared.with(Kept::lease_millis).ok_or_else(|| unknown(name))?;
        Ok(Settled { outcomes, extended_end_time: moment(millis + lease - 1) })
    }

    async fn describe(&self, name: &str) -> Result<Description, Rejection> {
        let shared = self.read(name).await?;
        shared.with(|kept| kept.describe(name)).ok_or_else(|| unknown(name))
    }

    async fn list(&self, after: &str, count: usize) -> Result<(Vec<Description>, bool), Rejection> {
        let names = self.engine.list(after, count + 1).await.map_err(Failure::from);
        let names = self.heard("", names)?;
        let has_more = names.len() > count;
        let mut page = Vec::new();
        for name in names.iter().take(count) {
            match self.describe(name).await {
                Err(refused) if refused.reason == Reason::UnknownSpread => {}
                described => page.push(described?),
            }
        }
        Ok((page, has_more))
    }

    async fn dead_letters(
        &self,
        name: &str,
        after: Option<u64>,
        count: usize,
    ) -> Result<DeadLetterPage, Rejection> {
        let shared = self.read(name).await?;
        let page = shared.with(|kept| {
            let (letters, has_more) = kept.machine.dead_letters(after, count);
            DeadLetterPage { epoch: kept.epoch, letters, has_more }
        });
        page.ok_or_else(|| unknown(name))
    }

    async fn redrive_dead_letters(
        &self,
        name: &str,
        letters: &DeadLetterIds,
    ) -> Result<u64, Rejection> {
        let shared = self.read(name).await?;
        let (numbers, wanted) = shared
            .with(|kept| {
                let numbers = letters.in_epoch(kept.epoch).to_vec();
                let wanted = kept.machine.redriven_memory(&numbers);
                (numbers, wanted)
            })
            .ok_or_else(|| unknown(name))?;
        let elsewhere = self.bytes_left(wanted, wanted).await?;
        let (_, answer, _) = self.call(name, &Call::Redrive { numbers, elsewhere }).await?;
        let Answer::Count(count) = answer else { return Err(interrupted()) };
        count
    }

    async fn delete_dead_letters(
        &self,
        name: &str,
        letters: &DeadLetterIds,
    ) -> Result<u64, Rejection> {
        let shared = self.read(name).await?;
        let numbers = shared.with(|kept| letters.in_epoch(kept.epoch).to_vec());
        let numbers = numbers.ok_or_else(|| unknown(name))?;
        let (_, answer, _) = self.call(name, &Call::DeleteLetters(numbers)).await?;
        let Answer::Count(count) = answer else { return Err(interrupted()) };
        count
    }

    async fn close(
        &self,
        name: &str,
        mode: CloseMode,
        wait: Duration,
    ) -> Result<Description, Rejection> {
        if mode == CloseMode::Discard {
            let description = self.describe(name).await?;
            let discarded = self.engine.discard(name).await.map_err(Failure::from);
            if !self.heard(name, discarded)? {
                return Err(unknown(name));
            }
            let _ = self.heard::<()>(name, Err(Failure::Unknown));
            return Ok(description);
        }
        let end = Instant::now() + wait;
        loop {
            let shared = self.shared(name);
            let changes = shared.subscribe();
            self.read(name).await?;
            let description =
                shared.with(|kept| kept.describe(name)).ok_or_else(|| unknown(name))?;
            match description.state {
                SpreadState::Open => drop(self.call(name, &Call::Close).await?),
                SpreadState::Draining if !self.is_over(end) => {
                    self.wait(&shared, changes, end).await;
                }
                SpreadState::Draining | SpreadState::Closed => return Ok(description),
            }
        }
    }

    fn figures(&self) -> Vec<SpreadFigures> {
        self.all().iter().filter_map(|shared| shared.figures()).collect()
    }

    fn stop(&self) {
        self.stopped.send_replace(true);
    }

    async fn keep_up(&self) {
        self.listen().await;
    }
}
