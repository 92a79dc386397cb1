//! Admission: a limit on concurrent requests, without a queue, and a deadline for each.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;
use http::HeaderMap;
use offbeat_proto::status;
use tokio::sync::Semaphore;
use tonic::Status;

use super::answer::{self, HeldAnswer, Terms};
use super::deadline::Deadline;
use super::{Call, Peer, Stack, body, message};
use crate::limits::{PROBES, STREAMING_SHARE};
use crate::method::Method;
use crate::work::{Permit, SharedResources};

/// A probe is answered within this, or not at all.
const PROBE_TIME: Duration = Duration::from_secs(2);

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

/// Admits a request before its body is read, and ends its response in time.
pub(super) async fn admit(stack: &Stack, call: Call, mut request: Request, next: Next) -> Response {
    let (deadline, permit) = match admitted(stack, &call, request.headers()) {
        Ok(admitted) => admitted,
        Err(refused) => return call.refuse(refused),
    };
    request.extensions_mut().insert(permit.clone());
    let request = request.map(|body| body::counted(body, permit.clone(), stack.unary_time));
    let Some(response) = deadline.bound(message::read(stack, &call, request, next)).await else {
        return call.refuse(status::deadline_exceeded());
    };
    let ends = match (call.method.streaming, call.method.ends_on_drain) {
        (false, _) => None,
        (true, true) => Some(stack.ends.draining.clone()),
        (true, false) => Some(stack.ends.terminating.clone()),
    };
    let held = HeldAnswer { deadline: deadline.0, permit: permit.clone() };
    let terms = Terms { deadline, permit, largest: stack.limits.answer, ends };
    let mut response = answer::bound(response, terms, call);
    response.extensions_mut().insert(held);
    response
}

fn admitted(stack: &Stack, call: &Call, headers: &HeaderMap) -> Result<(Deadline, Permit), Status> {
    let time = if call.method.open { PROBE_TIME } else { stack.unary_time };
    let deadline =
        Deadline::of(headers, call.method, time, call.started).map_err(status::refused)?;
    Ok((deadline, stack.admission.admit(call.method, &call.peer)?))
}
