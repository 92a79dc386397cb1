//! Steps of Redis as metrics and spans.

use redis::{Client, ConnectionAddr, RedisError};
use tokio::time::Instant;
use tracing::Instrument as _;

use crate::metrics::store::{StepFailure, StoreMetrics};
use crate::telemetry::{self, Database};

/// A step: its name in metrics, and the command of Redis that takes it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step {
    name: &'static str,
    command: &'static str,
}

impl Step {
    /// A step that a script takes.
    const fn script(name: &'static str) -> Self {
        Self { name, command: "EVALSHA" }
    }

    const fn command(name: &'static str, command: &'static str) -> Self {
        Self { name, command }
    }
}

pub(super) const OPEN: Step = Step::script("open");
pub(super) const CALL: Step = Step::script("call");
pub(super) const READ: Step = Step::script("read");
pub(super) const COMPACT: Step = Step::script("compact");
pub(super) const DISCARD: Step = Step::script("discard");
pub(super) const LIST: Step = Step::command("list", "ZRANGEBYLEX");
pub(super) const CLAIM: Step = Step::script("claim");
pub(super) const UNCLAIM: Step = Step::command("claim", "DEL");
pub(super) const WRITE_SNAPSHOT: Step = Step::script("write_snapshot");
pub(super) const SNAPSHOT_LENGTH: Step = Step::command("read_snapshot", "LLEN");
pub(super) const READ_SNAPSHOT: Step = Step::command("read_snapshot", "LINDEX");
pub(super) const LISTEN: Step = Step::command("listen", "SUBSCRIBE");

/// Observes the steps of a Redis.
#[derive(Debug)]
pub(super) struct Observer {
    pub(super) metrics: StoreMetrics,
    database: Database,
}

impl Observer {
    pub(super) fn new(client: &Client) -> Self {
        let info = client.get_connection_info();
        let (address, port) = match info.addr() {
            ConnectionAddr::Tcp(host, port) | ConnectionAddr::TcpTls { host, port, .. } => {
                (host.clone(), Some(*port))
            }
            ConnectionAddr::Unix(path) => (path.display().to_string(), None),
            _ => (String::new(), None),
        };
        let namespace = info.redis_settings().db().to_string();
        let database = Database { system: "redis", address, port, namespace };
        Self { metrics: StoreMetrics::default(), database }
    }
}

/// Observes a step in progress.
pub(super) trait ObserveStep<T>: Future<Output = Result<T, RedisError>> + Sized {
    /// Measures it, and gives it a span if its caller has one.
    async fn observed(self, observer: &Observer, step: Step) -> Result<T, RedisError> {
        let span = telemetry::database_span(&observer.database, step.command, step.name);
        let start = Instant::now();
        let result = self.instrument(span.clone()).await;
        let failure = result.as_ref().err().map(failure);
        observer.metrics.record(step.name, start.elapsed(), failure);
        if let (Some(failure), Err(error)) = (failure, &result) {
            span.record("error.type", failure.name());
            span.record("db.response.status_code", error.code());
            span.record("otel.status_code", "ERROR");
        }
        result
    }
}

impl<T, F: Future<Output = Result<T, RedisError>>> ObserveStep<T> for F {}

/// The reason of a failed step.
fn failure(error: &RedisError) -> StepFailure {
    if error.is_timeout() {
        StepFailure::Timeout
    } else if error.is_io_error() || error.is_connection_dropped() {
        StepFailure::Connection
    } else if error.code() == Some("OOM") {
        StepFailure::Full
    } else {
        StepFailure::Other
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use redis::ErrorKind;

    use super::*;

    #[test]
    fn failures_are_told_apart() {
        let io = |kind| RedisError::from(io::Error::from(kind));
        for (error, expected) in [
            (io(io::ErrorKind::TimedOut), StepFailure::Timeout),
            (io(io::ErrorKind::ConnectionRefused), StepFailure::Connection),
            (io(io::ErrorKind::BrokenPipe), StepFailure::Connection),
            (RedisError::from((ErrorKind::Parse, "no answer")), StepFailure::Other),
        ] {
            assert_eq!(failure(&error), expected, "{error}");
        }
    }
}
