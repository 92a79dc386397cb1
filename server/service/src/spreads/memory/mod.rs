//! Named spreads in the memory of this process.

mod entry;
mod spreads;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use offbeat_core::spread::lease::{LeaseId, SettleAction};
use offbeat_core::spread::named::{
    EmptyReason, GroupPart, GroupStatus, LimitChanges, NamedSpread, NamedSpreadSpec, NextJob,
    Receipt, SpreadState,
};
use offbeat_core::{Moment, Rejection};
use tokio::sync::{Notify, watch};
use tokio::time::Instant;

use self::entry::Entry;
use self::spreads::Spreads;
use super::views::{check_name, check_same, too_many, unknown};
use super::{
    CloseMode, DeadLetterIds, DeadLetterPage, Description, IfClosed, LeasedJobs, SettlementResults,
    SpreadFigures, SpreadStore,
};
use crate::limits::NAMED_SPREADS;

/// Interval at which the time of spreads advances while there are no calls.
const SWEEP: Duration = Duration::from_secs(1);

/// Holds named spreads in memory; a restart loses them.
#[derive(Debug)]
pub struct MemoryStore {
    now: fn() -> Moment,
    max_byte_count: u64,
    spreads: Mutex<Spreads>,
    /// True once waits must end.
    stopped: watch::Sender<bool>,
}

impl MemoryStore {
    /// A store without spreads, which holds up to `max_byte_count` bytes. `now` gives the epochs,
    /// and the end of leases for consumers.
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

    /// Bytes of all spreads that count against the limit.
    #[must_use]
    pub fn byte_count(&self) -> u64 {
        self.lock().bytes
    }

    fn lock(&self) -> MutexGuard<'_, Spreads> {
        // A poisoned lock would not repair a spread that a panic has left half changed.
        self.spreads.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The first final answer of `ask`, or its last one when `wait` is over. `ask` is called at
    /// once, and then when `wake` notifies or an event is due; its last argument is whether this is
    /// the last call.
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

#[tonic::async_trait]
impl SpreadStore for MemoryStore {
    async fn open(
        &self,
        name: String,
        spec: NamedSpreadSpec,
        if_closed: IfClosed,
    ) -> Result<(Description, bool), Rejection> {
        check_name(&name)?;
        let mut spreads = self.lock();
        let machine = NamedSpread::try_new(spreads.next_epoch, &spec)
            .map_err(|rejection| rejection.under("spec"))?;
        let spec = machine.spec();
        match spreads.by_name.get(&name) {
            Some(entry) if entry.machine.is_spent() && if_closed == IfClosed::Leave => {
                return Ok((entry.describe(&name), false));
            }
            Some(entry) if entry.machine.is_spent() => {}
            Some(entry) => {
                check_same(&name, &entry.machine, spec)?;
                return Ok((entry.describe(&name), false));
            }
            None if spreads.by_name.len() >= NAMED_SPREADS.max_size() => {
                return Err(too_many(&name));
            }
            None => {}
        }
        let (changed, ended) = <(Arc<Notify>, Arc<Notify>)>::default();
        let epoch = spreads.next_epoch;
        spreads.next_epoch += 1;
        let entry = Entry { machine, epoch, start: Instant::now(), changed, ended };
        let description = entry.describe(&name);
        if let Some(spent) = spreads.by_name.insert(name, entry) {
            spreads.bytes -= spent.machine.memory(); // of the settled groups that it remembered
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
    ) -> Result<LeasedJobs, Rejection> {
        let wake = |entry: &Entry| Arc::clone(&entry.changed);
        self.until(name, wait, wake, |entry, now, _| {
            // In whole milliseconds, like the machine: no lease is reported to end later than it
            // does.
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
                LeasedJobs { epoch, lease_millis, end_time, jobs, empty_reason, stopped, start };
            Ok((leased, is_final))
        })
        .await
    }

    async fn settle(
        &self,
        name: &str,
        settlements: Vec<(LeaseId, SettleAction)>,
    ) -> Result<SettlementResults, Rejection> {
        self.lock().with(name, |entry, now| {
            let extended_end_time = (self.now)().plus_millis(entry.lease_millis() - 1);
            let settle = |(id, action)| entry.machine.settle(now, id, action);
            let outcomes = settlements.into_iter().map(settle).collect();
            entry.changed.notify_waiters();
            SettlementResults { outcomes, extended_end_time }
        })
    }

    async fn describe(
        &self,
        name: &str,
        count: usize,
    ) -> Result<(Description, Vec<NextJob>), Rejection> {
        self.lock().with(name, |entry, now| {
            entry.machine.advance(now);
            (entry.describe(name), entry.machine.next_jobs(count))
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
    ) -> Result<DeadLetterPage, Rejection> {
        self.lock().with(name, |entry, now| {
            entry.machine.advance(now);
            let (letters, has_more) = entry.machine.dead_letters(after, count);
            DeadLetterPage { epoch: entry.epoch, letters, has_more }
        })
    }

    async fn redrive_dead_letters(
        &self,
        name: &str,
        letters: &DeadLetterIds,
    ) -> Result<u64, Rejection> {
        let mut spreads = self.lock();
        let entry = spreads.entry(name)?;
        let numbers = letters.in_epoch(entry.epoch);
        let wanted = entry.machine.redriven_memory(numbers);
        let left = spreads.bytes_left(self.max_byte_count, wanted, wanted);
        spreads.with(name, |entry, now| {
            let redriven = entry.machine.redrive(now, numbers, left)?;
            entry.changed.notify_waiters();
            Ok(redriven)
        })?
    }

    async fn delete_dead_letters(
        &self,
        name: &str,
        letters: &DeadLetterIds,
    ) -> Result<u64, Rejection> {
        self.lock().with(name, |entry, _| {
            let numbers = letters.in_epoch(entry.epoch);
            entry.machine.delete_dead_letters(numbers.iter().copied())
        })
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

    fn kind(&self) -> &'static str {
        "memory"
    }

    fn figures(&self) -> Vec<SpreadFigures> {
        self.lock().by_name.iter().map(|(name, entry)| entry.figures(name)).collect()
    }

    fn stop(&self) {
        self.stopped.send_replace(true);
    }

    /// Advances the time of spreads, so that leases end even without calls.
    async fn keep_up(&self) {
        loop {
            tokio::time::sleep(SWEEP).await;
            let mut spreads = self.lock();
            let names: Vec<String> = spreads.by_name.keys().cloned().collect();
            for name in names {
                let _ = spreads.with(&name, |entry, now| {
                    let before = entry.machine.counts();
                    entry.machine.advance(now);
                    // A lease that began after a call started to wait may have ended.
                    if entry.machine.counts() != before {
                        entry.changed.notify_waiters();
                    }
                });
            }
        }
    }
}
