//! `offbeat stages`: workers over the stages of a pipeline.

mod allocate;
mod input;
mod pipeline;
mod steps;
mod table;
mod timeline;
mod timeline_rows;
mod timeline_table;

use clap::{Args, ValueEnum};
use offbeat_core::{Reason, Rejection};

use super::schedule::parse_count;
use offbeat_proto as proto;

pub(super) use allocate::{AllocateArgs, run as allocate};
pub use input::read_stages;
pub(super) use timeline::{TimelineArgs, run as timeline};

/// What decides an allocation, apart from the stages.
#[derive(Debug, Args)]
struct RuleArgs {
    /// The number of workers
    #[arg(id = "worker_count", long = "workers", value_name = "COUNT", value_parser = parse_count, allow_hyphen_values = true)]
    workers: i64,

    /// The rule by which they are allocated
    #[arg(long, value_enum, default_value_t = RuleArg::MinimumScore)]
    rule: RuleArg,

    /// How a stage's place in the pipeline counts
    #[arg(long, value_enum, default_value_t = WeightingArg::Even)]
    weighting: WeightingArg,

    /// Choose among the allocations that are at most this many moves away from the current one
    #[arg(id = "max_move_count", long = "max-moves", value_name = "COUNT", value_parser = parse_count, allow_hyphen_values = true)]
    max_moves: Option<i64>,

    /// Keep the current allocation unless the score falls by this many percent
    #[arg(id = "min_improvement_percent", long = "min-improvement", value_name = "PERCENT", value_parser = parse_count, default_value_t = 0, allow_hyphen_values = true)]
    min_improvement: i64,

    /// Give every stage with waiting jobs at least one worker, where there are enough
    #[arg(long)]
    prevent_starvation: bool,
}

/// The rule by which workers are allocated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum RuleArg {
    /// The smallest sum of workload / (workers + 1)
    MinimumScore,
    /// Highest averages, kinder to large stages
    DHondt,
}

/// How a stage's place in the pipeline counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum WeightingArg {
    /// Not at all
    Even,
    /// The workload of the i-th stage counts i times
    Latency,
}

impl RuleArgs {
    fn request(
        &self,
        stages: Vec<proto::Stage>,
    ) -> Result<proto::AllocateWorkersRequest, Rejection> {
        let narrow = |flag: &str, value: i64| {
            i32::try_from(value).map_err(|_| {
                let allowed = "must be a number of 32 bits";
                Rejection::new(Reason::OutOfRange, flag, value, allowed)
            })
        };
        let rule = match self.rule {
            RuleArg::MinimumScore => proto::AllocationRule::MinimumScore,
            RuleArg::DHondt => proto::AllocationRule::DHondt,
        };
        let weighting = match self.weighting {
            WeightingArg::Even => proto::StageWeighting::Even,
            WeightingArg::Latency => proto::StageWeighting::Latency,
        };
        Ok(proto::AllocateWorkersRequest {
            stages,
            worker_count: Some(narrow("--workers", self.workers)?),
            rule: rule.into(),
            weighting: weighting.into(),
            max_move_count: self.max_moves.map(|moves| narrow("--max-moves", moves)).transpose()?,
            min_improvement_percent: narrow("--min-improvement", self.min_improvement)?,
            prevent_starvation: self.prevent_starvation,
        })
    }
}
