//! Work that would hold the event loop up, on other threads.

use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::task::JoinHandle;
use tonic::Status;

use super::status;
use crate::http::Permit;

/// Runs `work`, on another thread if it is `long`. The work holds `permit`, so
/// that a caller who leaves does not make room for more of it; work that has not
/// begun when its caller leaves is dropped.
pub(crate) async fn off_loop<T: Send + 'static>(
    long: bool,
    permit: Option<Permit>,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Status> {
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

struct AbortOnDrop<T>(JoinHandle<T>);

impl<T> Future for AbortOnDrop<T> {
    type Output = Result<T, Status>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let joined = Pin::new(&mut self.0).poll(cx);
        joined.map(|joined| joined.map_err(|_| status::internal("the work was not done")))
    }
}

impl<T> Drop for AbortOnDrop<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}
