//! Named spreads in Redis: what they answer is what they answer in memory, whichever process is
//! asked, and they outlive processes and Redis itself.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap
)]

#[path = "support/redis.rs"]
mod redis_server;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use offbeat::spreads::{
    CloseMode, DeadLetterIds, Description, Leased, MemoryStore, RedisStore, SpreadStore,
};
use offbeat_core::spread::SpreadSpec;
use offbeat_core::spread::lease::{LeaseId, SettleAction, SettleOutcome};
use offbeat_core::spread::named::{
    Commit, EmptyReason, GroupPart, GroupState, LimitChanges, NamedSpreadSpec, Receipt,
    SpreadLimits, SpreadState, content_digest,
};
use offbeat_core::{Moment, Reason, Rejection};
use rand_mt::Mt64;
use redis_server::Redis;
use tokio::time::Instant;

const NOW: Duration = Duration::ZERO;
const BYTES: u64 = 64 << 20;

fn clock() -> Moment {
    Moment::try_new(1_700_000_000, 0).unwrap()
}

async fn connect(redis: &Redis) -> Arc<RedisStore> {
    let store = RedisStore::connect(&redis.url(), "test:", BYTES).await.unwrap();
    let listening = Arc::clone(&store);
    tokio::spawn(async move { listening.keep_up().await });
    store
}

fn jobs(id: &str, count: usize) -> Vec<Bytes> {
    (0..count).map(|index| format!("{id}/{index}").into()).collect()
}

fn group(id: &str, count: usize) -> GroupPart {
    let payloads = jobs(id, count);
    let commit = Some(Commit {
        job_count: count.try_into().unwrap(),
        sha256: content_digest(&payloads).to_vec().into(),
        ..Commit::default()
    });
    GroupPart { group_id: id.to_owned(), payloads, commit, ..GroupPart::default() }
}

fn spec(lease_millis: i64) -> NamedSpreadSpec {
    NamedSpreadSpec { lease_millis, ..NamedSpreadSpec::new(SpreadSpec::round_robin(2)) }
}

fn one() -> Arc<str> {
    "one".into()
}

fn names(leased: &Leased) -> Vec<String> {
    let name = |job: &Bytes| String::from_utf8(job.to_vec()).unwrap();
    leased.jobs.iter().map(|job| name(&job.payload)).collect()
}

/// What a caller sees of an answer: all but the epoch and times.
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

/// A call in every store's terms; leases by sequence and attempt.
#[derive(Debug, Clone)]
enum Call {
    Open,
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

/// One spread of a store, as a test asks it.
struct Asked<'a> {
    store: &'a dyn SpreadStore,
    spec: NamedSpreadSpec,
}

impl Asked<'_> {
    async fn ask(&self, name: &str, epoch: &mut u64, call: Call) -> (String, Vec<(u64, u32)>) {
        let store = self.store;
        let mut leases = Vec::new();
        let ids = |numbers: &[u64], epoch: u64| DeadLetterIds { epoch, numbers: numbers.to_vec() };
        let answer = match call {
            Call::Open => {
                let opened = store.open(name.to_owned(), self.spec).await;
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
                    let job = |job: offbeat_core::spread::named::LeasedJob| {
                        let LeasedJob { id, group_id, job_index, payload, redelivered } = job;
                        (id.sequence, id.attempt, group_id, job_index, payload, redelivered)
                    };
                    use offbeat_core::spread::named::LeasedJob;
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
        let now = seen(&store.describe(name).await.map(|now| described(&now)));
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
        13 if step.is_multiple_of(4) => Call::Open,
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

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_history_is_answered_as_in_memory_whichever_process_is_asked() {
    let redis = Redis::start(&[]).await;
    let stores = [connect(&redis).await, connect(&redis).await];
    let memory = MemoryStore::new(clock, BYTES);
    let histories = std::env::var("OFFBEAT_HISTORIES").map_or(150, |count| count.parse().unwrap());
    for seed in 0..histories {
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
            let call = if step == 0 { Call::Open } else { call(&mut rng, step, &leases) };
            let asked = Asked { store: &memory, spec };
            let (expected, leased) = asked.ask(&name, &mut expected_epoch, call.clone()).await;
            let store = &stores[below(&mut rng, 2)];
            let asked = Asked { store, spec };
            let (answer, _) = asked.ask(&name, &mut epoch, call.clone()).await;
            assert_eq!(answer, expected, "seed {seed}, step {step}: {call:?}");
            leases.extend(leased);
            // In both stores, what is returned by the next call is returned later.
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        for store in [&memory as &dyn SpreadStore, &stores[0]] {
            let _ = store.close(&name, CloseMode::Discard, NOW).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn those_who_wait_hear_of_what_another_process_did() {
    let redis = Redis::start(&[]).await;
    let (here, there) = (connect(&redis).await, connect(&redis).await);
    here.open("s".to_owned(), spec(1_000)).await.unwrap();
    let waiting = Arc::clone(&here);
    let pull = tokio::spawn(async move {
        waiting.pull("s", &one(), 4, Duration::from_secs(20)).await.unwrap()
    });
    tokio::time::sleep(Duration::from_millis(300)).await;
    let submitted = Instant::now();
    there.submit("s", vec![group("a", 3)]).await.unwrap();
    let pulled = pull.await.unwrap();
    assert!(submitted.elapsed() < Duration::from_secs(1), "{:?}", submitted.elapsed());
    assert_eq!(names(&pulled), ["a/0", "a/1", "a/2"]);

    let waiting = Arc::clone(&there);
    let groups = tokio::spawn(async move {
        waiting.groups("s", &["a".to_owned()], Duration::from_secs(20)).await.unwrap()
    });
    let waiting = Arc::clone(&here);
    let closed = tokio::spawn(async move {
        waiting.close("s", CloseMode::Drain, Duration::from_secs(20)).await.unwrap()
    });
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert!(!groups.is_finished() && !closed.is_finished());
    let settled = Instant::now();
    let acks = pulled.jobs.iter().map(|job| (job.id, SettleAction::Ack)).collect();
    here.settle("s", acks).await.unwrap();
    assert_eq!(groups.await.unwrap().0[0].state, GroupState::Settled);
    assert_eq!(closed.await.unwrap().state, SpreadState::Closed);
    assert!(settled.elapsed() < Duration::from_secs(1), "{:?}", settled.elapsed());
    let ended = there.pull("s", &one(), 1, Duration::from_secs(20)).await.unwrap();
    assert_eq!(ended.empty_reason, Some(EmptyReason::Ended));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lease_that_ends_is_noticed_by_those_who_wait() {
    let redis = Redis::start(&[]).await;
    let (here, there) = (connect(&redis).await, connect(&redis).await);
    here.open("s".to_owned(), spec(1_000)).await.unwrap();
    here.submit("s", vec![group("a", 1)]).await.unwrap();
    let first = here.pull("s", &one(), 1, NOW).await.unwrap();
    let start = Instant::now();
    let second = there.pull("s", &"two".into(), 1, Duration::from_secs(20)).await.unwrap();
    let waited = start.elapsed();
    assert!((900..2_500).contains(&waited.as_millis()), "{waited:?}");
    assert_eq!((second.jobs[0].id.attempt, second.jobs[0].redelivered), (2, true));
    let late = here.settle("s", vec![(first.jobs[0].id, SettleAction::Ack)]).await.unwrap();
    assert_eq!(late.outcomes, [SettleOutcome::Stale]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_pulled_for_a_caller_who_has_left_is_released() {
    let redis = Redis::start(&[]).await;
    let store = connect(&redis).await;
    store.open("s".to_owned(), spec(600_000)).await.unwrap();
    store.submit("s", vec![group("a", 40)]).await.unwrap();
    for _ in 0..40 {
        let consumer = one();
        let left = store.pull("s", &consumer, 1, NOW);
        if let Ok(came) = tokio::time::timeout(Duration::from_micros(30), left).await {
            let release = SettleAction::Release { delay: 0 };
            let settlements = came.unwrap().jobs.iter().map(|job| (job.id, release)).collect();
            store.settle("s", settlements).await.unwrap();
        }
    }
    let mut leased = u64::MAX;
    for _ in 0..100 {
        leased = store.describe("s").await.unwrap().counts.leased_jobs;
        if leased == 0 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(leased, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn spreads_outlive_redis_and_no_lease_of_before_settles_anything() {
    let mut redis = Redis::start(&["--appendonly", "yes", "--appendfsync", "always"]).await;
    let store = connect(&redis).await;
    let before = store.open("s".to_owned(), spec(1_000)).await.unwrap().0;
    store.submit("s", vec![group("a", 2), group("b", 2)]).await.unwrap();
    let leased = store.pull("s", &one(), 3, NOW).await.unwrap();
    store.settle("s", vec![(leased.jobs[0].id, SettleAction::Ack)]).await.unwrap();
    redis.restart().await;

    let after = loop {
        match store.describe("s").await {
            Ok(after) => break after,
            Err(refused) => assert_eq!(refused.reason, Reason::StoreUnavailable, "{refused}"),
        }
    };
    assert!(after.epoch > before.epoch);
    assert_eq!((after.counts.quarantined_groups, after.counts.ready_jobs), (2, 3));
    let stale = store.settle("s", vec![(leased.jobs[1].id, SettleAction::Ack)]).await.unwrap();
    assert_eq!(stale.outcomes, [SettleOutcome::Stale]);
    assert!(store.pull("s", &one(), 9, NOW).await.unwrap().jobs.is_empty());
    let again = store.pull("s", &one(), 9, Duration::from_secs(20)).await.unwrap();
    let mut came = names(&again);
    came.sort();
    let done = names(&leased)[0].clone();
    let mut expected = vec!["a/0", "a/1", "b/0", "b/1"];
    expected.retain(|name| *name != done);
    assert_eq!(came, expected);
    assert!(again.jobs.iter().all(|job| job.redelivered));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_redis_has_lost_is_lost_for_those_who_had_seen_it() {
    let mut redis = Redis::start(&[]).await;
    let (here, there) = (connect(&redis).await, connect(&redis).await);
    let before = here.open("s".to_owned(), spec(1_000)).await.unwrap().0;
    here.submit("s", vec![group("kept", 2)]).await.unwrap();
    redis.command(&["SAVE"]).await;
    for number in 0..5 {
        here.submit("s", vec![group(&format!("lost-{number}"), 2)]).await.unwrap();
    }
    let leased = here.pull("s", &one(), 3, NOW).await.unwrap();
    assert_eq!(leased.jobs.len(), 3);
    there.describe("s").await.unwrap();
    redis.restart().await;

    while here.describe("s").await.is_err() {}
    let lost = ["kept".to_owned(), "lost-0".to_owned()];
    let (statuses, epoch) = here.groups("s", &lost, NOW).await.unwrap();
    let states: Vec<GroupState> = statuses.iter().map(|status| status.state).collect();
    assert_eq!(states, [GroupState::Received, GroupState::Unknown]);
    // As many entries as were lost come anew, and none is taken for one of those.
    for number in 0..8 {
        let mut again = group(&format!("lost-{number}"), 2);
        let first_receipt = Some(Receipt { epoch: before.epoch, lease_millis: 1_000 });
        again.commit.as_mut().unwrap().first_receipt = first_receipt;
        here.submit("s", vec![again]).await.unwrap();
    }
    while there.describe("s").await.is_err() {}
    let (here_now, there_now) =
        (here.describe("s").await.unwrap(), there.describe("s").await.unwrap());
    assert_eq!(format!("{there_now:?}"), format!("{here_now:?}"));
    assert_eq!(
        (here_now.epoch, here_now.counts.groups, here_now.counts.leased_jobs),
        (epoch, 9, 0)
    );
    let at_once = there.pull("s", &one(), 30, NOW).await.unwrap();
    assert!(at_once.jobs.is_empty(), "the leases of before may last: {:?}", names(&at_once));
    let then = there.pull("s", &one(), 30, Duration::from_secs(20)).await.unwrap();
    assert_eq!(then.jobs.len(), 18);
    assert!(then.jobs.iter().all(|job| job.redelivered));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_long_journal_gives_way_to_a_snapshot_that_others_read() {
    let redis = Redis::start(&[]).await;
    let store = connect(&redis).await;
    store.open("s".to_owned(), spec(600_000)).await.unwrap();
    let large = |id: String| {
        let payloads: Vec<Bytes> = (0..4).map(|_| vec![7; 64 << 10].into()).collect();
        let commit = Some(Commit {
            job_count: 4,
            sha256: content_digest(&payloads).to_vec().into(),
            ..Commit::default()
        });
        GroupPart { group_id: id, payloads, commit, ..GroupPart::default() }
    };
    for number in 0..40 {
        store.submit("s", vec![large(format!("g{number}"))]).await.unwrap();
        let pulled = store.pull("s", &one(), 3, NOW).await.unwrap();
        let acks = pulled.jobs.iter().skip(1).map(|job| (job.id, SettleAction::Ack));
        store.settle("s", acks.collect()).await.unwrap();
    }
    let mut entries = u64::MAX;
    for _ in 0..100 {
        entries = redis.command(&["LLEN", "test:spread:s:journal"]).await.parse().unwrap();
        if entries < 60 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert!(entries < 60, "{entries} entries of 121");
    let other = connect(&redis).await;
    let (expected, found) =
        (store.describe("s").await.unwrap(), other.describe("s").await.unwrap());
    assert_eq!(format!("{found:?}"), format!("{expected:?}"));
    let pulled = other.pull("s", &"two".into(), 4, NOW).await.unwrap();
    assert_eq!(pulled.jobs.len(), 4);
    assert!(store.describe("s").await.unwrap().counts.leased_jobs > expected.counts.leased_jobs);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_redis_that_does_not_answer_is_unavailable_and_then_answers_again() {
    let redis = Redis::start(&[]).await;
    let store = connect(&redis).await;
    store.open("s".to_owned(), spec(1_000)).await.unwrap();
    store.submit("s", vec![group("a", 1)]).await.unwrap();
    redis.freeze();
    let refused = store.pull("s", &one(), 1, NOW).await.unwrap_err();
    assert_eq!(refused.reason, Reason::StoreUnavailable, "{refused}");
    redis.thaw();
    let leased = store.pull("s", &one(), 1, Duration::from_secs(20)).await.unwrap();
    assert_eq!(names(&leased), ["a/0"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_redis_without_memory_refuses_groups_and_loses_none() {
    let redis = Redis::start(&["--maxmemory", "8mb", "--maxmemory-policy", "noeviction"]).await;
    let store = connect(&redis).await;
    store.open("s".to_owned(), spec(600_000)).await.unwrap();
    let large = |id: String| {
        let payloads = vec![Bytes::from(vec![7; 200 << 10])];
        let commit = Some(Commit {
            job_count: 1,
            sha256: content_digest(&payloads).to_vec().into(),
            ..Commit::default()
        });
        GroupPart { group_id: id, payloads, commit, ..GroupPart::default() }
    };
    let mut taken = 0;
    let refused = loop {
        match store.submit("s", vec![large(format!("g{taken}"))]).await {
            Ok(_) => taken += 1,
            Err(refused) => break refused,
        }
    };
    assert!((5..60).contains(&taken), "{taken}");
    assert_eq!(refused.reason, Reason::LimitReached, "{refused}");
    redis.command(&["CONFIG", "SET", "maxmemory", "64mb"]).await;
    assert_eq!(store.describe("s").await.unwrap().counts.groups, taken);
    store.submit("s", vec![large("more".to_owned())]).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn settled_groups_are_forgotten_where_room_is_wanted() {
    let redis = Redis::start(&[]).await;
    let store = RedisStore::connect(&redis.url(), "test:", 100_000).await.unwrap();
    for name in ["s", "t"] {
        store.open(name.to_owned(), spec(600_000)).await.unwrap();
    }
    // Each is remembered with more than 160 bytes.
    for number in 0..1_500 {
        let mut settled = group(&format!("g{number}"), 1);
        settled.commit.as_mut().unwrap().settled_ranges = vec![(0, 1)];
        store.submit("s", vec![settled]).await.unwrap();
    }
    let held: u64 = store.figures().iter().map(|held| held.bytes).sum();
    assert!(held <= 100_000, "{held}");
    store.submit("t", vec![group("a", 200)]).await.unwrap();
    let (statuses, _) =
        store.groups("s", &["g0".to_owned(), "g1499".to_owned()], NOW).await.unwrap();
    let states: Vec<GroupState> = statuses.iter().map(|status| status.state).collect();
    assert_eq!(states, [GroupState::Unknown, GroupState::Settled]);
}

#[tokio::test]
async fn a_redis_that_would_lose_spreads_is_refused() {
    for (flags, said) in [
        (vec!["--maxmemory-policy", "allkeys-lru"], "must be noeviction"),
        (vec!["--cluster-enabled", "yes"], "is a Redis Cluster"),
    ] {
        let redis = Redis::start(&flags).await;
        let refused = RedisStore::connect(&redis.url(), "test:", BYTES).await.unwrap_err();
        assert!(refused.contains(said), "{refused}");
    }
}

#[tokio::test]
async fn what_a_later_release_keeps_is_left_alone() {
    let redis = Redis::start(&[]).await;
    let store = connect(&redis).await;
    store.open("s".to_owned(), spec(1_000)).await.unwrap();
    redis.command(&["HSET", "test:spread:s:state", "layout", "2"]).await;
    let refused = store.submit("s", vec![group("a", 1)]).await.unwrap_err();
    assert_eq!(refused.reason, Reason::StoreUnavailable);
    assert!(refused.value.contains("another layout"), "{refused}");
    assert_eq!(redis.command(&["LLEN", "test:spread:s:journal"]).await, "1");
}
