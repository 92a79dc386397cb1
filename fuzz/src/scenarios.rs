//! Scenarios: parsed, and simulated if they are small.

use offbeat_core::{Reason, Rejection};
use offbeat_sim::results::{Digest, Results};
use offbeat_sim::scenario::{Scenario, parse};
use offbeat_sim::world::{RunError, Watch, run_each};

use super::refusal;

/// Larger scenarios are not simulated here.
const JOBS: u128 = 2_000;
const SECONDS: u128 = 20_000;
const EVENTS: u64 = 20_000;
const WORKERS: u32 = 10_000;

/// The input is the text of a scenario.
pub fn scenarios(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let no_files = |file: &str| {
        Err(Rejection::new(Reason::Contradictory, "samples", file, "must not be set here"))
    };
    let mut scenario = match parse(&text, &no_files) {
        Ok(scenario) => scenario,
        Err(refused) => return refusal::check(&refused),
    };
    scenario.max_events = EVENTS;
    if !is_small(&scenario) {
        return;
    }
    let results = match results(&scenario) {
        Ok(results) => results,
        Err(refused) => return refusal::check(&refused),
    };
    for outcome in &results.strategies {
        let jobs = outcome.figures.jobs_finished;
        assert!(jobs.is_finite() && jobs >= 0.0, "{outcome:?}");
        let utilization = outcome.figures.utilization;
        assert!((0.0..=1.000_001).contains(&utilization), "{outcome:?}");
    }
    let again = self::results(&scenario).unwrap();
    let text = |results: &Results| serde_json::to_string(results).unwrap();
    assert_eq!(text(&results), text(&again), "the same seeds, another world");
}

fn is_small(scenario: &Scenario) -> bool {
    let workers = scenario.workers.iter().map(|(_, count)| *count).max().unwrap_or_default();
    let added = scenario.autoscaler.map_or(0, |autoscaler| autoscaler.maximum);
    scenario.job_count() <= JOBS
        && u128::from(scenario.population) <= JOBS
        && scenario.run_seconds() <= SECONDS
        && workers.max(added) <= WORKERS
}

fn results(scenario: &Scenario) -> Result<Results, Rejection> {
    let digest = |number, trace| Digest::of(scenario, number, trace);
    let digests =
        run_each(scenario, 1, &Watch::default(), &digest).map_err(|error| match error {
            RunError::Refused(rejection) => rejection,
            RunError::Lost { .. } => panic!("{error:?}"),
        })?;
    Results::new(scenario, digests)
}
