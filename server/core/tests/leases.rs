//! The lease machine in random histories, checked by a ledger that knows only its promises.
//!
//! Runs 100,000 histories; for more:
//! `OFFBEAT_HISTORIES=1000000 cargo test --release --package offbeat-core --test leases`.
//! A failure names the seed that reproduces it.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

#[path = "ledgers/leases.rs"]
mod ledger;

use ledger::{EPOCH, Machine, history, machine};
use offbeat_core::spread::lease::{
    Lease, LeaseId, LeaseSpec, Leases, Outcome, SettleAction, SettleOutcome,
};
use rand_mt::Mt64;

fn chooser(seed: u64) -> impl FnMut(usize) -> usize {
    let mut rng = Mt64::new(seed);
    move |limit| usize::try_from(rng.next_u64() % limit as u64).unwrap()
}

fn histories() -> u64 {
    std::env::var("OFFBEAT_HISTORIES").map_or(100_000, |count| count.parse().unwrap())
}

#[test]
fn every_promise_is_kept_in_every_history() {
    for seed in 0..histories() {
        if let Err(broken) = history(&mut chooser(seed), machine) {
            panic!("seed {seed}: {broken}");
        }
    }
}

struct BuggyLeases {
    machine: Leases<u64, u8>,
    bug: Bug,
    calls: u64,
    last: Option<Lease<u64>>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Bug {
    /// Forgets a job that comes back.
    LosesAJob,
    /// Sometimes leases a job a second time.
    DoublesALease,
    /// Accepts settlements whose lease has ended.
    BelievesTheLate,
}

impl Machine for BuggyLeases {
    fn lease(
        &mut self,
        now: u64,
        consumer: u8,
        next: &mut dyn FnMut() -> Option<u64>,
        outcomes: &mut Vec<Outcome<u64>>,
    ) -> Option<Lease<u64>> {
        self.calls += 1;
        let lease = Machine::lease(&mut self.machine, now, consumer, next, outcomes);
        if self.calls.is_multiple_of(9) && self.bug == Bug::DoublesALease {
            let mut twice = self.last.filter(|last| last.deadline > now)?;
            twice.id.attempt += 1;
            return Some(twice);
        }
        self.last = lease.or(self.last);
        lease
    }

    fn settle(
        &mut self,
        now: u64,
        id: LeaseId,
        verdict: SettleAction,
        outcomes: &mut Vec<Outcome<u64>>,
    ) -> SettleOutcome {
        if self.bug == Bug::LosesAJob && verdict == (SettleAction::Nack { delay: 0 }) {
            let settlement = self.machine.clone().settle(now, id, verdict, outcomes);
            if settlement == SettleOutcome::Returned {
                self.machine.settle(now, id, SettleAction::Ack, &mut Vec::new());
            }
            return settlement;
        }
        match self.machine.settle(now, id, verdict, outcomes) {
            SettleOutcome::Stale if self.bug == Bug::BelievesTheLate => SettleOutcome::Acked,
            settlement => settlement,
        }
    }

    fn next_event(&self, now: u64) -> Option<u64> {
        self.machine.next_event(now)
    }

    fn held_by(&self, consumer: u8) -> usize {
        self.machine.held_by(&consumer)
    }
}

#[test]
fn bugs_are_found() {
    for bug in [Bug::LosesAJob, Bug::DoublesALease, Bug::BelievesTheLate] {
        let found = (0..10_000).find_map(|seed| {
            let built = |spec: &LeaseSpec| -> Box<dyn Machine> {
                let machine = Leases::try_new(EPOCH, spec).unwrap();
                Box::new(BuggyLeases { machine, bug, calls: 0, last: None })
            };
            history(&mut chooser(seed), built).err()
        });
        assert!(found.is_some(), "{bug:?} was not found");
        println!("{bug:?}: {}", found.unwrap());
    }
}

#[test]
fn specs_out_of_range_are_refused_by_name() {
    let refused =
        |spec: LeaseSpec| Leases::<u64, u8>::try_new(EPOCH, &spec).map(drop).unwrap_err().field;
    let spec = LeaseSpec::default();
    assert!(Leases::<u64, u8>::try_new(EPOCH, &spec).is_ok());
    assert_eq!(refused(LeaseSpec { lease_millis: 999, ..spec }), "lease_duration");
    assert_eq!(refused(LeaseSpec { lease_millis: 600_001, ..spec }), "lease_duration");
    assert_eq!(refused(LeaseSpec { max_attempt_count: 0, ..spec }), "limits.max_attempt_count");
    assert_eq!(refused(LeaseSpec { max_outstanding: -1, ..spec }), "max_outstanding");
}

#[test]
fn settled_leases_are_forgotten_in_the_end() {
    let mut machine = Leases::try_new(EPOCH, &LeaseSpec::default()).unwrap();
    let mut outcomes = Vec::new();
    let first = machine.lease(0, &0u8, || Some(0)).unwrap().id;
    assert_eq!(machine.settle(0, first, SettleAction::Ack, &mut outcomes), SettleOutcome::Acked);
    for job in 1..=65_536u64 {
        assert_eq!(
            machine.settle(0, first, SettleAction::Ack, &mut outcomes),
            SettleOutcome::Acked
        );
        let lease = machine.lease(0, &0, || Some(job)).unwrap();
        machine.settle(0, lease.id, SettleAction::Ack, &mut outcomes);
    }
    assert_eq!(machine.settle(0, first, SettleAction::Ack, &mut outcomes), SettleOutcome::Stale);
    assert_eq!((machine.leased(), machine.waiting(), machine.next_event(0)), (0, 0, None));
    assert_eq!(outcomes.len(), 65_537);
}
