//! Many runs of a scenario: of all its strategies and seeds, on some threads.

use core::sync::atomic::{AtomicUsize, Ordering};

use offbeat_core::Rejection;

use super::{Trace, Watch, run};
use crate::scenario::Scenario;

/// Runs a scenario with all its strategies and seeds, on so many threads: of each strategy the
/// traces by seed.
///
/// # Errors
/// As [`run`](super::run).
pub fn run_all(
    scenario: &Scenario,
    threads: usize,
    watch: &Watch,
) -> Result<Vec<Vec<Trace>>, Rejection> {
    run_each(scenario, threads, watch, &|_, trace| trace)
}

/// The same; asks on its thread what to keep of each run that has ended, by its number: all seeds
/// of the first strategy, then those of the second. They end in any order.
///
/// # Errors
/// As [`run`](super::run).
pub fn run_each<T: Send>(
    scenario: &Scenario,
    threads: usize,
    watch: &Watch,
    keep: &(dyn Fn(usize, Trace) -> T + Sync),
) -> Result<Vec<Vec<T>>, Rejection> {
    let seeds = scenario.seeds.len();
    let runs = scenario.strategies.len() * seeds;
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let strategy = scenario.strategies.get(number / seeds.max(1));
            let (Some(strategy), Some(seed)) =
                (strategy, scenario.seeds.get(number % seeds.max(1)))
            else {
                return done;
            };
            let trace = run(scenario, strategy, *seed, watch);
            done.push((number, trace.map(|trace| keep(number, trace))));
        }
    };
    let mut all: Vec<(usize, Result<T, Rejection>)> = std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads.min(runs)).map(|_| scope.spawn(work)).collect();
        let mut all = work();
        // A thread that panicked leaves its runs out.
        all.extend(others.into_iter().filter_map(|thread| thread.join().ok()).flatten());
        all
    });
    all.sort_by_key(|(number, _)| *number);
    let kept = all.into_iter().map(|(_, kept)| kept).collect::<Result<Vec<_>, _>>()?;
    let mut kept = kept.into_iter();
    Ok((0..scenario.strategies.len()).map(|_| kept.by_ref().take(seeds).collect()).collect())
}
