//! Many runs of a scenario: of all its strategies and seeds, on some threads.

use core::fmt;
use core::sync::atomic::{AtomicUsize, Ordering};
use std::panic::{AssertUnwindSafe, catch_unwind};

use offbeat_core::Rejection;

use super::{Trace, Watch, run};
use crate::scenario::Scenario;

/// Why the runs of a scenario have no result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunError {
    /// A run was refused.
    Refused(Rejection),
    /// A run ended without a result, because of a bug.
    Lost {
        /// Its number: all seeds of the first strategy come first, then those of the second.
        run: usize,
    },
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(rejection) => rejection.fmt(f),
            Self::Lost { run } => write!(f, "run {run} of the scenario ended without a result"),
        }
    }
}

impl std::error::Error for RunError {}

impl From<Rejection> for RunError {
    fn from(rejection: Rejection) -> Self {
        Self::Refused(rejection)
    }
}

/// Runs a scenario with all its strategies and seeds, on this many threads. Returns the traces of
/// each strategy, by seed.
///
/// # Errors
/// As [`run_each`].
pub fn run_all(
    scenario: &Scenario,
    threads: usize,
    watch: &Watch,
) -> Result<Vec<Vec<Trace>>, RunError> {
    run_each(scenario, threads, watch, &|_, trace| trace)
}

/// The same, but `keep` chooses what to keep of each run. It is called on the thread of the run,
/// which may end in any order, with the run's number: all seeds of the first strategy come first,
/// then those of the second.
///
/// # Errors
/// When [`run`](super::run) refuses a run, or a run panics; the first of them by number.
pub fn run_each<T: Send>(
    scenario: &Scenario,
    threads: usize,
    watch: &Watch,
    keep: &(dyn Fn(usize, Trace) -> T + Sync),
) -> Result<Vec<Vec<T>>, RunError> {
    let seeds = scenario.seeds.len();
    let runs = scenario.strategies.len() * seeds;
    let next = AtomicUsize::new(0);
    let one = |number: usize| {
        let strategy = scenario.strategies.get(number / seeds)?;
        let seed = scenario.seeds.get(number % seeds)?;
        Some(run(scenario, strategy, *seed, watch).map(|trace| keep(number, trace)))
    };
    let work = || {
        let take = || Some(next.fetch_add(1, Ordering::Relaxed)).filter(|number| *number < runs);
        // After a panic, only the number is kept.
        let caught = |number| catch_unwind(AssertUnwindSafe(|| one(number))).ok().flatten();
        let done = std::iter::from_fn(|| take().map(|number| (number, caught(number))));
        done.collect::<Vec<_>>()
    };
    let mut results = std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads.min(runs)).map(|_| scope.spawn(work)).collect();
        let mut results = work();
        results.extend(others.into_iter().filter_map(|thread| thread.join().ok()).flatten());
        results
    });
    results.sort_unstable_by_key(|(number, _)| *number);
    let mut kept: Vec<Vec<T>> = scenario.strategies.iter().map(|_| Vec::new()).collect();
    for (run, result) in results {
        let result = result.ok_or(RunError::Lost { run })??;
        if let Some(strategy) = kept.get_mut(run / seeds) {
            strategy.push(result);
        }
    }
    Ok(kept)
}
