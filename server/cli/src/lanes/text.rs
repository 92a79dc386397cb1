//! A plan as text.

use std::io::Write;

use super::LanePlan;
use super::figures::{self, Table, time};
use crate::Failure;
use offbeat_proto::v1beta1;
use offbeat_text::figures::{figure, percent};

pub(super) fn write_plan(out: &mut impl Write, planned: &LanePlan<'_>) -> Result<(), Failure> {
    let plan = &planned.answer;
    let (first, rest) = planned.messages.split_first().map_or(("", &[][..]), |(a, b)| (a, b));
    writeln!(out, "{}. {first}", figures::verdict(plan.verdict()))?;
    for message in rest {
        writeln!(out, "{message}")?;
    }
    writeln!(out, "\n{}", facts(planned))?;
    if plan.lane_set.is_some() || plan.lanes_by_type.is_some() {
        writeln!(out)?;
        let lanes = figures::lanes(plan);
        let is_names = lanes.titles.last().is_some_and(|title| title == "JOBS OF TYPE");
        write_table(out, &lanes, &[-10, 8, if is_names { -16 } else { 16 }])?;
        writeln!(out)?;
        write_table(out, &figures::performance(plan), &[-36, 25])?;
        writeln!(
            out,
            "Medians of {} streams of {} jobs; in brackets, what nine of ten streams lie within.",
            plan.stream_count, plan.stream_job_count,
        )?;
    }
    let types = figures::types(plan);
    if !types.rows.is_empty() {
        writeln!(out)?;
        write_table(out, &types, &[-16, 8])?;
    }
    if plan.lane_set.is_some() {
        write_chart(out, plan)?;
    }
    Ok(())
}

/// The question in short, and what was measured for it.
pub(super) fn facts(planned: &LanePlan<'_>) -> String {
    let plan = &planned.answer;
    let workers = if planned.workers == 1 { "worker" } else { "workers" };
    let measured = planned.jobs.arrivals.as_ref();
    let measured = measured.map(|arrivals| format!("{} ", arrivals.sentence()));
    format!(
        "{}{} jobs/s, mean run time {}, {} {workers}: {} of their time.",
        measured.unwrap_or_default(),
        figure(planned.arrival_rate),
        time(plan.mean_run_time.as_ref()),
        planned.workers,
        percent(plan.utilization),
    )
}

/// Writes a table whose columns have at least these widths; the last width is that of all further
/// columns. A width below zero aligns to the left.
fn write_table(out: &mut impl Write, table: &Table, widths: &[isize]) -> Result<(), Failure> {
    let lines = || [&table.titles].into_iter().chain(&table.rows);
    let width = |place: usize| {
        let given = widths.get(place).or(widths.last()).copied().unwrap_or_default();
        let cells = lines().filter_map(|line| line.get(place));
        let widest = cells.map(|cell| cell.chars().count()).max().unwrap_or_default();
        (widest.max(given.unsigned_abs()), given < 0)
    };
    let columns: Vec<(usize, bool)> = (0..table.titles.len()).map(width).collect();
    for line in lines() {
        let cells = line.iter().zip(&columns).map(|(cell, (width, is_left))| match is_left {
            true => format!("{cell:<width$}"),
            false => format!("{cell:>width$}"),
        });
        writeln!(out, "{}", cells.collect::<Vec<_>>().join(" ").trim_end())?;
    }
    Ok(())
}

/// Cutoffs between two lanes, each with a bar: the longer, the worse.
fn write_chart(out: &mut impl Write, plan: &v1beta1::PlanLanesResponse) -> Result<(), Failure> {
    const WIDTH: f64 = 30.0;
    let slowdowns = || plan.cutoffs.iter().filter_map(|cutoff| cutoff.mean_slowdown);
    let queue = plan.without_lanes.as_ref().map_or(1.0, |found| found.mean_slowdown);
    let most = slowdowns().fold(queue, f64::max);
    let bar = |slowdown: f64| {
        let share = slowdown.ln() / most.ln().max(f64::MIN_POSITIVE);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 30")]
        let bar = "█".repeat((share * WIDTH).round().max(1.0) as usize);
        format!("{bar} {}", figure(slowdown))
    };
    writeln!(out, "\nTwo lanes, by their cutoff (the bars have a logarithmic scale)")?;
    writeln!(out, "{:>12} {:>8} {:>14}  MEAN SLOWDOWN", "CUTOFF", "EXPRESS", "MEAN SOJOURN")?;
    for cutoff in &plan.cutoffs {
        let at = time(cutoff.cutoff.as_ref());
        let express = cutoff.express_worker_count;
        match cutoff.mean_slowdown {
            Some(slowdown) => {
                let sojourn = time(cutoff.mean_sojourn.as_ref());
                let remark = match cutoff.stable_with_more_arrivals {
                    true => "",
                    false => ", does not keep up with 20 % more",
                };
                writeln!(out, "{at:>12} {express:>8} {sojourn:>14}  {}{remark}", bar(slowdown))?;
            }
            None => writeln!(out, "{at:>12} {express:>8} {:>14}  does not keep up", "-")?,
        }
    }
    let sojourn = plan.without_lanes.as_ref().and_then(|found| found.mean_sojourn.as_ref());
    writeln!(out, "{:>12} {:>8} {:>14}  {}", "one queue", "-", time(sojourn), bar(queue))?;
    Ok(())
}
