//! How a population of IDs fills the slots: what to expect, and what a sample shows.

mod audit;
mod chi_square;
mod load;

pub use audit::{Audit, AuditReport, Finding, Warning};
pub use load::ExpectedLoad;
