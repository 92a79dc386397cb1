//! What the port of Offbeat, the scheduling sidecar, answers: the decisions of `offbeat-core` over
//! gRPC and over plain HTTP/JSON.
//!
//! One request: listener and connection ([`net`]), the [`layers`] that every request passes, the
//! generated service of the contract, its handler ([`api`]), which converts the message to a
//! checked question, asks the core, and converts the decision back. A refusal becomes a status in
//! one place, [`offbeat_proto::status`].

pub mod api;
pub mod clock;
pub mod config;
mod console;
mod json;
pub mod layers;
pub mod limits;
pub mod metrics;
pub mod net;
pub mod reload;
pub mod schedules;
mod server;
mod services;
pub mod spreads;
pub mod telemetry;
pub mod work;

pub use server::{Server, StartError};
