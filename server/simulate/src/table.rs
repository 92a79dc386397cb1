//! The results as a table, the best strategy first.

use std::io::Write;

use offbeat_sim::results::{Figures, Outcome, Results};

use crate::failure::Failure;

type Column = (&'static str, fn(&Figures) -> String);

const COLUMNS: [Column; 12] = [
    ("FINISHED", |found| whole(found.jobs_finished)),
    ("NEVER SERVED", |found| whole(found.never_served)),
    ("NOT DONE", |found| whole(found.jobs_failed + found.jobs_left)),
    ("MEAN WAIT", |found| seconds(found.mean_wait)),
    ("P99 WAIT", |found| seconds(found.p99_wait)),
    ("SLOWDOWN", |found| format!("{:.1}", found.mean_slowdown)),
    ("DEEPEST QUEUE", |found| whole(found.max_queue_depth)),
    ("INTERVAL ±", |found| percent(found.interval_variation)),
    ("PEAK/S", |found| whole(found.peak_enqueued_per_second)),
    ("THROUGHPUT ±", |found| percent(found.throughput_variation)),
    ("CONFLICTS", |found| whole(found.lock_conflicts)),
    ("BUSY", |found| percent(found.utilization)),
];

pub(crate) fn write(out: &mut impl Write, results: &Results) -> Result<(), Failure> {
    let question = &results.scenario;
    writeln!(out, "{}", question.name)?;
    if !question.description.is_empty() {
        writeln!(out, "{}", question.description)?;
    }
    writeln!(
        out,
        "{} simulated, {} users every {}, seeds: {}{}\n",
        seconds(question.duration),
        question.population,
        seconds(question.cycle),
        question.seeds.iter().map(u64::to_string).collect::<Vec<_>>().join(", "),
        if question.is_cut { " (cut short)" } else { "" },
    )?;
    for note in &question.notes {
        writeln!(out, "{note}\n")?;
    }
    let width = results.ranking.iter().map(|name| name.chars().count()).max().unwrap_or(8).max(8);
    write!(out, "{:<width$}  RANKS    ", "STRATEGY")?;
    for (title, _) in COLUMNS {
        write!(out, "  {title:>13}")?;
    }
    writeln!(out)?;
    for outcome in best_first(results) {
        let ranks = outcome.ranks;
        let ranks =
            [ranks.consistent_delay, ranks.no_spikes, ranks.even_throughput, ranks.no_conflicts];
        // What was cut short cannot be compared.
        let rank = |rank: u32| if outcome.is_cut { "-".to_owned() } else { rank.to_string() };
        write!(out, "{:<width$}  {}  ", outcome.name, ranks.map(rank).join(" "))?;
        for (_, cell) in COLUMNS {
            write!(out, "  {:>13}", cell(&outcome.figures))?;
        }
        writeln!(out)?;
    }
    writeln!(
        out,
        "\nRanks: consistent delay, no spikes of jobs, even throughput, no lock conflicts; 1 is best."
    )?;
    late_runs(out, results, width)?;
    partners(out, results, width)
}

/// What became of the runs that were due while the producer stood still, if it did.
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
        let apart = outcome.least_kind_distance.map_or_else(|| "-".to_owned(), seconds);
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

/// What the customers of each partner saw, if there are partners.
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
            for cell in counts.into_iter().chain([seconds(partner.mean_wait)]) {
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

/// A span that people can read.
fn seconds(seconds: f64) -> String {
    match seconds {
        s if s >= 172_800.0 => format!("{:.1} d", s / 86_400.0),
        s if s >= 7_200.0 => format!("{:.1} h", s / 3_600.0),
        s if s >= 120.0 => format!("{:.1} min", s / 60.0),
        s if s >= 1.0 || s == 0.0 => format!("{s:.1} s"),
        s => format!("{:.0} ms", s * 1_000.0),
    }
}
