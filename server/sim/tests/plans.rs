//! Plans: the verdict, and figures that a second simulator confirms.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss
)]

use offbeat_core::Span;
use offbeat_core::lanes::OnTimeout;
use offbeat_sim::distribution::Distribution;
use offbeat_sim::generator::Generator;
use offbeat_sim::lanes::{Plan, PlanSpec};

fn spec(run_times: Distribution, arrival_rate: f64, worker_count: i64) -> PlanSpec {
    PlanSpec {
        run_times,
        arrival_rate,
        worker_count,
        tolerated_wait: None,
        slowdown_floor: None,
        on_timeout: OnTimeout::Abort,
        max_lane_count: None,
        seed: 1,
    }
}

fn samples(count: usize, mut draw: impl FnMut(&mut Generator) -> f64) -> Distribution {
    let mut generator = Generator::new(99);
    let samples: Vec<i64> = (0..count).map(|_| (draw(&mut generator) * 1e6) as i64 + 1).collect();
    Distribution::of_samples(&samples).unwrap()
}

fn slowdowns(plan: &Plan) -> (f64, f64) {
    let now = &plan.rates[0];
    (now.with_lanes.unwrap().0.mean_slowdown, now.without_lanes.0.mean_slowdown)
}

#[test]
fn lognormal_work_gets_lanes_that_are_worth_it() {
    // σ = 2, mean 1 s: p90/p50 = e^(2·1.28155).
    let median = Span::from_nanos((1e9 * (-2.0_f64).exp()) as u64);
    let p90 = Span::from_nanos((1e9 * (-2.0_f64 + 2.0 * 1.281_551_565_5).exp()) as u64);
    let run_times = Distribution::of_percentiles(Some(median), Some(p90), None).unwrap();
    assert!((run_times.all().first - 1.0).abs() < 1e-3);
    let plan = spec(run_times, 3.2, 4).plan().unwrap();
    eprintln!("{:?} {:?}", plan.lanes, plan.rates);
    assert!(plan.has_lanes);
    let (with, without) = slowdowns(&plan);
    assert!(without > 3.0 * with, "{with} {without}");
}

#[test]
fn exponential_work_gets_none() {
    for (rate, workers) in [(0.5, 1), (3.2, 4), (2.0, 4), (13.5, 15)] {
        let run_times = samples(100_000, Generator::exponential);
        let plan = spec(run_times, rate, workers).plan().unwrap();
        eprintln!("{:?} {:?}", plan.lanes, plan.rates[0]);
        assert!(!plan.has_lanes, "{rate} {workers}");
    }
}
