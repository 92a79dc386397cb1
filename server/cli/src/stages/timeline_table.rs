//! A timeline for people: a line for each time, and what to do about it.

use std::io::Write;

use offbeat_proto as proto;

use super::RuleArgs;
use super::table::{write_arrivals, write_stages};
use super::timeline_rows::StageAt;
use crate::Failure;

/// Writes a line for each time, and the last time in full.
pub(super) fn write_timeline(
    out: &mut impl Write,
    rule: &RuleArgs,
    names: &[String],
    rows: &[StageAt<'_>],
    stages: &[proto::Stage],
    last: Option<&proto::WorkerAllocation>,
) -> Result<(), Failure> {
    let steps = || rows.chunks(names.len().max(1));
    write_steps(out, names, &steps().collect::<Vec<_>>())?;
    let moved: i64 = steps().map(moves).sum();
    writeln!(out, "\nWorkers for waiting jobs; \"!\" where jobs wait and no worker is.")?;
    writeln!(out, "{moved} workers come to a stage, in {} allocations.", steps().count())?;
    write_starved(out, rule, names, rows)?;
    let needed = |step: &&[StageAt<'_>]| -> i64 {
        step.iter().map(|stage| i64::from(stage.min_stable_worker_count)).sum()
    };
    // The first of several such times.
    let busiest = steps().rev().max_by_key(needed).filter(|step| needed(step) > 0);
    if let Some((step, first)) = busiest.and_then(|step| Some((step, step.first()?))) {
        write_arrivals(out, rule.workers, needed(&step), &format!(" at {}", first.time))?;
    }
    let Some((allocation, row)) = last.zip(rows.last()) else {
        writeln!(out, "At the end every stage is done.")?;
        return Ok(());
    };
    writeln!(out, "\nAt {}:", row.time)?;
    write_stages(out, stages, allocation)
}

/// The number of workers that come to a stage.
fn moves(step: &[StageAt<'_>]) -> i64 {
    step.iter().map(|stage| i64::from(stage.worker_count_change.max(0))).sum()
}

fn write_steps(
    out: &mut impl Write,
    names: &[String],
    steps: &[&[StageAt<'_>]],
) -> Result<(), Failure> {
    let titles = ["TIME"].into_iter().chain(names.iter().map(String::as_str)).chain(["MOVES"]);
    let line = |step: &&[StageAt<'_>]| -> Vec<String> {
        let time = step.first().map(|stage| stage.time.to_owned());
        let cell = |stage: &StageAt<'_>| {
            let mark = if stage.starved { "!" } else { "" };
            format!("{} for {}{mark}", stage.worker_count, stage.backlog_count)
        };
        time.into_iter().chain(step.iter().map(cell)).chain([moves(step).to_string()]).collect()
    };
    let lines: Vec<Vec<String>> = std::iter::once(titles.map(str::to_owned).collect())
        .chain(steps.iter().map(line))
        .collect();
    let mut widths = vec![0; names.len() + 2];
    for line in &lines {
        for (width, cell) in widths.iter_mut().zip(line) {
            *width = cell.chars().count().max(*width);
        }
    }
    for line in &lines {
        for (place, (cell, width)) in line.iter().zip(&widths).enumerate() {
            match place {
                0 => write!(out, "{cell:<width$}")?,
                _ => write!(out, "  {cell:>width$}")?,
            }
        }
        writeln!(out)?;
    }
    Ok(())
}

fn write_starved(
    out: &mut impl Write,
    rule: &RuleArgs,
    names: &[String],
    rows: &[StageAt<'_>],
) -> Result<(), Failure> {
    let mut any = false;
    for (place, name) in names.iter().enumerate() {
        let starved = rows.iter().skip(place).step_by(names.len()).filter(|stage| stage.starved);
        let (times, most) =
            starved.fold((0, 0), |(times, most), stage| (times + 1, stage.backlog_count.max(most)));
        if times > 0 {
            any = true;
            writeln!(
                out,
                "Warning: {name} has waiting jobs and no worker at {times} of {} times, {most} jobs \
                 at most.",
                rows.len() / names.len()
            )?;
        }
    }
    if any && rule.prevent_starvation {
        writeln!(out, "There are too few workers for all stages with waiting jobs.")?;
    } else if any {
        writeln!(
            out,
            "--prevent-starvation gives every stage with waiting jobs a worker, where there are \
             enough."
        )?;
    }
    Ok(())
}
