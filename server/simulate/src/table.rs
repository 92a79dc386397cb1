//! The results as a table, the best strategy first.

use std::io::Write;

use offbeat_sim::results::words::{begin, end, span};
use offbeat_sim::results::{Figures, Outcome, Phase, Ranks, Results};

use crate::failure::Failure;

/// A title, what stands below it, and whether it is of finished jobs alone.
type Column = (&'static str, fn(&Figures) -> String, bool);

const COLUMNS: [Column; 12] = [
    ("FINISHED", |found| whole(found.jobs_finished), false),
    ("NEVER SERVED", |found| whole(found.never_served), false),
    ("NOT DONE", |found| whole(found.jobs_failed + found.jobs_left), false),
    ("MEAN WAIT", |found| span(found.mean_wait), false),
    ("P99 WAIT", |found| span(found.p99_wait), false),
    ("SLOWDOWN", |found| format!("{:.1}", found.mean_slowdown), true),
    ("DEEPEST QUEUE", |found| whole(found.max_queue_depth), false),
    ("INTERVAL ±", |found| percent(found.interval_variation), true),
    ("ENQUEUED/S", |found| whole(found.peak_enqueued_per_second), false),
    ("THROUGHPUT ±", |found| percent(found.throughput_variation), false),
    ("CONFLICTS", |found| whole(found.lock_conflicts), false),
    ("BUSY", |found| percent(found.utilization), false),
];

/// A longer list is for programs.
const SHOWN_PHASES: usize = 12;

/// Where more of the jobs were not done, figures of the others say little.
const NOT_DONE: f64 = 0.01;

pub(crate) fn write(out: &mut impl Write, results: &Results) -> Result<(), Failure> {
    let question = &results.scenario;
    writeln!(out, "{}", question.name)?;
    if !question.description.is_empty() {
        writeln!(out, "{}", question.description)?;
    }
    writeln!(
        out,
        "{} simulated, {} users every {}, seeds: {}{}\n",
        span(question.duration),
        question.population,
        span(question.cycle),
        question.seeds.iter().map(u64::to_string).collect::<Vec<_>>().join(", "),
        if question.is_cut { " (cut short)" } else { "" },
    )?;
    for note in &question.notes {
        writeln!(out, "{note}\n")?;
    }
    for finding in &results.findings {
        writeln!(out, "{finding}")?;
    }
    writeln!(out)?;
    let width = results.ranking.iter().map(|name| name.chars().count()).max().unwrap_or(8).max(8);
    write!(out, "{:<width$}  RANKS    ", "STRATEGY")?;
    for (title, ..) in COLUMNS {
        write!(out, "  {title:>13}")?;
    }
    writeln!(out)?;
    for outcome in best_first(results) {
        let ranks = outcome.ranks.map(|ranks| {
            let Ranks { consistent_delay, no_spikes, even_throughput, no_conflicts } = ranks;
            [consistent_delay, no_spikes, even_throughput, no_conflicts]
                .map(|rank| rank.to_string())
        });
        let ranks = ranks.map_or_else(|| "- - - -".to_owned(), |ranks| ranks.join(" "));
        write!(out, "{:<width$}  {}  ", outcome.name, ranks)?;
        let is_of_survivors = leaves_many(outcome);
        for (_, cell, is_of_finished) in COLUMNS {
            let mark = if is_of_finished && is_of_survivors { "*" } else { "" };
            write!(out, "  {:>13}", cell(&outcome.figures) + mark)?;
        }
        writeln!(out)?;
    }
    writeln!(
        out,
        "\nRanks: consistent delay, no spikes of jobs, even throughput, no lock conflicts; 1 is best."
    )?;
    if results.strategies.iter().any(leaves_many) {
        writeln!(out, "* Of the jobs that were done, alone.")?;
    }
    phases(out, results, width)?;
    late_runs(out, results, width)?;
    partners(out, results, width)
}

fn leaves_many(outcome: &Outcome) -> bool {
    let left = outcome.figures.jobs_failed + outcome.figures.jobs_left;
    left > NOT_DONE * outcome.feasibility.jobs_enqueued
}

/// Workers needed and available, where that changes.
fn phases(out: &mut impl Write, results: &Results, width: usize) -> Result<(), Failure> {
    let phases = results.strategies.iter().map(|outcome| outcome.feasibility.phases.len());
    match phases.max().unwrap_or(0) {
        0 | 1 => return Ok(()),
        count if count > SHOWN_PHASES => {
            writeln!(out, "\nWorkers needed and available in {count} phases: see --format json.")?;
            return Ok(());
        }
        _ => {}
    }
    write!(out, "\n{:<width$}  {:<29}", "STRATEGY", "FROM - TO")?;
    for title in ["NEEDED", "WORKERS", "BUSY", "MEAN WAIT", "DEEPEST QUEUE"] {
        write!(out, "  {title:>13}")?;
    }
    writeln!(out, "  DOWN")?;
    for outcome in best_first(results) {
        for phase in &outcome.feasibility.phases {
            let when = format!("{} - {}", begin(phase.from), end(phase.to));
            write!(out, "{:<width$}  {when:<29}", outcome.name)?;
            let workers = [phase.workers_needed, phase.workers_available, phase.busy_workers];
            let workers = workers.map(|count| format!("{count:.1}"));
            let rest = [span(phase.mean_wait), whole(phase.max_queue_depth)];
            for cell in workers.into_iter().chain(rest) {
                write!(out, "  {cell:>13}")?;
            }
            writeln!(out, "  {}", down(results, phase))?;
        }
    }
    writeln!(
        out,
        "\nNeeded: the workers that the jobs enqueued in it would keep busy, without repeated attempts."
    )?;
    Ok(())
}

/// The partners that are down in a phase.
fn down(results: &Results, phase: &Phase) -> String {
    let partners = results.scenario.partners.iter().zip(&phase.partners);
    let down = partners.filter(|(_, here)| here.is_down).map(|(partner, _)| partner.name.as_str());
    let down: Vec<&str> = down.chain(phase.producer_is_down.then_some("producer")).collect();
    if down.is_empty() { "-".to_owned() } else { down.join(", ") }
}

/// Runs that were due while the producer was stopped, if it was.
fn late_runs(out: &mut impl Write, results: &Results, width: usize) -> Result<(), Failure> {
    if results.strategies.iter().all(|outcome| outcome.late_runs.is_none()) {
        return Ok(());
    }
    write!(out, "\n{:<width$}", "STRATEGY")?;
    for title in ["LATE", "SUPERSEDED", "DROPPED", "KINDS APART"] {
        write!(out, "  {title:>13}")?;
    }
    writeln!(out)?;
    for outcome in best_first(results) {
        let Some(late) = outcome.late_runs else { continue };
        write!(out, "{:<width$}", outcome.name)?;
        let counts = [late.late, late.superseded, late.dropped].map(whole);
        let apart = outcome.least_kind_distance.map_or_else(|| "-".to_owned(), span);
        for cell in counts.into_iter().chain([apart]) {
            write!(out, "  {cell:>13}")?;
        }
        writeln!(out)?;
    }
    writeln!(
        out,
        "\nKinds apart: the least time between two runs of different kinds of a user, as they were enqueued."
    )?;
    Ok(())
}

/// Results for the customers of each partner, if there are partners.
fn partners(out: &mut impl Write, results: &Results, width: usize) -> Result<(), Failure> {
    let names = results.strategies.iter().flat_map(|outcome| &outcome.partners);
    let Some(longest) = names.map(|partner| partner.name.chars().count()).max() else {
        return Ok(());
    };
    let longest = longest.max(7);
    write!(out, "\n{:<width$}  {:<longest$}", "STRATEGY", "PARTNER")?;
    for title in ["FINISHED", "REFUSED", "IN OUTAGES", "MEAN WAIT"] {
        write!(out, "  {title:>13}")?;
    }
    writeln!(out)?;
    for outcome in best_first(results) {
        for partner in &outcome.partners {
            write!(out, "{:<width$}  {:<longest$}", outcome.name, partner.name)?;
            let counts = [partner.jobs_finished, partner.throttled, partner.failed].map(whole);
            for cell in counts.into_iter().chain([span(partner.mean_wait)]) {
                write!(out, "  {cell:>13}")?;
            }
            writeln!(out)?;
        }
    }
    Ok(())
}

fn best_first(results: &Results) -> impl Iterator<Item = &Outcome> {
    let named = |name: &String| results.strategies.iter().find(|outcome| outcome.name == *name);
    results.ranking.iter().filter_map(named)
}

fn whole(figure: f64) -> String {
    format!("{figure:.0}")
}

fn percent(figure: f64) -> String {
    // Adding zero makes -0.0, the rounded trace of a difference, a plain zero.
    format!("{:.1} %", (figure * 1_000.0).round() / 10.0 + 0.0)
}
