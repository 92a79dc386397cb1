//! Operations on named spreads: redriving dead letters and changing limits; and the reason for an
//! empty pull.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, missing_docs)]

#[path = "ledgers/named.rs"]
#[allow(dead_code)]
mod named;

use std::sync::Arc;

use named::{LEASE, jobs, spec, whole};
use offbeat_core::Reason;
use offbeat_core::spread::SpreadSpec;
use offbeat_core::spread::lease::{Cause, SettleAction, SettleOutcome};
use offbeat_core::spread::named::{
    BytesLeft, EmptyReason, GroupState, LimitChanges, NamedSpread, SpreadState,
};

fn one() -> Arc<str> {
    "one".into()
}

fn machine() -> NamedSpread {
    NamedSpread::try_new(1, &spec(SpreadSpec::round_robin(1))).unwrap()
}

/// A spread whose group "a" of three jobs is settled; its second job is dead letter 0.
fn with_a_dead_letter() -> NamedSpread {
    let mut machine = machine();
    machine.submit(0, &[whole("a", &jobs("a", 3))], BytesLeft::ALL).unwrap();
    for job in machine.pull(0, &one(), 9).unwrap() {
        let is_second = job.job_index == 1;
        let action = if is_second { SettleAction::DeadLetter } else { SettleAction::Ack };
        machine.settle(0, job.id, action);
    }
    assert_eq!(machine.group("a").state, GroupState::Settled);
    machine
}

#[test]
fn a_redriven_job_is_leased_again_under_its_own_name() {
    let mut machine = with_a_dead_letter();
    assert_eq!(machine.redrive(0, &[7, 0, 0], BytesLeft::ALL), Ok(1));
    assert_eq!(machine.dead_letters(None, 9).0.len(), 0);
    assert_eq!(machine.group("a").state, GroupState::Settled, "it stays settled");
    assert_eq!((machine.counts().groups, machine.counts().ready_jobs), (1, 1));
    let leased = machine.pull(0, &one(), 9).unwrap();
    assert_eq!((&*leased[0].group_id, leased[0].job_index), ("a", 1));
    assert_eq!(&leased[0].payload[..], b"a/1");
    assert_eq!((leased[0].id.attempt, leased[0].redelivered), (1, true));
    assert_eq!(machine.settle(0, leased[0].id, SettleAction::Ack), SettleOutcome::Acked);
    let counts = machine.counts();
    assert_eq!((counts.groups, counts.bytes, counts.dead_letters), (0, 0, 0));
    assert_eq!(machine.redrive(0, &[0], BytesLeft::ALL), Ok(0), "it is gone");
}

#[test]
fn a_redriven_job_that_fails_for_good_is_a_dead_letter_again() {
    let mut machine = with_a_dead_letter();
    machine.redrive(0, &[0], BytesLeft::ALL).unwrap();
    let job = machine.pull(0, &one(), 1).unwrap()[0].id;
    machine.settle(0, job, SettleAction::DeadLetter);
    let letters = machine.dead_letters(None, 9).0;
    assert_eq!((letters[0].number, letters[0].job_index), (1, 1));
    assert_eq!(&letters[0].payload[..], b"a/1");
    machine.close();
    assert_eq!(machine.state(), SpreadState::Closed);
}

#[test]
fn a_dead_letter_of_a_group_that_is_not_settled_can_be_put_back() {
    let mut machine = machine();
    machine.submit(0, &[whole("a", &jobs("a", 2))], BytesLeft::ALL).unwrap();
    let first = machine.pull(0, &one(), 1).unwrap()[0].id;
    machine.settle(0, first, SettleAction::DeadLetter);
    machine.redrive(0, &[0], BytesLeft::ALL).unwrap();
    assert_eq!(machine.group("a").state, GroupState::Received);
    let both = machine.pull(0, &one(), 9).unwrap();
    let mut indexes: Vec<u32> = both.iter().map(|job| job.job_index).collect();
    indexes.sort_unstable();
    assert_eq!(indexes, [0, 1]);
    // The redriven job is settled first, and the group that it came from must stay known.
    let redriven = both.iter().find(|job| job.job_index == 0).unwrap();
    machine.settle(0, redriven.id, SettleAction::Ack);
    assert_eq!(machine.group("a").state, GroupState::Received);
    let other = both.iter().find(|job| job.job_index == 1).unwrap();
    machine.settle(0, other.id, SettleAction::Ack);
    let status = machine.group("a");
    assert_eq!((status.state, status.dead_letter_count), (GroupState::Settled, 1));
    assert_eq!(machine.counts().bytes, 0);
}

#[test]
fn redriving_keeps_the_limits() {
    let mut machine = with_a_dead_letter();
    let none = BytesLeft { now: 10, at_most: 1_000 };
    let full = machine.redrive(0, &[0], none).unwrap_err();
    assert_eq!((full.reason, &*full.field), (Reason::LimitReached, "numbers"));
    let one_job = LimitChanges { max_job_count: Some(1), ..LimitChanges::default() };
    machine.update(&one_job).unwrap();
    let full = machine.redrive(0, &[0], BytesLeft::ALL).unwrap_err();
    assert_eq!(full.reason, Reason::LimitReached, "the letter itself counts");
    assert_eq!(machine.dead_letters(None, 9).0.len(), 1, "nothing was put back");
    machine.close();
    let closed = machine.redrive(0, &[0], BytesLeft::ALL).unwrap_err();
    assert_eq!(closed.reason, Reason::SpreadClosing);
}

#[test]
fn limits_change_and_the_spec_of_then_still_opens() {
    let mut machine = machine();
    let opened = *machine.spec();
    let wrong = LimitChanges { max_attempt_count: Some(0), ..LimitChanges::default() };
    let refused = machine.update(&wrong).unwrap_err();
    assert_eq!((refused.reason, &*refused.field), (Reason::OutOfRange, "limits.max_attempt_count"));
    assert_eq!(machine.spec(), &opened);
    let once = LimitChanges {
        max_attempt_count: Some(1),
        max_consumer_lease_count: Some(1),
        max_group_count: Some(1),
        ..LimitChanges::default()
    };
    machine.update(&once).unwrap();
    assert_eq!(machine.spec().limits.max_job_count, opened.limits.max_job_count, "it stays");
    assert_eq!(machine.difference(&opened), None);
    assert_eq!(machine.difference(&machine.spec().clone()), None);
    let other = NamedSpread::try_new(1, &spec(SpreadSpec::round_robin(2))).unwrap();
    assert_eq!(machine.difference(other.spec()).unwrap().0, "order.feeder_count");
    machine.submit(0, &[whole("a", &jobs("a", 2))], BytesLeft::ALL).unwrap();
    let second = machine.submit(0, &[whole("b", &jobs("b", 1))], BytesLeft::ALL);
    assert_eq!(second.unwrap_err().reason, Reason::LimitReached);
    assert_eq!(machine.pull(0, &one(), 9).unwrap().len(), 1);
    machine.advance(LEASE);
    assert_eq!(machine.dead_letters(None, 9).0[0].cause, Cause::AttemptsExhausted);
}

#[test]
fn an_empty_pull_says_why() {
    let mut machine = machine();
    assert_eq!(machine.empty_reason(&one()), EmptyReason::NoReadyJob);
    let held = LimitChanges { max_consumer_lease_count: Some(1), ..LimitChanges::default() };
    machine.update(&held).unwrap();
    machine.submit(0, &[whole("a", &jobs("a", 2))], BytesLeft::ALL).unwrap();
    assert_eq!(machine.pull(0, &one(), 9).unwrap().len(), 1);
    assert_eq!(machine.pull(0, &one(), 9).unwrap().len(), 0);
    assert_eq!(machine.empty_reason(&one()), EmptyReason::ConsumerAtLimit);
    assert_eq!(machine.empty_reason(&"two".into()), EmptyReason::NoReadyJob, "for want of a limit");
}

#[test]
fn a_released_job_waits_for_its_delay_and_does_not_count() {
    let mut machine = machine();
    let once = LimitChanges { max_attempt_count: Some(1), ..LimitChanges::default() };
    machine.update(&once).unwrap();
    machine.submit(0, &[whole("a", &jobs("a", 2))], BytesLeft::ALL).unwrap();
    let first = machine.pull(0, &one(), 1).unwrap()[0].id;
    let released = machine.settle(0, first, SettleAction::Release { delay: 500 });
    assert_eq!(released, SettleOutcome::Returned);
    assert_eq!(machine.pull(0, &one(), 1).unwrap()[0].job_index, 1, "the next job comes first");
    assert_eq!(machine.next_event(0), Some(500));
    assert!(machine.pull(499, &one(), 9).unwrap().is_empty());
    let again = machine.pull(500, &one(), 9).unwrap();
    assert_eq!((again[0].job_index, again[0].id.attempt), (0, 2));
    // Without a delay it comes first again.
    machine.settle(500, again[0].id, SettleAction::Release { delay: 0 });
    assert_eq!(machine.pull(500, &one(), 9).unwrap()[0].job_index, 0);
}

#[test]
fn a_job_is_released_with_a_delay_after_its_lease_too() {
    let mut machine = machine();
    machine.submit(0, &[whole("a", &jobs("a", 1))], BytesLeft::ALL).unwrap();
    let lease = machine.pull(0, &one(), 1).unwrap()[0].id;
    machine.advance(LEASE);
    let late = SettleAction::Release { delay: 1_000 };
    assert_eq!(machine.settle(LEASE + 1, lease, late), SettleOutcome::Returned);
    assert_eq!(machine.settle(LEASE + 1, lease, late), SettleOutcome::Stale, "it was said");
    assert!(machine.pull(LEASE + 1_000, &one(), 1).unwrap().is_empty());
    assert_eq!(machine.pull(LEASE + 1_001, &one(), 1).unwrap().len(), 1);
}

#[test]
fn a_pull_beyond_all_leases_says_so() {
    let mut machine = machine();
    for group in 0..5 {
        machine
            .submit(0, &[whole(&format!("g{group}"), &jobs("a", 60_000))], BytesLeft::ALL)
            .unwrap();
    }
    let mut leased = 0;
    for consumer in 0..256 {
        let name: Arc<str> = format!("c{consumer}").into();
        leased += machine.pull(0, &name, 1_024).unwrap().len();
    }
    assert_eq!(leased, 1 << 18);
    assert_eq!(machine.pull(0, &one(), 9).unwrap().len(), 0);
    assert_eq!(machine.empty_reason(&one()), EmptyReason::LeasesAtLimit);
}
