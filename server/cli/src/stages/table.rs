//! Allocations for people.

use std::collections::BTreeSet;
use std::io::Write;

use offbeat_core::Span;
use offbeat_proto as proto;
use offbeat_text::figures::{percent, span};

use super::super::Failure;
use super::super::output::{Row, RowFormat, RowWriter};
use super::RuleArgs;

/// The cells of a stage; only written as a table.
#[derive(serde::Serialize)]
struct StageRow(Vec<String>);

impl Row for StageRow {
    const COLUMNS: &'static [(&'static str, isize)] = &[
        ("STAGE", 20),
        ("WORKERS", -9),
        ("CHANGE", -9),
        ("WAITING", -10),
        ("DRAINED IN", -11),
        ("WORK", -11),
        ("", 0),
    ];

    fn cells(&self) -> Vec<String> {
        self.0.clone()
    }
}

/// Writes a line for each stage of an allocation.
pub(super) fn write_stages(
    out: &mut impl Write,
    stages: &[proto::Stage],
    allocation: &proto::WorkerAllocation,
) -> Result<(), Failure> {
    let starved = starved_names(allocation);
    let mut rows = RowWriter::new(RowFormat::Table, out);
    for (stage, found) in stages.iter().zip(&allocation.stages) {
        let change = found.worker_count - stage.current_worker_count;
        rows.write(&StageRow(vec![
            found.stage_name.clone(),
            found.worker_count.to_string(),
            if change == 0 { "0".to_owned() } else { format!("{change:+}") },
            stage.backlog_count.to_string(),
            found.drain_time_micros.map_or_else(|| "never".to_owned(), time),
            time(found.workload_micros),
            remarks(stage, found, starved.contains(found.stage_name.as_str())),
        ]))?;
    }
    Ok(())
}

/// The stages that have waiting jobs and no worker.
pub(super) fn starved_names(allocation: &proto::WorkerAllocation) -> BTreeSet<&str> {
    allocation.starved_stages.iter().map(|stage| stage.stage_name.as_str()).collect()
}

/// Remarks about a stage, beside its figures.
fn remarks(stage: &proto::Stage, found: &proto::StageAllocation, is_starved: bool) -> String {
    let count = found.worker_count;
    let mut said = Vec::new();
    if is_starved {
        said.push("no worker".to_owned());
    }
    match found.min_stable_worker_count {
        0 => {}
        stable if stable > count => said.push(format!("grows: arrivals need {stable}")),
        stable => said.push(format!("arrivals need {stable}")),
    }
    if stage.done {
        said.push("done".to_owned());
    } else if stage.max_worker_count == Some(count) {
        said.push("at its maximum".to_owned());
    } else if count > 0 && count == stage.min_worker_count {
        said.push("at its minimum".to_owned());
    } else if count > 0 && count == stage.busy_worker_count {
        said.push("all busy".to_owned());
    }
    if found.run_time_estimated {
        let mean = found.mean_run_time.unwrap_or_default();
        let mean = Span::try_new(mean.seconds, mean.nanos);
        said.extend(mean.map(|mean| format!("not measured: {mean} assumed")));
    }
    said.join("; ")
}

/// Writes the moves.
pub(super) fn write_moves(
    out: &mut impl Write,
    allocation: &proto::WorkerAllocation,
) -> Result<(), Failure> {
    for proto::WorkerMove { from_stage_name, to_stage_name, worker_count } in &allocation.moves {
        match (from_stage_name.as_str(), to_stage_name.as_str()) {
            ("", to) => writeln!(out, "{worker_count} new to {to}")?,
            (from, "") => writeln!(out, "{worker_count} of {from} not needed")?,
            (from, to) => writeln!(out, "{worker_count} from {from} to {to}")?,
        }
    }
    if allocation.unassigned_worker_count > 0 {
        let count = allocation.unassigned_worker_count;
        writeln!(out, "{count} left over: every stage has its maximum")?;
    }
    if allocation.improvement_too_small {
        writeln!(out, "A better allocation was turned down for --min-improvement.")?;
    }
    Ok(())
}

/// Writes what an allocation leaves undone, and its score.
pub(super) fn write_warnings(
    out: &mut impl Write,
    args: &RuleArgs,
    allocation: &proto::WorkerAllocation,
) -> Result<(), Failure> {
    for proto::StarvedStage { stage_name, backlog_count, cost } in &allocation.starved_stages {
        let jobs = if *backlog_count == 1 { "job" } else { "jobs" };
        let price = match cost {
            Some(cost) => format!("one costs {} of score", score(*cost)),
            None => "no worker may move there".to_owned(),
        };
        writeln!(
            out,
            "Warning: {stage_name} has {backlog_count} waiting {jobs} and no worker; {price}."
        )?;
    }
    if !allocation.starved_stages.is_empty() {
        if args.prevent_starvation {
            writeln!(out, "There are too few workers for all stages with waiting jobs.")?;
        } else {
            let (cost, whole) = (allocation.starvation_prevention_cost, allocation.score);
            let share = if whole > 0.0 { cost / whole } else { 0.0 };
            writeln!(
                out,
                "--prevent-starvation gives every stage with waiting jobs a worker, where there are \
                 enough, and costs {} of score ({}).",
                score(cost),
                percent(share)
            )?;
        }
    }
    write_arrivals(out, args.workers, allocation.min_stable_worker_count, "")?;
    writeln!(out, "Score {}.", score(allocation.score))?;
    Ok(())
}

/// Writes whether `workers` keep up with the arrivals, which need `needed` workers.
pub(super) fn write_arrivals(
    out: &mut impl Write,
    workers: i64,
    needed: i64,
    at: &str,
) -> Result<(), Failure> {
    match needed {
        0 => {}
        1.. if needed > workers => writeln!(
            out,
            "Warning: the arrivals need {needed} workers{at} and there are {workers}: backlogs grow \
             as long as that lasts."
        )?,
        _ => writeln!(out, "The arrivals need {needed} of the {workers} workers{at}.")?,
    }
    Ok(())
}

#[expect(clippy::cast_precision_loss, reason = "to be read by people")]
fn time(micros: i64) -> String {
    span(micros as f64 / 1e6)
}

fn score(micros: f64) -> String {
    span(micros / 1e6)
}
