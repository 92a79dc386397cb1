//! Work under way: the place it holds, and where it is done.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::sync::OwnedSemaphorePermit;
use tokio::task::JoinHandle;

/// A place among the requests under way; given back when its last copy is dropped.
#[derive(Debug, Clone)]
pub struct Permit(
    #[expect(dead_code, reason = "held, never read")] Option<Arc<OwnedSemaphorePermit>>,
);

impl Permit {
    /// A place that is counted.
    #[must_use]
    pub fn counted(permit: OwnedSemaphorePermit) -> Self {
        Self(Some(Arc::new(permit)))
    }

    /// A place beside the counted ones.
    #[must_use]
    pub const fn exempt() -> Self {
        Self(None)
    }
}

/// Runs `work`, on another thread if it is `long`, so that the event loop goes
/// on. The work holds `permit`: a caller who leaves does not make room for more
/// of it. Work that has not begun when its caller leaves is dropped.
///
/// # Errors
/// When the work panicked.
pub async fn off_loop<T: Send + 'static>(
    long: bool,
    permit: Option<Permit>,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, WorkLost> {
    if !long {
        return Ok(work());
    }
    let working = tokio::task::spawn_blocking(move || {
        let done = work();
        drop(permit);
        done
    });
    AbortOnDrop(working).await
}

/// Work that ended without a result: a bug of ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkLost;

impl fmt::Display for WorkLost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the work ended without a result")
    }
}

impl std::error::Error for WorkLost {}

struct AbortOnDrop<T>(JoinHandle<T>);

impl<T> Future for AbortOnDrop<T> {
    type Output = Result<T, WorkLost>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.0).poll(cx).map(|joined| joined.map_err(|_| WorkLost))
    }
}

impl<T> Drop for AbortOnDrop<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::mpsc;

    use tokio::runtime::{Builder, Runtime};
    use tokio::sync::Semaphore;

    use super::*;

    /// A runtime that does one piece of long work at a time.
    fn runtime() -> Runtime {
        Builder::new_current_thread().enable_all().max_blocking_threads(1).build().unwrap()
    }

    async fn counted(places: &Arc<Semaphore>) -> Option<Permit> {
        Some(Permit::counted(Arc::clone(places).acquire_owned().await.unwrap()))
    }

    #[test]
    fn work_under_way_holds_its_place_when_its_caller_leaves() {
        runtime().block_on(async {
            let places = Arc::new(Semaphore::new(1));
            let (begun, has_begun) = mpsc::channel();
            let (finish, may_finish) = mpsc::channel::<()>();
            let work = move || {
                begun.send(()).unwrap();
                may_finish.recv().unwrap();
            };
            let caller = tokio::spawn(off_loop(true, counted(&places).await, work));
            tokio::task::yield_now().await;
            has_begun.recv().unwrap();
            caller.abort();
            assert!(caller.await.is_err());
            assert_eq!(places.available_permits(), 0, "the work still runs");
            finish.send(()).unwrap();
            let _given_back = places.acquire().await.unwrap();
        });
    }

    #[test]
    fn work_that_has_not_begun_is_dropped_with_its_caller() {
        runtime().block_on(async {
            let places = Arc::new(Semaphore::new(1));
            let (finish, may_finish) = mpsc::channel::<()>();
            let busy = tokio::spawn(off_loop(true, None, move || may_finish.recv().unwrap()));
            tokio::task::yield_now().await; // the one thread is taken
            let ran = Arc::new(AtomicBool::new(false));
            let mark = Arc::clone(&ran);
            let work = move || mark.store(true, Ordering::SeqCst);
            let waiting = tokio::spawn(off_loop(true, counted(&places).await, work));
            tokio::task::yield_now().await;
            waiting.abort();
            assert!(waiting.await.is_err());
            finish.send(()).unwrap();
            assert_eq!(busy.await.unwrap(), Ok(()));
            off_loop(true, None, || ()).await.unwrap(); // behind the one that was dropped
            assert!(!ran.load(Ordering::SeqCst));
            assert_eq!(places.available_permits(), 1);
        });
    }
}
