//! Prints how many times faster than real time a scenario is simulated, with all its metrics:
//! `cargo run --release --package offbeat-sim --example scenario_speed`
#![allow(clippy::disallowed_methods, reason = "it measures")]

use std::time::Instant;

use offbeat_core::{Reason, Rejection};
use offbeat_sim::kiefer_wolfowitz::starts;
use offbeat_sim::scenario::parse;
use offbeat_sim::world::{Watch, run};

fn main() -> Result<(), Rejection> {
    let text = include_str!("../../../examples/simulations/bank_sync_week.toml");
    let none = |file: &str| Err(Rejection::new(Reason::Malformed, "samples", file, "must be none"));
    let text = format!("{text}\n[[strategies]]\nkind = \"slots\"\n");
    let scenario = parse(&text, &none)?;
    for strategy in &scenario.strategies {
        let mut best = f64::INFINITY;
        let mut jobs = 0;
        for _ in 0..3 {
            let begun = Instant::now();
            let trace = run(&scenario, strategy, 1, &Watch::default())?;
            best = best.min(begun.elapsed().as_secs_f64());
            jobs = trace.sojourns.len();
        }
        println!("{}, times real time ({jobs} jobs)\t{:.0}", strategy.name, 604_800.0 / best);
    }
    let jobs = 5_000_000_u64;
    let begun = Instant::now();
    let sum: u64 = starts(15, (0..jobs).map(|n| (n * 7, n * 7_919 % 100))).sum();
    assert!(sum > 0);
    #[expect(clippy::cast_precision_loss, reason = "few")]
    let rate = jobs as f64 / begun.elapsed().as_secs_f64();
    println!("one queue, 15 workers, jobs a second\t{rate:.0}");
    Ok(())
}
