//! Slot counts that do not divide the period: the refusal names the nearest that do.
#![allow(clippy::unwrap_used)]

use std::time::{Duration, Instant};

use offbeat_core::{Reason, Schedule, ScheduleSpec, Span};
use proptest::prelude::*;

fn allowed(seconds: i64, slots: i64) -> Option<String> {
    let spec = ScheduleSpec {
        slot_count: Some(slots),
        ..ScheduleSpec::every(Span::from_seconds(seconds))
    };
    let refused = Schedule::try_new(&spec).err()?;
    assert_eq!(refused.reason, Reason::SlotCountDoesNotDivide);
    Some(refused.allowed)
}

#[test]
#[allow(clippy::disallowed_methods, reason = "it measures")]
fn a_refused_slot_count_costs_little_for_any_period() {
    let begun = Instant::now();
    // Primes, near 2^20 and near the longest period.
    for _ in 0..1_000 {
        assert!(
            allowed(1_048_583, 1 << 19).unwrap().ends_with("(nearest: none within 1024 steps)")
        );
        assert!(
            allowed(316_223_981, 1 << 20).unwrap().ends_with("(nearest: none within 1024 steps)")
        );
    }
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
}

proptest! {
    /// Periods of up to a day, in seconds.
    #[test]
    fn the_nearest_divisors_are_named(seconds in 1..86_401_i64, share in 0.0..1.2_f64) {
        #[allow(clippy::cast_possible_truncation, clippy::cast_precision_loss)]
        let slots = ((seconds as f64).powf(share) as i64).max(1);
        let Some(allowed) = allowed(seconds, slots) else {
            prop_assert_eq!(seconds % slots, 0);
            return Ok(());
        };
        let below = (1..slots).rev().find(|slots| seconds % slots == 0).unwrap();
        let above = (slots + 1..=seconds).find(|slots| seconds % slots == 0);
        let nearest = match above {
            Some(above) => format!("(nearest: {below} and {above} slots)"),
            None => format!("(nearest: {below} slots)"),
        };
        // A divisor that is far away may be left out.
        let is_near = |other: i64| {
            let times = (seconds / other).abs_diff(seconds / slots);
            slots.abs_diff(other) <= 1_000 || times <= 1_000
        };
        prop_assume!(is_near(below) && above.is_none_or(is_near));
        prop_assert!(allowed.ends_with(&nearest), "{}, not {}", allowed, nearest);
    }
}
