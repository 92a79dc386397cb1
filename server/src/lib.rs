//! Offbeat, the scheduling sidecar: the decisions of `offbeat-core` over gRPC,
//! over plain HTTP/JSON, and on the command line.
//!
//! The parts are crates of their own, since each is compiled for what it is for
//! (`docs/decisions/0011-small-and-fast.md`).

pub use offbeat_cli as cli;
pub use offbeat_service::*;
