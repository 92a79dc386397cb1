//! One queue before several workers: when each job starts.

use core::cmp::Reverse;

use std::collections::BinaryHeap;

/// The starts of jobs, in order. `jobs` are their arrivals, ascending, and their run times, in any
/// one unit of time. Each job runs on the worker that is free first (J. Kiefer and J. Wolfowitz,
/// 1955).
pub fn starts(
    workers: usize,
    jobs: impl IntoIterator<Item = (u64, u64)>,
) -> impl Iterator<Item = u64> {
    let mut free: BinaryHeap<Reverse<u64>> = vec![Reverse(0); workers].into();
    jobs.into_iter().map_while(move |(arrival, run_time)| {
        let mut first = free.peek_mut()?;
        let start = first.0.max(arrival);
        *first = Reverse(start.saturating_add(run_time));
        Some(start)
    })
}
