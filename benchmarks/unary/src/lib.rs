//! The messages of `AssignSlot`, for the server that decides nothing and the driver of both.

pub mod driver;
pub mod frames;

#[allow(missing_docs, clippy::all)]
pub mod proto {
    tonic::include_proto!("offbeat.v1");
}
