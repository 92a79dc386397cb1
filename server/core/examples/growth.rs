//! Prints the time per item as the work grows, curve by curve: a name, a size, nanoseconds.
//! `cargo run --release --package offbeat-core --example growth`
#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "it measures")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use offbeat_core::runs::{ColumnSelection, PackedIds};
use offbeat_core::spread::{Pull, Source, Spread, SpreadSpec, Turn};
use offbeat_core::stages::{Rule, Share, allocate};
use offbeat_core::{Moment, PlacementKind, Schedule, ScheduleSpec, Span};

/// How long each size is measured, and in how many parts; the median part is reported.
const TIME: Duration = Duration::from_millis(200);
const PARTS: u32 = 9;

#[expect(clippy::cast_precision_loss, reason = "few")]
fn measure(curve: &str, size: u64, items: u64, mut work: impl FnMut()) {
    work();
    let mut parts: Vec<f64> = (0..PARTS)
        .map(|_| {
            let (begun, mut done) = (Instant::now(), 0);
            while done == 0 || begun.elapsed() < TIME / PARTS {
                work();
                done += items;
            }
            begun.elapsed().as_nanos() as f64 / done as f64
        })
        .collect();
    parts.sort_by(f64::total_cmp);
    println!("{curve}\t{size}\t{:.3}", parts.get(parts.len() / 2).unwrap());
}

/// An endless source of groups of 1 to 39 jobs.
struct Numbers(u64);

impl Source for Numbers {
    type Group = core::ops::Range<u64>;
    type Job = u64;

    fn next_group(&mut self) -> Pull<Self::Group> {
        let size = 1 + self.0.wrapping_mul(0x9e37_79b9_7f4a_7c15) % 39;
        self.0 += size;
        Pull::Ready(self.0 - size..self.0)
    }

    fn next_job(&mut self, group: &mut Self::Group) -> Pull<u64> {
        group.next().map_or(Pull::End, Pull::Ready)
    }

    fn size(&self, group: &Self::Group) -> u64 {
        group.end - group.start
    }
}

fn spread(curve: &str, size: u64, spec: &SpreadSpec) {
    let (mut source, mut spread) = (Numbers(1), Spread::try_new(spec).unwrap());
    measure(curve, size, 4_096, || {
        let mut sum = 0;
        spread.turns(&mut source, 4_096, |turn| {
            if let Turn::Job(dealt) = turn {
                sum += dealt.job;
            }
        });
        black_box(sum);
    });
}

fn main() {
    for (curve, placement) in
        [("batch, HASH", PlacementKind::Hash), ("batch, TWISTER", PlacementKind::Twister)]
    {
        let spec = ScheduleSpec { placement, ..ScheduleSpec::every(Span::from_seconds(86_400)) };
        let schedule = Schedule::try_new(&spec).unwrap();
        let runs = schedule.runs_from(Moment::from_unix_millis(0).unwrap(), 1).unwrap();
        for size in [1_024_u64, 2_048, 4_096, 8_192, 16_384, 32_768, 65_536] {
            let id = |n: u64| (u128::from(n) << 64 | u128::from(!n)).wrapping_mul(0x9e37_79b9_7f4b);
            let ids: Vec<_> = (0..size).map(|n| id(n).to_be_bytes()).collect();
            measure(curve, size, size, || {
                black_box(
                    runs.assign_packed(PackedIds::Uuids(black_box(&ids)), ColumnSelection::ALL),
                )
                .unwrap();
            });
        }
    }
    for feeders in [64, 128, 256, 512, 1_024, 2_048] {
        let size = u64::try_from(feeders).unwrap();
        spread("feeders, round robin", size, &SpreadSpec::round_robin(feeders));
        spread("feeders, cooldown", size, &SpreadSpec::cooldown(feeders));
    }
    for window in [128, 256, 512, 1_024, 2_048, 4_096] {
        let spec = SpreadSpec { max_open_group_count: Some(window), ..SpreadSpec::cooldown(64) };
        spread("look-ahead, cooldown of 64", u64::try_from(window).unwrap(), &spec);
    }
    for (curve, rule) in
        [("stages, minimum score", Rule::MinimumScore), ("stages, D'Hondt", Rule::DHondt)]
    {
        for stages in [1_024_u64, 2_048, 4_096, 8_192, 16_384, 32_768] {
            let share = |stage: u64| Share::of(u128::from(1 + stage * 2_654_435_761 % 1_000_003));
            let shares: Vec<_> = (0..stages).map(share).collect();
            measure(curve, stages, stages, || {
                black_box(allocate(rule, black_box(&shares), 1_000_000_000));
            });
        }
    }
    for workers in [1_000_u64, 10_000, 100_000, 1_000_000, 10_000_000] {
        let shares: Vec<_> =
            (0..1_000).map(|n| Share::of(1 + n * 2_654_435_761 % 1_000_003)).collect();
        measure("workers, for 1,000 stages", workers, 1, || {
            black_box(allocate(Rule::MinimumScore, black_box(&shares), workers));
        });
    }
}
