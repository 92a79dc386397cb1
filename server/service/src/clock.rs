//! The one place that reads the clock.

use std::time::{SystemTime, UNIX_EPOCH};

use offbeat_core::Moment;

/// Now, by the system's clock; the Unix epoch if it is set outside the years 1 to 9999.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "the edge at which time enters")]
pub fn now() -> Moment {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let seconds = i64::try_from(since_epoch.as_secs()).unwrap_or_default();
    let nanos = i32::try_from(since_epoch.subsec_nanos()).unwrap_or_default();
    Moment::try_new(seconds, nanos).unwrap_or(Moment::UNIX_EPOCH)
}
