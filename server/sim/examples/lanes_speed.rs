//! Prints how long plans take, and how many jobs a second are routed, dispatched and simulated:
//! `cargo run --release --package offbeat-sim --example lanes_speed`
#![allow(clippy::disallowed_methods, reason = "it measures")]

use std::hint::black_box;
use std::time::Instant;

use offbeat_core::lanes::{Job, LaneSetSpec, LaneSpec, OnTimeout, Outcome, dispatch};
use offbeat_core::{Rejection, Span};
use offbeat_sim::distribution::Distribution;
use offbeat_sim::generator::Generator;
use offbeat_sim::lanes::{PlanSpec, Work, simulate_lanes, simulate_queue};

const ROUTED: u32 = 10_000_000;
const SIMULATED: usize = 2_000_000;

fn plan(run_times: Distribution, workers: i64) -> Result<f64, Rejection> {
    #[expect(clippy::cast_precision_loss, reason = "few")]
    let arrival_rate = 0.8 * workers as f64 / run_times.all().first;
    let spec = PlanSpec {
        run_times,
        arrival_rate,
        worker_count: workers,
        tolerated_wait: None,
        slowdown_floor: None,
        on_timeout: OnTimeout::Abort,
        max_lane_count: None,
        seed: 0,
    };
    let begun = Instant::now();
    black_box(spec.plan()?);
    Ok(begun.elapsed().as_secs_f64() * 1e3)
}

fn main() -> Result<(), Rejection> {
    let lane = |worker_count, seconds| LaneSpec {
        worker_count,
        attempt_timeout: Some(Span::from_seconds(seconds)),
    };
    let lanes = LaneSetSpec { lanes: vec![lane(2, 1), lane(2, 900)], ..LaneSetSpec::default() };
    let lanes = lanes.check()?;

    let begun = Instant::now();
    let mut demoted = 0_u32;
    for number in 0..ROUTED {
        let timed_out: &[usize] = if number % 4 == 0 { &[0] } else { &[] };
        if let Outcome::Route(route) = lanes.route(black_box(timed_out), None, None)? {
            demoted += u32::from(route.lane > 0);
        }
    }
    assert_eq!(demoted, ROUTED / 4);
    println!("jobs routed a second\t{:.0}", f64::from(ROUTED) / begun.elapsed().as_secs_f64());

    let jobs: Vec<Job> = (0..65_536)
        .map(|n| Job { timed_out: if n % 4 == 0 { vec![0] } else { vec![] }, prediction: None })
        .collect();
    let wide =
        LaneSetSpec { lanes: vec![lane(40_000, 1), lane(40_000, 900)], ..LaneSetSpec::default() };
    let begun = Instant::now();
    let dispatched = dispatch(&wide.check()?, &[40_000, 40_000], &jobs)?;
    assert_eq!(dispatched.placements.len(), jobs.len());
    println!("jobs dispatched a second\t{:.0}", 65_536.0 / begun.elapsed().as_secs_f64());

    let lognormal = || {
        Distribution::of_percentiles(
            Some(Span::from_millis(135)),
            Some(Span::from_millis(1_756)),
            None,
        )
    };
    let work = Work::new(&lognormal()?, 3.2, SIMULATED, 1, 7);
    #[expect(clippy::cast_precision_loss, reason = "few")]
    let rate = |seconds: f64| SIMULATED as f64 / seconds;
    let begun = Instant::now();
    black_box(simulate_queue(&work, 4, &[]));
    println!("jobs simulated a second, one queue\t{:.0}", rate(begun.elapsed().as_secs_f64()));
    let begun = Instant::now();
    black_box(simulate_lanes(&work, &lanes, &[], &[]));
    println!("jobs simulated a second, two lanes\t{:.0}", rate(begun.elapsed().as_secs_f64()));

    let mut generator = Generator::new(1);
    #[expect(clippy::cast_possible_truncation, reason = "below 10^18")]
    let samples: Vec<i64> =
        (0..100_000).map(|_| (generator.exponential().powi(3) * 1e5) as i64 + 1).collect();
    for workers in [4, 64, 1_000] {
        println!(
            "plan from percentiles, {workers} workers, ms\t{:.0}",
            plan(lognormal()?, workers)?
        );
        let begun = Instant::now();
        let run_times = Distribution::of_samples(&samples)?;
        let read = begun.elapsed().as_secs_f64() * 1e3;
        println!(
            "plan from 100,000 samples, {workers} workers, ms\t{:.0}",
            read + plan(run_times, workers)?
        );
    }
    Ok(())
}
