//! Lanes: what they do, by formula and simulated, and which ones to have.

mod performance;
mod plan;
mod search;
mod selection;
mod simulate;
mod tags;
mod trial;

pub use performance::{ClassPerformance, Performance};
pub use plan::{CutoffFigures, Plan, PlanSpec, PlannedLane, RunTimeClass, Sensitivity, Verdict};
pub use simulate::{Work, simulate_lanes, simulate_queue};
pub use tags::{Stage, Tags};
pub use trial::{Ratio, Summary};
