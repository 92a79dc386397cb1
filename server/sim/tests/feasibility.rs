//! Feasibility comes first: infeasible work is not ranked, and findings describe outages in words.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss
)]

mod support;

use offbeat_sim::results::{Outcome, Results};
use offbeat_sim::world::{Watch, run_all};
use support::{results, scenario, shipped};

fn simulated(text: &str) -> Results {
    let scenario = scenario(text);
    let traces = run_all(&scenario, 2, &Watch::default()).unwrap();
    results(&scenario, traces)
}

fn outcome<'a>(results: &'a Results, name: &str) -> &'a Outcome {
    results.strategies.iter().find(|outcome| outcome.name == name).unwrap()
}

/// Every hour, all users have a job of 100 s.
fn load(users: u32, workers: u32, duration: &str) -> String {
    format!(
        r#"
        name = "load"
        duration = "{duration}"
        workers = {workers}
        [users]
        count = {users}
        cycle = "1h"
        [[kinds]]
        name = "sync"
        run_time = "100s"
        [[strategies]]
        kind = "at_once"
        [[strategies]]
        kind = "random_smear"
        [[strategies]]
        kind = "slots"
        "#
    )
}

#[test]
fn more_work_than_the_workers_can_do_has_no_ranks() {
    // 720 jobs of 100 s in 3,600 s need 20 workers. There are 10, so half of the jobs are left.
    let results = simulated(&load(720, 10, "10h"));
    for outcome in &results.strategies {
        let own = &outcome.feasibility;
        assert!((own.workers_needed - 20.0).abs() < 0.1, "{}", own.workers_needed);
        assert!((own.workers_available - 10.0).abs() < 1e-9);
        assert!(own.jobs_pile_up && outcome.ranks.is_none(), "{}", outcome.name);
        assert!((outcome.figures.jobs_left - 3_600.0).abs() < 15.0);
    }
    assert_eq!(results.findings[0], "20 workers are needed on average, 10 available.");
    let told = results.findings.iter().find(|told| told.starts_with("at once")).unwrap();
    assert!(told.contains("jobs pile up") && told.contains("of 7,200 (50 %)"), "{told}");
}

#[test]
fn a_strategy_that_keeps_up_has_ranks_even_if_its_queue_was_full() {
    for duration in ["1h", "90m", "5h"] {
        // 18 of 20 workers are needed.
        let results = simulated(&load(648, 20, duration));
        for outcome in &results.strategies {
            assert!(!outcome.feasibility.jobs_pile_up, "{} in {duration}", outcome.name);
            assert!(outcome.ranks.is_some());
        }
    }
    // A single cycle in which half of the jobs cannot be done is reported as well.
    assert!(simulated(&load(1_440, 20, "1h")).strategies[0].feasibility.jobs_pile_up);
}

#[test]
fn a_queue_that_grows_though_workers_would_be_enough_is_not_the_best() {
    let scenario = shipped("spiral.toml");
    let traces = run_all(&scenario, 2, &Watch::default()).unwrap();
    let results = results(&scenario, traces);
    let at_once = outcome(&results, "at once");
    assert!(at_once.feasibility.jobs_pile_up && at_once.ranks.is_none());
    assert_eq!(results.ranking.last().map(String::as_str), Some("at once"));
    assert!(outcome(&results, "slots, twister").ranks.is_some());
}

/// Two banks. One is down for two hours, and the jobs of its customers wait for 30 s each.
fn outage(workers: u32) -> Results {
    simulated(&format!(
        r#"
        name = "outage"
        duration = "12h"
        workers = {workers}
        [users]
        count = 3600
        cycle = "1h"
        [[kinds]]
        name = "sync"
        run_time = "2s"
        [[partners]]
        name = "A"
        share = 0.5
        [[partners]]
        name = "B"
        share = 0.5
        max_per_second = 3
        outages = [{{ from = "4h", to = "6h" }}]
        [[strategies]]
        kind = "slots"
        "#
    ))
}

#[test]
fn workers_that_wait_for_a_partner_are_counted_as_littles_law_has_it() {
    let results = outage(100);
    let phases = &results.strategies[0].feasibility.phases;
    let bounds: Vec<(f64, f64)> = phases.iter().map(|phase| (phase.from, phase.to)).collect();
    assert_eq!(bounds, [(0.0, 14_400.0), (14_400.0, 21_600.0), (21_600.0, 43_200.0)]);
    let [before, during, after] = phases.as_slice() else { panic!("three phases") };
    // A job of 2 s every second; in the outage, half of them keep a worker for 30 s.
    for phase in [before, after] {
        assert!((phase.workers_needed - 2.0).abs() < 0.05, "{}", phase.workers_needed);
        assert!(phase.partners.iter().all(|partner| partner.unanswered_workers < 0.1));
        assert!((phase.partners[1].calls_needed - 0.5).abs() < 0.05);
        assert_eq!(phase.partners[1].calls_allowed, Some(3.0));
    }
    assert!((during.workers_needed - 16.0).abs() < 0.8, "{}", during.workers_needed);
    assert!((during.partners[1].unanswered_workers - 15.0).abs() < 0.8);
    assert!(during.partners[1].is_down && !during.partners[0].is_down);
    assert_eq!(results.findings.len(), 1, "{:?}", results.findings);
}

#[test]
fn an_outage_that_leaves_workers_enough_is_no_finding() {
    // 15 of 50 workers wait for B, and 33 are idle.
    assert_eq!(outage(50).findings.len(), 1);
}

#[test]
fn an_outage_that_takes_the_workers_is_told_in_words() {
    let results = outage(10);
    let told = results.findings.iter().find(|told| told.contains("B is down")).unwrap();
    assert!(told.starts_with("day 1 04:00 to day 1 06:00, B is down: 9"), "{told}");
    assert!(told.contains("of 10 workers wait for it"), "{told}");
    let phases = &results.strategies[0].feasibility.phases;
    // Customers of A wait as long, because they share the workers.
    assert!(phases[1].partners[0].mean_wait > 100.0 && phases[0].partners[0].mean_wait < 1.0);
}

#[test]
fn a_partner_that_is_asked_too_often_is_named() {
    let text = load(3_600, 200, "4h").replace(
        "[[strategies]]\n        kind = \"at_once\"",
        "[[partners]]\nname = \"A\"\nshare = 1\nlimiter = { max_per_second = 1 }\n[[strategies]]\nkind = \"at_once\"",
    );
    let asked_enough = simulated(&text);
    assert!(!asked_enough.findings.iter().any(|told| told.starts_with("A: ")));
    let short = simulated(&text.replace("count = 3600", "count = 7200"));
    let told = short.findings.iter().find(|told| told.starts_with("A: ")).unwrap();
    assert!(told.starts_with("A: 2 calls a second are needed on average, 1 allowed"), "{told}");
    assert!(short.strategies.iter().all(|outcome| outcome.feasibility.jobs_pile_up));
}
