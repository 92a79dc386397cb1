//! The gRPC services: handlers, conversion in and out, and statuses.

mod assign;
mod audit;
mod batch;
pub(crate) mod codec;
mod columns;
mod convert;
mod describe;
mod due_runs;
mod elements;
pub mod lanes;
mod lateness;
pub mod methods;
mod migration;
mod named;
mod packed;
pub mod refusals;
pub mod router;
mod routes;
mod simulation;
pub(crate) mod single;
mod slots;
mod spread;
pub mod stages;
pub mod status;
mod stream;
pub(crate) mod turn;
mod weights;

pub use lanes::LaneHandlers;
pub use lateness::LatenessHandlers;
pub use named::NamedSpreadHandlers;
pub use simulation::SimulationHandlers;
pub use slots::SlotHandlers;
pub use spread::SpreadHandlers;
pub use stages::StageHandlers;
