//! Generated from `proto/offbeat/v1` by the build script, but for one message.
#![allow(missing_docs, unreachable_pub, clippy::all)]
#![allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_possible_wrap)]
#![allow(clippy::disallowed_types, rustdoc::all)]

mod id_column;

pub use id_column::{IdColumn, IdFields};

include!(concat!(env!("OUT_DIR"), "/offbeat.v1.rs"));

/// The compiled protos, for reflection and for the JSON bridge.
pub const FILE_DESCRIPTOR_SET: &[u8] =
    include_bytes!(concat!(env!("OUT_DIR"), "/descriptors.binpb"));
