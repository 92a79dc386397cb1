//! Plans: the verdict over many distributions and seeds, compared with other lanes on other
//! streams of jobs.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss
)]

use offbeat_core::Span;
use offbeat_core::lanes::{LaneSet, LaneSetSpec, LaneSpec, OnTimeout};
use offbeat_sim::distribution::Distribution;
use offbeat_sim::lanes::{Performance, Plan, PlanSpec, Verdict, Work, simulate_lanes};

fn spec(run_times: Distribution, load: f64, worker_count: i64, seed: i64) -> PlanSpec {
    PlanSpec {
        arrival_rate: load * worker_count as f64 / run_times.all().first,
        run_times,
        worker_count,
        tolerated_wait: None,
        slowdown_floor: None,
        on_timeout: OnTimeout::Abort,
        max_lane_count: None,
        seed,
    }
}

/// Run times in seconds, at `count` evenly spaced quantiles.
fn samples(count: u32, quantile: impl Fn(f64) -> f64) -> Distribution {
    let share = |place: u32| (f64::from(place) + 0.5) / f64::from(count);
    let micros = |place: u32| (quantile(share(place)) * 1e6) as i64 + 1;
    Distribution::of_samples(&(0..count).map(micros).collect::<Vec<_>>()).unwrap()
}

/// The quantile of the normal distribution (P. J. Acklam's approximation, to a billionth).
fn normal(share: f64) -> f64 {
    let tail = |q: f64| {
        (((((-7.784_894_002_430_293e-3 * q - 0.322_396_458_041_136_4) * q
            - 2.400_758_277_161_838)
            * q
            - 2.549_732_539_343_734)
            * q
            + 4.374_664_141_464_968)
            * q
            + 2.938_163_982_698_783)
            / ((((7.784_695_709_041_462e-3 * q + 0.322_467_129_070_039_8) * q
                + 2.445_134_137_142_996)
                * q
                + 3.754_408_661_907_416)
                * q
                + 1.0)
    };
    match share {
        low if low < 0.024_25 => tail((-2.0 * low.ln()).sqrt()),
        high if high > 0.975_75 => -tail((-2.0 * (1.0 - high).ln()).sqrt()),
        middle => {
            let q = middle - 0.5;
            let r = q * q;
            (((((-39.696_830_286_653_76 * r + 220.946_098_424_520_5) * r - 275.928_510_446_968_7)
                * r
                + 138.357_751_867_269)
                * r
                - 30.664_798_066_147_16)
                * r
                + 2.506_628_277_459_239)
                * q
                / (((((-54.476_098_798_224_06 * r + 161.585_836_858_040_9) * r
                    - 155.698_979_859_886_6)
                    * r
                    + 66.801_311_887_719_72)
                    * r
                    - 13.280_681_552_885_72)
                    * r
                    + 1.0)
        }
    }
}

fn lognormal(sigma: f64) -> Distribution {
    samples(3_000, |share| (sigma * normal(share)).exp())
}

fn pareto(shape: f64) -> Distribution {
    samples(5_000, |share| (0.05 * (1.0 - share).powf(-1.0 / shape)).min(3_600.0))
}

fn weibull(shape: f64) -> Distribution {
    samples(3_000, |share| (-(1.0 - share).ln()).powf(1.0 / shape))
}

/// A share of the jobs runs for `long` seconds, the others for one.
fn two_lengths(share_of_long: f64, long: f64) -> Distribution {
    samples(1_000, |share| if share < 1.0 - share_of_long { 1.0 } else { long })
}

/// A typical night: e-mails, webhooks, reports, and imports of up to an hour.
fn night() -> Distribution {
    let of_kind = |kind: usize, share: f64| match kind {
        0 => 0.18 * (0.5 * normal(share)).exp(),
        1 => 0.3 * (1.1 * normal(share)).exp(),
        2 => {
            if share < 0.7 {
                1.2
            } else {
                45.0
            }
        }
        _ => (0.4 * (1.0 - share).powf(-1.0 / 1.15)).min(3_600.0),
    };
    let kinds = [(0, 5_000), (1, 3_500), (2, 300), (3, 1_200)];
    let of = |(kind, count): (usize, u32)| {
        let share = move |place: u32| (f64::from(place) + 0.5) / f64::from(count);
        (0..count).map(move |place| (of_kind(kind, share(place)) * 1e6) as i64 + 1)
    };
    Distribution::of_samples(&kinds.into_iter().flat_map(of).collect::<Vec<_>>()).unwrap()
}

/// Run times, the utilization and the number of workers.
fn worlds() -> Vec<(&'static str, Distribution, f64, i64)> {
    vec![
        ("constant", samples(10, |_| 1.0), 0.8, 4),
        ("uniform", samples(1_000, |share| share), 0.85, 8),
        ("exponential", samples(3_000, |share| -(1.0 - share).ln()), 0.8, 4),
        ("exponential, full", samples(3_000, |share| -(1.0 - share).ln()), 0.95, 15),
        ("lognormal 0.5", lognormal(0.5), 0.9, 10),
        ("lognormal 1", lognormal(1.0), 0.8, 4),
        ("lognormal 1.5", lognormal(1.5), 0.7, 12),
        ("lognormal 1.7", lognormal(1.7), 0.807, 4),
        ("lognormal 2", lognormal(2.0), 0.7, 4),
        ("lognormal 2.5", lognormal(2.5), 0.6, 20),
        ("Pareto 1.15", pareto(1.15), 0.6, 6),
        ("Pareto 1.5", pareto(1.5), 0.8, 8),
        ("Pareto 2", pareto(2.0), 0.85, 3),
        ("Pareto 3", pareto(3.0), 0.9, 16),
        ("one in ten is long", two_lengths(0.1, 40.0), 0.73, 4),
        ("one in a hundred is long", two_lengths(0.01, 500.0), 0.7, 10),
        ("Weibull 0.5", weibull(0.5), 0.8, 5),
        ("Weibull 0.35", weibull(0.35), 0.75, 30),
        ("a night, nine workers", night(), 0.9, 9),
        ("a night, twelve workers", night(), 0.68, 12),
    ]
}

#[test]
fn verdicts_of_different_seeds_do_not_contradict_each_other() {
    for (name, run_times, load, workers) in worlds() {
        let plans: Vec<Plan> = (0..2)
            .map(|seed| spec(run_times.clone(), load, workers, seed).plan().unwrap())
            .collect();
        for plan in &plans {
            eprintln!("{name}: {:?} {:?} {:?}", plan.verdict, plan.lanes, plan.slowdown_ratio);
        }
        let says = |verdict| plans.iter().any(|plan| plan.verdict == verdict);
        // Where lanes are barely worth it or barely not, either verdict is right.
        let is_near = |plan: &Plan| {
            plan.slowdown_ratio.is_some_and(|ratio| (0.8..1.0).contains(&ratio.estimate))
        };
        let is_near = plans.iter().all(is_near);
        assert!(is_near || !says(Verdict::Lanes) || !says(Verdict::NoLanes), "{name}");
    }
}

fn lane_set(lanes: &[(u32, Option<Span>)]) -> LaneSet {
    let lanes = lanes
        .iter()
        .map(|(workers, timeout)| LaneSpec {
            worker_count: (*workers).into(),
            attempt_timeout: *timeout,
        })
        .collect();
    LaneSetSpec { lanes, ..LaneSetSpec::default() }.check().unwrap()
}

/// On other and longer streams than those of the plan.
#[test]
fn no_line_of_its_own_chart_is_clearly_better() {
    const STREAMS: u64 = 6;
    const JOBS: usize = 200_000;
    for (name, run_times, load, workers) in worlds() {
        let asked = spec(run_times.clone(), load, workers, 7);
        let plan = asked.plan().unwrap();
        if plan.verdict == Verdict::NoLanes {
            continue;
        }
        let floor = run_times.quantile(0.1);
        let works: Vec<Work> = (0..STREAMS)
            .map(|seed| Work::new(&run_times, asked.arrival_rate, JOBS, floor, 1_000 + seed))
            .collect();
        let costs = |set: &LaneSet| -> Vec<f64> {
            let cost = |run: &Performance| run.mean_slowdown * run.mean_sojourn.powf(0.25);
            works.iter().map(|work| cost(&simulate_lanes(work, set, &[], &[])).ln()).collect()
        };
        let lanes: Vec<_> = plan.lanes.iter().map(|lane| (lane.workers, lane.timeout)).collect();
        let own = costs(&lane_set(&lanes));
        for cutoff in plan.cutoffs.iter().filter(|cutoff| cutoff.has_room) {
            let slow = u32::try_from(workers).unwrap() - cutoff.express_workers;
            let other = lane_set(&[(cutoff.express_workers, Some(cutoff.cutoff)), (slow, None)]);
            let worse: Vec<f64> = own.iter().zip(costs(&other)).map(|(a, b)| a - b).collect();
            let mean = worse.iter().sum::<f64>() / worse.len() as f64;
            let square = worse.iter().map(|w| (w - mean).powi(2)).sum::<f64>();
            let error = (square / (worse.len() as f64 - 1.0) / worse.len() as f64).sqrt();
            assert!(
                mean - 2.6 * error < 0.1,
                "{name}: {:?} is worse than {cutoff:?} by {mean:.2} ± {error:.2}",
                plan.lanes
            );
        }
    }
}

/// With one stream of 400,000 jobs, the default seed said "no lanes" here, and all others said
/// "lanes".
#[test]
fn a_heavy_tail_gets_lanes_with_any_seed() {
    for seed in 0..5 {
        let plan = spec(lognormal(1.7), 0.8, 4, seed).plan().unwrap();
        assert_eq!(plan.verdict, Verdict::Lanes, "{seed}");
        let ratio = plan.slowdown_ratio.unwrap();
        assert!((0.5..0.7).contains(&ratio.estimate), "{seed}: {ratio:?}");
        // Long jobs pay the price.
        let [short, long] = plan.rates[0].with_lanes.as_ref().unwrap().median.classes[..] else {
            panic!("two lanes");
        };
        let queue = &plan.rates[0].without_lanes.median.classes;
        assert!(short.mean_sojourn < queue[0].mean_sojourn, "{seed}");
        assert!(long.mean_sojourn > queue[1].mean_sojourn, "{seed}");
    }
}

#[test]
fn run_times_that_are_alike_get_none() {
    for (name, run_times, load, workers) in worlds().into_iter().take(5) {
        let plan = spec(run_times, load, workers, 1).plan().unwrap();
        assert_eq!(plan.verdict, Verdict::NoLanes, "{name}");
    }
    let one = spec(lognormal(2.0), 0.5, 1, 1).plan().unwrap();
    assert_eq!((one.verdict, one.lanes.len()), (Verdict::NoLanes, 0));
}

/// Lanes that a fifth more jobs would fill must not be advised where a single queue has room.
#[test]
fn advised_lanes_keep_up_with_a_fifth_more() {
    for (name, run_times, load, workers) in worlds() {
        if load * 1.2 >= 0.9 {
            continue;
        }
        let plan = spec(run_times, load, workers, 3).plan().unwrap();
        let [_, _, more] = &plan.rates;
        let keeps_up = more.with_lanes.as_ref().is_some_and(|with| with.keeps_up);
        assert!(plan.verdict != Verdict::Lanes || keeps_up, "{name}");
    }
}
