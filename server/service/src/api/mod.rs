//! The handlers of the services: convert in, decide, convert out.

mod assign;
mod audit;
mod batch;
mod catalog;
mod columns;
mod comparison;
mod convert;
mod describe;
mod due_runs;
pub mod lanes;
mod lateness;
mod migration;
mod named;
mod pages;
mod server_info;
mod simulation;
mod slots;
mod spread;
pub mod stages;
mod stream;
mod tokens;
mod weights;

pub use catalog::all_listed;
pub use lanes::{LaneHandlers, LanePlanningHandlers};
pub use lateness::LatenessHandlers;
pub use named::NamedSpreadHandlers;
pub use server_info::ServerInfoHandlers;
pub use simulation::SimulationHandlers;
pub use slots::SlotHandlers;
pub use spread::SpreadHandlers;
pub use stages::StageHandlers;
