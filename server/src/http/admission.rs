//! Admission: so many requests at once, and no queue in front of them.

use std::sync::Arc;

use tokio::sync::Semaphore;
use tonic::Status;

use crate::rpc::methods::Method;
use crate::rpc::status;
use crate::work::{Budget, Permit};

/// Places for requests that a full server answers too.
const EXEMPT_PLACES: usize = 256;

/// Counts the requests under way, and the bytes of their messages.
#[derive(Debug, Clone)]
pub struct Admission {
    free: Arc<Semaphore>,
    exempt: Arc<Semaphore>,
    limit: usize,
    budget: Budget,
}

impl Admission {
    pub(crate) fn new(limit: usize, bytes: usize) -> Self {
        Self {
            free: Arc::new(Semaphore::new(limit)),
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
        let place = Arc::clone(free).try_acquire_owned();
        let place = place.map_err(|_| status::overloaded(limit))?;
        Ok(Permit::new(place, self.budget.clone()))
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
