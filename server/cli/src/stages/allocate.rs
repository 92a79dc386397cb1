//! `offbeat stages allocate`

use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

use clap::Args;
use serde_json::{Value, json};

use super::super::Failure;
use super::super::output::{AnswerFormat, write_json_line};
use super::RuleArgs;
use super::input::{read_input, read_stages};
use super::table::{write_moves, write_stages, write_warnings};
use offbeat_proto as proto;
use offbeat_proto::allocate_workers_response::Outcome;
use offbeat_service::api::stages::allocate;

#[derive(Debug, Args)]
pub(crate) struct AllocateArgs {
    #[command(flatten)]
    rule: RuleArgs,

    /// How to write the allocation
    #[arg(long, value_enum, default_value_t = AnswerFormat::Table)]
    format: AnswerFormat,
}

pub(crate) fn run(args: &AllocateArgs) -> Result<ExitCode, Failure> {
    let stages = read_stages(&read_input()?)?;
    refuse_limits_of_no_moves(&args.rule, &stages)?;
    let answer = allocate(args.rule.request(stages.clone())?)?;
    let mut out = BufWriter::new(io::stdout().lock());
    let allocation = match answer.outcome {
        Some(Outcome::Allocation(allocation)) => Some(allocation),
        Some(Outcome::AllStagesDone(_)) | None => None,
    };
    match (args.format, allocation) {
        (AnswerFormat::Json, found) => write_json_line(&mut out, &as_json(found.as_ref()))?,
        (AnswerFormat::Table, None) => writeln!(out, "Every stage is done: no worker is needed.")?,
        (AnswerFormat::Table, Some(allocation)) => {
            write_stages(&mut out, &stages, &allocation)?;
            writeln!(out)?;
            write_moves(&mut out, &allocation)?;
            write_warnings(&mut out, &args.rule, &allocation)?;
        }
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

fn refuse_limits_of_no_moves(args: &RuleArgs, stages: &[proto::Stage]) -> Result<(), Failure> {
    let is_new = stages.iter().all(|stage| stage.current_worker_count == 0);
    if is_new && (args.max_moves.is_some() || args.min_improvement != 0) {
        let flag = if args.max_moves.is_some() { "--max-moves" } else { "--min-improvement" };
        return Err(Failure::Usage(format!(
            "{flag}: must not be set where no stage has a current_worker_count: all workers are new, \
             and none moves"
        )));
    }
    Ok(())
}

/// The answer with the names of the protos, and its numbers as JSON numbers.
fn as_json(allocation: Option<&proto::WorkerAllocation>) -> Value {
    let Some(found) = allocation else { return json!({ "allocations": null }) };
    let stage = |stage: &proto::StageAllocation| {
        json!({
            "stage_name": stage.stage_name,
            "worker_count": stage.worker_count,
            "drain_time_micros": stage.drain_time_micros,
            "min_stable_worker_count": stage.min_stable_worker_count,
            "workload_micros": stage.workload_micros,
            "weight": stage.weight,
            "run_time_estimated": stage.run_time_estimated,
            "score": stage.score,
            "next_quotient": stage.next_quotient,
        })
    };
    let moved = |one: &proto::WorkerMove| {
        json!({
            "from_stage_name": one.from_stage_name,
            "to_stage_name": one.to_stage_name,
            "worker_count": one.worker_count,
        })
    };
    let starved = |stage: &proto::StarvedStage| {
        json!({
            "stage_name": stage.stage_name,
            "backlog_count": stage.backlog_count,
            "cost": stage.cost,
        })
    };
    json!({
        "allocations": found.stages.iter().map(stage).collect::<Vec<_>>(),
        "moves": found.moves.iter().map(moved).collect::<Vec<_>>(),
        "unassigned_worker_count": found.unassigned_worker_count,
        "score": found.score,
        "current_score": found.current_score,
        "improvement_too_small": found.improvement_too_small,
        "starved_stages": found.starved_stages.iter().map(starved).collect::<Vec<_>>(),
        "starvation_prevention_cost": found.starvation_prevention_cost,
        "min_stable_worker_count": found.min_stable_worker_count,
    })
}
