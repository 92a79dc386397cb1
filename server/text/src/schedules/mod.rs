//! A file of named schedules.

mod fields;
mod file;

pub use file::{FileRefusal, parse};
