//! Spreading: groups in, jobs out, with jobs of one group apart.
//!
//! A *dispatcher* yields groups. Each *feeder* holds one group and hands out its jobs one by one.
//! The *spreader* asks the feeders in turn. Nothing is pulled before it is needed: a group when a
//! feeder is empty, a job when it is the feeder's turn. So groups may be endless, and may be made
//! while the first jobs run.
//!
//! A spread is free of I/O. It pulls from a [`Source`]. If the source has nothing yet, the spread
//! stays as it is and can be asked again later.
//!
//! ```
//! use offbeat_core::spread::{Spread, SpreadSpec, Turn, Groups};
//!
//! let mut groups = Groups::new([["a1", "a2"], ["b1", "b2"]]);
//! let mut spread = Spread::try_new(&SpreadSpec::round_robin(2))?;
//! let mut order = Vec::new();
//! while let Turn::Job(dealt) = spread.next(&mut groups) {
//!     order.push(dealt.job);
//! }
//! assert_eq!(order, ["a1", "b1", "a2", "b2"]);
//! assert_eq!(spread.certificate().min_gap_turns, Some(2));
//! # Ok::<(), offbeat_core::Rejection>(())
//! ```
//!
//! [`named`] spreads are held by name for many producers and consumers; their jobs are given out
//! under leases ([`lease`]).

pub mod lease;
pub mod named;
mod order;

pub use order::{
    Certificate, DealtJob, Groups, OnShortage, OrderDigest, Place, Policy, Pull, Source, Spread,
    SpreadSpec, Turn,
};
