//! Lanes: what they do, by formula and simulated, and which ones to have.

mod performance;
mod plan;
mod search;
mod simulate;
mod tags;

pub use performance::Performance;
pub use plan::{CutoffSlowdown, Plan, PlanSpec, PlannedLane, Sensitivity};
pub use simulate::{Work, simulate_lanes, simulate_queue};
pub use tags::{Stage, Tags};
