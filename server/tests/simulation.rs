//! `SimulationService` over the wire: progress, results, refusals, and callers that disconnect.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::float_cmp,
    clippy::disallowed_methods
)]

mod support;

use std::time::{Duration, Instant};

use offbeat::proto::v1beta1::simulate_response::Event;
use offbeat::proto::v1beta1::simulation_service_client::SimulationServiceClient;
use offbeat::proto::v1beta1::{SimulateRequest, SimulationResults};
use support::{Server, channel, config, config_with};
use tonic::transport::Channel;
use tonic::{Code, Status};
use tonic_types::StatusExt as _;

type Client = SimulationServiceClient<Channel>;

const SCENARIO: &str = r#"
name = "a day"
duration = "1d"
workers = 4
[users]
count = 1000
cycle = "8h"
[[kinds]]
name = "sync"
run_time = { p50 = "5s", p90 = "20s" }
[[strategies]]
kind = "at_once"
[[strategies]]
kind = "slots"
"#;

fn request(scenario: &str) -> SimulateRequest {
    SimulateRequest { scenario: scenario.to_owned(), include_json: false }
}

async fn simulate(client: &mut Client, scenario: &str) -> Result<(u32, SimulationResults), Status> {
    let mut answers = client.simulate(request(scenario)).await?.into_inner();
    let (mut told, mut results) = (0, None);
    while let Some(answer) = answers.message().await? {
        assert!(results.is_none(), "something after the results");
        match answer.event.unwrap() {
            Event::Progress(progress) => {
                told += 1;
                let (done, total) = (progress.simulated_duration, progress.total_duration);
                assert!(done.unwrap().seconds <= total.unwrap().seconds);
            }
            Event::Results(found) => results = Some(found),
        }
    }
    Ok((told, results.unwrap()))
}

#[tokio::test]
async fn a_scenario_has_the_same_results_each_time() {
    let server = Server::start(&config());
    let mut client = Client::new(channel(&server).await);
    let (_, results) = simulate(&mut client, SCENARIO).await.unwrap();
    let ranks = results.strategies.iter().map(|one| (one.name.as_str(), one.overall_rank));
    assert_eq!(ranks.collect::<Vec<_>>(), [("at once", 2), ("slots", 1)]);
    let figures = |place: usize| results.strategies[place].figures.unwrap();
    assert_eq!(figures(0).max_enqueued_per_second, 1_000.0);
    assert_eq!(figures(0).finished_job_count + figures(0).left_job_count, 3_000.0);
    assert!(figures(1).max_backlog_count < 50.0 && figures(1).unserved_user_count == 0.0);
    assert_eq!(results.strategies[1].slot_loads.iter().sum::<f64>(), 1_000.0);
    let depths = &results.strategies[0].series.as_ref().unwrap().max_backlog_counts;
    assert!(*depths.iter().max().unwrap() > 900);
    assert_eq!(simulate(&mut client, SCENARIO).await.unwrap().1, results);
    assert_eq!(results.json, "");
    // Long enough to be parsed on another thread.
    let long = format!("{SCENARIO}# {}", "x".repeat(200 << 10));
    assert_eq!(simulate(&mut client, &long).await.unwrap().1, results);
}

#[tokio::test]
async fn the_results_are_also_json_if_wanted() {
    let server = Server::start(&config());
    let mut client = Client::new(channel(&server).await);
    let request = SimulateRequest { include_json: true, ..request(SCENARIO) };
    let mut answers = client.simulate(request).await.unwrap().into_inner();
    let mut json = String::new();
    while let Some(answer) = answers.message().await.unwrap() {
        if let Some(Event::Results(results)) = answer.event {
            json = results.json;
        }
    }
    let read: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(read["ranking"], serde_json::json!(["slots", "at once"]));
    assert_eq!(read["scenario"]["cycle"], 28_800.0);
}

#[tokio::test]
async fn infeasible_scenarios_are_reported_first() {
    // 1,000 jobs of 60 s in 8 hours need 2.08 workers.
    const SHORT: &str = r#"
name = "too few"
duration = "1d"
workers = 1
[users]
count = 1000
cycle = "8h"
[[kinds]]
name = "sync"
run_time = "1m"
[[partners]]
name = "bank"
share = 1
max_per_second = 9
outages = [{ from = "day 1 06:00", to = "day 1 07:00" }]
[[strategies]]
kind = "slots"
"#;
    let server = Server::start(&config());
    let mut client = Client::new(channel(&server).await);
    let (_, results) = simulate(&mut client, SHORT).await.unwrap();
    assert!(results.findings[1].starts_with("slots: jobs pile up."), "{:?}", results.findings);
    let slots = &results.strategies[0];
    assert!(slots.jobs_pile_up && slots.ranks.is_none());
    assert!((slots.needed_worker_count - 2.04).abs() < 0.03, "{}", slots.needed_worker_count);
    assert_eq!(slots.available_worker_count, 1.0);
    assert_eq!(slots.enqueued_job_count, 3_000.0);
    let bounds = slots
        .phases
        .iter()
        .map(|phase| (phase.start_offset.unwrap().seconds, phase.end_offset.unwrap().seconds));
    assert_eq!(bounds.collect::<Vec<_>>(), [(0, 21_600), (21_600, 25_200), (25_200, 86_400)]);
    let down: Vec<bool> = slots.phases.iter().map(|phase| phase.partners[0].is_down).collect();
    assert_eq!(down, [false, true, false]);
    assert!(slots.phases.iter().all(|phase| phase.partners[0].max_calls_per_second == 9.0));
    let (_, enough) =
        simulate(&mut client, &SHORT.replace("= 1\n[users]", "= 9\n[users]")).await.unwrap();
    assert!(!enough.strategies[0].jobs_pile_up && enough.strategies[0].ranks.is_some());
}

#[tokio::test]
async fn large_or_invalid_scenarios_are_refused_by_field() {
    let server = Server::start(&config());
    let mut client = Client::new(channel(&server).await);
    let long = format!("{SCENARIO}# {}", "x".repeat(256 << 10));
    for (scenario, field) in [
        (SCENARIO.replace("count = 1000", "count = 0"), "users.count"),
        (SCENARIO.replace("count = 1000", "count = 9000000"), "users.count"),
        (
            SCENARIO.replace("{ p50 = \"5s\", p90 = \"20s\" }", "{ samples = \"/etc/passwd\" }"),
            "kinds[0].run_time.samples",
        ),
        (SCENARIO.replace("1d", "30d"), "duration"),
        (String::new(), "scenario, line 1"),
        (long, "scenario"),
    ] {
        let status = simulate(&mut client, &scenario).await.unwrap_err();
        assert_eq!(status.code(), Code::InvalidArgument, "{status:?}");
        let details = status.get_error_details();
        assert_eq!(details.error_info().unwrap().metadata["field"], field);
    }
}

#[tokio::test]
async fn scenarios_that_need_too_much_memory_are_refused() {
    let mut config = config_with(&[]);
    config.limits.simulation_bytes.maximum = 1 << 20;
    let server = Server::start(&config);
    let mut client = Client::new(channel(&server).await);
    assert!(simulate(&mut client, SCENARIO).await.is_ok());
    let many = SCENARIO.replace("count = 1000", "count = 20000");
    let status = simulate(&mut client, &many).await.unwrap_err();
    assert_eq!(status.code(), Code::InvalidArgument, "{status:?}");
    assert!(status.message().contains("bytes of memory"), "{status:?}");
    assert!(status.message().contains("to 1048576 bytes in all"), "{status:?}");
}

/// The request's place is free again at once, though the scenario would run for a while.
#[tokio::test]
async fn a_caller_that_leaves_ends_the_simulation() {
    let mut config = config_with(&["--max-requests", "1"]);
    config.limits.simulation_bytes.maximum = 1 << 30;
    let server = Server::start(&config);
    let mut client = Client::new(channel(&server).await);
    let long = SCENARIO.replace("1d", "22d").replace("count = 1000", "count = 30000");
    let mut answers = client.simulate(request(&long)).await.unwrap().into_inner();
    assert!(matches!(answers.message().await.unwrap().unwrap().event, Some(Event::Progress(_))));
    let full = client.simulate(request(SCENARIO)).await.unwrap_err();
    assert_eq!(full.code(), Code::ResourceExhausted);
    drop(answers);
    let begun = Instant::now();
    while let Err(status) = simulate(&mut client, SCENARIO).await {
        assert_eq!(status.code(), Code::ResourceExhausted);
        assert!(begun.elapsed() < Duration::from_secs(2), "the simulation goes on");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
