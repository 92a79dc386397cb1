//! Lanes by formula, checked against published figures, and against a single queue where lanes
//! reduce to one.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss
)]

use offbeat_core::lanes::OnTimeout;
use offbeat_sim::distribution::Distribution;
use offbeat_sim::formulas::{mgc_wait, mmc_wait};
use offbeat_sim::lanes::{Stage, Tags};

/// A bounded Pareto distribution from `low` to `high` seconds, in parts of equal width on a
/// logarithmic scale, each with its exact share and mean.
fn bounded_pareto(alpha: f64, low: f64, high: f64, parts: u32) -> Distribution {
    let tail = |x: f64| (low / x).powf(alpha);
    let scale = 1.0 - tail(high);
    let at = |part: u32| low * (high / low).powf(f64::from(part) / f64::from(parts));
    let parts: Vec<(u64, f64)> = (0..parts)
        .map(|part| {
            let (a, b) = (at(part), at(part + 1));
            let share = (tail(a) - tail(b)) / scale;
            let mass = alpha / (alpha - 1.0)
                * low.powf(alpha)
                * (a.powf(1.0 - alpha) - b.powf(1.0 - alpha))
                / scale;
            ((mass / share * 1e6) as u64, share)
        })
        .collect();
    Distribution::weighted(parts.into_iter())
}

/// The lowest value for which the mean is 3,000 s, by bisection.
fn lowest(alpha: f64, high: f64) -> f64 {
    let mean = |low: f64| {
        let scale = 1.0 - (low / high).powf(alpha);
        alpha / (alpha - 1.0) * low.powf(alpha) * (low.powf(1.0 - alpha) - high.powf(1.0 - alpha))
            / scale
    };
    let (mut below, mut above) = (1e-3, 3_000.0);
    for _ in 0..200 {
        let middle = f64::midpoint(below, above);
        if mean(middle) < 3_000.0 { below = middle } else { above = middle }
    }
    below
}

fn close(figure: f64, expected: f64, tolerance: f64) {
    assert!((figure / expected - 1.0).abs() < tolerance, "{figure} for {expected}");
}

/// The setting of Harchol-Balter's paper: two hosts, a mean of 3,000 s, the longest job 10^10 s.
fn two_hosts(run_times: &Distribution, load: f64, cutoff: f64) -> f64 {
    let tags = Tags::new(run_times, 2.0 * load / 3_000.0, 1, OnTimeout::Abort);
    let timeout = (cutoff * 1e6) as u64;
    let until = run_times.place(timeout);
    let last = run_times.micros().len();
    tags.slowdown(&[
        Stage { workers: 1, until, timeout },
        Stage { workers: 1, until: last, timeout: u64::MAX },
    ])
}

#[test]
fn tags_has_the_slowdowns_of_the_literature() {
    let low = lowest(1.1, 1e10);
    close(low, 332.07, 1e-4);
    let run_times = bounded_pareto(1.1, low, 1e10, 100_000);
    close(run_times.all().first, 3_000.0, 1e-6);
    close(two_hosts(&run_times, 0.5, 59_280.0), 23.66, 0.02);
    // No cutoff is better than the published one.
    let least = |run_times: &Distribution, load: f64| {
        let cutoffs = (0..400).map(|step| 1_000.0 * (1e4_f64).powf(f64::from(step) / 400.0));
        cutoffs.map(|cutoff| two_hosts(run_times, load, cutoff)).fold(f64::INFINITY, f64::min)
    };
    close(least(&run_times, 0.5), 23.66, 0.02);
    close(least(&run_times, 0.3), 10.21, 0.02);
    let run_times = bounded_pareto(1.5, lowest(1.5, 1e10), 1e10, 100_000);
    close(least(&run_times, 0.5), 9.32, 0.02);
}

#[test]
fn without_a_second_lane_it_is_the_formula_of_a_queue() {
    // The exponential distribution with mean 2 s in 200,000 parts, each represented by its median.
    let count = 200_000_u32;
    let value = |k: u32| -2.0 * (1.0 - (f64::from(k) + 0.5) / f64::from(count)).ln();
    let run_times =
        Distribution::weighted((0..count).map(move |k| (((value(k)) * 1e6) as u64 + 1, 1.0)));
    let all = run_times.all();
    let rate = 1.6;
    let tags = Tags::new(&run_times, rate, 1_000_000, OnTimeout::Abort);
    let inverse: f64 =
        run_times.micros().iter().map(|micros| 1e6 / (*micros).max(1_000_000) as f64).sum::<f64>()
            / f64::from(count);
    let one = |workers| Stage { workers, until: usize::MAX, timeout: u64::MAX };
    // Four workers with exponential work: Erlang C.
    close(tags.slowdown(&[one(4)]), 1.0 + 2.0 * mmc_wait(4, 3.2) * inverse, 1e-3);
    // One worker: Pollaczek–Khinchine.
    let rate = 0.4;
    let tags = Tags::new(&run_times, rate, 1_000_000, OnTimeout::Abort);
    let wait = rate * all.second / (2.0 * (1.0 - rate * all.first));
    close(tags.slowdown(&[one(1)]), 1.0 + wait * inverse, 1e-9);
    // A timeout that no job reaches, and so an unused slow lane.
    let rate = 1.6;
    let tags = Tags::new(&run_times, rate, 1_000_000, OnTimeout::Abort);
    let lanes = [one(4), one(1)];
    close(tags.slowdown(&lanes), tags.slowdown(&[one(4)]), 1e-9);
    close(mgc_wait(4, rate, all.first, all.second), 2.0 * mmc_wait(4, 3.2), 1e-3);
    assert!(tags.slowdown(&[one(3)]).is_infinite());
}

#[test]
fn suspended_work_is_not_done_twice() {
    let run_times = Distribution::weighted([(1_000_000, 9.0), (100_000_000, 1.0)].into_iter());
    let lanes = [
        Stage { workers: 1, until: 1, timeout: 1_000_000 },
        Stage { workers: 1, until: 2, timeout: u64::MAX },
    ];
    // Per job, the slow lane has 10 s of work and the express lane 1 s. At 0.0999/s, aborted work
    // almost fills the slow lane, and suspended work leaves a hundredth more room.
    let slowdown = |rate, on_timeout| Tags::new(&run_times, rate, 1, on_timeout).slowdown(&lanes);
    assert!(slowdown(0.0999, OnTimeout::Abort) > slowdown(0.0999, OnTimeout::Suspend));
    assert!(slowdown(0.1005, OnTimeout::Abort).is_infinite());
    assert!(slowdown(0.1005, OnTimeout::Suspend).is_finite());
}

/// Without waits, the only loss is the attempt in the express lane.
#[test]
fn an_aborted_attempt_is_lost_time() {
    let run_times = Distribution::weighted([(1_000_000, 9.0), (100_000_000, 1.0)].into_iter());
    let lanes = [
        Stage { workers: 1, until: 1, timeout: 50_000_000 },
        Stage { workers: 1, until: 2, timeout: u64::MAX },
    ];
    let slowdown = |on_timeout| Tags::new(&run_times, 1e-9, 1, on_timeout).slowdown(&lanes);
    // One job in ten loses 50 s, which is half of its 100 s.
    close(slowdown(OnTimeout::Abort), 1.05, 1e-5);
    close(slowdown(OnTimeout::Suspend), 1.0, 1e-5);
}
