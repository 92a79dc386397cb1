//! What the port of Offbeat, the scheduling sidecar, answers: the decisions of `offbeat-core` over
//! gRPC and over plain HTTP/JSON.
//!
//! One request: listener ([`net`]) → admission, deadline and size limits
//! ([`http`]) → handler → convert to a checked question → core decides →
//! convert back ([`rpc`]). A refusal becomes a status in one place,
//! [`rpc::status`].

pub mod clock;
pub mod config;
pub mod divide;
pub mod http;
pub mod limits;
pub mod metrics;
pub mod net;
pub mod post;
pub mod proto;
pub mod rpc;
pub mod schedules;
pub mod spreads;
pub mod telemetry;
pub mod work;
