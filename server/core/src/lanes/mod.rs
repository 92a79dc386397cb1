//! Lanes: short jobs do not wait behind long ones, even without knowing which is which.
//!
//! Every job begins in a fast lane with a short attempt timeout; those that reach it are demoted
//! to a slower lane. That is TAGS, task assignment by guessing size (M. Harchol-Balter, Journal of
//! the ACM 49(2), 2002), with slow lanes that also take fresh jobs when they are idle.
//!
//! ```
//! use offbeat_core::Span;
//! use offbeat_core::lanes::{Dispatcher, LaneSetSpec, LaneSpec};
//!
//! let lane = |timeout| LaneSpec { worker_count: 1, attempt_timeout: Some(Span::from_seconds(timeout)) };
//! let lanes = LaneSetSpec { lanes: vec![lane(60), lane(900)], ..LaneSetSpec::default() }.check()?;
//! let mut waiting = Dispatcher::new(&lanes);
//! waiting.push("fast1", 0);
//! waiting.push("slow1", 0);
//! // The slow lane chooses first, and takes any job.
//! assert_eq!(waiting.take(1), Some("fast1"));
//! assert_eq!(waiting.take(0), Some("slow1"));
//! // At its timeout it is demoted; the express lane does not take it again.
//! waiting.push("slow1", lanes.after(0).unwrap());
//! assert_eq!(waiting.take(0), None);
//! assert_eq!(waiting.take(1), Some("slow1"));
//! # Ok::<(), offbeat_core::Rejection>(())
//! ```

mod dispatch;
mod route;
mod spec;
mod split;

pub use dispatch::{DispatchOutcome, Dispatcher, FailedJob, Job, Placement, dispatch};
pub use route::{Outcome, Prediction, Route, RouteWhy};
pub use spec::{Lane, LanePolicy, LaneSet, LaneSetSpec, LaneSpec, OnTimeout};
pub use split::{LaneAllocation, LaneState, SplitSpec};
