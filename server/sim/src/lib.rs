//! Simulates schedules, lanes and pipelines.
//!
//! A simulation is a pure function of its arguments and a seed: it uses integer microseconds, a
//! fixed generator, and no logarithm of the platform. Its decisions are those of `offbeat_core`.

pub mod distribution;
pub mod formulas;
pub mod generator;
pub mod kiefer_wolfowitz;
pub mod lanes;
pub mod limits;
pub mod results;
pub mod scenario;
pub mod world;
