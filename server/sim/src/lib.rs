//! Simulates schedules, lanes and pipelines.
//!
//! A simulation is a pure function of its arguments and a seed: integer microseconds, a fixed
//! generator, no logarithm of the platform. The decisions in it are those of `offbeat_core`.

pub mod distribution;
pub mod formulas;
pub mod generator;
pub mod kiefer_wolfowitz;
pub mod lanes;
pub mod limits;
pub mod results;
pub mod scenario;
pub mod world;
