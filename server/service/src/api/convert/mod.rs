//! Wire messages to checked questions, and answers to wire messages.
//!
//! Every message is destructured in full, so that a new field does not compile
//! until somebody decides about it.

mod cycles;
mod reciprocal;
mod requests;
mod responses;
mod sql;

pub(super) use reciprocal::*;
pub(super) use requests::*;
pub(super) use responses::*;
pub(super) use sql::*;
