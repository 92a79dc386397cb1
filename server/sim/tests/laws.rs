//! Properties that hold for every run.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss
)]

mod support;

use offbeat_sim::results::{Digest, Results};
use offbeat_sim::scenario::Scenario;
use offbeat_sim::world::{PartnerTally, Row, RunError, Trace, Watch, run, run_all, run_each};
use support::{BUSY, lanes, results, scenario, traces};

#[test]
fn the_laws_of_every_run() {
    let (all, lanes) = (scenario(BUSY), scenario(&lanes()));
    let busy = all.strategies.iter().zip(traces(&all, 3));
    for (strategy, trace) in busy.chain(lanes.strategies.iter().zip(traces(&lanes, 3))) {
        let name = &strategy.name;
        let rows = &trace.rows;
        assert_eq!(rows.len(), 86_400, "{name}");
        // In every second, no job is lost and none is made up.
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
        // Every job except children belongs to a partner, and every failed attempt has a reason.
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
        // The jobs in the system are arrivals times sojourn time. A job that is still there counts
        // for the time it has spent so far.
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
fn a_digest_at_the_end_of_a_run_suffices_for_results() {
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

#[test]
fn a_lost_run_is_an_error_and_not_the_run_of_another_strategy() {
    let scenario = Scenario { duration: 5_000_000, seeds: vec![5, 6], ..scenario(BUSY) };
    let runs = 2 * scenario.strategies.len();
    for threads in [1, 2, 8] {
        let numbers = run_each(&scenario, threads, &Watch::default(), &|number, _| number).unwrap();
        let expected: Vec<Vec<usize>> =
            (0..runs).step_by(2).map(|run| vec![run, run + 1]).collect();
        assert_eq!(numbers, expected);
        for lost in [0, 1, runs - 1] {
            let keep = |number: usize, _: Trace| assert_ne!(number, lost, "as a bug would");
            let error = run_each(&scenario, threads, &Watch::default(), &keep).unwrap_err();
            assert_eq!(error, RunError::Lost { run: lost });
        }
    }
}

/// Summed rows equal the sum of the single rows.
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
fn a_stopped_run_has_partial_results() {
    let scenario = scenario(BUSY);
    let watch = Watch::default();
    watch.stop.store(true, std::sync::atomic::Ordering::Relaxed);
    let trace = run(&scenario, &scenario.strategies[1], 1, &watch).unwrap();
    assert!(trace.is_cut && trace.rows.len() < 1_000);
    assert!(results(&scenario, vec![vec![trace]]).scenario.is_cut);
}

/// What happens at the beginning of a second belongs to it, and idle seconds show no busy workers.
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
    // Two start at once, the third after 1.5 s; they end at 1.5, 1.5 and 3 s.
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
    // Three cycles with slowdowns of 1, 1 and 2 each.
    assert!((trace.slowdowns - 12.0).abs() < 1e-9, "{}", trace.slowdowns);
}

/// The last part of a second has a row, and its rate refers to that part.
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
        // Jobs end at 0.7, 0.7, 1.4, 1.95, 2.1 and 2.65 s.
        let finished: Vec<u32> = trace.rows.iter().map(|row| row.finished).collect();
        assert_eq!(finished, [2, 2, 1], "{stages}");
        assert_eq!((trace.rows[2].busy_workers, trace.rows[2].queue_depth), (1, 0), "{stages}");
        let results = results(&scenario, vec![vec![trace]]);
        assert_eq!(results.strategies[0].series.finished_per_second, [2.0, 2.0, 2.0], "{stages}");
        assert!(results.strategies[0].figures.throughput_variation.abs() < 1e-12);
    }
}

/// The shortest tenth of the run times is the floor, and what a job ran before its suspension
/// counts as run time.
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
    // One job goes to the slow lane and finishes. The other runs for 0.3 s and continues when the
    // first is done.
    let slowdown = |pair: &[u64]| {
        let run_time = pair[1] + 300_000 - pair[0];
        pair[1] as f64 / run_time.max(floor) as f64 + 1.0
    };
    let expected: f64 = trace.sojourns.chunks(2).map(slowdown).sum();
    assert!((trace.slowdowns - expected).abs() < 1e-6, "{} {expected}", trace.slowdowns);
}
