//! The gRPC services: handlers, conversion in and out, and statuses.

mod batch;
pub mod codec;
mod columns;
mod convert;
pub mod methods;
mod off_loop;
mod slots;
pub mod status;
mod stream;

pub(crate) use off_loop::off_loop;
pub use slots::SlotHandlers;
