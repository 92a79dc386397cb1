//! A batch divided among threads that have nothing to do: who waits for one answer would otherwise
//! wait for one core.

use std::ops::Range;
use std::sync::LazyLock;

use rayon_core::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::limits::BATCH_HELPERS;

/// A thread for each further core, for all batches together. (They stay: Linux seldom gives a
/// thread that is begun for a millisecond a core of its own.)
static HELPERS: LazyLock<Option<Helpers>> = LazyLock::new(|| {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    match (cores - 1).min(BATCH_HELPERS.max_size()) {
        0 => None,
        count => Helpers::try_new(count)
            .inspect_err(|error| tracing::warn!(%error, "batches are decided by one thread each"))
            .ok(),
    }
});

struct Helpers {
    pool: ThreadPool,
    free: Semaphore,
}

impl Helpers {
    /// So many. They are as patient as the thread that makes them: Linux hands niceness on.
    fn try_new(count: usize) -> Result<Self, ThreadPoolBuildError> {
        let pool = ThreadPoolBuilder::new().num_threads(count).thread_name(|_| "batch".to_owned());
        Ok(Self { pool: pool.build()?, free: Semaphore::new(count) })
    }
}

/// Does `part` for pieces of `0..len`, none shorter than `least` unless it is the only one, here
/// and on the threads that are free; the results in the order of the pieces.
///
/// # Panics
/// When a part does.
pub fn divided<T: Send>(
    len: usize,
    least: usize,
    part: impl Fn(Range<usize>) -> T + Sync,
) -> Vec<T> {
    match len / least.max(1) {
        0 | 1 => vec![part(0..len)], // which needs no threads, nor makes any
        _ => divided_among(HELPERS.as_ref(), len, least, part),
    }
}

fn divided_among<T: Send>(
    helpers: Option<&Helpers>,
    len: usize,
    least: usize,
    part: impl Fn(Range<usize>) -> T + Sync,
) -> Vec<T> {
    let most = (len / least.max(1)).saturating_sub(1);
    let free = || helpers.and_then(|helpers| helpers.free.try_acquire().ok());
    let taken: Vec<SemaphorePermit<'_>> = (0..most).map_while(|_| free()).collect();
    let Some(helpers) = helpers.filter(|_| !taken.is_empty()) else {
        return vec![part(0..len)];
    };
    let pieces = 1 + taken.len();
    let piece = |number| number * len / pieces..(number + 1) * len / pieces;
    let mut others: Vec<Option<T>> = taken.iter().map(|_| None).collect();
    let (part, piece) = (&part, &piece);
    let own = helpers.pool.in_place_scope(|scope| {
        for (other, number) in others.iter_mut().zip(1..) {
            scope.spawn(move |_| *other = Some(part(piece(number))));
        }
        part(piece(0))
    });
    std::iter::once(own).chain(others.into_iter().flatten()).collect()
}

#[cfg(test)]
mod tests {
    use std::panic::AssertUnwindSafe;
    use std::sync::Barrier;

    use super::*;

    fn pieces(helpers: &Helpers, len: usize, least: usize) -> Vec<Range<usize>> {
        divided_among(Some(helpers), len, least, |piece| piece)
    }

    #[test]
    fn the_pieces_are_the_whole_in_order() {
        let helpers = Helpers::try_new(3).unwrap();
        for (len, least) in (0..300).flat_map(|len| [(len, 1), (len, 7), (len, 20)]) {
            let pieces = pieces(&helpers, len, least);
            assert_eq!(pieces.len(), (len / least).clamp(1, 4), "{len}");
            assert!(pieces.len() == 1 || pieces.iter().all(|piece| piece.len() >= least));
            let whole: Vec<usize> = pieces.into_iter().flatten().collect();
            assert_eq!(whole, (0..len).collect::<Vec<_>>());
        }
        assert_eq!(helpers.free.available_permits(), 3);
    }

    #[test]
    fn the_pieces_are_done_at_once_and_by_no_more_threads_than_are_free() {
        let (helpers, all) = (Helpers::try_new(1).unwrap(), Barrier::new(2));
        let within = divided_among(Some(&helpers), 100, 10, |_| {
            all.wait(); // for ever, if one came after the other
            pieces(&helpers, 100, 10).len()
        });
        assert_eq!(within, [1, 1]);
        assert_eq!(divided_among(None, 100, 10, |piece| piece.len()), [100]);
    }

    #[test]
    fn a_panic_is_passed_on_and_the_helper_given_back() {
        let helpers = Helpers::try_new(1).unwrap();
        let failed = std::panic::catch_unwind(AssertUnwindSafe(|| {
            divided_among(Some(&helpers), 100, 10, |piece| assert_eq!(piece.start, 0, "on purpose"))
        }));
        assert!(failed.is_err());
        assert_eq!(helpers.free.available_permits(), 1);
    }
}
