//! Prints how long the allocation of workers takes, for few and for many stages:
//! `cargo run --release --package offbeat-core --example stages_speed`
#![allow(clippy::disallowed_methods, reason = "it measures")]

use std::time::Instant;

use offbeat_core::stages::{Rule, Share, allocate};

fn main() {
    for (stages, workers) in [(10_u64, 16), (1_000, 1_000_000_000), (100_000, 1_000_000_000)] {
        for rule in [Rule::MinimumScore, Rule::DHondt] {
            let shares: Vec<Share> = (0..stages)
                .map(|stage| Share::of(u128::from(1 + stage * 2_654_435_761 % 1_000_003)))
                .collect();
            let runs = 20_000_000 / (stages * 100);
            let mut best = u128::MAX;
            for _ in 0..5 {
                let begun = Instant::now();
                for _ in 0..runs {
                    let counts = allocate(rule, std::hint::black_box(&shares), workers);
                    assert_eq!(std::hint::black_box(counts).len(), shares.len());
                }
                best = best.min(begun.elapsed().as_nanos() / u128::from(runs.max(1)));
            }
            println!("{stages} stages, {workers} workers, {rule:?}\t{best} ns");
        }
    }
}
