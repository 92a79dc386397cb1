//! Stages: how many workers each stage of a pipeline gets.
//!
//! Each stage has a workload v: how many jobs wait, times how long one takes. Workers are
//! shared out so that Σ v/(w+1) is smallest ([`Rule::MinimumScore`]), or by highest averages
//! ([`Rule::DHondt`]). Both are exact, and cost no more for a billion workers than for ten.
//!
//! ```
//! use offbeat_core::stages::{Rule, Share, allocate};
//!
//! let shares = [Share::of(100), Share::of(10)];
//! assert_eq!(allocate(Rule::MinimumScore, &shares, 8), [7, 1]);
//! assert_eq!(allocate(Rule::DHondt, &shares, 8), [8, 0]);
//! ```

mod allocate;
mod flow;
mod hysteresis;
mod load;
mod nearby;
mod next;
mod plan;
mod quotient;
mod spec;
mod starvation;

pub use allocate::{Share, allocate};
pub use flow::{Flow, FlowStage};
pub(crate) use hysteresis::Hysteresis;
pub use load::{Arrivals, Load};
pub(crate) use nearby::forced;
pub use next::{Next, NextSpec, Why};
pub use plan::{AllocationSpec, Move, Plan, StageAllocation};
pub use quotient::Rule;
pub use spec::{StageSpec, Weighting, Workload};
pub use starvation::StarvedStage;
