//! The decisions of Offbeat.
//!
//! Everything here is a pure function of its arguments: no clock, no
//! randomness, no I/O, no networking. Integers decide; floats only estimate
//! (the expected load of [`population`]) or are what the caller stored (the
//! `FRACTION` placement).
//!
//! A question is put in three steps: gather what a caller said into an
//! unchecked value ([`ScheduleSpec`]), turn it into one that cannot be wrong
//! ([`Schedule::try_new`]) or into a [`Rejection`], and ask that.
//!
//! ```
//! use offbeat_core::{Id, Moment, Schedule, ScheduleSpec, Span};
//!
//! let schedule = Schedule::try_new(&ScheduleSpec::every(Span::from_seconds(8 * 3600)))?;
//! let place = schedule.place(&Id::text("acme-corp")?)?;
//! let run = schedule.next_run(&place, Moment::UNIX_EPOCH)?;
//! assert_eq!(run.map(|run| run.cycle_index), Some(0));
//! assert!(u64::from(place.slot) < 128);
//! # Ok::<(), offbeat_core::Rejection>(())
//! ```

pub mod calendar;
pub mod comparison;
pub mod ids;
pub mod lanes;
pub mod limits;
pub mod migration;
pub mod placement;
pub mod population;
pub mod reciprocal;
pub mod rejection;
pub mod runs;
pub mod schedule;
pub mod spread;
pub mod sql;
pub mod stages;
pub mod time;

pub use calendar::{
    CalendarSpec, CalendarUnit, CycleWindow, ExclusionPolicy, ExclusionSpec, ExclusionTimes,
    WorkBudgetExhausted,
};
pub use ids::{Id, Integer};
pub use placement::{Kernel, Place, Placement, PlacementKind, Profile, Twister, Why};
pub use rejection::{Reason, Rejection};
pub use runs::{Run, Slot};
pub use schedule::{Catalog, CycleSpec, KindSpec, Meanings, Schedule, ScheduleName, ScheduleSpec};
pub use time::{Moment, Span};
