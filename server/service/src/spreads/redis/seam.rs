//! [`SpreadStore`] over Redis.

use std::sync::Arc;
use std::time::Duration;

use offbeat_core::spread::lease::{LeaseId, SettleAction};
use offbeat_core::spread::named::{
    GroupPart, GroupState, GroupStatus, LimitChanges, NamedSpread, NamedSpreadSpec, NextJob,
    Receipt, SpreadState,
};
use offbeat_core::{Reason, Rejection};
use tokio::time::Instant;

use super::calls::{Answer, Call, empty_reason};
use super::failure::Failure;
use super::replica::{CallResult, LocalSpread};
use super::shared::SharedSpread;
use super::{RedisStore, TRIES, interrupted, moment};
use crate::limits::NAMED_SPREADS;
use crate::metrics::store::StoreMetrics;
use crate::spreads::views::{check_name, check_same, too_many, unknown};
use crate::spreads::{
    CloseMode, DeadLetterIds, DeadLetterPage, Description, IfClosed, LeasedJobs, SettlementResults,
    SpreadFigures, SpreadStore,
};

/// Marks received groups as stored if they are on disk.
fn tell_stored(is_stored: bool, statuses: &mut [GroupStatus]) {
    for status in statuses {
        if is_stored && status.state == GroupState::Received {
            status.state = GroupState::Stored;
        }
    }
}

#[tonic::async_trait]
impl SpreadStore for Arc<RedisStore> {
    async fn open(
        &self,
        name: String,
        spec: NamedSpreadSpec,
        if_closed: IfClosed,
    ) -> Result<(Description, bool), Rejection> {
        check_name(&name)?;
        let checked = NamedSpread::try_new(0, &spec).map_err(|refused| refused.under("spec"))?;
        let bytes = postcard::to_stdvec(&spec).map_err(|_| interrupted())?;
        let mut ended: Option<(String, u64)> = None;
        for _ in 0..TRIES {
            let place = ended.as_ref().map(|(life, next)| (&**life, *next));
            let most = NAMED_SPREADS.max_size();
            let opened = self.engine.open(&name, &bytes, most, place).await;
            let Some(created) = self.heard(&name, opened)? else {
                return Err(too_many(&name));
            };
            let shared = match self.read(&name).await {
                Err(refused) if refused.reason == Reason::UnknownSpread => continue,
                read => read?,
            };
            let found = shared.with_life(|spread, life, next| {
                if !created && spread.machine.is_spent() {
                    if if_closed == IfClosed::Leave {
                        return Ok(Some(spread.describe(&name)));
                    }
                    ended = Some((life.life.clone(), next));
                    return Ok(None);
                }
                if !created {
                    check_same(&name, &spread.machine, checked.spec())?;
                }
                Ok::<_, Rejection>(Some(spread.describe(&name)))
            });
            if let Some(description) = found.ok_or_else(interrupted)?? {
                return Ok((description, created));
            }
        }
        Err(interrupted())
    }

    async fn update(&self, name: &str, changes: LimitChanges) -> Result<Description, Rejection> {
        let result = self.call_held(name, &Call::Update(changes)).await?;
        let Answer::Done(done) = result.answer else { return Err(interrupted()) };
        done?;
        Ok(self.describe(name, 0).await?.0)
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
        // A refused submission does not become an entry.
        if !matches!(self.shared(name).check(&parts, elsewhere), Some(Ok(()))) {
            self.ask(name, |shared| shared.check(&parts, elsewhere)).await??;
        }
        let call = Call::Submit { parts, elsewhere };
        let (_, result) = self.call(name, &call).await?;
        let CallResult { answer: Answer::Statuses(statuses), epoch, lease_millis, run, .. } =
            result
        else {
            return Err(interrupted());
        };
        let mut statuses = statuses?;
        let is_stored = self.heard(name, self.engine.durability.until_stored(&run).await)?;
        tell_stored(is_stored, &mut statuses);
        Ok((statuses, Receipt { epoch, lease_millis: lease_millis.cast_signed() }))
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
            let is_last = self.is_over(end);
            let question = |shared: &SharedSpread| {
                shared.with_life(|spread, life, _| {
                    let is_news = ids.iter().any(|id| spread.machine.is_over(id));
                    let statuses = (is_news || is_last)
                        .then(|| spread.machine.groups(ids.iter().map(String::as_str)));
                    statuses.map(|statuses| (statuses, spread.epoch, life.run.clone()))
                })
            };
            let known = if is_stale || is_last { None } else { question(&shared) };
            let answer = match known {
                Some(answer) => answer,
                None => self.ask(name, question).await?,
            };
            if let Some((mut statuses, epoch, run)) = answer {
                if statuses.iter().any(|status| status.state == GroupState::Received) {
                    let stored = self.engine.durability.is_stored(&run).await;
                    tell_stored(matches!(stored, Ok(true)), &mut statuses);
                }
                return Ok((statuses, epoch));
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
    ) -> Result<LeasedJobs, Rejection> {
        let end = Instant::now() + wait;
        // At first, the local state suffices if it has a job. Later, it is stale only if time has
        // passed.
        let (mut is_first, mut is_stale) = (true, false);
        loop {
            let shared = self.shared(name);
            let changes = shared.subscribe();
            let is_last = self.is_over(end);
            // A pull that leases nothing does not become an entry.
            let question = |shared: &SharedSpread| {
                shared.with_now(|spread, now| spread.may_lease(now, consumer, count))
            };
            let known = if is_stale { None } else { question(&shared) };
            let may_lease = match known {
                Some(Ok(true)) => true,
                Some(known) if !is_first => known?,
                _ => self.ask(name, question).await??,
            };
            let must_ask = std::mem::take(&mut is_first) || is_last;
            let asking = may_lease.then(|| shared.begin_asking(count as u64, must_ask)).flatten();
            if let Some(asking) = asking {
                let (leased, is_final) = self.pull_once(name, consumer, count, asking).await?;
                if is_final || is_last {
                    return Ok(leased);
                }
            } else if is_last {
                let none = |spread: &LocalSpread| LeasedJobs {
                    epoch: spread.epoch,
                    lease_millis: spread.lease_millis(),
                    end_time: None,
                    jobs: Vec::new(),
                    empty_reason: Some(empty_reason(&spread.machine, consumer)),
                    stopped: *self.stopped.borrow(),
                    start: Instant::now(),
                };
                return self.ask(name, |shared| shared.with(none)).await;
            }
            is_stale = self.wait(&shared, changes, end).await;
        }
    }

    async fn settle(
        &self,
        name: &str,
        settlements: Vec<(LeaseId, SettleAction)>,
    ) -> Result<SettlementResults, Rejection> {
        let extends = settlements.iter().any(|(_, action)| *action == SettleAction::ExtendLease);
        let (_, result) = self.call(name, &Call::Settle(settlements)).await?;
        let CallResult { answer: Answer::Outcomes(outcomes), millis, lease_millis, run, .. } =
            result
        else {
            return Err(interrupted());
        };
        if extends {
            // A replica that takes over without the extension would end the lease early.
            self.heard(name, self.engine.durability.until_replicated(&run).await)?;
        }
        Ok(SettlementResults { outcomes, extended_end_time: moment(millis + lease_millis - 1) })
    }

    async fn describe(
        &self,
        name: &str,
        count: usize,
    ) -> Result<(Description, Vec<NextJob>), Rejection> {
        let describe = |spread: &LocalSpread| (spread.describe(name), spread.next_jobs(count));
        self.ask(name, |shared| shared.with(describe)).await
    }

    async fn list(&self, after: &str, count: usize) -> Result<(Vec<Description>, bool), Rejection> {
        let names = self.engine.list(after, count + 1).await.map_err(Failure::from);
        let names = self.heard("", names)?;
        let has_more = names.len() > count;
        let mut page = Vec::new();
        for name in names.iter().take(count) {
            let is_used = self.lock().contains_key(name);
            match self.describe(name, 0).await {
                Err(refused) if refused.reason == Reason::UnknownSpread => {}
                described => page.push(described?.0),
            }
            if !is_used {
                self.lock().remove(name); // calls that came meanwhile continue
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
        let page = |spread: &LocalSpread| {
            let (letters, has_more) = spread.machine.dead_letters(after, count);
            DeadLetterPage { epoch: spread.epoch, letters, has_more }
        };
        self.ask(name, |shared| shared.with(page)).await
    }

    async fn redrive_dead_letters(
        &self,
        name: &str,
        letters: &DeadLetterIds,
    ) -> Result<u64, Rejection> {
        let wanted =
            |spread: &LocalSpread| spread.machine.redriven_memory(letters.in_epoch(spread.epoch));
        let wanted = self.ask(name, |shared| shared.with(wanted)).await?;
        let elsewhere = self.bytes_left(wanted, wanted).await?;
        let call = Call::Redrive { letters: letters.clone(), elsewhere };
        let Answer::Count(count) = self.call_held(name, &call).await?.answer else {
            return Err(interrupted());
        };
        count
    }

    async fn delete_dead_letters(
        &self,
        name: &str,
        letters: &DeadLetterIds,
    ) -> Result<u64, Rejection> {
        let call = Call::DeleteLetters(letters.clone());
        let Answer::Count(count) = self.call_held(name, &call).await?.answer else {
            return Err(interrupted());
        };
        count
    }

    async fn close(
        &self,
        name: &str,
        mode: CloseMode,
        wait: Duration,
    ) -> Result<Description, Rejection> {
        if mode == CloseMode::Discard {
            let (description, _) = self.describe(name, 0).await?;
            let discarded = self.engine.discard(name).await.map_err(Failure::from);
            if !self.heard(name, discarded)? {
                return Err(unknown(name));
            }
            let _ = self.heard::<()>(name, Err(Failure::Unknown));
            return Ok(description);
        }
        let end = Instant::now() + wait;
        loop {
            let changes = self.shared(name).subscribe();
            let (description, _) = self.describe(name, 0).await?;
            match description.state {
                SpreadState::Open => drop(self.call_held(name, &Call::Close).await?),
                SpreadState::Draining if !self.is_over(end) => {
                    self.wait(&self.shared(name), changes, end).await;
                }
                SpreadState::Draining | SpreadState::Closed => return Ok(description),
            }
        }
    }

    fn kind(&self) -> &'static str {
        "redis"
    }

    fn metrics(&self) -> Option<&StoreMetrics> {
        Some(&self.engine.observer().metrics)
    }

    fn figures(&self) -> Vec<SpreadFigures> {
        self.all().iter().filter_map(|shared| shared.figures()).collect()
    }

    fn stop(&self) {
        self.stopped.send_replace(true);
    }

    async fn finish(&self) {
        self.leasing.close();
        self.leasing.wait().await;
    }

    async fn keep_up(&self) {
        self.listen().await;
    }
}
