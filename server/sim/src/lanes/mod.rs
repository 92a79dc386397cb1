//! Lanes: what they do, by formula and simulated, and which ones to have.

mod by_type;
mod judgement;
mod performance;
mod plan;
mod question;
mod search;
mod selection;
mod simulate;
mod span;
mod split;
mod tags;
mod timeouts;
mod trial;
mod types;

pub use judgement::Verdict;
pub use performance::{ClassPerformance, Performance};
pub use plan::{CutoffFigures, LanesByType, Plan, RunTimeClass, Sensitivity};
pub use question::PlanSpec;
pub use simulate::{Work, simulate_lanes, simulate_queue};
pub use tags::{Stage, Tags};
pub use timeouts::PlannedLane;
pub use trial::{Ratio, Summary};
pub use types::TypeFigures;
