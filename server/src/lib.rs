//! Offbeat, the scheduling sidecar: the decisions of `offbeat-core` over gRPC, over plain
//! HTTP/JSON, and on the command line. The parts are crates of their own; this one is the binary,
//! and where tests of the whole stand.

pub use offbeat_cli as cli;
pub use offbeat_proto as proto;
pub use offbeat_service::*;
