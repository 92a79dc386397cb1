//! The server of Offbeat, the scheduling sidecar: serves the decisions of `offbeat-core` over gRPC
//! and plain HTTP/JSON.
//!
//! A request passes through the listener and its connection ([`net`]), the [`layers`], and the
//! generated service to its handler ([`api`]), which converts the message to checked parameters,
//! asks the core, and converts the decision back. A layer turns JSON into protobuf bytes, and the
//! codec of [`offbeat_proto`] decodes them. A refusal becomes a status in one place,
//! [`offbeat_proto::status`].

pub mod api;
pub mod clock;
pub mod config;
mod connect;
mod console;
pub mod layers;
pub mod limits;
mod message_frame;
pub mod method;
pub mod metrics;
pub mod net;
mod outcome;
pub mod reload;
pub mod schedules;
mod server;
mod services;
pub mod spreads;
pub mod telemetry;
pub mod work;

pub use server::{Server, StartError};
