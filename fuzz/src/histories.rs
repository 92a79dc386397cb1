//! Histories of leases and of named spreads, checked against the ledgers of the core's own tests.

#[path = "../../server/core/tests/ledgers/leases.rs"]
mod lease_ledger;
#[path = "../../server/core/tests/ledgers/named.rs"]
mod named_ledger;

use super::choices::Choices;

fn chooser(data: &[u8]) -> impl FnMut(usize) -> usize + 'static {
    let data = data.to_vec();
    let mut next = 0;
    move |limit| {
        let mut choices = Choices::new(&data[next..]);
        let choice = choices.below(limit);
        next = data.len() - choices.rest().len();
        choice
    }
}

/// Every byte is a choice: which consumer acts, how long nothing happens, how a job is settled.
pub fn leases(data: &[u8]) {
    let history = lease_ledger::history(&mut chooser(data), lease_ledger::machine);
    history.unwrap_or_else(|broken| panic!("{broken}"));
}

/// The same for named spreads, with producers, groups in several parts, and restarts.
pub fn named(data: &[u8]) {
    for store in [named_ledger::Store::Memory, named_ledger::Store::Kept] {
        let choices = Box::new(chooser(data));
        let world = named_ledger::World::new(choices, named_ledger::Habit::Careful, store);
        world.run().unwrap_or_else(|broken| panic!("{broken}"));
    }
}
