//! Offbeat, the scheduling sidecar: the decisions of `offbeat-core` over gRPC,
//! over plain HTTP/JSON, and on the command line.
//!
//! One request: listener ([`net`]) → admission, deadline and size limits
//! ([`http`]) → handler → convert to a checked question → core decides →
//! convert back ([`rpc`]). A refusal becomes a status in one place,
//! [`rpc::status`].

pub mod cli;
pub mod clock;
pub mod config;
pub mod http;
pub mod limits;
pub mod metrics;
pub mod net;
pub mod proto;
pub mod report;
pub mod rpc;
pub mod schedule_text;
pub mod schedules;
pub mod spreads;
mod telemetry;
pub mod work;
