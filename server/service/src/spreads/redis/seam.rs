//! The calls of [`SpreadStore`].

use std::sync::Arc;
use std::time::Duration;

use offbeat_core::spread::lease::{LeaseId, SettleAction};
use offbeat_core::spread::named::{
    GroupPart, GroupState, GroupStatus, LimitChanges, NamedSpread, NamedSpreadSpec, Receipt,
    SpreadState,
};
use offbeat_core::{Reason, Rejection};
use tokio::time::Instant;

use super::calls::{Answer, Call, empty_reason};
use super::engine::Failure;
use super::replica::{Answered, Kept};
use super::shared::Shared;
use super::{RedisStore, interrupted, moment};
use crate::limits::NAMED_SPREADS;
use crate::metrics::StoreMetrics;
use crate::spreads::views::{check_name, check_same, too_many, unknown};
use crate::spreads::{
    CloseMode, DeadLetterIds, DeadLetterPage, Description, Leased, Settled, SpreadFigures,
    SpreadStore,
};

/// Tells of groups that are held that they are on disk, if they are.
fn tell_stored(is_stored: bool, statuses: &mut [GroupStatus]) {
    for status in statuses {
        if is_stored && status.state == GroupState::Received {
            status.state = GroupState::Stored;
        }
    }
}

/// How often a spread is opened while others discard it and open it again.
const TRIES: usize = 8;

#[tonic::async_trait]
impl SpreadStore for Arc<RedisStore> {
    async fn open(
        &self,
        name: String,
        spec: NamedSpreadSpec,
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
            if let Some(description) = found.ok_or_else(interrupted)?? {
                return Ok((description, created));
            }
        }
        Err(interrupted())
    }

    async fn update(&self, name: &str, changes: LimitChanges) -> Result<Description, Rejection> {
        let (shared, answered) = self.call(name, &Call::Update(changes)).await?;
        let Answer::Done(done) = answered.answer else { return Err(interrupted()) };
        done?;
        shared.with(|kept| kept.describe(name)).ok_or_else(interrupted)
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
        let mut shared = self.shared(name);
        // What would be refused does not become an entry.
        if !matches!(shared.check(&parts, elsewhere), Some(Ok(()))) {
            shared = self.read(name).await?;
            shared.check(&parts, elsewhere).ok_or_else(interrupted)??;
        }
        let call = Call::Submit { parts, elsewhere };
        let (shared, answered) = self.call(name, &call).await?;
        let Answered { answer: Answer::Statuses(statuses), epoch, run, .. } = answered else {
            return Err(interrupted());
        };
        let mut statuses = statuses?;
        let is_stored = self.heard(name, self.engine.holding.until_stored(&run).await)?;
        tell_stored(is_stored, &mut statuses);
        let lease_millis = shared.with(|kept| kept.machine.spec().lease_millis);
        let lease_millis = lease_millis.ok_or_else(interrupted)?;
        Ok((statuses, Receipt { epoch, lease_millis }))
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
            let mut shared = self.shared(name);
            let changes = shared.subscribe();
            let is_last = self.is_over(end);
            if is_stale || is_last {
                shared = self.read(name).await?;
            }
            let answer = shared.with_life(|kept, life, _| {
                let is_news = ids.iter().any(|id| kept.machine.is_over(id));
                let statuses = (is_news || is_last)
                    .then(|| kept.machine.groups(ids.iter().map(String::as_str)));
                statuses.map(|statuses| (statuses, kept.epoch, life.run.clone()))
            });
            if let Some((mut statuses, epoch, run)) = answer.ok_or_else(interrupted)? {
                if statuses.iter().any(|status| status.state == GroupState::Received) {
                    let stored = self.engine.holding.until_stored(&run).await;
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
    ) -> Result<Leased, Rejection> {
        let end = Instant::now() + wait;
        // At first, what is known here may do, if there is a job. Later, only time makes it stale.
        let (mut is_first, mut is_stale) = (true, false);
        loop {
            let mut shared = self.shared(name);
            let changes = shared.subscribe();
            let is_last = self.is_over(end);
            // A pull that leases nothing is no entry.
            let may_lease =
                |shared: &Shared| shared.with_now(|kept, now| kept.may_lease(now, consumer, count));
            if is_stale || (is_first && !matches!(may_lease(&shared), Some(Ok(true)))) {
                shared = self.read(name).await?;
            }
            is_first = false;
            if may_lease(&shared).ok_or_else(interrupted)?? {
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
                return shared.with(none).ok_or_else(interrupted);
            }
            is_stale = self.wait(&shared, changes, end).await;
        }
    }

    async fn settle(
        &self,
        name: &str,
        settlements: Vec<(LeaseId, SettleAction)>,
    ) -> Result<Settled, Rejection> {
        let extends = settlements.iter().any(|(_, action)| *action == SettleAction::ExtendLease);
        let (shared, answered) = self.call(name, &Call::Settle(settlements)).await?;
        let Answered { answer: Answer::Outcomes(outcomes), millis, run, .. } = answered else {
            return Err(interrupted());
        };
        if extends {
            // A replica that has taken over does not wait for a lease that was extended elsewhere.
            self.heard(name, self.engine.holding.until_replicated(&run).await)?;
        }
        let lease = shared.with(Kept::lease_millis).ok_or_else(interrupted)?;
        Ok(Settled { outcomes, extended_end_time: moment(millis + lease - 1) })
    }

    async fn describe(&self, name: &str) -> Result<Description, Rejection> {
        let shared = self.read(name).await?;
        shared.with(|kept| kept.describe(name)).ok_or_else(interrupted)
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
        page.ok_or_else(interrupted)
    }

    async fn redrive_dead_letters(
        &self,
        name: &str,
        letters: &DeadLetterIds,
    ) -> Result<u64, Rejection> {
        let shared = self.read(name).await?;
        let wanted = |kept: &Kept| kept.machine.redriven_memory(letters.in_epoch(kept.epoch));
        let wanted = shared.with(wanted).ok_or_else(interrupted)?;
        let elsewhere = self.bytes_left(wanted, wanted).await?;
        let call = Call::Redrive { letters: letters.clone(), elsewhere };
        let Answer::Count(count) = self.call(name, &call).await?.1.answer else {
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
        let Answer::Count(count) = self.call(name, &call).await?.1.answer else {
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
            let changes = self.shared(name).subscribe();
            let shared = self.read(name).await?;
            let description = shared.with(|kept| kept.describe(name)).ok_or_else(interrupted)?;
            match description.state {
                SpreadState::Open => drop(self.call(name, &Call::Close).await?),
                SpreadState::Draining if !self.is_over(end) => {
                    self.wait(&shared, changes, end).await;
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

    async fn keep_up(&self) {
        self.listen().await;
    }
}
