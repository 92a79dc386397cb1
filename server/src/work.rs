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
