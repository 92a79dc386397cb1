//! Admission: so many requests at once, and no queue in front of them.

use std::sync::Arc;

use tokio::sync::Semaphore;
use tonic::Status;

use crate::rpc::methods::Method;
use crate::rpc::status;
use crate::work::Permit;

/// Counts the requests under way.
#[derive(Debug, Clone)]
pub(super) struct Admission {
    free: Arc<Semaphore>,
    limit: usize,
}

impl Admission {
    pub(super) fn new(limit: usize) -> Self {
        Self { free: Arc::new(Semaphore::new(limit)), limit }
    }

    /// A place for a request of `method`, or the refusal of a full server.
    pub(super) fn admit(&self, method: Method) -> Result<Permit, Status> {
        if method.exempt {
            return Ok(Permit::exempt());
        }
        let permit = Arc::clone(&self.free).try_acquire_owned();
        permit.map(Permit::counted).map_err(|_| status::overloaded(self.limit))
    }
}
