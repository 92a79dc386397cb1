//! Admission: a limit on concurrent requests, without a queue.

use std::sync::Arc;

use offbeat_proto::status;
use tokio::sync::Semaphore;
use tonic::Status;

use super::Peer;
use crate::limits::{PROBES, STREAMING_SHARE};
use crate::method::Method;
use crate::work::{Permit, SharedResources};

/// Counts the requests in flight, and the bytes of their messages.
#[derive(Debug, Clone)]
pub struct Admission {
    free: Arc<Semaphore>,
    /// Places that streams may take.
    streams: Arc<Semaphore>,
    limit: usize,
    shared: SharedResources,
}

impl Admission {
    /// Admits up to `limit` requests at once, with up to `bytes` of messages together.
    #[must_use]
    pub fn new(limit: usize, bytes: usize) -> Self {
        let share = STREAMING_SHARE.max_size();
        Self {
            free: Arc::new(Semaphore::new(limit)),
            streams: Arc::new(Semaphore::new((limit * share).div_ceil(100))),
            limit,
            shared: SharedResources::new(bytes),
        }
    }

    /// A place for a request of `method`, or the refusal of a full server. A probe takes one of
    /// the places of its connection, so that no peer can use up those of others.
    pub(super) fn admit(&self, method: &Method, peer: &Peer) -> Result<Permit, Status> {
        let take = |free: &Arc<Semaphore>, limit| {
            Arc::clone(free).try_acquire_owned().map_err(|_| status::overloaded(limit))
        };
        let places = match (method.open, method.streaming) {
            (true, _) => vec![take(&peer.probes, PROBES.max_size())?],
            (false, true) => vec![take(&self.streams, self.limit)?, take(&self.free, self.limit)?],
            (false, false) => vec![take(&self.free, self.limit)?],
        };
        Ok(Permit::new(places, self.shared.clone()))
    }

    /// Number of requests in flight.
    #[must_use]
    pub fn requests(&self) -> usize {
        self.limit - self.free.available_permits()
    }

    /// Bytes of larger messages in flight.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.shared.bytes_taken()
    }
}
