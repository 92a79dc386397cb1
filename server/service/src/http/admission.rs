//! Admission: so many requests at once, and no queue in front of them.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tonic::Status;

use crate::limits::STREAMING_SHARE;
use crate::rpc::methods::Method;
use crate::rpc::status;
use crate::work::{Budget, Permit};

/// Places for requests that a full server answers too.
const EXEMPT_PLACES: usize = 256;

/// Counts the requests under way, and the bytes of their messages.
#[derive(Debug, Clone)]
pub struct Admission {
    free: Arc<Semaphore>,
    /// Those of them that may stream.
    streams: Arc<Semaphore>,
    exempt: Arc<Semaphore>,
    limit: usize,
    budget: Budget,
}

impl Admission {
    pub(crate) fn new(limit: usize, bytes: usize) -> Self {
        let share = STREAMING_SHARE.max_size();
        Self {
            free: Arc::new(Semaphore::new(limit)),
            streams: Arc::new(Semaphore::new((limit * share).div_ceil(100))),
            exempt: Arc::new(Semaphore::new(EXEMPT_PLACES)),
            limit,
            budget: Budget::new(bytes),
        }
    }

    /// A place for a request of `method`, or the refusal of a full server.
    pub(super) fn admit(&self, method: &Method) -> Result<Permit, Status> {
        let (free, limit) = match method.exempt {
            true => (&self.exempt, EXEMPT_PLACES),
            false => (&self.free, self.limit),
        };
        let take = |free: &Arc<Semaphore>| {
            Arc::clone(free).try_acquire_owned().map_err(|_| status::overloaded(limit))
        };
        let stream = method.streaming.then(|| take(&self.streams)).transpose()?;
        Ok(Permit::new(take(free)?, stream, self.budget.clone()))
    }

    /// A place for a request whose messages are small, if there is one.
    pub(super) fn take_place(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.free).try_acquire_owned().ok()
    }

    /// Requests under way.
    #[must_use]
    pub fn requests(&self) -> usize {
        self.limit - self.free.available_permits()
    }

    /// Bytes of larger messages under way.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.budget.taken()
    }
}
