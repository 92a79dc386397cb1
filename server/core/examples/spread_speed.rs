//! Prints how many jobs a second the core deals, round robin and with cooldown:
//! `cargo run --release --package offbeat-core --example spread_speed`
#![allow(clippy::disallowed_methods, reason = "it measures")]

use std::time::Instant;

use offbeat_core::Rejection;
use offbeat_core::spread::{Pull, Source, Spread, SpreadSpec, Turn};

const JOBS: u64 = 200_000_000;
const GROUP: u64 = 20;
/// Turns per call: as many as one message of the service carries.
const MESSAGE: usize = 4_096;

/// Groups of numbers, generated on demand.
struct Numbers {
    next: u64,
    end: u64,
}

impl Source for Numbers {
    type Group = core::ops::Range<u64>;
    type Job = u64;

    fn next_group(&mut self) -> Pull<Self::Group> {
        if self.next >= self.end {
            return Pull::End;
        }
        self.next += GROUP;
        Pull::Ready(self.next - GROUP..self.next)
    }

    fn next_job(&mut self, group: &mut Self::Group) -> Pull<u64> {
        group.next().map_or(Pull::End, Pull::Ready)
    }

    fn size(&self, group: &Self::Group) -> u64 {
        group.end - group.start
    }
}

fn main() -> Result<(), Rejection> {
    for (name, spec, jobs) in [
        ("round robin, F = 3", SpreadSpec::round_robin(3), JOBS),
        ("round robin, F = 64", SpreadSpec::round_robin(64), JOBS),
        ("cooldown, F = 3", SpreadSpec::cooldown(3), JOBS / 20),
        ("cooldown, F = 64", SpreadSpec::cooldown(64), JOBS / 20),
    ] {
        let mut best = 0.0_f64;
        for _ in 0..3 {
            let mut source = Numbers { next: 0, end: jobs };
            let mut spread = Spread::try_new(&spec)?;
            let (begun, mut sum, mut count) = (Instant::now(), 0_u64, 0_u32);
            let mut has_ended = false;
            while !has_ended {
                spread.turns(&mut source, MESSAGE, |turn| match turn {
                    Turn::Job(dealt) => {
                        sum = sum.wrapping_add(dealt.job);
                        count += 1;
                    }
                    Turn::Idle { .. } | Turn::Pending => {}
                    Turn::End => has_ended = true,
                });
            }
            assert_eq!((u64::from(count), sum), (jobs, jobs * (jobs - 1) / 2));
            best = best.max(f64::from(count) / begun.elapsed().as_secs_f64());
        }
        println!("Offbeat core, {name}\t{best:.0}");
    }
    Ok(())
}
