//! Pulls: no job is leased to a caller that has left.

use std::sync::Arc;

use offbeat_core::Rejection;
use offbeat_core::spread::lease::SettleAction;
use offbeat_core::spread::named::{EmptyReason, LeasedJob};
use tokio::sync::oneshot;
use tokio::time::Instant;
use tracing::Instrument as _;

use super::calls::{Answer, Call};
use super::replica::CallResult;
use super::shared::PendingPull;
use super::{RedisStore, interrupted, moment};
use crate::spreads::LeasedJobs;

impl RedisStore {
    /// One pull, in a task that continues if its caller leaves: then its leases are released. Also
    /// returns whether a consumer need not wait for more.
    pub(super) async fn pull_once(
        self: &Arc<Self>,
        name: &str,
        consumer: &Arc<str>,
        count: usize,
        asking: PendingPull,
    ) -> Result<(LeasedJobs, bool), Rejection> {
        let (sender, receiver) = oneshot::channel();
        let (store, name) = (Arc::clone(self), name.to_owned());
        let consumer = Arc::clone(consumer);
        let leasing = async move {
            let pulled = store.lease(&name, consumer, count).await;
            drop(asking);
            let _ = match pulled {
                Ok((leased, is_final, run)) => {
                    // If the replicas that may take over do not confirm it, the jobs are released.
                    let held = store.engine.durability.until_replicated(&run).await;
                    let undelivered =
                        UndeliveredLeases { store: Arc::clone(&store), name, leased: Some(leased) };
                    let held = store.heard(&undelivered.name, held);
                    sender.send(held.map(|()| (undelivered, is_final)))
                }
                Err(refused) => sender.send(Err(refused)),
            };
        };
        self.leasing.spawn(leasing.in_current_span());
        let (mut undelivered, is_final) = receiver.await.unwrap_or_else(|_| Err(interrupted()))?;
        let leased = undelivered.leased.take().ok_or_else(interrupted)?;
        Ok((leased, is_final))
    }

    async fn lease(
        &self,
        name: &str,
        consumer: Arc<str>,
        count: usize,
    ) -> Result<(LeasedJobs, bool, String), Rejection> {
        let start = Instant::now();
        let (_, result) = self.call(name, &Call::Pull { consumer, count }).await?;
        let CallResult { answer: Answer::Jobs(jobs), millis, epoch, lease_millis, run } = result
        else {
            return Err(interrupted());
        };
        let (jobs, empty_reason) = jobs?;
        let is_final = !jobs.is_empty() || empty_reason == Some(EmptyReason::Ended);
        let (end_time, stopped) = (moment(millis + lease_millis - 1), *self.stopped.borrow());
        let leased =
            LeasedJobs { epoch, lease_millis, end_time, jobs, empty_reason, stopped, start };
        Ok((leased, is_final, run))
    }
}

/// Leases of a pull until its caller has them; if dropped before, they are released.
struct UndeliveredLeases {
    store: Arc<RedisStore>,
    name: String,
    leased: Option<LeasedJobs>,
}

impl Drop for UndeliveredLeases {
    fn drop(&mut self) {
        let Some(leased) = self.leased.take() else { return };
        let release = |job: LeasedJob| (job.id, SettleAction::Release { delay: 0 });
        let settlements: Vec<_> = leased.jobs.into_iter().map(release).collect();
        if settlements.is_empty() {
            return;
        }
        let (store, name) = (Arc::clone(&self.store), std::mem::take(&mut self.name));
        let leasing = store.leasing.clone();
        leasing.spawn(async move { drop(store.call(&name, &Call::Settle(settlements)).await) });
    }
}
