//! What people write: on the command line, on standard input, and in schedules files. And
//! [`figures`] as they read them.
//!
//! Each `parse_…` function reads one text and answers with a type of `offbeat-core`, or with a message
//! that says what is allowed. [`schedules::parse`] reads a whole file of named schedules.
//! [`for_each_line`] and [`read_run_times`] read lines.

mod cycles;
mod exclusions;
pub mod figures;
mod instants;
mod lines;
mod run_times;
pub mod schedules;
mod spans;
mod windows;

pub use cycles::{CycleText, parse_unit};
pub use exclusions::parse_exclusions;
pub use instants::parse_moment;
pub use lines::{INPUT_LINE_BYTES, Line, for_each_line};
pub use run_times::{RunTimesError, read_run_times};
pub use spans::{parse_count, parse_span};
pub use windows::parse_windows;
