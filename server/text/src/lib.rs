//! Schedules as people write them: on the command line, and in schedules files.
//!
//! Each `parse_…` function reads one text and answers with a type of `offbeat-core`, or with a message
//! that says what is allowed. [`schedules::parse`] reads a whole file of named schedules.

mod cycles;
mod exclusions;
mod instants;
pub mod schedules;
mod spans;
mod windows;

pub use cycles::{CycleText, parse_unit};
pub use exclusions::parse_exclusions;
pub use instants::parse_moment;
pub use spans::{parse_count, parse_span};
pub use windows::parse_windows;
