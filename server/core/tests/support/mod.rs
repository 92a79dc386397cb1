//! Schedules, IDs and instants that several tests use.
#![allow(
    dead_code,
    unreachable_pub,
    missing_docs,
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss
)]

pub mod calendars;
pub mod kinds;
pub mod placed;

use offbeat_core::{Id, Moment, PlacementKind, Schedule};

pub fn millis(moment: i64) -> Moment {
    Moment::from_unix_millis(moment).unwrap()
}

pub fn fraction(key: u64) -> f64 {
    (key >> 11) as f64 / (1u64 << 53) as f64
}

/// An ID made from the key, of a type that the placement of the schedule takes.
pub fn id(schedule: &Schedule, key: u64) -> Id<'static> {
    match schedule.placement().kind() {
        PlacementKind::Fraction => Id::fraction(fraction(key)).unwrap(),
        _ => Id::Integer((key as i64).into()),
    }
}
