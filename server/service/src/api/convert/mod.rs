//! Converts wire messages to checked parameters, and decisions to wire messages.
//!
//! Messages with many fields are destructured in full, here or in their handler, so that a new field
//! does not compile until it is handled.

mod cycles;
mod kinds;
mod reciprocal;
mod requests;
mod responses;
mod scalars;
mod sql;
mod zones;

pub(super) use kinds::described_kinds;
pub(super) use reciprocal::*;
pub(super) use requests::*;
pub(super) use responses::*;
pub(super) use scalars::*;
pub(super) use sql::*;
pub(super) use zones::{ZoneColumn, zones};
