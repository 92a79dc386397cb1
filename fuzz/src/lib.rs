//! Properties that hold for any input: one function per fuzz target. A function panics where its
//! property does not hold; `server/tests/corpus.rs` replays the inputs of `tests/corpus` through
//! the same functions.
#![allow(
    dead_code,
    missing_docs,
    unreachable_pub,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used
)]

pub mod choices;
mod control_frames;
mod frames;
mod headers;
mod histories;
mod ids;
mod json;
mod lines;
pub mod methods;
mod orders;
mod plans;
mod port;
mod refusal;
mod scenarios;
mod schedules;
mod settings;
mod store;
mod wire;

/// A target's name and its function.
pub type Target = (&'static str, fn(&[u8]));

pub const TARGETS: [Target; 17] = [
    ("certificates", settings::certificates),
    ("control_frames", control_frames::control_frames),
    ("frames", frames::frames),
    ("groups", lines::groups),
    ("headers", headers::headers),
    ("ids", ids::ids),
    ("json", json::json),
    ("leases", histories::leases),
    ("named", histories::named),
    ("orders", orders::orders),
    ("plans", plans::plans),
    ("scenarios", scenarios::scenarios),
    ("schedules", schedules::schedules),
    ("settings", settings::settings),
    ("store", store::store),
    ("tables", lines::tables),
    ("wire", wire::wire),
];

#[must_use]
pub fn target(name: &str) -> fn(&[u8]) {
    TARGETS.iter().find(|(known, _)| *known == name).map(|(_, target)| *target).unwrap()
}
