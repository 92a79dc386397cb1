//! Named spreads in random histories with restarts, checked by a ledger that knows only the
//! promises: no job is lost, no job has two unexpired leases, no job that its producer knew to be
//! settled is dealt again, and limits hold.
//!
//! Runs 10,000 histories, or the number in `OFFBEAT_HISTORIES`. A failure names the seed.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

#[path = "ledgers/named.rs"]
mod ledger;

use std::sync::Arc;

use bytes::Bytes;
use ledger::{Chooser, Habit, LEASE, Store, World, commit, jobs, sha256, spec, whole};
use offbeat_core::rejection::Reason;
use offbeat_core::spread::lease::{SettleAction, SettleOutcome};
use offbeat_core::spread::named::{
    BytesLeft, Commit, GroupPart, GroupState, NamedSpread, NamedSpreadSpec, Receipt, SpreadLimits,
};
use offbeat_core::spread::{Groups, Spread, SpreadSpec, Turn};
use rand_mt::Mt64;

fn chooser(seed: u64) -> Chooser {
    let mut rng = Mt64::new(seed);
    Box::new(move |limit| usize::try_from(rng.next_u64() % limit as u64).unwrap())
}

fn histories() -> u64 {
    std::env::var("OFFBEAT_HISTORIES").map_or(10_000, |count| count.parse().unwrap())
}

#[test]
fn every_promise_is_kept_in_every_history() {
    for seed in 0..histories() {
        for store in [Store::Memory, Store::Kept] {
            if let Err(broken) = World::new(chooser(seed), Habit::Careful, store).run() {
                panic!("seed {seed}, {store:?}: {broken}");
            }
        }
    }
}

#[test]
fn careless_producers_are_noticed() {
    for (habit, noticed) in [
        (Habit::ForgetsReceipts, "two leases"),
        (Habit::ForgetsSettled, "known to be settled"),
        (Habit::ForgetsGroups, "is Unknown"),
    ] {
        let broken = |seed| World::new(chooser(seed), habit, Store::Memory).run().err();
        let mut broken = (0..2_000).filter_map(broken);
        assert!(broken.any(|broken| broken.contains(noticed)), "{habit:?} was not noticed");
    }
}

fn limited(limits: SpreadLimits) -> NamedSpreadSpec {
    NamedSpreadSpec { limits, ..spec(SpreadSpec::round_robin(1)) }
}

fn with_commit(commit: Commit, jobs: &[Bytes]) -> GroupPart {
    GroupPart { commit: Some(commit), ..whole("a", jobs) }
}

/// A group of one job that was received before.
fn received(id: &str, first_receipt: Option<Receipt>) -> GroupPart {
    let jobs = jobs(id, 1);
    GroupPart { commit: Some(Commit { first_receipt, ..commit(&jobs) }), ..whole(id, &jobs) }
}

fn order_of(machine: &mut NamedSpread, count: usize) -> Vec<String> {
    let leased = machine.pull(0, &"one".into(), count).unwrap();
    leased.iter().map(|job| format!("{}/{}", job.group_id, job.job_index)).collect()
}

#[test]
fn first_attempts_come_in_the_order_of_the_spread() {
    for order in [SpreadSpec::round_robin(3), SpreadSpec::cooldown(3)] {
        let mut machine = NamedSpread::try_new(1, &spec(order)).unwrap();
        let sizes = [5, 1, 9, 2, 2, 7, 1];
        let groups: Vec<(String, Vec<Bytes>)> = sizes
            .iter()
            .enumerate()
            .map(|(number, size)| (format!("g{number}"), jobs(&format!("g{number}"), *size)))
            .collect();
        let parts: Vec<GroupPart> = groups.iter().map(|(id, jobs)| whole(id, jobs)).collect();
        machine.submit(0, &parts, BytesLeft::ALL).unwrap();
        let mut source = Groups::new(groups.into_iter().map(|(_, jobs)| jobs));
        let mut spread = Spread::try_new(&order).unwrap();
        let mut expected = Vec::new();
        while let Turn::Job(dealt) = spread.next(&mut source) {
            expected.push(String::from_utf8(dealt.job.to_vec()).unwrap());
        }
        assert_eq!(order_of(&mut machine, 1_000), expected);
        assert_eq!(machine.certificate(), spread.certificate());
    }
}

#[test]
fn feeders_that_found_no_group_come_back() {
    for order in [SpreadSpec::round_robin(3), SpreadSpec::cooldown(3)] {
        let mut machine = NamedSpread::try_new(1, &spec(order)).unwrap();
        assert!(order_of(&mut machine, 5).is_empty());
        machine.submit(0, &[whole("a", &jobs("a", 4))], BytesLeft::ALL).unwrap();
        assert_eq!(order_of(&mut machine, 2), ["a/0", "a/1"]);
        machine
            .submit(0, &[whole("b", &jobs("b", 2)), whole("c", &jobs("c", 1))], BytesLeft::ALL)
            .unwrap();
        let mut rest = order_of(&mut machine, 3);
        rest.sort();
        assert_eq!(rest, ["a/2", "b/0", "c/0"], "{order:?}");
        let mut rest = order_of(&mut machine, 5);
        rest.sort();
        assert_eq!(rest, ["a/3", "b/1"], "{order:?}");
        machine.submit(0, &[whole("d", &jobs("d", 1))], BytesLeft::ALL).unwrap();
        assert_eq!(order_of(&mut machine, 5), ["d/0"]);
    }
}

#[test]
fn refused_groups_name_the_reason_and_leave_no_trace() {
    let mut machine = NamedSpread::try_new(
        1,
        &limited(SpreadLimits {
            max_job_count: 4,
            max_byte_count: 200,
            max_group_count: 3,
            ..SpreadLimits::default()
        }),
    )
    .unwrap();
    let good = whole("good", &jobs("good", 1));
    let mut refuse = |part: GroupPart| {
        let refused = machine.submit(0, &[good.clone(), part], BytesLeft::ALL).unwrap_err();
        assert_eq!(machine.group("good").state, GroupState::Unknown, "{refused}");
        assert_eq!(machine.counts().bytes, 0, "{refused}");
        (refused.reason, refused.field)
    };
    let a = jobs("a", 2);
    let is = |reason, field: &str| (reason, format!("groups[1].{field}"));
    assert_eq!(refuse(whole("", &a)), is(Reason::OutOfRange, "group_id"));
    assert_eq!(refuse(whole(&"x".repeat(257), &a)), is(Reason::OutOfRange, "group_id"));
    assert_eq!(refuse(whole("good", &a)), is(Reason::Contradictory, "group_id"));
    let prefix = GroupPart { first_job_index: 1, payloads: a.clone(), ..whole("part", &a) };
    assert_eq!(refuse(prefix), is(Reason::OutOfRange, "first_job_index"));
    let gap = GroupPart { first_job_index: 1, ..whole("a", &a) };
    assert_eq!(refuse(gap), is(Reason::OutOfRange, "first_job_index"));
    let before = GroupPart { first_job_index: -1, ..whole("a", &a) };
    assert_eq!(refuse(before), is(Reason::OutOfRange, "first_job_index"));
    let large = [Bytes::from(vec![0; (256 << 10) + 1])];
    assert_eq!(refuse(whole("a", &large)), is(Reason::OutOfRange, "jobs[0].payload"));
    let few = Some(Commit { job_count: 3, ..commit(&a) });
    assert_eq!(
        refuse(GroupPart { commit: few, ..whole("a", &a) }),
        is(Reason::OutOfRange, "commit.job_count")
    );
    assert_eq!(refuse(whole("a", &[])), is(Reason::OutOfRange, "commit.job_count"));
    for hash in [Bytes::new(), sha256(&jobs("b", 2))] {
        let wrong = Some(Commit { job_count: 2, sha256: hash, ..Commit::default() });
        let part = GroupPart { commit: wrong, ..whole("a", &a) };
        assert_eq!(refuse(part), is(Reason::Malformed, "commit.sha256"));
    }
    for (ranges, wrong) in [
        (vec![(1, 1)], 0),
        (vec![(0, 3)], 0),
        (vec![(-1, 1)], 0),
        (vec![(0, 1), (1, 2)], 1),
        (vec![(1, 2), (0, 1)], 1),
    ] {
        let field = format!("commit.settled_ranges[{wrong}]");
        let part = with_commit(Commit { settled_ranges: ranges.clone(), ..commit(&a) }, &a);
        assert_eq!(refuse(part), is(Reason::OutOfRange, &field), "{ranges:?}");
    }
    for lease_millis in [0, 600_001, i64::MIN] {
        let first_receipt = Some(Receipt { epoch: 0, lease_millis });
        let part = with_commit(Commit { first_receipt, ..commit(&a) }, &a);
        assert_eq!(refuse(part), is(Reason::OutOfRange, "commit.first_receipt.lease_duration"));
    }
    assert_eq!(refuse(whole("a", &jobs("a", 5))), is(Reason::OutOfRange, "jobs"));
    assert_eq!(refuse(whole("a", &[Bytes::from(vec![0; 201])])), is(Reason::OutOfRange, "jobs"));
    assert_eq!(refuse(whole("a", &jobs("a", 4))), is(Reason::LimitReached, "jobs"));

    machine.submit(0, &[whole("a", &a)], BytesLeft::ALL).unwrap();
    machine.submit(0, &[whole("a", &a)], BytesLeft::ALL).unwrap();
    let other = machine.submit(0, &[whole("a", &jobs("b", 2))], BytesLeft::ALL).unwrap_err();
    assert_eq!((other.reason, &*other.field), (Reason::GroupDiffers, "groups[0].group_id"));
    machine.close();
    let late = machine.submit(0, &[good], BytesLeft::ALL).unwrap_err();
    assert_eq!(late.reason, Reason::SpreadClosing);
}

#[test]
fn parts_may_come_again_and_begin_anew() {
    let mut machine = NamedSpread::try_new(1, &spec(SpreadSpec::round_robin(1))).unwrap();
    let a = jobs("a", 4);
    let part = |first_job_index: i64, jobs: &[Bytes], commit| GroupPart {
        group_id: "a".to_owned(),
        first_job_index,
        payloads: jobs.to_vec(),
        commit,
    };
    machine.submit(0, &[part(0, &jobs("b", 3), None)], BytesLeft::ALL).unwrap();
    // Other content starts the group again.
    machine.submit(0, &[part(0, &a[..2], None)], BytesLeft::ALL).unwrap();
    assert_eq!(machine.group("a").job_count, 2);
    machine.submit(0, &[part(0, &a[..2], None)], BytesLeft::ALL).unwrap();
    machine.submit(0, &[part(1, &a[1..2], None)], BytesLeft::ALL).unwrap();
    let differs = machine.submit(0, &[part(1, &a[2..3], None)], BytesLeft::ALL).unwrap_err();
    assert_eq!(differs.reason, Reason::GroupDiffers);
    assert!(order_of(&mut machine, 5).is_empty(), "nothing is dealt before the commit");
    machine.submit(0, &[part(2, &a[2..], None)], BytesLeft::ALL).unwrap();
    machine.submit(0, &[part(4, &[], Some(commit(&a)))], BytesLeft::ALL).unwrap();
    assert_eq!(order_of(&mut machine, 5), ["a/0", "a/1", "a/2", "a/3"]);

    // A late part of a group that is there changes nothing.
    machine.submit(0, &[part(0, &a[..2], None)], BytesLeft::ALL).unwrap();
    let late = GroupPart { group_id: "late".to_owned(), ..part(0, &a[..2], None) };
    machine.submit(0, &[late], BytesLeft::ALL).unwrap();
    machine.advance(59_999);
    assert_eq!(machine.group("late").state, GroupState::Partial);
    machine.advance(60_000);
    assert_eq!(machine.group("late").state, GroupState::Unknown);
    assert_eq!(machine.counts().partial_groups, 0);
}

#[test]
fn the_oldest_of_mutually_blocking_groups_is_completed() {
    let spec = limited(SpreadLimits { max_job_count: 6, ..SpreadLimits::default() });
    let mut machine = NamedSpread::try_new(1, &spec).unwrap();
    let mut send = |id: &str, first_job_index: i64, commits: bool| {
        let all = jobs(id, 5);
        let first = usize::try_from(first_job_index).unwrap();
        let part = GroupPart {
            group_id: id.to_owned(),
            first_job_index,
            payloads: all[first..(first + 2).min(5)].to_vec(),
            commit: commits.then(|| commit(&all)),
        };
        machine.submit(0, &[part], BytesLeft::ALL).map(drop).map_err(|refused| refused.reason)
    };
    for id in ["a", "b", "c"] {
        assert_eq!(send(id, 0, false), Ok(()));
    }
    assert_eq!(send("b", 2, false), Err(Reason::LimitReached));
    assert_eq!(send("a", 2, false), Ok(()), "it began first");
    assert_eq!(send("c", 2, false), Err(Reason::LimitReached));
    assert_eq!(send("a", 4, true), Ok(()));
    assert_eq!(send("c", 2, false), Err(Reason::LimitReached));
    assert_eq!(send("b", 2, false), Ok(()), "it is the oldest now");
    let leased = machine.pull(0, &"one".into(), 9).unwrap();
    assert_eq!(leased.len(), 5);
}

#[test]
fn dead_letters_are_numbered_in_their_order() {
    let spec = limited(SpreadLimits { max_attempt_count: 1, ..SpreadLimits::default() });
    let mut machine = NamedSpread::try_new(1, &spec).unwrap();
    machine.submit(0, &[whole("a", &jobs("a", 4))], BytesLeft::ALL).unwrap();
    for now in 0..4 {
        machine.pull(now, &"one".into(), 1).unwrap();
    }
    machine.advance(2 * LEASE);
    let (letters, _) = machine.dead_letters(None, 9);
    let numbered: Vec<(u64, u32)> = letters.iter().map(|l| (l.number, l.job_index)).collect();
    assert_eq!(numbered, [(0, 0), (1, 1), (2, 2), (3, 3)]);
}

#[test]
fn the_bytes_left_for_all_spreads_limit_a_submission() {
    let mut machine = NamedSpread::try_new(1, &spec(SpreadSpec::round_robin(1))).unwrap();
    let a = whole("a", &jobs("a", 3));
    let left = |now| BytesLeft { now, at_most: 100 };
    let full = machine.submit(0, std::slice::from_ref(&a), left(50)).unwrap_err();
    assert_eq!(full.reason, Reason::LimitReached);
    machine.submit(0, std::slice::from_ref(&a), left(100)).unwrap();
    machine.submit(0, &[a], left(0)).unwrap(); // the group is there already
    let never = machine.submit(0, &[whole("b", &jobs("b", 9))], left(100)).unwrap_err();
    assert_eq!(never.reason, Reason::OutOfRange);
}

#[test]
fn quarantine_lasts_as_long_as_the_lease_of_then() {
    let mut machine = NamedSpread::try_new(2, &spec(SpreadSpec::round_robin(1))).unwrap();
    let first_receipt = Some(Receipt { epoch: 1, lease_millis: 30_000 });
    machine.submit(0, &[received("a", first_receipt)], BytesLeft::ALL).unwrap();
    let first_receipt = Some(Receipt { epoch: 2, lease_millis: 30_000 });
    machine.submit(0, &[received("b", first_receipt)], BytesLeft::ALL).unwrap();
    assert_eq!(machine.next_event(0), Some(30_000));
    let one: Arc<str> = "one".into();
    let at_once = machine.pull(0, &one, 5).unwrap();
    assert_eq!((at_once.len(), &*at_once[0].group_id, at_once[0].redelivered), (1, "b", false));
    assert!(machine.pull(29_999, &one, 5).unwrap().iter().all(|job| *job.group_id == *"b"));
    let then = machine.pull(30_000, &one, 5).unwrap();
    let a = then.iter().find(|job| *job.group_id == *"a").unwrap();
    assert!(a.redelivered);
}

#[test]
fn settled_groups_are_forgotten_in_the_end() {
    let mut machine = NamedSpread::try_new(1, &spec(SpreadSpec::round_robin(1))).unwrap();
    let one: Arc<str> = "one".into();
    for number in 0..=65_536 {
        let id = format!("g{number}");
        machine.submit(0, &[whole(&id, &jobs("a", 1))], BytesLeft::ALL).unwrap();
        let lease = machine.pull(0, &one, 1).unwrap()[0].id;
        assert_eq!(machine.settle(0, lease, SettleAction::Ack), SettleOutcome::Acked);
        assert_eq!(machine.group("g0").state == GroupState::Settled, number < 65_536);
    }
    assert_eq!((machine.counts().bytes, machine.counts().settled_jobs), (0, 65_537));
}

#[test]
fn records_of_settled_groups_are_counted_and_forgotten_under_memory_pressure() {
    let mut machine = NamedSpread::try_new(1, &spec(SpreadSpec::round_robin(1))).unwrap();
    let id = |number: u32| format!("{number:0>256}");
    for number in 0..1_000 {
        let part = GroupPart {
            commit: Some(Commit { settled_ranges: vec![(0, 1)], ..commit(&jobs("a", 1)) }),
            ..whole(&id(number), &jobs("a", 1))
        };
        machine.submit(0, &[part], BytesLeft::ALL).unwrap();
    }
    assert_eq!(machine.counts().bytes, 0, "nothing is left to deal");
    assert!(machine.memory() >= 1_000 * (256 + 100), "{}", machine.memory());
    let before = machine.memory();
    machine.forget_ended(before / 2);
    assert!(machine.memory() <= before.div_ceil(2) && machine.memory() > before / 3);
    assert_eq!(machine.group(&id(0)).state, GroupState::Unknown, "the oldest are forgotten");
    assert_eq!(machine.group(&id(999)).state, GroupState::Settled);
    machine.forget_ended(u64::MAX);
    assert_eq!(machine.memory(), 0);
}
