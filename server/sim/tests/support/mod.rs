//! Scenarios, and their traces.
#![allow(dead_code, unreachable_pub, missing_docs)]

use std::path::Path;

use offbeat_core::{Reason, Rejection};
use offbeat_sim::results::{Digest, Results};
use offbeat_sim::scenario::{Scenario, parse};
use offbeat_sim::world::{Trace, Watch, run};

/// Limits the events, so that an endless world ends within seconds.
pub fn scenario(text: &str) -> Scenario {
    let none = |file: &str| Err(Rejection::new(Reason::Malformed, "samples", file, "none"));
    let parsed = parse(text, &none).unwrap();
    Scenario { max_events: 5_000_000, ..parsed }
}

pub fn refused(text: &str) -> Rejection {
    parse(text, &|file| Err(Rejection::new(Reason::Malformed, "samples", file, "none")))
        .unwrap_err()
}

pub fn shipped(name: &str) -> Scenario {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/simulations");
    scenario(&std::fs::read_to_string(folder.join(name)).unwrap())
}

/// The results of traces, one trace for each seed of each strategy.
pub fn results(scenario: &Scenario, traces: Vec<Vec<Trace>>) -> Results {
    let seeds = scenario.seeds.len();
    let digests = traces.into_iter().enumerate().map(|(strategy, traces)| {
        let traces = traces.into_iter().enumerate();
        let digest = |(seed, trace)| Digest::of(scenario, strategy * seeds + seed, trace);
        traces.map(digest).collect()
    });
    Results::new(scenario, digests.collect()).unwrap()
}

pub fn traces(scenario: &Scenario, seed: u64) -> Vec<Trace> {
    let strategies = scenario.strategies.iter();
    strategies.map(|one| run(scenario, one, seed, &Watch::default()).unwrap()).collect()
}

/// All features at once: locks, throttling, an outage, children, lanes, an autoscaler.
pub const BUSY: &str = r#"
name = "all there is"
duration = "1d"
workers = 6
[users]
count = 2000
cycle = "4h"
[[kinds]]
name = "sync"
run_time = { p50 = "5s", p90 = "20s" }
[[kinds]]
name = "refresh"
run_time = { exponential = "2s" }
placement = "independent"
[lock]
retry_after = "5s"
[dequeue]
base = "1ms"
per_waiting = "3us"
contention = true
[autoscaler]
interval = "1m"
up_at = 100
down_at = 10
step = 2
minimum = 4
maximum = 20
[children]
mean_count = 0.5
run_time = { uniform = ["1s", "2s"] }
[[partners]]
name = "bank"
share = 1
max_per_second = 2
outages = [{ from = "6h", to = "9h" }]
[[partners]]
name = "other bank"
share = 3
[[strategies]]
kind = "at_once"
[[strategies]]
kind = "random_smear"
[[strategies]]
kind = "least_recent"
[[strategies]]
kind = "self_rescheduling"
[[strategies]]
kind = "slots"
[[strategies]]
kind = "spread"
feeders = 8
"#;

/// The same with lanes, which need a constant number of workers.
pub fn lanes() -> String {
    let (begin, rest) = BUSY.split_once("[autoscaler]").unwrap();
    let (children, _) = rest.split_once("[[strategies]]").unwrap();
    let children = &children[children.find("[children]").unwrap()..];
    format!(
        "{begin}{children}
        [[strategies]]
        kind = \"slots\"
        lanes = [{{ workers = 2, timeout = \"10s\" }}, {{ workers = 4 }}]
        "
    )
}
