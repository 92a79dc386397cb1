//! Named spreads in the memory of this process.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use offbeat_core::limits::SPREAD_NAME;
use offbeat_core::spread::lease::{LeaseId, SettleAction};
use offbeat_core::spread::named::{
    BytesLeft, DeadLetter, EmptyReason, GroupPart, GroupStatus, LimitChanges, NamedSpread,
    NamedSpreadSpec, Receipt, SpreadState,
};
use offbeat_core::{Moment, Reason, Rejection};
use tokio::sync::{Notify, watch};
use tokio::time::Instant;

use super::{CloseMode, Description, Leased, Settled, SpreadStore, Totals};
use crate::limits::NAMED_SPREADS;

/// How often what has run out of time is cleared away, if nobody calls.
const SWEEP: Duration = Duration::from_secs(1);

/// Holds named spreads in memory; a restart forgets them.
#[derive(Debug)]
pub struct MemoryStore {
    now: fn() -> Moment,
    max_byte_count: u64,
    spreads: Mutex<Spreads>,
    /// True once waits are to end.
    stopped: watch::Sender<bool>,
}

#[derive(Debug)]
struct Spreads {
    by_name: BTreeMap<String, Entry>,
    /// Bytes of all of them.
    bytes: u64,
    /// Of the spread that is opened next.
    next_epoch: u64,
}

#[derive(Debug)]
struct Entry {
    machine: NamedSpread,
    epoch: u64,
    /// What its times count from.
    start: Instant,
    /// There may be jobs to lease, or none ever again.
    changed: Arc<Notify>,
    /// Groups have been settled.
    ended: Arc<Notify>,
}

impl Entry {
    fn now(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn describe(&self, name: &str) -> Description {
        Description {
            name: name.to_owned(),
            epoch: self.epoch,
            spec: *self.machine.spec(),
            state: self.machine.state(),
            counts: self.machine.counts(),
            certificate: self.machine.certificate(),
        }
    }

    fn wake_all(&self) {
        self.changed.notify_waiters();
        self.ended.notify_waiters();
    }

    fn lease_millis(&self) -> u64 {
        self.machine.spec().lease_millis.unsigned_abs()
    }
}

impl MemoryStore {
    /// A store without spreads, which holds up to `max_byte_count` of jobs. The clock gives it
    /// its epoch, and tells consumers when leases end.
    #[must_use]
    pub fn new(now: fn() -> Moment, max_byte_count: u64) -> Self {
        let (seconds, nanos) = now().parts();
        let next_epoch = seconds.unsigned_abs() * 1_000_000_000 + u64::from(nanos.unsigned_abs());
        let spreads = Spreads { by_name: BTreeMap::new(), bytes: 0, next_epoch };
        Self {
            now,
            max_byte_count,
            spreads: Mutex::new(spreads),
            stopped: watch::Sender::new(false),
        }
    }

    /// Ends all waits, now and later.
    pub fn stop(&self) {
        self.stopped.send_replace(true);
    }

    /// What all spreads hold.
    #[must_use]
    pub fn totals(&self) -> Totals {
        let spreads = self.lock();
        let mut totals = Totals { bytes: spreads.bytes, ..Totals::default() };
        for entry in spreads.by_name.values() {
            let counts = entry.machine.counts();
            totals.spreads += 1;
            totals.groups += counts.groups;
            totals.ready_jobs += counts.ready_jobs + counts.returned_jobs;
            totals.leased_jobs += counts.leased_jobs;
            totals.settled_jobs += counts.settled_jobs;
            totals.dead_letters += counts.dead_letters;
            totals.consumers += counts.consumers;
            let age = entry.machine.oldest().map(|since| entry.now().saturating_sub(since));
            totals.oldest_millis = totals.oldest_millis.max(age.unwrap_or(0));
        }
        totals
    }

    /// Clears away what has run out of time, for as long as the server runs.
    pub async fn sweep(&self) {
        loop {
            tokio::time::sleep(SWEEP).await;
            let mut spreads = self.lock();
            let names: Vec<String> = spreads.by_name.keys().cloned().collect();
            for name in names {
                let _ = spreads.with(&name, |entry, now| {
                    let before = entry.machine.counts();
                    entry.machine.advance(now);
                    // Leases that have ended, of jobs that were leased after somebody began to wait.
                    if entry.machine.counts() != before {
                        entry.changed.notify_waiters();
                    }
                });
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Spreads> {
        // A panic cannot leave a spread half done in a way that a lock would mend.
        self.spreads.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The first answer of `ask` that is final, or its last one when `wait` is over. It is
    /// asked when `wake` says so, and is told when it is asked for the last time.
    async fn until<T>(
        &self,
        name: &str,
        wait: Duration,
        wake: impl Fn(&Entry) -> Arc<Notify>,
        mut ask: impl FnMut(&mut Entry, u64, bool) -> Result<(T, bool), Rejection>,
    ) -> Result<T, Rejection> {
        let end = Instant::now() + wait;
        let mut stopped = self.stopped.subscribe();
        loop {
            let changed = wake(self.lock().entry(name)?);
            let mut notified = std::pin::pin!(changed.notified());
            notified.as_mut().enable(); // before asking, so that no change is missed
            let is_last = Instant::now() >= end || *stopped.borrow();
            let (answer, is_final, event) = self.lock().with(name, |entry, now| {
                let (answer, is_final) = ask(entry, now, is_last)?;
                let event = entry.machine.next_event(now);
                let event = event.map(|event| entry.start + Duration::from_millis(event));
                Ok::<_, Rejection>((answer, is_final, event))
            })??;
            if is_final || is_last {
                return Ok(answer);
            }
            let next = event.map_or(end, |event| event.min(end));
            tokio::select! {
                () = notified => {}
                () = tokio::time::sleep_until(next) => {}
                _ = stopped.changed() => {}
            }
        }
    }
}

impl Spreads {
    fn entry(&mut self, name: &str) -> Result<&mut Entry, Rejection> {
        self.by_name.get_mut(name).ok_or_else(|| unknown(name))
    }

    /// Forgets settled groups, of all spreads if need be, where `wanted` bytes would not fit.
    fn make_room(&mut self, max_byte_count: u64, wanted: u64) {
        let Self { by_name, bytes, .. } = self;
        for entry in by_name.values_mut() {
            let missing = bytes.saturating_add(wanted).saturating_sub(max_byte_count);
            if missing == 0 {
                return;
            }
            let before = entry.machine.memory();
            entry.machine.forget_ended(missing);
            *bytes -= before - entry.machine.memory();
        }
    }

    /// What is left for `wanted` bytes of memory, `overhead` of them beside payloads; settled
    /// groups are forgotten for it.
    fn bytes_left(&mut self, max_byte_count: u64, wanted: u64, overhead: u64) -> BytesLeft {
        self.make_room(max_byte_count, wanted);
        let left = max_byte_count.saturating_sub(self.bytes);
        BytesLeft {
            now: if wanted > left { left.saturating_sub(overhead) } else { u64::MAX },
            at_most: max_byte_count,
        }
    }

    /// Does something with a spread, and keeps count of its bytes.
    fn with<T>(
        &mut self,
        name: &str,
        act: impl FnOnce(&mut Entry, u64) -> T,
    ) -> Result<T, Rejection> {
        let entry = self.entry(name)?;
        let over = |entry: &Entry| {
            let machine = &entry.machine;
            (machine.ended_groups(), machine.dropped_groups(), machine.state())
        };
        let (before, over_before) = (entry.machine.memory(), over(entry));
        let now = entry.now();
        let done = act(entry, now);
        let after = entry.machine.memory();
        if over(entry) != over_before {
            entry.ended.notify_waiters();
        }
        self.bytes = self.bytes + after - before;
        Ok(done)
    }
}

fn unknown(name: &str) -> Rejection {
    Rejection::new(Reason::UnknownSpread, "spread_name", name, "must be an open spread")
}

fn closing(name: &str, allowed: &str) -> Rejection {
    Rejection::new(Reason::SpreadClosing, "spread_name", name, allowed)
}

/// Refuses to open a spread that is not as it is asked for.
fn check_same(name: &str, entry: &Entry, spec: &NamedSpreadSpec) -> Result<(), Rejection> {
    match entry.machine.state() {
        SpreadState::Open => match entry.machine.difference(spec) {
            None => Ok(()),
            Some((field, asked, open)) => {
                let allowed = format!("must be {open}: the spread is open with it");
                let field = format!("spec.{field}");
                Err(Rejection::new(Reason::SpreadDiffers, field, asked, allowed))
            }
        },
        SpreadState::Draining => Err(closing(name, "is closing: wait until all is settled")),
        SpreadState::Closed => {
            Err(closing(name, "is closed, and has dead letters: delete them, or discard it"))
        }
    }
}

#[tonic::async_trait]
impl SpreadStore for MemoryStore {
    async fn open(
        &self,
        name: String,
        spec: NamedSpreadSpec,
    ) -> Result<(Description, bool), Rejection> {
        if !SPREAD_NAME.allows(name.len() as i128) {
            let allowed = format!("must be {SPREAD_NAME}");
            return Err(Rejection::new(Reason::OutOfRange, "spread_name", name, allowed));
        }
        let mut spreads = self.lock();
        let machine = NamedSpread::try_new(spreads.next_epoch, &spec)
            .map_err(|rejection| rejection.under("spec"))?;
        let spec = machine.spec();
        match spreads.by_name.get(&name) {
            Some(entry) if entry.machine.is_spent() => {}
            Some(entry) => {
                check_same(&name, entry, spec)?;
                return Ok((entry.describe(&name), false));
            }
            None if spreads.by_name.len() >= NAMED_SPREADS.max_size() => {
                let allowed = format!("must be {NAMED_SPREADS}: discard one");
                return Err(Rejection::new(Reason::LimitReached, "spread_name", name, allowed));
            }
            None => {}
        }
        let (changed, ended) = <(Arc<Notify>, Arc<Notify>)>::default();
        let epoch = spreads.next_epoch;
        spreads.next_epoch += 1;
        let entry = Entry { machine, epoch, start: Instant::now(), changed, ended };
        let description = entry.describe(&name);
        if let Some(spent) = spreads.by_name.insert(name, entry) {
            spent.wake_all();
        }
        Ok((description, true))
    }

    async fn update(&self, name: &str, changes: LimitChanges) -> Result<Description, Rejection> {
        self.lock().with(name, |entry, _| {
            entry.machine.update(&changes)?;
            entry.changed.notify_waiters(); // a consumer may take more now
            Ok(entry.describe(name))
        })?
    }

    async fn submit(
        &self,
        name: &str,
        parts: Vec<GroupPart>,
    ) -> Result<(Vec<GroupStatus>, Receipt), Rejection> {
        let mut spreads = self.lock();
        let wanted = parts.iter().map(GroupPart::memory).sum::<u64>();
        let payloads = parts.iter().flat_map(|part| &part.payloads);
        let payloads = payloads.map(|payload| payload.len() as u64).sum::<u64>();
        let left = spreads.bytes_left(self.max_byte_count, wanted, wanted - payloads);
        spreads.with(name, |entry, now| {
            let statuses = entry.machine.submit(now, &parts, left)?;
            entry.changed.notify_waiters();
            let lease_millis = entry.machine.spec().lease_millis;
            Ok((statuses, Receipt { epoch: entry.epoch, lease_millis }))
        })?
    }

    async fn groups(
        &self,
        name: &str,
        ids: &[String],
        wait: Duration,
    ) -> Result<(Vec<GroupStatus>, u64), Rejection> {
        let wanted: BTreeSet<&str> = ids.iter().map(String::as_str).collect();
        let (mut seen, mut dropped) = (None, 0);
        let wake = |entry: &Entry| Arc::clone(&entry.ended);
        self.until(name, wait, wake, |entry, now, is_last| {
            entry.machine.advance(now);
            let machine = &entry.machine;
            // All of them at first, then only those that have ended since.
            let new =
                seen.replace(machine.ended_groups()).and_then(|count| machine.ended_since(count));
            let were_dropped = std::mem::replace(&mut dropped, machine.dropped_groups());
            let is_news = match new {
                Some(mut new) if were_dropped == dropped => new.any(|id| wanted.contains(id)),
                _ => ids.iter().any(|id| machine.is_over(id)),
            };
            let answers = is_news || is_last;
            let statuses = answers.then(|| machine.groups(ids.iter().map(String::as_str)));
            Ok(((statuses.unwrap_or_default(), entry.epoch), is_news))
        })
        .await
    }

    async fn pull(
        &self,
        name: &str,
        consumer: &Arc<str>,
        count: usize,
        wait: Duration,
    ) -> Result<Leased, Rejection> {
        let wake = |entry: &Entry| Arc::clone(&entry.changed);
        self.until(name, wait, wake, |entry, now, _| {
            // As the machine counts, in whole milliseconds: no lease is said to end later than
            // it does.
            let lease_millis = entry.lease_millis();
            let end_time = (self.now)().plus_millis(lease_millis - 1);
            let start = entry.start + Duration::from_millis(now);
            let jobs = entry.machine.pull(now, consumer, count)?;
            let ended = entry.machine.state() == SpreadState::Closed;
            let is_final = ended || !jobs.is_empty();
            let empty_reason = jobs.is_empty().then(|| match ended {
                true => EmptyReason::Ended,
                false => entry.machine.empty_reason(consumer),
            });
            let (epoch, stopped) = (entry.epoch, *self.stopped.borrow());
            let leased =
                Leased { epoch, lease_millis, end_time, jobs, empty_reason, stopped, start };
            Ok((leased, is_final))
        })
        .await
    }

    async fn settle(
        &self,
        name: &str,
        settlements: Vec<(LeaseId, SettleAction)>,
    ) -> Result<Settled, Rejection> {
        self.lock().with(name, |entry, now| {
            let extended_end_time = (self.now)().plus_millis(entry.lease_millis() - 1);
            let settle = |(id, action)| entry.machine.settle(now, id, action);
            let outcomes = settlements.into_iter().map(settle).collect();
            entry.changed.notify_waiters();
            Settled { outcomes, extended_end_time }
        })
    }

    async fn describe(&self, name: &str) -> Result<Description, Rejection> {
        self.lock().with(name, |entry, now| {
            entry.machine.advance(now);
            entry.describe(name)
        })
    }

    async fn list(&self, after: &str, count: usize) -> Result<(Vec<Description>, bool), Rejection> {
        use std::ops::Bound::{Excluded, Unbounded};
        let spreads = self.lock();
        let mut rest = spreads.by_name.range::<str, _>((Excluded(after), Unbounded));
        let page = rest.by_ref().take(count).map(|(name, entry)| entry.describe(name)).collect();
        Ok((page, rest.next().is_some()))
    }

    async fn dead_letters(
        &self,
        name: &str,
        after: Option<u64>,
        count: usize,
    ) -> Result<(Vec<DeadLetter>, bool), Rejection> {
        self.lock().with(name, |entry, now| {
            entry.machine.advance(now);
            entry.machine.dead_letters(after, count)
        })
    }

    async fn redrive_dead_letters(&self, name: &str, numbers: &[u64]) -> Result<u64, Rejection> {
        let mut spreads = self.lock();
        let entry = spreads.entry(name)?;
        let wanted = entry.machine.redriven_memory(numbers);
        let left = spreads.bytes_left(self.max_byte_count, wanted, wanted);
        spreads.with(name, |entry, now| {
            let redriven = entry.machine.redrive(now, numbers, left)?;
            entry.changed.notify_waiters();
            Ok(redriven)
        })?
    }

    async fn delete_dead_letters(&self, name: &str, numbers: &[u64]) -> Result<u64, Rejection> {
        self.lock()
            .with(name, |entry, _| entry.machine.delete_dead_letters(numbers.iter().copied()))
    }

    async fn close(
        &self,
        name: &str,
        mode: CloseMode,
        wait: Duration,
    ) -> Result<Description, Rejection> {
        if mode == CloseMode::Discard {
            let mut spreads = self.lock();
            let entry = spreads.by_name.remove(name).ok_or_else(|| unknown(name))?;
            spreads.bytes -= entry.machine.memory();
            drop(spreads);
            entry.wake_all();
            let description = entry.describe(name);
            // Freeing hundreds of thousands of groups takes a while.
            drop(tokio::task::spawn_blocking(move || drop(entry)));
            return Ok(description);
        }
        let wake = |entry: &Entry| Arc::clone(&entry.ended);
        self.until(name, wait, wake, |entry, now, _| {
            entry.machine.advance(now);
            if entry.machine.state() == SpreadState::Open {
                entry.machine.close();
                entry.changed.notify_waiters();
            }
            let is_closed = entry.machine.state() == SpreadState::Closed;
            Ok((entry.describe(name), is_closed))
        })
        .await
    }
}
