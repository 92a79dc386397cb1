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
use offbeat_sim::results::{Digest, Results};
use offbeat_sim::run_times::{Draw, RunTimes};
use offbeat_sim::scenario::{Scenario, parse};
use offbeat_sim::world::{PartnerTally, Row, Trace, Watch, run, run_all, run_each};
use proptest::prelude::*;
use serde_json::Value;

/// With a limit that ends a world which runs for ever within seconds.
fn scenario(text: &str) -> Scenario {
    let none = |file: &str| Err(Rejection::new(Reason::Malformed, "samples", file, "none"));
    let parsed = parse(text, &none).unwrap();
    Scenario { max_events: 5_000_000, ..parsed }
}

fn refused(text: &str) -> Rejection {
    parse(text, &|file| Err(Rejection::new(Reason::Malformed, "samples", file, "none")))
        .unwrap_err()
}

fn shipped(name: &str) -> Scenario {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/simulations");
    scenario(&std::fs::read_to_string(folder.join(name)).unwrap())
}

/// What traces come to, one for each seed of each strategy.
fn results(scenario: &Scenario, traces: Vec<Vec<Trace>>) -> Results {
    let seeds = scenario.seeds.len();
    let digests = traces.into_iter().enumerate().map(|(strategy, traces)| {
        let traces = traces.into_iter().enumerate();
        let digest = |(seed, trace)| Digest::of(scenario, strategy * seeds + seed, trace);
        traces.map(digest).collect()
    });
    Results::new(scenario, digests.collect()).unwrap()
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
"#;

/// The same with lanes, whose workers are constant.
fn lanes() -> String {
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

#[test]
fn the_laws_of_every_run() {
    let (all, lanes) = (scenario(BUSY), scenario(&lanes()));
    let busy = all.strategies.iter().zip(traces(&all, 3));
    for (strategy, trace) in busy.chain(lanes.strategies.iter().zip(traces(&lanes, 3))) {
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
        // Every job but children is some partner's; every failed attempt has its reason.
        let of = |figure: fn(&PartnerTally) -> u64| trace.partners.iter().map(figure).sum::<u64>();
        assert!(of(|one| one.finished) <= done && of(|one| one.waited) <= trace.waits.len() as u64);
        let failed = of(|one| one.throttled) + of(|one| one.failed);
        let rows = sum(|row| row.failed);
        assert!(failed > 0 && failed <= rows + 20, "{name}: {failed} {rows}");
        assert!(strategy.lanes.is_some() || failed >= rows, "{name}: {failed} {rows}");
        assert!(trace.slowdowns >= done as f64, "{name}");
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
    let json = |scenario: &Scenario, threads: usize| {
        let traces = run_all(scenario, threads, &Watch::default()).unwrap();
        serde_json::to_string(&results(scenario, traces)).unwrap()
    };
    let one = json(&scenario, 1);
    assert_eq!(one, json(&scenario, 3));
    scenario.keeps_rows = false;
    assert_eq!(one, json(&scenario, 1), "what is not kept is summed up all the same");
    scenario.seeds = vec![6, 7];
    assert_ne!(one, json(&scenario, 1));
}

#[test]
fn what_results_need_of_a_run_is_made_when_it_ends() {
    let scenario = Scenario { keeps_rows: false, seeds: vec![5, 6], ..scenario(BUSY) };
    let digest = |number, trace: Trace| {
        assert!(trace.rows.is_empty() && trace.sums.rows == 86_400);
        Digest::of(&scenario, number, trace)
    };
    let digests = run_each(&scenario, 1, &Watch::default(), &digest).unwrap();
    let at_once = Results::new(&scenario, digests).unwrap();
    let later = results(&scenario, run_all(&scenario, 1, &Watch::default()).unwrap());
    assert_eq!(serde_json::to_string(&at_once).unwrap(), serde_json::to_string(&later).unwrap());
}

/// Rows that are summed up come to what they come to one by one.
#[test]
fn the_sums_of_rows() {
    let scenario = Scenario { duration: 5_000_500_000, ..scenario(BUSY) };
    let trace = traces(&scenario, 1).remove(0);
    let (rows, sums) = (&trace.rows, &trace.sums);
    assert_eq!((rows.len(), sums.rows, sums.step), (5_001, 5_001, 5));
    for (part, step) in rows.chunks(5).zip(&sums.steps) {
        let most = |of: fn(&Row) -> u32| part.iter().map(of).max().unwrap();
        let sum = |of: fn(&Row) -> u32| part.iter().map(|row| u64::from(of(row))).sum::<u64>();
        assert_eq!(step.rows as usize, part.len());
        assert_eq!(step.queue_depth, most(|row| row.queue_depth));
        assert_eq!(step.enqueued, most(|row| row.enqueued));
        assert_eq!(step.workers, most(|row| row.workers));
        assert_eq!(step.finished, sum(|row| row.finished));
        assert_eq!(step.busy_workers, sum(|row| row.busy_workers));
    }
    assert_eq!(sums.steps.len(), rows.len().div_ceil(5));
    let minutes = rows.chunks_exact(60);
    let minutes = minutes.map(|part| part.iter().map(|row| u64::from(row.finished)).sum::<u64>());
    assert_eq!(sums.whole_minutes(), minutes.collect::<Vec<_>>());
    let conflicts: u64 = rows.iter().map(|row| u64::from(row.lock_conflicts)).sum();
    assert_eq!(sums.lock_conflicts, conflicts);
    assert_eq!(sums.most(|step| step.enqueued), rows.iter().map(|row| row.enqueued).max().unwrap());
}

#[test]
fn a_run_that_is_stopped_has_what_there_is() {
    let scenario = scenario(BUSY);
    let watch = Watch::default();
    watch.stop.store(true, std::sync::atomic::Ordering::Relaxed);
    let trace = run(&scenario, &scenario.strategies[1], 1, &watch).unwrap();
    assert!(trace.is_cut && trace.rows.len() < 1_000);
    assert!(results(&scenario, vec![vec![trace]]).scenario.is_cut);
}

#[test]
fn the_week_of_the_talk() {
    let scenario = shipped("bank_sync_week.toml");
    let traces = run_all(&scenario, 2, &Watch::default()).unwrap();
    let results = results(&scenario, traces);
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
    let text = |default: &str| {
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
            placement = "{default}"
            [lock]
            retry_after = "30s"
            [[strategies]]
            kind = "slots"
            [[strategies]]
            kind = "slots"
            other_kinds = "reciprocal"
            [[strategies]]
            kind = "slots"
            other_kinds = "independent"
            [[strategies]]
            kind = "slots"
            other_kinds = "same"
            "#
        )
    };
    // By the kind's placement, and by each strategy's own.
    let conflicts = |default: &str| {
        let scenario = scenario(&text(default));
        let names: Vec<&str> = scenario.strategies.iter().map(|one| one.name.as_str()).collect();
        let expected = ["slots", "slots, reciprocal", "slots, independent", "slots, same"];
        assert_eq!(names, expected);
        let conflicts =
            |trace: &Trace| trace.rows.iter().map(|row| u64::from(row.lock_conflicts)).sum::<u64>();
        traces(&scenario, 1).iter().map(conflicts).collect::<Vec<_>>()
    };
    let [default, reciprocal, independent, same] = conflicts("reciprocal")[..] else { panic!() };
    assert_eq!((default, reciprocal), (0, 0));
    assert!(independent > 100 && same > independent);
    assert_eq!(conflicts("independent"), [independent, reciprocal, independent, same]);
    assert_eq!(conflicts("same"), [same, reciprocal, independent, same]);
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
        ("feeders = 8", "feeders = 8\nname = \"slots\"", "strategies[5].name"),
        ("feeders = 8", "feeders = 8\nsuspend = true", "strategies[5].suspend"),
        ("feeders = 8", "feeders = 8\nsuspend = false", "strategies[5].suspend"),
        ("feeders = 8", "lanes = [{ workers = 2 }, { workers = 4 }]", "strategies[5].lanes"),
        ("feeders = 8", "bucket_count = 256", "strategies[5].bucket_count"),
        (
            "kind = \"least_recent\"",
            "kind = \"least_recent\"\nother_kinds = \"same\"",
            "strategies[2].other_kinds",
        ),
        ("p90 = \"20s\" }", "p90 = \"20s\" }\nplacement = \"same\"", "kinds[0].placement"),
        ("workers = 6", "workers = 6\nseeds = [3, 4, 3]", "seeds[2]"),
        ("cycle = \"4h\"", "cycle = \"25h\"", "users.cycle"),
        ("down_at = 10", "down_at = 101", "autoscaler.down_at"),
        ("contention = true", "per_rival = \"1ms\"", "dequeue.per_rival"),
        ("contention = true", "exclusive = true\nper_rival = \"2s\"", "dequeue.per_rival"),
        ("name = \"other bank\"", "name = \"bank\"", "partners[1].name"),
        ("to = \"9h\"", "to = \"6h\"", "partners[0].outages.to"),
        ("run_time = { exponential = \"2s\" }", "run_time = 5", "kinds[1].run_time"),
        ("name = \"all there is\"", "name = \"all there is\"\nnmae = 1", "scenario, line 3"),
    ] {
        assert_eq!(with(from, to).field, field, "{to}");
    }
}

#[test]
fn what_would_mean_nothing_is_refused_by_name() {
    let lanes = lanes();
    assert!(parse(&lanes, &|_| panic!("no samples")).is_ok());
    for (from, to, field) in [
        ("{ workers = 4 }", "{ workers = 0 }", "strategies[0].lanes[1].workers"),
        ("{ workers = 4 }", "{ workers = 5 }", "strategies[0].lanes"),
        (
            "workers = 6",
            "workers = [{ from = \"0s\", count = 6 }, { from = \"1h\", count = 3 }]",
            "strategies[0].lanes",
        ),
    ] {
        assert!(lanes.contains(from));
        assert_eq!(refused(&lanes.replacen(from, to, 1)).field, field, "{to}");
    }
    // No strategy heeds it.
    let alone = lanes.replace("kind = \"slots\"", "kind = \"least_recent\"");
    assert_eq!(refused(&alone).field, "kinds[1].placement");
    let own = lanes.replace("kind = \"slots\"", "kind = \"slots\"\nother_kinds = \"same\"");
    assert_eq!(refused(&own).field, "kinds[1].placement");
    assert!(parse(&own.replace("placement = \"independent\"", ""), &|_| panic!()).is_ok());
    let short = scenario(&lanes.replace("duration = \"1d\"", "duration = \"7h\""));
    assert!(short.notes.iter().any(|note| note.starts_with("duration: 7h")), "{:?}", short.notes);
    assert!(scenario(&lanes).notes.is_empty());
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
    // Twice the time that they ran for one of three.
    assert!((trace.slowdowns - 12.0).abs() < 1e-9, "{}", trace.slowdowns);
}

/// A last part of a second has a row, and its rate is that of the part.
#[test]
fn the_last_part_of_a_second_counts() {
    for stages in ["kinds", "stages"] {
        let kind = if stages == "kinds" { "at_once" } else { "fixed_workers" };
        let text = format!(
            r#"
            name = "ends within a second"
            duration = "2500ms"
            workers = 2
            [users]
            count = 3
            cycle = "1250ms"
            [[{stages}]]
            name = "sync"
            run_time = "700ms"
            [[strategies]]
            kind = "{kind}"
            "#
        );
        let scenario = scenario(&text);
        let trace = traces(&scenario, 1).remove(0);
        // Ends at 0.7, 0.7, 1.4, 1.95, 2.1 and 2.65 s.
        let finished: Vec<u32> = trace.rows.iter().map(|row| row.finished).collect();
        assert_eq!(finished, [2, 2, 1], "{stages}");
        assert_eq!((trace.rows[2].busy_workers, trace.rows[2].queue_depth), (1, 0), "{stages}");
        let results = results(&scenario, vec![vec![trace]]);
        assert_eq!(results.strategies[0].series.finished_per_second, [2.0, 2.0, 2.0], "{stages}");
        assert!(results.strategies[0].figures.get("throughput_variation").abs() < 1e-12);
    }
}

/// The shortest tenth of the run times is the floor, and what a job ran before it was suspended is
/// part of its run time.
#[test]
fn slowdowns_are_of_the_whole_run_time() {
    let text = r#"
        name = "suspended"
        duration = "1h"
        workers = 2
        [users]
        count = 2
        cycle = "10s"
        [[kinds]]
        name = "sync"
        run_time = { uniform = ["1s", "3s"] }
        [[strategies]]
        kind = "at_once"
        lanes = [{ workers = 1, timeout = "300ms" }, { workers = 1 }]
        suspend = true
    "#;
    let scenario = scenario(text);
    let floor = scenario.kinds[0].run_time.quantile(0.1);
    let trace = traces(&scenario, 1).remove(0);
    assert_eq!(trace.sojourns.len(), 720);
    // One goes to the slow lane and is done; the other runs for 0.3 s, and on when the first is done.
    let slowdown = |pair: &[u64]| {
        let run_time = pair[1] + 300_000 - pair[0];
        pair[1] as f64 / run_time.max(floor) as f64 + 1.0
    };
    let expected: f64 = trace.sojourns.chunks(2).map(slowdown).sum();
    assert!((trace.slowdowns - expected).abs() < 1e-6, "{} {expected}", trace.slowdowns);
}

/// One worker at a time takes a job; those who wait for that slow it down.
#[test]
fn workers_who_wait_for_their_turn_slow_the_queue() {
    let text = |workers: u32, dequeue: &str| {
        format!(
            r#"
            name = "turns"
            duration = "1h"
            workers = {workers}
            [users]
            count = 100000
            cycle = "1h"
            [[kinds]]
            name = "sync"
            run_time = "1s"
            [dequeue]
            {dequeue}
            [[strategies]]
            kind = "at_once"
            "#
        )
    };
    let rate = |workers: u32, dequeue: &str| {
        let trace = traces(&scenario(&text(workers, dequeue)), 1).remove(0);
        assert!(trace.worked <= trace.available);
        trace.sojourns.len() as f64 / 3_600.0
    };
    let near =
        |found: f64, expected: f64| assert!((found / expected - 1.0).abs() < 0.01, "{found}");
    // Side by side, each takes 1.1 s; in turns, all together one each 100 ms.
    near(rate(20, "base = \"100ms\""), 20.0 / 1.1);
    near(rate(20, "base = \"100ms\"\nexclusive = true"), 10.0);
    near(rate(5, "base = \"100ms\"\nexclusive = true"), 5.0 / 1.1);
    // With r rivals a job is taken in t = 100 + 10 r ms; one takes, and x = 1 / t a second run for 1 s:
    // r = w - 1 - x.
    let rivals = "base = \"100ms\"\nexclusive = true\nper_rival = \"10ms\"";
    for workers in [20_u32, 50, 100] {
        let b = 0.01f64.mul_add(f64::from(workers - 1), 0.1);
        near(rate(workers, rivals), (b - b.mul_add(b, -0.04).sqrt()) / 0.02);
    }
    // Five times the workers do less than a quarter.
    assert!(rate(100, rivals) < 0.25 * rate(20, rivals));
}

/// The autoscaler that answers a deep queue makes it deeper.
#[test]
fn the_autoscaler_makes_it_slower() {
    let mut spiral = shipped("spiral.toml");
    let finished = |scenario: &Scenario| {
        let trace = run(scenario, &scenario.strategies[0], 1, &Watch::default()).unwrap();
        trace.sojourns.len()
    };
    let with = finished(&spiral);
    spiral.autoscaler = None;
    let without = finished(&spiral);
    assert_eq!(without, 600_000);
    assert!(with < 400_000, "{with}");
}

/// Each of so many buckets is a second.
#[test]
fn twister_has_256_or_65536_buckets() {
    let text = |more: &str| {
        let text = BUSY.replace("cycle = \"4h\"", "cycle = \"65536s\"");
        let text = text.replacen("duration = \"1d\"", "duration = \"2d\"", 1);
        text.replacen("kind = \"slots\"", &format!("kind = \"slots\"\n{more}"), 1)
    };
    let slots = |more: &str| {
        let scenario = scenario(&text(more));
        let found = results(&scenario, scenario.strategies.iter().map(|_| Vec::new()).collect());
        found.strategies[4].slots.as_ref().unwrap().loads.len()
    };
    assert_eq!(slots("placement = \"twister\""), 256);
    let wide = "placement = \"twister\"\nslot_count = 65536";
    assert_eq!(slots(&format!("{wide}\nbucket_count = 65536")), 65_536);
    assert_eq!(refused(&text(wide)).field, "strategies[4].slot_count");
    let few = refused(&text("placement = \"twister\"\nbucket_count = 512"));
    assert_eq!(few.field, "strategies[4].bucket_count");
    assert_eq!(refused(&text("bucket_count = 256")).field, "strategies[4].bucket_count");
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
    let results = results(&scenario, traces);
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

/// Who never lets go of a lock has everybody else come back for ever.
#[test]
fn a_lock_that_is_never_released_ends_with_a_reason() {
    let text = r#"
        name = "for ever"
        duration = "1h"
        workers = 2
        [users]
        count = 100
        cycle = "1h"
        [[kinds]]
        name = "sync"
        run_time = "366d"
        [lock]
        group_size = 100
        retry_after = "1us"
        [[strategies]]
        kind = "at_once"
    "#;
    let scenario = scenario(text);
    let refused = run(&scenario, &scenario.strategies[0], 1, &Watch::default()).unwrap_err();
    assert_eq!((refused.reason, refused.field.as_str()), (Reason::OutOfRange, "scenario"));
    assert!(refused.to_string().contains("5000000"), "{refused}");
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
    let [note, _] = found.notes.as_slice() else { panic!("{:?}", found.notes) };
    assert!(note.contains("0.775") && note.contains("1.787"), "{note}");
    assert!((found.kinds[0].run_time.all().first - 4.0).abs() < 1e-3);
    // The other has the same mean: by the median that the note names.
    let median = note.split("p50 = \"").nth(1).unwrap().split('"').next().unwrap();
    let other = with(&format!("{{ p50 = \"{median}\", p90 = \"8s\" }}"));
    assert!((other.kinds[0].run_time.all().first - 4.0).abs() < 1e-2);
    assert_eq!(other.notes, [found.notes[1].as_str()]);
    assert!(other.notes[0].starts_with("least_recent"), "{:?}", other.notes);
    assert!(found.kinds[0].run_time.quantile(0.99) < other.kinds[0].run_time.quantile(0.99));
}
