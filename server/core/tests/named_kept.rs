//! A spread that a store keeps: its answers depend on the calls and their times, not on how often
//! time advanced between them, nor on where the spread was kept.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::cast_possible_truncation)]

#[path = "ledgers/named.rs"]
#[expect(dead_code, reason = "its groups and specs, not its ledger")]
mod ledger;

use std::sync::Arc;

use ledger::{LEASE, commit, jobs, spec, whole};
use offbeat_core::spread::SpreadSpec;
use offbeat_core::spread::lease::{LeaseId, SettleAction};
use offbeat_core::spread::named::{
    BytesLeft, Commit, GroupPart, GroupState, LeasedJob, NamedSpread, NamedSpreadSpec, NextJob,
    Receipt, SpreadLimits, SpreadState,
};
use rand_mt::Mt64;

/// A call with its arguments.
#[derive(Debug, Clone)]
enum Call {
    Submit(GroupPart),
    Pull(usize, usize),
    Settle(LeaseId, SettleAction),
    Redrive(Vec<u64>),
    Delete(Vec<u64>),
    Close,
}

fn next_job(leased: &LeasedJob) -> NextJob {
    NextJob { group_id: Arc::clone(&leased.group_id), job_index: leased.job_index }
}

/// The jobs that are ready, in order.
fn ready(machine: &NamedSpread) -> Vec<NextJob> {
    let ready = machine.next_jobs(100);
    let counts = machine.counts();
    if counts.quarantined_groups == 0 {
        assert_eq!(ready.len() as u64, counts.ready_jobs);
    }
    assert_eq!(machine.next_jobs(3), ready[..ready.len().min(3)]);
    ready
}

/// The answer to the call, and all that is visible of the spread afterwards, as text.
fn answer(machine: &mut NamedSpread, now: u64, call: &Call) -> (String, Vec<LeaseId>) {
    machine.advance(now); // as a store does before each call
    let mut leases = Vec::new();
    let answered = match call {
        Call::Submit(part) => {
            let parts = std::slice::from_ref(part);
            let checked = machine.check_submission(now, parts, BytesLeft::ALL);
            let submitted = machine.submit(now, parts, BytesLeft::ALL);
            assert_eq!(checked.err(), submitted.as_ref().err().cloned());
            format!("{submitted:?}")
        }
        Call::Pull(consumer, count) => {
            let consumer: Arc<str> = ["one", "two"][*consumer].into();
            let may_lease = machine.may_lease(now, &consumer);
            let ahead = machine.next_jobs(*count);
            let pulled = machine.pull(now, &consumer, *count).unwrap();
            let new: Vec<NextJob> =
                pulled.iter().filter(|job| job.id.attempt == 1).map(next_job).collect();
            assert_eq!(new, ahead[..new.len()]);
            if pulled.len() < *count && may_lease && machine.counts().leased_jobs < 5 {
                assert_eq!(new.len(), ahead.len(), "no consumer is at its limit");
            }
            assert_eq!(may_lease, !pulled.is_empty());
            leases = pulled.iter().map(|job| job.id).collect();
            format!("{pulled:?} {:?}", machine.empty_reason(&consumer))
        }
        Call::Settle(id, action) => format!("{:?}", machine.settle(now, *id, *action)),
        Call::Redrive(numbers) => format!("{:?}", machine.redrive(now, numbers, BytesLeft::ALL)),
        Call::Delete(numbers) => {
            format!("{}", machine.delete_dead_letters(numbers.iter().copied()))
        }
        Call::Close => {
            machine.advance(now);
            machine.close();
            String::new()
        }
    };
    machine.advance(now);
    let seen = (
        (machine.counts(), machine.certificate(), machine.state(), machine.next_event(now)),
        (machine.dead_letters(None, 100), machine.oldest(), machine.memory()),
        (machine.ended_groups(), machine.dropped_groups(), machine.group("g1"), ready(machine)),
    );
    (format!("{answered} {seen:?}"), leases)
}

fn below(rng: &mut Mt64, limit: u64) -> u64 {
    rng.next_u64() % limit
}

fn call(rng: &mut Mt64, step: u64, leases: &[LeaseId]) -> Call {
    let id = format!("g{}", step.saturating_sub(below(rng, 3)));
    let jobs = jobs(&id, 1 + below(rng, 6) as usize);
    let numbers = vec![below(rng, 4), below(rng, 9)];
    match below(rng, 16) {
        0..3 => Call::Submit(whole(&id, &jobs)),
        3 => Call::Submit(GroupPart { commit: None, ..whole(&id, &jobs) }),
        4..6 => {
            let epoch = 7 + below(rng, 2);
            let first_receipt =
                Some(Receipt { epoch, lease_millis: [1_000, 4_000, 9_000][step as usize % 3] });
            let commit = Some(Commit { first_receipt, ..commit(&jobs) });
            Call::Submit(GroupPart { commit, ..whole(&id, &jobs) })
        }
        6..9 => Call::Pull(below(rng, 2) as usize, 1 + below(rng, 4) as usize),
        9 => Call::Redrive(numbers),
        10 if step.is_multiple_of(3) => Call::Delete(numbers),
        11 if step > 60 => Call::Close,
        _ if leases.is_empty() => Call::Pull(0, 2),
        place => {
            let id = leases[below(rng, leases.len() as u64) as usize];
            let delay = below(rng, 3) * 700;
            let action = match place + below(rng, 3) {
                ..13 => SettleAction::Nack { delay },
                13 => SettleAction::Release { delay },
                14 => SettleAction::ExtendLease,
                15 => SettleAction::DeadLetter,
                _ => SettleAction::Ack,
            };
            Call::Settle(id, action)
        }
    }
}

#[test]
fn nobody_sees_that_time_passed_or_that_a_spread_was_kept() {
    for seed in 0..3_000 {
        let mut rng = Mt64::new(seed);
        let limits = SpreadLimits {
            max_job_count: 40,
            max_consumer_lease_count: 5,
            max_attempt_count: 2,
            ..SpreadLimits::default()
        };
        let order = [SpreadSpec::round_robin(2), SpreadSpec::cooldown(3)][seed as usize % 2];
        let spec = NamedSpreadSpec { limits, ..spec(order) };
        let mut plain = NamedSpread::try_new(7, &spec).unwrap();
        let mut kept = NamedSpread::try_new(7, &spec).unwrap();
        let (mut now, mut leases) = (0, Vec::new());
        for step in 0..80 {
            // Long enough to drop partial groups, or to end quarantines one after another.
            let long = if seed % 4 < 2 { 70_000 } else { 10 * LEASE };
            let passed = [0, 0, 1, LEASE / 3, LEASE - 1, LEASE, 3 * LEASE, long];
            let passed = passed[below(&mut rng, 8) as usize];
            for between in 0..below(&mut rng, 4) {
                kept.advance(now + passed * between / 4);
                kept = postcard::from_bytes(&postcard::to_stdvec(&kept).unwrap()).unwrap();
            }
            now += passed;
            let call = call(&mut rng, step, &leases);
            let (expected, leased) = answer(&mut plain, now, &call);
            assert_eq!(answer(&mut kept, now, &call).0, expected, "seed {seed}: {call:?}");
            leases.extend(leased);
        }
        // The remaining jobs, in order.
        for _ in 0..20 {
            now += 3 * LEASE;
            kept.advance(now - 2 * LEASE);
            let pull = Call::Pull(0, 5);
            let (expected, leased) = answer(&mut plain, now, &pull);
            assert_eq!(answer(&mut kept, now, &pull).0, expected, "seed {seed}, at its end");
            for id in leased {
                let ack = Call::Settle(id, SettleAction::Ack);
                assert_eq!(answer(&mut kept, now, &ack), answer(&mut plain, now, &ack));
            }
        }
    }
}

#[test]
fn after_a_restart_all_jobs_wait_for_a_lease_and_none_is_settled_by_an_earlier_one() {
    let mut machine = NamedSpread::try_new(1, &spec(SpreadSpec::round_robin(2))).unwrap();
    let parts = ["a", "b", "c"].map(|id| whole(id, &jobs(id, 2)));
    machine.submit(0, &parts, BytesLeft::ALL).unwrap();
    let half = GroupPart { commit: None, ..whole("half", &jobs("half", 2)) };
    machine.submit(0, &[half], BytesLeft::ALL).unwrap();
    let one: Arc<str> = "one".into();
    let leased = machine.pull(500, &one, 3).unwrap();
    machine.settle(600, leased[0].id, SettleAction::Ack);
    machine.settle(600, leased[1].id, SettleAction::DeadLetter);

    let mut machine = machine.restart(2).unwrap();
    let stale = machine.settle(0, leased[2].id, SettleAction::Ack);
    assert_eq!(format!("{stale:?}"), "Stale");
    assert!(machine.pull(LEASE - 1, &one, 9).unwrap().is_empty());
    let again = machine.pull(LEASE, &one, 9).unwrap();
    let names: Vec<String> =
        again.iter().map(|job| format!("{}/{}", job.group_id, job.job_index)).collect();
    assert_eq!(names, ["a/1", "b/1", "c/0", "c/1"]);
    assert!(again.iter().all(|job| job.redelivered && job.id.epoch == 2 && job.id.attempt == 1));
    assert_eq!(machine.dead_letters(None, 9).0.len(), 1);
    assert_eq!(machine.group("half").state, GroupState::Partial);
    let rest = GroupPart {
        first_job_index: 2,
        commit: Some(commit(&jobs("half", 2))),
        group_id: "half".to_owned(),
        payloads: Vec::new(),
    };
    machine.submit(LEASE, &[rest], BytesLeft::ALL).unwrap();
    machine.close();
    assert_eq!(machine.state(), SpreadState::Draining);
}

/// A group that waits for leases of an earlier epoch still waits for them after a restart.
#[test]
fn a_restart_does_not_cut_a_quarantine_short() {
    let mut machine = NamedSpread::try_new(2, &spec(SpreadSpec::round_robin(2))).unwrap();
    let first_receipt = Some(Receipt { epoch: 1, lease_millis: 9_000 });
    let commit = Commit { first_receipt, ..commit(&jobs("a", 1)) };
    let part = GroupPart { commit: Some(commit), ..whole("a", &jobs("a", 1)) };
    machine.submit(0, &[part, whole("b", &jobs("b", 1))], BytesLeft::ALL).unwrap();
    let mut machine = machine.restart(3).unwrap();
    let one: Arc<str> = "one".into();
    let leased = machine.pull(LEASE, &one, 9).unwrap();
    assert_eq!((leased.len(), &*leased[0].group_id), (1, "b"));
    assert!(machine.pull(8_999, &one, 9).unwrap().iter().all(|job| *job.group_id == *"b"));
    assert!(machine.pull(9_000, &one, 9).unwrap().iter().any(|job| *job.group_id == *"a"));
}
