//! Queues, checked against queueing theory and against the traces of another simulator.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss
)]

use std::path::Path;

use offbeat_sim::distribution::{Distribution, Draw};
use offbeat_sim::formulas::{mgc_wait, mmc_wait};
use offbeat_sim::generator::Generator;
use offbeat_sim::kiefer_wolfowitz::starts;
use proptest::prelude::*;
use serde_json::Value;

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

/// The mean wait by batch means, and half the width of its 99.9 % confidence interval.
fn batch_means(workers: usize, rate: f64, run_times: &Distribution, seed: u64) -> (f64, f64) {
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
    // The first batch starts with an empty queue and is dropped.
    let means: Vec<f64> =
        waits.chunks(BATCH).skip(1).map(|batch| batch.iter().sum::<f64>() / BATCH as f64).collect();
    let mean = means.iter().sum::<f64>() / means.len() as f64;
    let variance = means.iter().map(|m| (m - mean).powi(2)).sum::<f64>() / (means.len() - 1) as f64;
    (mean, 3.56 * (variance / means.len() as f64).sqrt())
}

#[test]
fn waits_are_those_of_theory() {
    let exponential = Distribution::exponential(1_000_000);
    let constant = Distribution::weighted([(1_000_000, 1.0)].into_iter());
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
    let two = Distribution::weighted([(500_000, 9.0), (5_500_000, 1.0)].into_iter());
    let all = two.all();
    let expected = mgc_wait(1, 0.7, all.first, all.second);
    let (mean, width) = batch_means(1, 0.7, &two, 7);
    assert!((mean - expected).abs() < width, "M/G/1: {mean} ± {width} for {expected}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Draws from any distribution have its mean and its quantiles.
    #[test]
    fn draws_have_their_distribution(
        values in prop::collection::btree_map(1_u64..1_000_000, 1_u32..100, 1..40), seed in any::<u64>(),
    ) {
        let run_times = Distribution::weighted(values.iter().map(|(v, w)| (*v, f64::from(*w))));
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
