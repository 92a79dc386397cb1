//! Wire messages to checked questions, and answers to wire messages.
//!
//! Every message is destructured in full, so that a new field does not compile
//! until somebody decides about it.

mod cycles;
mod kinds;
mod reciprocal;
mod requests;
mod responses;
mod sql;
mod zones;

pub(super) use kinds::described_kinds;
pub(super) use reciprocal::*;
pub(super) use requests::*;
pub(super) use responses::*;
pub(super) use sql::*;
pub(super) use zones::{ZoneColumn, zones};
