//! The most important results, in sentences.

use core::fmt::Write as _;

use super::words::{begin, end, span};
use super::{Feasibility, Outcome, Phase};
use crate::scenario::Scenario;

/// A partner that keeps this share of the workers waiting is worth a sentence if hardly any other
/// workers are free.
const MANY_WORKERS: f64 = 0.25;
/// From this share of busy workers on, hardly any are free.
const ALL_BUSY: f64 = 0.9;

/// The most sentences about phases: a long list hides the first ones.
const PHASES_TOLD: usize = 5;

/// The findings about these strategies, the best first.
pub(super) fn findings(scenario: &Scenario, ranking: &[&Outcome]) -> Vec<String> {
    let mut findings = vec![workers(ranking)];
    findings.extend(ranking.iter().filter(|one| one.feasibility.jobs_pile_up).map(|one| pile(one)));
    findings.extend(calls(scenario, ranking));
    findings.extend(phases(scenario, ranking));
    findings
}

/// How many workers are needed, and how many are available.
fn workers(ranking: &[&Outcome]) -> String {
    let needed = range(ranking, |one| one.workers_needed, short);
    let there = range(ranking, |one| one.workers_available, short);
    let verb = if needed == "1" { "worker is" } else { "workers are" };
    format!("{needed} {verb} needed on average, {there} available.")
}

fn pile(outcome: &Outcome) -> String {
    let (own, left) = (&outcome.feasibility, outcome.figures.jobs_left);
    let mut text = format!(
        "{}: jobs pile up. {} of {} ({:.0} %) were left at the end",
        outcome.name,
        counted(left),
        counted(own.jobs_enqueued),
        100.0 * left / own.jobs_enqueued.max(1.0)
    );
    if own.workers_needed > own.workers_available {
        let _ = write!(
            // to a String: it cannot fail
            text,
            ": {} workers are needed, {} are there",
            short(own.workers_needed),
            short(own.workers_available)
        );
    } else {
        text.push_str(", though there are enough workers for the jobs alone");
    }
    text.push_str(". It has no ranks.");
    text
}

/// Partners that need to answer more calls than they may.
fn calls(scenario: &Scenario, ranking: &[&Outcome]) -> Vec<String> {
    let told = |(place, partner): (usize, &crate::scenario::Partner)| {
        let allowed = f64::from(partner.allowed_per_second()?);
        let needed = |own: &Feasibility| {
            let calls = own.phases.iter().filter_map(|phase| {
                Some(phase.partners.get(place)?.calls_needed * (phase.to - phase.from))
            });
            let seconds: f64 = own.phases.iter().map(|phase| phase.to - phase.from).sum();
            calls.sum::<f64>() / seconds.max(1.0)
        };
        let is_short = ranking.iter().any(|one| needed(&one.feasibility) > allowed);
        let needed = range(ranking, needed, short);
        is_short.then(|| {
            format!(
                "{}: {needed} calls a second are needed on average, {} allowed. No strategy changes that.",
                partner.name,
                short(allowed)
            )
        })
    };
    scenario.partners.iter().enumerate().filter_map(told).collect()
}

/// Outages that keep many workers waiting, and what that does to the jobs.
fn phases(scenario: &Scenario, ranking: &[&Outcome]) -> Vec<String> {
    let Some(first) = ranking.first() else { return Vec::new() };
    let mut told = Vec::new();
    for (number, phase) in first.feasibility.phases.iter().enumerate() {
        for (place, partner) in scenario.partners.iter().enumerate() {
            let share = |one: &Phase| {
                let lost =
                    one.partners.get(place).map_or(0.0, |partner| partner.unanswered_workers);
                lost / one.workers_available.max(1.0)
            };
            let is_short = |one: &Phase| {
                share(one) >= MANY_WORKERS && one.busy_workers >= ALL_BUSY * one.workers_available
            };
            let phase_of =
                |one: &&&Outcome| one.feasibility.phases.get(number).is_some_and(is_short);
            let kept: Vec<&Outcome> = ranking.iter().filter(phase_of).copied().collect();
            if kept.is_empty() || !phase.partners.get(place).is_some_and(|one| one.is_down) {
                continue;
            }
            let here = |of: fn(&Phase) -> f64| {
                move |own: &Feasibility| own.phases.get(number).map_or(0.0, of)
            };
            let lost = |own: &Feasibility| {
                own.phases.get(number).map_or(0.0, |one| share(one) * one.workers_available)
            };
            told.push(format!(
                "{} to {}, {} is down: {} of {} workers wait for it, and first attempts wait {} \
                 ({} over the whole run){}.",
                begin(phase.from),
                end(phase.to),
                partner.name,
                range(&kept, lost, short),
                range(&kept, here(|one| one.workers_available), short),
                range(&kept, here(|one| one.mean_wait), span),
                overall(&kept),
                if kept.len() == ranking.len() { String::new() } else { names(&kept) },
            ));
        }
    }
    if told.len() > PHASES_TOLD {
        let more = told.len() - PHASES_TOLD;
        told.truncate(PHASES_TOLD);
        told.push(format!("{more} more outages keep workers waiting: see the phases."));
    }
    if !told.is_empty() {
        told.push(
            "Workers that wait for one partner are missing for all others: a shorter outage_time, or \
             a limiter with max_concurrent, keeps them free."
                .to_owned(),
        );
    }
    told
}

fn names(outcomes: &[&Outcome]) -> String {
    let names: Vec<&str> = outcomes.iter().map(|outcome| outcome.name.as_str()).collect();
    format!(", with {}", names.join(", "))
}

/// The mean wait over all of the run.
fn overall(outcomes: &[&Outcome]) -> String {
    let waits = outcomes.iter().map(|outcome| outcome.figures.mean_wait);
    from_to(waits, span)
}

fn range(
    outcomes: &[&Outcome],
    of: impl Fn(&Feasibility) -> f64,
    text: fn(f64) -> String,
) -> String {
    from_to(outcomes.iter().map(|outcome| of(&outcome.feasibility)), text)
}

/// The least and the most figure, or one of them where both read the same.
fn from_to(figures: impl Iterator<Item = f64>, text: fn(f64) -> String) -> String {
    let (least, most) = figures
        .fold((f64::INFINITY, 0.0_f64), |(least, most), one| (least.min(one), most.max(one)));
    let (least, most) = (text(if least.is_finite() { least } else { 0.0 }), text(most));
    if least == most { least } else { format!("{least} to {most}") }
}

/// A figure with two or three digits.
fn short(figure: f64) -> String {
    match figure {
        one if one >= 99.5 => counted(one),
        one if one >= 9.95 || (one - one.round()).abs() < 0.005 => format!("{one:.0}"),
        one if one >= 0.095 => format!("{one:.1}"),
        one => format!("{one:.2}"),
    }
}

/// A whole number, in groups of three digits.
fn counted(figure: f64) -> String {
    let digits = format!("{figure:.0}");
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_as_many_digits_as_people_read() {
        let shown = [0.0, 0.04, 0.4, 3.0, 8.72, 9.96, 38.7, 140.4, 2_365_776.0].map(short);
        let expected = ["0", "0.04", "0.4", "3", "8.7", "10", "39", "140", "2,365,776"];
        assert_eq!(shown, expected);
    }
}
