//! Named spreads in Redis: they give the same answers as in memory, whichever process is called.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap
)]

#[path = "support/redis.rs"]
mod redis_server;
#[path = "support/stores.rs"]
#[expect(dead_code, reason = "other tests need them")]
mod stores;

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use offbeat::spreads::{
    CloseMode, DeadLetterIds, Description, IfClosed, MemoryStore, RedisStore, SpreadStore,
};
use offbeat_core::spread::SpreadSpec;
use offbeat_core::spread::lease::{LeaseId, SettleAction, SettleOutcome};
use offbeat_core::spread::named::{
    GroupPart, LeasedJob, LimitChanges, NamedSpreadSpec, SpreadLimits,
};
use offbeat_core::{Moment, Rejection};
use rand_mt::Mt64;
use redis_server::Redis;
use stores::{BYTES, NOW, connect, group};

fn clock() -> Moment {
    Moment::try_new(1_700_000_000, 0).unwrap()
}

/// The visible part of an answer: all but the epoch and times.
fn seen<T: std::fmt::Debug>(answer: &Result<T, Rejection>) -> String {
    match answer {
        Ok(answer) => format!("{answer:?}"),
        Err(refused) => {
            format!("{:?} {} {} {}", refused.reason, refused.field, refused.value, refused.allowed)
        }
    }
}

fn described(description: &Description) -> impl std::fmt::Debug + use<> {
    let Description { spec, state, counts, certificate, .. } = description;
    (*spec, *state, *counts, *certificate)
}

/// A call independent of the store; leases are named by sequence and attempt.
#[derive(Debug, Clone)]
enum Call {
    Open(IfClosed),
    Update(i64),
    Submit(Vec<GroupPart>),
    Groups(Vec<String>),
    Pull(usize, usize),
    Settle(Vec<(u64, u32, SettleAction)>),
    Letters,
    Redrive(Vec<u64>),
    Delete(Vec<u64>),
    Drain,
    Discard,
}

/// One spread of a store, as a test uses it.
struct StoreUnderTest<'a> {
    store: &'a dyn SpreadStore,
    spec: NamedSpreadSpec,
}

impl StoreUnderTest<'_> {
    async fn ask(&self, name: &str, epoch: &mut u64, call: Call) -> (String, Vec<(u64, u32)>) {
        let store = self.store;
        let mut leases = Vec::new();
        let ids = |numbers: &[u64], epoch: u64| DeadLetterIds { epoch, numbers: numbers.to_vec() };
        let answer = match call {
            Call::Open(if_closed) => {
                let opened = store.open(name.to_owned(), self.spec, if_closed).await;
                if let Ok((description, _)) = &opened {
                    *epoch = description.epoch;
                }
                seen(&opened.map(|(description, new)| (described(&description), new)))
            }
            Call::Update(max_job_count) => {
                let max_job_count = Some(max_job_count);
                let changes = LimitChanges { max_job_count, ..LimitChanges::default() };
                seen(&store.update(name, changes).await.map(|now| described(&now)))
            }
            Call::Submit(parts) => {
                let submitted = store.submit(name, parts).await;
                seen(&submitted.map(|(statuses, receipt)| (statuses, receipt.lease_millis)))
            }
            Call::Groups(ids) => {
                seen(&store.groups(name, &ids, NOW).await.map(|(statuses, _)| statuses))
            }
            Call::Pull(consumer, count) => {
                let consumer: Arc<str> = ["one", "two", ""][consumer].into();
                let pulled = store.pull(name, &consumer, count, NOW).await;
                if let Ok(pulled) = &pulled {
                    let lease = |id: LeaseId| (id.sequence, id.attempt);
                    leases.extend(pulled.jobs.iter().map(|job| lease(job.id)));
                }
                seen(&pulled.map(|pulled| {
                    let job = |job: LeasedJob| {
                        let LeasedJob { id, group_id, job_index, payload, redelivered } = job;
                        (id.sequence, id.attempt, group_id, job_index, payload, redelivered)
                    };
                    let jobs: Vec<_> = pulled.jobs.into_iter().map(job).collect();
                    (jobs, pulled.empty_reason)
                }))
            }
            Call::Settle(settlements) => {
                let with = |(sequence, attempt, action)| {
                    (LeaseId { epoch: *epoch, sequence, attempt }, action)
                };
                let settled = store.settle(name, settlements.into_iter().map(with).collect()).await;
                seen(&settled.map(|settled| {
                    let plain = |outcome: &SettleOutcome| match outcome {
                        SettleOutcome::Extended { .. } => "Extended".to_owned(),
                        other => format!("{other:?}"),
                    };
                    settled.outcomes.iter().map(plain).collect::<Vec<_>>()
                }))
            }
            Call::Letters => {
                let page = store.dead_letters(name, None, 3).await;
                seen(&page.map(|page| (page.letters, page.has_more)))
            }
            Call::Redrive(numbers) => {
                seen(&store.redrive_dead_letters(name, &ids(&numbers, *epoch)).await)
            }
            Call::Delete(numbers) => {
                seen(&store.delete_dead_letters(name, &ids(&numbers, *epoch)).await)
            }
            Call::Drain => {
                let closed = store.close(name, CloseMode::Drain, NOW).await;
                seen(&closed.map(|closed| described(&closed)))
            }
            Call::Discard => {
                let closed = store.close(name, CloseMode::Discard, NOW).await;
                seen(&closed.map(|closed| described(&closed)))
            }
        };
        let now = seen(&store.describe(name, 5).await.map(|(now, next)| (described(&now), next)));
        (format!("{answer}\n{now}"), leases)
    }
}

fn below(rng: &mut Mt64, limit: usize) -> usize {
    usize::try_from(rng.next_u64() % limit as u64).unwrap()
}

fn call(rng: &mut Mt64, step: usize, leases: &[(u64, u32)]) -> Call {
    let id = |rng: &mut Mt64| format!("g{}", step.saturating_sub(below(rng, 4)));
    match below(rng, 20) {
        0..5 => {
            let ids = (0..=below(rng, 3)).map(|place| format!("{}-{place}", id(rng)));
            Call::Submit(ids.map(|id| group(&id, 1 + step % 5)).collect())
        }
        5 => Call::Submit(vec![GroupPart { commit: None, ..group(&id(rng), 3) }]),
        6 => Call::Groups(vec![format!("{}-0", id(rng)), id(rng)]),
        7 => Call::Letters,
        8 => Call::Redrive(vec![below(rng, 5) as u64, below(rng, 9) as u64]),
        9 => Call::Delete(vec![below(rng, 5) as u64]),
        10 if step.is_multiple_of(5) => Call::Update(10 + below(rng, 60) as i64),
        11 if step > 30 && below(rng, 4) == 0 => Call::Drain,
        12 if step > 30 && below(rng, 6) == 0 => Call::Discard,
        13 if step.is_multiple_of(4) => {
            Call::Open([IfClosed::Reopen, IfClosed::Leave][below(rng, 2)])
        }
        _ if leases.is_empty() || below(rng, 2) == 0 => {
            Call::Pull(if below(rng, 30) == 0 { 2 } else { below(rng, 2) }, 1 + below(rng, 6))
        }
        _ => {
            let one = |rng: &mut Mt64| {
                let (sequence, attempt) = leases[below(rng, leases.len())];
                let action = match below(rng, 8) {
                    0..4 => SettleAction::Ack,
                    4 => SettleAction::Nack { delay: 0 },
                    5 => SettleAction::Release { delay: 0 },
                    6 => SettleAction::ExtendLease,
                    _ => SettleAction::DeadLetter,
                };
                (sequence, attempt, action)
            };
            Call::Settle((0..=below(rng, 4)).map(|_| one(rng)).collect())
        }
    }
}

/// A history of calls to a spread of its own. Each call is also made to the spread in memory.
async fn history(seed: u64, stores: [Arc<RedisStore>; 2], memory: Arc<MemoryStore>) {
    let mut rng = Mt64::new(seed);
    let limits = SpreadLimits {
        max_job_count: 40,
        max_consumer_lease_count: 6,
        max_attempt_count: 2,
        ..SpreadLimits::default()
    };
    let order = [SpreadSpec::round_robin(2), SpreadSpec::cooldown(3)][seed as usize % 2];
    let spec = NamedSpreadSpec { order, lease_millis: 600_000, limits };
    let (name, mut leases) = (format!("spread {seed}"), Vec::new());
    let (mut expected_epoch, mut epoch) = (0, 0);
    for step in 0..60 {
        let first = Call::Open(IfClosed::Leave);
        let call = if step == 0 { first } else { call(&mut rng, step, &leases) };
        let tested = StoreUnderTest { store: &*memory, spec };
        let (expected, leased) = tested.ask(&name, &mut expected_epoch, call.clone()).await;
        let store = &stores[below(&mut rng, 2)];
        let tested = StoreUnderTest { store, spec };
        let (answer, _) = tested.ask(&name, &mut epoch, call.clone()).await;
        assert_eq!(answer, expected, "seed {seed}, step {step}: {call:?}");
        leases.extend(leased);
        // A job that the next call returns must be ready later in both stores.
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    for store in [&*memory as &dyn SpreadStore, &stores[0]] {
        let _ = store.close(&name, CloseMode::Discard, NOW).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_history_is_answered_as_in_memory_whichever_process_is_asked() {
    let redis = Redis::start(&[]).await;
    let stores = [connect(&redis).await, connect(&redis).await];
    let memory = Arc::new(MemoryStore::new(clock, BYTES));
    let histories =
        std::env::var("OFFBEAT_HISTORIES").map_or(1_000, |count| count.parse().unwrap());
    let run = |seed| tokio::spawn(history(seed, stores.clone(), Arc::clone(&memory)));
    let mut ended = futures_util::stream::iter(0..histories).map(run).buffer_unordered(16);
    while let Some(ended) = ended.next().await {
        ended.unwrap();
    }
}
