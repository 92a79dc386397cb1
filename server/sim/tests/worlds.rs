//! Named worlds: what each shows, and what makes it slower.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss
)]

mod support;

use std::path::Path;

use offbeat_sim::scenario::Scenario;
use offbeat_sim::world::{Trace, Watch, run, run_all};
use support::{BUSY, refused, results, scenario, shipped, traces};

#[test]
fn the_week_of_the_talk() {
    let scenario = shipped("bank_sync_week.toml");
    let traces = run_all(&scenario, 2, &Watch::default()).unwrap();
    let results = results(&scenario, traces);
    let figures = |name: &str| {
        let found = results.strategies.iter().find(|outcome| outcome.name == name);
        found.unwrap().figures
    };
    // 29,000 users in 21 cycles.
    assert!((608_000.0..=609_000.0).contains(&figures("slots, twister").jobs_finished));
    assert!(figures("slots, twister").max_queue_depth < 0.01 * figures("at once").max_queue_depth);
    for outcome in &results.strategies {
        assert!(outcome.figures.never_served < 1.0, "{}", outcome.name);
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
    // The placement of the kind decides, and then that of each strategy.
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
fn reallocated_workers_finish_work_that_fixed_workers_cannot() {
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
    // Of 16 workers, five are fixed at the stage that needs ten.
    assert!(of("fixed_workers").sojourns.len() < 15_000);
    for kind in ["minimum_score", "d_hondt", "latency"] {
        assert!(of(kind).sojourns.len() > 23_900, "{kind}");
        // No worker idles while an item waits: 0.15 s, 1.45 s and 0.25 s per item make up 4/5 of
        // the time.
        let share = of(kind).worked as f64 / of(kind).available as f64;
        assert!((share - 0.77).abs() < 0.04, "{kind}: {share}");
    }
}

#[test]
fn settings_of_pipelines_and_queues_do_not_mix() {
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

/// One worker at a time takes a job, and the workers that wait for their turn slow it down.
#[test]
fn workers_that_wait_for_their_turn_slow_the_queue() {
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
    // In parallel, each worker takes 1.1 s per job; exclusively, all together take one job per 100
    // ms.
    near(rate(20, "base = \"100ms\""), 20.0 / 1.1);
    near(rate(20, "base = \"100ms\"\nexclusive = true"), 10.0);
    near(rate(5, "base = \"100ms\"\nexclusive = true"), 5.0 / 1.1);
    // With r rivals it takes t = 100 + 10 r ms to take a job. One worker takes a job, x = 1 / t a
    // second start and run for 1 s, so r = w - 1 - x.
    let rivals = "base = \"100ms\"\nexclusive = true\nper_rival = \"10ms\"";
    for workers in [20_u32, 50, 100] {
        let b = 0.01f64.mul_add(f64::from(workers - 1), 0.1);
        near(rate(workers, rivals), (b - b.mul_add(b, -0.04).sqrt()) / 0.02);
    }
    // Five times as many workers do less than a quarter of the work.
    assert!(rate(100, rivals) < 0.25 * rate(20, rivals));
}

/// An autoscaler that reacts to a deep queue makes it deeper.
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

/// With a cycle of this many seconds, each bucket is one second.
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

/// The waits of jobs that never start count, and an overloaded queue is not called consistent.
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
    // Self-rescheduling has one job per user at a time, so its queue cannot grow without bound.
    assert_eq!(results.ranking[0], "self rescheduling");
    let slots = &results.strategies[0].figures;
    assert!(slots.interval_variation > 1.0, "{slots:?}");
    assert!(slots.p99_wait > 20.0 * 3_600.0 && slots.jobs_left > 30_000.0);
    assert!((slots.utilization - 1.0).abs() < 0.01);
}
