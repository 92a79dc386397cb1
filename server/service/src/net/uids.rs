//! The users who may call over a Unix socket.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::net::UnixStream;
use tokio::time::Instant;

/// Refused users are logged once in this time, with their number.
const LOG_INTERVAL: Duration = Duration::from_secs(60);

/// The users who may call; if empty, everybody who can open the socket.
#[derive(Debug, Clone)]
pub(super) struct Uids {
    allowed: Arc<[u32]>,
    refused: Arc<Mutex<RefusalLog>>,
}

#[derive(Debug, Default)]
struct RefusalLog {
    count: u64,
    logged: Option<Instant>,
}

impl Uids {
    pub(super) fn new(allowed: &[u32]) -> Self {
        Self { allowed: allowed.into(), refused: Arc::default() }
    }

    /// Whether the user at the other end may call.
    pub(super) fn allow(&self, socket: &UnixStream) -> bool {
        if self.allowed.is_empty() {
            return true;
        }
        let uid = socket.peer_cred().map(|peer| peer.uid()).ok();
        let allowed = uid.is_some_and(|uid| self.allowed.contains(&uid));
        if !allowed {
            self.log(uid);
        }
        allowed
    }

    fn log(&self, uid: Option<u32>) {
        let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        refused.count += 1;
        if refused.logged.is_none_or(|logged| logged.elapsed() >= LOG_INTERVAL) {
            let connections = std::mem::take(&mut refused.count);
            refused.logged = Some(Instant::now());
            tracing::warn!(uid, connections, "refused a user who is not one of --socket-uids");
        }
    }
}
