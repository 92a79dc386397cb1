//! Membership of slots and windows as SQL.
//!
//! A predicate compares one expression over the column of IDs with constants: a range
//! that an index over the same expression serves. The predicates of all slots are a
//! partition of the rows whose ID is not NULL, and place each row as
//! [`Schedule::place`](crate::Schedule::place) does.

mod column;
mod index;
mod key;
mod membership;
mod predicate;
mod text;

pub use column::{ColumnSpec, ColumnType, Dialect, ParameterStyle};
pub use index::Index;
pub use membership::Membership;
pub use predicate::{Parameter, Predicate, Value};
