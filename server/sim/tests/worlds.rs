//! Scenarios against queueing theory, another simulator's traces, and laws that no run may break.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss
)]

use std::path::Path;

use offbeat_core::{Reason, Rejection};
use offbeat_sim::generator::Generator;
use offbeat_sim::queue::starts;
use offbeat_sim::queueing::{mgc_wait, mmc_wait};
use offbeat_sim::results::Results;
use offbeat_sim::run_times::{Draw, RunTimes};
use offbeat_sim::scenario::{Scenario, parse};
use offbeat_sim::world::{Trace, Watch, run, run_all};
use proptest::prelude::*;
use serde_json::Value;

fn scenario(text: &str) -> Scenario {
    parse(text, &|file| Err(Rejection::new(Reason::Malformed, "samples", file, "none"))).unwrap()
}

fn refused(text: &str) -> Rejection {
    parse(text, &|file| Err(Rejection::new(Reason::Malformed, "samples", file, "none")))
        .unwrap_err()
}

fn shipped(name: &str) -> Scenario {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/simulations");
    scenario(&std::fs::read_to_string(folder.join(name)).unwrap())
}

fn micros(seconds: &Value) -> u64 {
    (seconds.as_f64().unwrap() * 1e6).round() as u64
}

#[test]
fn starts_are_those_of_ciw() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/vectors/fifo_trace.json");
    let golden: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let traces = golden["traces"].as_array().unwrap();
    assert!(traces.len() >= 3);
    for trace in traces {
        let list =
            |name: &str| trace[name].as_array().unwrap().iter().map(micros).collect::<Vec<_>>();
        let (gaps, times) = (list("interarrival"), list("service"));
        let mut now = 0;
        let arrivals = gaps.iter().map(|gap| {
            now += gap;
            now
        });
        let arrivals: Vec<u64> = arrivals.collect();
        let workers = trace["servers"].as_u64().unwrap() as usize;
        let found: Vec<u64> = starts(workers, arrivals.into_iter().zip(times)).collect();
        assert_eq!(found, list("start"), "{workers} servers");
    }
}

/// The mean wait of so many jobs in batches, and its 99.9 % confidence interval.
fn batch_means(workers: usize, rate: f64, run_times: &RunTimes, seed: u64) -> (f64, f64) {
    const BATCHES: usize = 40;
    const BATCH: usize = 100_000;
    let (mut generator, draw) = (Generator::new(seed), Draw::new(run_times));
    let mut now = 0.0;
    let jobs: Vec<(u64, u64)> = (0..BATCHES * BATCH)
        .map(|_| {
            now += generator.exponential() * 1e6 / rate;
            (now as u64, draw.at(generator.uniform()))
        })
        .collect();
    let waits: Vec<f64> = starts(workers, jobs.iter().copied())
        .zip(&jobs)
        .map(|(start, (arrival, _))| (start - arrival) as f64 / 1e6)
        .collect();
    // The first batch finds an empty queue.
    let means: Vec<f64> =
        waits.chunks(BATCH).skip(1).map(|batch| batch.iter().sum::<f64>() / BATCH as f64).collect();
    let mean = means.iter().sum::<f64>() / means.len() as f64;
    let variance = means.iter().map(|m| (m - mean).powi(2)).sum::<f64>() / (means.len() - 1) as f64;
    (mean, 3.56 * (variance / means.len() as f64).sqrt())
}

#[test]
fn waits_are_those_of_theory() {
    let exponential = RunTimes::exponential(1_000_000);
    let constant = RunTimes::weighted([(1_000_000, 1.0)].into_iter());
    for (workers, load, expected) in
        [(4_usize, 3.2, 0.745_541), (15, 13.5, 0.401_753), (20, 19.0, 0.755_401)]
    {
        let (mean, width) = batch_means(workers, load, &exponential, 7);
        assert!((mean - expected).abs() < width, "M/M/{workers}: {mean} ± {width}");
        assert!(width < expected / 5.0, "too wide: {width}");
        assert!((mmc_wait(workers as u32, load) - expected).abs() < 1e-5);
    }
    let (mean, width) = batch_means(1, 0.8, &constant, 7);
    assert!((mean - 2.0).abs() < width, "M/D/1: {mean} ± {width}");
    let two = RunTimes::weighted([(500_000, 9.0), (5_500_000, 1.0)].into_iter());
    let all = two.all();
    let expected = mgc_wait(1, 0.7, all.first, all.second);
    let (mean, width) = batch_means(1, 0.7, &two, 7);
    assert!((mean - expected).abs() < width, "M/G/1: {mean} ± {width} for {expected}");
}

fn traces(scenario: &Scenario, seed: u64) -> Vec<Trace> {
    let strategies = scenario.strategies.iter();
    strategies.map(|one| run(scenario, one, seed, &Watch::default()).unwrap()).collect()
}

/// Everything at once: locks, throttling, an outage, children, lanes, an autoscaler.
const BUSY: &str = r#"
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
[[strategies]]
kind = "slots"
name = "lanes"
lanes = [{ workers = 3, timeout = "10s" }, { workers = 4 }]
"#;

#[test]
fn the_laws_of_every_run() {
    let scenario = scenario(BUSY);
    for (strategy, trace) in scenario.strategies.iter().zip(traces(&scenario, 3)) {
        let name = &strategy.name;
        let rows = &trace.rows;
        assert_eq!(rows.len(), 86_400, "{name}");
        // Nothing is lost, nothing is made: in every second.
        let sum = |of: fn(&offbeat_sim::world::Row) -> u32| {
            rows.iter().map(|row| u64::from(of(row))).sum::<u64>()
        };
        let done = trace.sojourns.len() as u64;
        assert_eq!(trace.enqueued_jobs, done + trace.failed_jobs + trace.left_jobs, "{name}");
        assert_eq!((sum(|row| row.enqueued), sum(|row| row.finished)), (trace.enqueued_jobs, done));
        assert!(rows.iter().all(|row| row.busy_workers <= row.workers.max(20)), "{name}");
        assert!(sum(|row| row.lock_conflicts) > 0 || name == "least recent", "{name}");
        assert!(trace.worked <= trace.available, "{name}");
        assert!(trace.failed_jobs > 0 && trace.wasted > 0, "{name}");
    }
}

#[test]
fn littles_law() {
    let text = r#"
        name = "Little"
        duration = "2d"
        workers = 5
        [users]
        count = 20000
        cycle = "8h"
        [[kinds]]
        name = "sync"
        run_time = { exponential = "6s" }
        [[strategies]]
        kind = "random_smear"
        [[strategies]]
        kind = "at_once"
    "#;
    let scenario = scenario(text);
    for trace in traces(&scenario, 1) {
        // Jobs in the system are arrivals times sojourn; who is still there counts as long as it was.
        let sojourns: u128 = trace.sojourns.iter().copied().map(u128::from).sum();
        let left = u128::from(trace.left_jobs) * 2 * 86_400_000_000;
        assert!(trace.job_micros >= sojourns && trace.job_micros <= sojourns + left);
    }
}

#[test]
fn the_same_seed_has_the_same_trace_and_threads_change_nothing() {
    let mut scenario = scenario(BUSY);
    scenario.seeds = vec![5, 6];
    let json = |threads: usize| {
        let traces = run_all(&scenario, threads, &Watch::default()).unwrap();
        serde_json::to_string(&Results::new(&scenario, &traces).unwrap()).unwrap()
    };
    let one = json(1);
    assert_eq!(one, json(3));
    scenario.seeds = vec![6, 7];
    assert_ne!(one, {
        let traces = run_all(&scenario, 1, &Watch::default()).unwrap();
        serde_json::to_string(&Results::new(&scenario, &traces).unwrap()).unwrap()
    });
}

#[test]
fn a_run_that_is_stopped_has_what_there_is() {
    let scenario = scenario(BUSY);
    let watch = Watch::default();
    watch.stop.store(true, std::sync::atomic::Ordering::Relaxed);
    let trace = run(&scenario, &scenario.strategies[1], 1, &watch).unwrap();
    assert!(trace.is_cut && trace.rows.len() < 1_000);
    assert!(Results::new(&scenario, &[vec![trace]]).is_ok());
}

#[test]
fn the_week_of_the_talk() {
    let scenario = shipped("bank_sync_week.toml");
    let traces = run_all(&scenario, 2, &Watch::default()).unwrap();
    let results = Results::new(&scenario, &traces).unwrap();
    let figure = |name: &str, figure: &str| {
        let found = results.strategies.iter().find(|outcome| outcome.name == name);
        found.unwrap().figures.get(figure)
    };
    // 29,000 users, 21 cycles.
    assert!((608_000.0..=609_000.0).contains(&figure("slots, twister", "jobs_finished")));
    assert!(
        figure("slots, twister", "max_queue_depth") < 0.01 * figure("at once", "max_queue_depth")
    );
    for outcome in &results.strategies {
        assert!(outcome.figures.get("never_served") < 1.0, "{}", outcome.name);
    }
    let slots = results.strategies[4].slots.as_ref().unwrap();
    assert_eq!(slots.loads.iter().sum::<u32>(), 29_000);
    assert!(results.ranking.iter().position(|name| name == "slots, twister").unwrap() <= 1);
}

#[test]
fn kinds_that_stand_opposite_do_not_meet() {
    let text = |placement: &str| {
        format!(
            r#"
            name = "two kinds"
            duration = "3d"
            workers = 30
            [users]
            count = 5000
            cycle = "8h"
            [[kinds]]
            name = "sync"
            run_time = {{ uniform = ["1m", "4m"] }}
            [[kinds]]
            name = "refresh"
            run_time = {{ uniform = ["1m", "4m"] }}
            placement = "{placement}"
            [lock]
            retry_after = "30s"
            [[strategies]]
            kind = "slots"
            "#
        )
    };
    let conflicts = |placement: &str| {
        let scenario = scenario(&text(placement));
        let trace = &traces(&scenario, 1)[0];
        trace.rows.iter().map(|row| u64::from(row.lock_conflicts)).sum::<u64>()
    };
    assert_eq!(conflicts("reciprocal"), 0);
    assert!(conflicts("independent") > 100);
    assert!(conflicts("same") > conflicts("independent"));
}

#[test]
fn what_cannot_be_simulated_is_refused_by_name() {
    let with = |from: &str, to: &str| {
        assert!(BUSY.contains(from), "{from}");
        refused(&BUSY.replacen(from, to, 1))
    };
    for (from, to, field) in [
        ("duration = \"1d\"", "duration = \"0s\"", "duration"),
        ("duration = \"1d\"", "duration = \"400d\"", "duration"),
        ("duration = \"1d\"", "duration = \"soon\"", "duration"),
        ("count = 2000", "count = 0", "users.count"),
        ("count = 2000", "count = 10000001", "users.count"),
        ("cycle = \"4h\"", "cycle = \"0.5ms\"", "users.cycle"),
        ("workers = 6", "workers = -1", "workers"),
        ("workers = 6", "workers = [{ from = \"1h\", count = 3 }]", "workers[0].from"),
        ("p90 = \"20s\"", "p90 = \"4s\"", "kinds[0].run_time.p90"),
        ("{ exponential = \"2s\" }", "{ mean = \"4s\", p90 = \"120s\" }", "kinds[1].run_time.p90"),
        ("{ exponential = \"2s\" }", "{ exponential = \"2s\", p50 = \"1s\" }", "kinds[1].run_time"),
        ("uniform = [\"1s\", \"2s\"]", "uniform = [\"2s\", \"1s\"]", "children.run_time.uniform"),
        ("{ exponential = \"2s\" }", "{ samples = \"a file\" }", "kinds[1].run_time.samples"),
        ("retry_after = \"5s\"", "retry_after = \"0s\"", "lock.retry_after"),
        ("maximum = 20", "maximum = 2", "autoscaler.maximum"),
        ("share = 3", "share = 0", "partners[1].share"),
        (
            "kind = \"random_smear\"",
            "kind = \"random_smear\"\nfeeders = 3",
            "strategies[1].feeders",
        ),
        ("feeders = 8", "feeders = 0", "strategies[5].feeders"),
        ("{ workers = 4 }", "{ workers = 0 }", "strategies[6].lanes[1].workers"),
        ("name = \"lanes\"", "name = \"slots\"", "strategies[6].name"),
        ("to = \"9h\"", "to = \"6h\"", "partners[0].outages.to"),
        ("run_time = { exponential = \"2s\" }", "run_time = 5", "kinds[1].run_time"),
        ("name = \"all there is\"", "name = \"all there is\"\nnmae = 1", "scenario, line 3"),
    ] {
        assert_eq!(with(from, to).field, field, "{to}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Whatever the distribution, drawing has its mean, and its quantiles.
    #[test]
    fn draws_have_their_distribution(
        values in prop::collection::btree_map(1_u64..1_000_000, 1_u32..100, 1..40), seed in any::<u64>(),
    ) {
        let run_times = RunTimes::weighted(values.iter().map(|(v, w)| (*v, f64::from(*w))));
        let (draw, mut generator) = (Draw::new(&run_times), Generator::new(seed));
        let mut counts: std::collections::BTreeMap<u64, f64> = values.keys().map(|v| (*v, 0.0)).collect();
        let n = 20_000;
        for _ in 0..n {
            *counts.get_mut(&draw.at(generator.uniform())).unwrap() += 1.0;
        }
        let total: f64 = values.values().map(|w| f64::from(*w)).sum();
        for (value, weight) in &values {
            let expected = f64::from(*weight) / total;
            let deviation = (expected * (1.0 - expected) / f64::from(n)).sqrt();
            let share = counts[value] / f64::from(n);
            prop_assert!((share - expected).abs() < 5.5 * deviation + 1e-9, "{value}: {share} {expected}");
        }
    }
}

#[test]
fn workers_that_go_where_they_are_worth_most_finish_what_fixed_ones_cannot() {
    let scenario = shipped("pipeline.toml");
    let traces = traces(&scenario, 1);
    let of = |kind: &str| {
        let place = scenario.strategies.iter().position(|one| one.kind.name() == kind).unwrap();
        &traces[place]
    };
    for trace in &traces {
        let done = trace.sojourns.len() as u64;
        assert_eq!((trace.enqueued_jobs, trace.rows.len()), (24_000, 3_600));
        assert_eq!(trace.enqueued_jobs, done + trace.left_jobs);
        assert!(trace.rows.iter().all(|row| row.busy_workers <= 16));
        assert!(trace.worked <= trace.available);
        let rows: u64 = trace.rows.iter().map(|row| u64::from(row.finished)).sum();
        assert_eq!(rows, done);
    }
    // Of 16 workers, five stay at the stage that needs ten.
    assert!(of("fixed_workers").sojourns.len() < 15_000);
    for kind in ["minimum_score", "d_hondt", "latency"] {
        assert!(of(kind).sojourns.len() > 23_900, "{kind}");
        // Nobody is idle while an item waits: 0.15 s, 1.45 s and 0.25 s an item are 4/5 of the time.
        let share = of(kind).worked as f64 / of(kind).available as f64;
        assert!((share - 0.77).abs() < 0.04, "{kind}: {share}");
    }
}

#[test]
fn pipelines_take_what_belongs_to_them_alone() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/simulations");
    let text = std::fs::read_to_string(folder.join("pipeline.toml")).unwrap();
    for (from, to, field) in [
        ("kind = \"latency\"", "kind = \"at_once\"", "strategies[3].kind"),
        ("[users]", "[lock]\nretry_after = \"1s\"\n[users]", "lock"),
        ("workers = 16", "workers = [{ from = \"0s\", count = 3 }]", "workers"),
    ] {
        assert_eq!(refused(&text.replacen(from, to, 1)).field, field);
    }
    assert_eq!(refused(&BUSY.replace("\"at_once\"", "\"latency\"")).field, "strategies[0].kind");
    let none =
        BUSY.replace("[[kinds]]\nname = \"sync\"\nrun_time = { p50 = \"5s\", p90 = \"20s\" }", "");
    let none = none.replace("[[kinds]]\nname = \"refresh\"\nrun_time = { exponential = \"2s\" }\nplacement = \"independent\"", "");
    assert_eq!(refused(&none).field, "kinds");
}

/// What happens at a second's beginning belongs to it, and quiet seconds show nobody at work.
#[test]
fn rows_are_of_their_second() {
    let text = r#"
        name = "three at once"
        duration = "1m"
        workers = 2
        [users]
        count = 3
        cycle = "20s"
        [[kinds]]
        name = "sync"
        run_time = "1500ms"
        [[strategies]]
        kind = "at_once"
    "#;
    let trace = &traces(&scenario(text), 1)[0];
    let column = |of: fn(&offbeat_sim::world::Row) -> u32| {
        trace.rows[..24].iter().map(of).collect::<Vec<_>>()
    };
    let mut expected = [0; 24];
    (expected[0], expected[20]) = (3, 3);
    assert_eq!(column(|row| row.enqueued), expected);
    // Two begin at once, the third after 1.5 s; they end at 1.5, 1.5 and 3 s.
    let mut expected = [0; 24];
    (expected[0], expected[20]) = (1, 1);
    assert_eq!(column(|row| row.queue_depth), expected);
    let mut expected = [0; 24];
    for cycle in [0, 20] {
        expected[cycle..cycle + 3].copy_from_slice(&[2, 1, 1]);
    }
    assert_eq!(column(|row| row.busy_workers), expected);
    let mut expected = [0; 24];
    (expected[1], expected[3], expected[21], expected[23]) = (2, 1, 2, 1);
    assert_eq!(column(|row| row.finished), expected);
    assert_eq!(trace.worked, 3 * 3 * 1_500_000);
}

/// Jobs that nobody begins have waited too, and a queue that melts is not consistent.
#[test]
fn a_queue_that_melts_is_not_praised() {
    let text = r#"
        name = "too few"
        duration = "2d"
        workers = 10
        [users]
        count = 1000
        cycle = "1h"
        [[kinds]]
        name = "sync"
        run_time = "100s"
        [[strategies]]
        kind = "slots"
        [[strategies]]
        kind = "self_rescheduling"
    "#;
    let scenario = scenario(text);
    let traces = run_all(&scenario, 1, &Watch::default()).unwrap();
    let results = Results::new(&scenario, &traces).unwrap();
    // Self-rescheduling has a job of each user at a time, and so never melts.
    assert_eq!(results.ranking[0], "self rescheduling");
    let slots = &results.strategies[0].figures;
    assert!(slots.get("interval_variation") > 1.0, "{slots:?}");
    assert!(slots.get("p99_wait") > 20.0 * 3_600.0 && slots.get("jobs_left") > 30_000.0);
    assert!((slots.get("utilization") - 1.0).abs() < 0.01);
}

#[test]
fn jobs_that_come_back_for_ever_are_cut_off() {
    let text = r#"
        name = "for ever"
        duration = "1h"
        workers = 2
        [users]
        count = 100
        cycle = "1h"
        [[kinds]]
        name = "sync"
        run_time = "1s"
        [[partners]]
        name = "down"
        share = 1
        outage_time = "0s"
        outages = [{ from = "0s", to = "2h" }]
        [[strategies]]
        kind = "least_recent"
        interval = "1us"
    "#;
    let mut scenario = scenario(text);
    scenario.max_events = 1_000_000;
    let refused = run(&scenario, &scenario.strategies[0], 1, &Watch::default()).unwrap_err();
    assert!(refused.allowed.contains("1000000"), "{refused}");
}

/// Figures of the literature: z = 1.28155.
#[test]
fn both_lognormal_distributions_are_named() {
    let (smaller, larger) = offbeat_sim::run_times::lognormal_sigmas(2.0).unwrap();
    assert!((smaller - 0.775_5).abs() < 1e-3 && (larger.unwrap() - 1.787_6).abs() < 1e-3);
    assert!(offbeat_sim::run_times::lognormal_sigmas(2.273).is_some());
    assert!(offbeat_sim::run_times::lognormal_sigmas(2.274).is_none());
    assert_eq!(offbeat_sim::run_times::lognormal_sigmas(0.9).unwrap().1, None);
    let with = |time: &str| scenario(&BUSY.replacen("{ p50 = \"5s\", p90 = \"20s\" }", time, 1));
    let found = with("{ mean = \"4s\", p90 = \"8s\" }");
    let [note] = found.notes.as_slice() else { panic!("{:?}", found.notes) };
    assert!(note.contains("0.775") && note.contains("1.787"), "{note}");
    assert!((found.kinds[0].run_time.all().first - 4.0).abs() < 1e-3);
    // The other has the same mean: by the median that the note names.
    let median = note.split("p50 = \"").nth(1).unwrap().split('"').next().unwrap();
    let other = with(&format!("{{ p50 = \"{median}\", p90 = \"8s\" }}"));
    assert!((other.kinds[0].run_time.all().first - 4.0).abs() < 1e-2);
    assert!(other.notes.is_empty());
    assert!(found.kinds[0].run_time.quantile(0.99) < other.kinds[0].run_time.quantile(0.99));
}
