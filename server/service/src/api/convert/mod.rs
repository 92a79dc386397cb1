//! Wire messages to checked questions, and answers to wire messages.
//!
//! Every message is destructured in full, so that a new field does not compile
//! until somebody decides about it.

mod responses;
mod cycles;
mod requests;
mod reciprocal;
mod sql;

pub(super) use responses::*;
pub(super) use requests::*;
pub(super) use reciprocal::*;
pub(super) use sql::*;
