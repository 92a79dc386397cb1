//! Wire messages to checked questions, and answers to wire messages.
//!
//! Every message is destructured in full, so that a new field does not compile
//! until somebody decides about it.

mod answers;
mod cycles;
mod questions;
mod reciprocal;
mod sql;

pub(super) use answers::*;
pub(super) use questions::*;
pub(super) use reciprocal::*;
pub(super) use sql::*;
