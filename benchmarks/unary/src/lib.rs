//! The messages of `AssignSlot`, for the service that decides nothing and for the driver.

pub mod driver;
pub mod frames;

#[allow(missing_docs, clippy::all)]
pub mod proto {
    tonic::include_proto!("offbeat.v1");
}
