//! Listeners and connections.

mod activity;
pub(crate) mod admin;
pub(crate) mod connection;
mod drain;
mod frames;
mod io;
mod listener;
pub(crate) mod tls;
mod uids;

pub use frames::ControlFrames;
pub use listener::Listener;
