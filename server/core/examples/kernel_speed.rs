//! Prints how many IDs a second each kernel decides, compared with the plain crates:
//! `cargo run --release --package offbeat-core --example kernel_speed`
//!
//! Reports the best of many short, interleaved runs, so that other load on the machine matters
//! little.
#![allow(clippy::disallowed_methods, reason = "it measures")]

use std::hint::black_box;
use std::num::NonZeroU64;
use std::time::Instant;

use md5::{Digest, Md5};
use offbeat_core::Twister;
use offbeat_core::placement::simd::{Kernel, draw, draws, hashes};
use offbeat_core::{Id, Integer, Profile};

/// IDs per run: many for a kernel, few for code that is far slower.
const MANY: usize = 19_200;
const FEW: usize = 480;
const ROUNDS: usize = 120;

/// What is measured: its name, the IDs per run, and the run.
type Peer<'a> = (&'static str, usize, Box<dyn FnMut() -> u64 + 'a>);

/// Measures all peers in turns, and prints each rate beside its ratio to the first.
#[expect(clippy::cast_precision_loss, reason = "few")]
fn compare(title: &str, mut peers: Vec<Peer<'_>>) {
    let mut best = vec![f64::INFINITY; peers.len()];
    for _ in 0..ROUNDS {
        for ((_, count, run), best) in peers.iter_mut().zip(&mut best) {
            let begun = Instant::now();
            black_box(run());
            *best = best.min(begun.elapsed().as_secs_f64() / *count as f64);
        }
    }
    let first = best.first().copied().unwrap_or_default();
    for ((name, ..), best) in peers.iter().zip(best) {
        println!("{title}\t{name}\t{:.0}\t{:.2}", 1.0 / best, first / best);
    }
}

fn compare_draws(title: &str, profile: Profile, ids: &[Integer]) {
    let limit = NonZeroU64::new(28_800).unwrap_or(NonZeroU64::MIN);
    let few = || black_box(ids).iter().take(FEW);
    let mut peers: Vec<Peer<'_>> = vec![
        (
            "rand_mt",
            FEW,
            Box::new(|| few().map(|id| Twister::new(profile, *id).below(limit)).sum()),
        ),
        ("plain", FEW, Box::new(|| few().map(|id| draw(profile, limit, *id)).sum())),
    ];
    for kernel in Kernel::available().filter(|kernel| kernel.name() != Kernel::PLAIN.name()) {
        let mut numbers = Vec::with_capacity(MANY);
        let run = move || {
            numbers.clear();
            draws(kernel, profile, limit, black_box(ids).iter().copied(), &mut numbers);
            numbers.iter().sum()
        };
        peers.push((kernel.name(), MANY, Box::new(run)));
    }
    compare(title, peers);
}

fn compare_hashes(title: &str, ids: &[Id<'_>]) {
    let texts: Vec<_> = ids.iter().map(Id::to_string).collect();
    // The crate gets ready-made texts and no salt.
    let crates = || {
        let digest =
            |text: &String| Md5::digest(text).iter().map(|byte| u64::from(*byte)).sum::<u64>();
        black_box(&texts).iter().map(digest).sum()
    };
    let mut peers: Vec<Peer<'_>> = vec![("md-5", MANY, Box::new(crates))];
    for kernel in Kernel::available() {
        let mut found = Vec::with_capacity(MANY);
        let run = move || {
            found.clear();
            hashes(kernel, "", black_box(ids).iter(), &mut found);
            found.iter().fold(0, |sum, hash| sum ^ hash)
        };
        peers.push((kernel.name(), MANY, Box::new(run)));
    }
    compare(title, peers);
}

fn main() {
    let random = |n: usize| (n as u128).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835);
    let magnitudes = |shift: u32| (1..=MANY).map(move |n| (random(n) | 1 << 127) >> shift);
    for (title, profile, shift) in [
        ("TWISTER, Ruby, 63 bits", Profile::Ruby, 65),
        ("TWISTER, Ruby, 128 bits", Profile::Ruby, 0),
        ("TWISTER, Ruby, 32 bits (one word)", Profile::Ruby, 96),
        ("TWISTER, Python, 63 bits", Profile::Python, 65),
        ("TWISTER, PHP, 63 bits (one word)", Profile::Php, 65),
    ] {
        let ids: Vec<_> = magnitudes(shift).map(Integer::from).collect();
        compare_draws(title, profile, &ids);
    }
    let texts: Vec<_> = magnitudes(64).map(|n| format!("customer-{n}")).collect();
    let texts: Vec<_> = texts.iter().filter_map(|text| Id::text(text).ok()).collect();
    compare_hashes("HASH, text", &texts);
    compare_hashes("HASH, UUID", &magnitudes(0).map(Id::Uuid).collect::<Vec<_>>());
    let integers = magnitudes(65).map(|n| Id::Integer(n.into()));
    compare_hashes("HASH, 63 bits", &integers.collect::<Vec<_>>());
}
