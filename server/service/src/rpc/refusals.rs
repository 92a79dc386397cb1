//! How often the process has refused, by reason: as many counters as there are reasons.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::proto::ErrorReason;

/// One more than the largest number of a reason.
const REASONS: usize = 24;

static COUNTS: [AtomicU64; REASONS] = [const { AtomicU64::new(0) }; REASONS];

/// Counts a refusal.
pub(super) fn count(reason: ErrorReason) {
    let index = usize::try_from(i32::from(reason)).ok();
    if let Some(count) = index.and_then(|index| COUNTS.get(index)) {
        count.fetch_add(1, Ordering::Relaxed);
    }
}

/// The reasons, without their common prefix, and how often each has been given.
pub fn counted() -> impl Iterator<Item = (&'static str, u64)> {
    (1..).map_while(|number| ErrorReason::try_from(number).ok()).zip(COUNTS.iter().skip(1)).map(
        |(reason, count)| {
            let name = reason.as_str_name();
            (name.strip_prefix("ERROR_REASON_").unwrap_or(name), count.load(Ordering::Relaxed))
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_a_counter_for_every_reason() {
        let reasons = (1..).map_while(|number| ErrorReason::try_from(number).ok()).count();
        assert_eq!(reasons + 1, REASONS);
        let last = ErrorReason::try_from(23).unwrap();
        let before = counted().last().unwrap();
        count(last);
        let after = counted().last().unwrap();
        assert_eq!((before.0, after.0), ("UNKNOWN_TIME_ZONE", "UNKNOWN_TIME_ZONE"));
        assert!(after.1 > before.1);
    }
}
