//! Admission: so many requests at once, and no queue in front of them.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tonic::Status;

use crate::rpc::methods::Method;
use crate::rpc::status;

/// Counts the requests under way.
#[derive(Debug, Clone)]
pub(super) struct Admission {
    free: Arc<Semaphore>,
    limit: usize,
}

/// A place among the requests under way; given back when its last copy is dropped.
#[derive(Debug, Clone)]
pub struct Permit(
    #[expect(dead_code, reason = "held, never read")] Option<Arc<OwnedSemaphorePermit>>,
);

impl Admission {
    pub(super) fn new(limit: usize) -> Self {
        Self { free: Arc::new(Semaphore::new(limit)), limit }
    }

    /// A place for a request of `method`, or the refusal of a full server.
    pub(super) fn admit(&self, method: Method) -> Result<Permit, Status> {
        if method.exempt {
            return Ok(Permit(None));
        }
        let permit = Arc::clone(&self.free).try_acquire_owned();
        permit
            .map(|permit| Permit(Some(Arc::new(permit))))
            .map_err(|_| status::overloaded(self.limit))
    }
}
