//! Prints how many neighbours of a group each policy deals too close together, for groups of
//! three shapes: `cargo run --release --package offbeat-core --example spread_table`

use offbeat_core::spread::{Certificate, Groups, Spread, SpreadSpec, Turn};
use offbeat_core::{Id, Rejection, ids};

const FEEDERS: i64 = 8;
const GROUPS: u64 = 300;
const MEAN: f64 = 20.0;
/// Sets of groups of each shape; their close pairs are added up.
const SETS: u64 = 100;

/// The size of a group, from two numbers in (0, 1).
type Draw = fn(f64, f64) -> f64;

fn main() -> Result<(), Rejection> {
    let shapes: [(&str, Draw); 3] =
        [("uniform", uniform), ("lognormal 1.5", lognormal), ("Pareto 1.2", pareto)];
    let windowed =
        |groups| SpreadSpec { max_open_group_count: Some(groups), ..SpreadSpec::cooldown(FEEDERS) };
    let close = |certificate: &Certificate| certificate.close_pair_count;
    let bound = |certificate: &Certificate| certificate.close_pair_lower_bound;
    println!(
        "| close pairs, F = {FEEDERS}, {GROUPS} groups | uniform | lognormal 1.5 | Pareto 1.2 |"
    );
    println!("|---|---|---|---|");
    let row = |name: &str, spec: &SpreadSpec, sorted: bool, count: fn(&Certificate) -> u64| {
        print!("| {name} |");
        for (_, draw) in shapes {
            print!(" {:.1} % |", percentage(spec, draw, sorted, count)?);
        }
        println!();
        Ok::<(), Rejection>(())
    };
    row("`ROUND_ROBIN`", &SpreadSpec::round_robin(FEEDERS), false, close)?;
    for groups in [32, 128, 1_024] {
        row(&format!("`COOLDOWN`, {groups} open groups"), &windowed(groups), false, close)?;
    }
    row("`ROUND_ROBIN`, largest groups first", &SpreadSpec::round_robin(FEEDERS), true, close)?;
    row("no order has fewer than", &windowed(1_024), false, bound)
}

fn percentage(
    spec: &SpreadSpec,
    draw: Draw,
    sorted: bool,
    count: fn(&Certificate) -> u64,
) -> Result<f64, Rejection> {
    let (mut counted, mut pairs) = (0, 0);
    for set in 0..SETS {
        let mut sizes: Vec<u64> = (0..GROUPS)
            .map(|group| size(draw(fraction(set, group, "a"), fraction(set, group, "b"))))
            .collect();
        if sorted {
            sizes.sort_unstable_by(|a, b| b.cmp(a));
        }
        let mut groups = Groups::new(sizes.into_iter().map(|size| 0..size));
        let mut spread = Spread::try_new(spec)?;
        while let Turn::Job(_) = spread.next(&mut groups) {}
        let certificate = spread.certificate();
        counted += count(&certificate);
        pairs += certificate.job_count - certificate.group_count;
    }
    #[expect(clippy::cast_precision_loss, reason = "far below 2^53")]
    Ok(100.0 * counted as f64 / pairs as f64)
}

/// A hash in place of random numbers, so that every run uses the same ones.
fn fraction(set: u64, group: u64, which: &str) -> f64 {
    let hash = ids::hash(which, &Id::Integer((u128::from(set) << 32 | u128::from(group)).into()));
    #[expect(clippy::cast_precision_loss, reason = "53 bits")]
    let fraction = ((hash >> 11) as f64 + 0.5) / 9_007_199_254_740_992.0;
    fraction
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at least 1")]
fn size(drawn: f64) -> u64 {
    drawn.round().max(1.0) as u64
}

fn uniform(a: f64, _: f64) -> f64 {
    1.0 + a * (2.0 * MEAN - 2.0)
}

/// By the Box–Muller method.
fn lognormal(a: f64, b: f64) -> f64 {
    let normal = (-2.0 * a.ln()).sqrt() * (std::f64::consts::TAU * b).cos();
    MEAN * (1.5 * normal - 1.5 * 1.5 / 2.0).exp()
}

fn pareto(a: f64, _: f64) -> f64 {
    MEAN * (0.2 / 1.2) * a.powf(-1.0 / 1.2)
}
