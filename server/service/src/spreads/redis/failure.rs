//! Why a step of a spread failed.

use redis::RedisError;

/// The failure of a step.
#[derive(Debug)]
pub(super) enum Failure {
    /// There is no such spread.
    Unknown,
    /// The memory of Redis is full; nothing was done.
    Full,
    /// Redis did not answer, or answered unexpectedly. The step may have been taken.
    Engine(String),
}

impl From<RedisError> for Failure {
    fn from(error: RedisError) -> Self {
        match error.code() {
            Some("OOM") => Self::Full,
            _ => Self::Engine(error.to_string()),
        }
    }
}
