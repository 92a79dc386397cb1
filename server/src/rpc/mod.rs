//! The gRPC services: handlers, conversion in and out, and statuses.

mod batch;
pub mod codec;
mod columns;
mod convert;
mod describe;
mod elements;
pub mod lanes;
pub mod methods;
mod named;
pub mod refusals;
mod simulation;
mod slots;
mod spread;
pub mod stages;
pub mod status;
mod stream;

pub use lanes::LaneHandlers;
pub use named::NamedSpreadHandlers;
pub use simulation::SimulationHandlers;
pub use slots::SlotHandlers;
pub use spread::SpreadHandlers;
pub use stages::StageHandlers;
