//! Draws of many twisters.

use core::cell::Cell;
use core::num::NonZeroU64;

use super::draw::Rule;
use super::isa::{Aligned, Baseline, Isa, Row};
use super::seeding::{DRAWN, STATE, SeedAndDraw};
use super::taken::{Seeds, Taken, Waiting};
use super::{Kernel, Level, one};
use crate::ids::Integer;
use crate::placement::twister::{Profile, Twister};

/// Lanes of a row of few IDs.
const FEW: usize = 32;

/// The first number below `limit` that each seed's twister draws, appended to `numbers` in order:
/// what [`Twister::below`] says of each.
pub fn draws(
    kernel: Kernel,
    profile: Profile,
    limit: NonZeroU64,
    seeds: impl ExactSizeIterator<Item = Integer>,
    numbers: &mut Vec<u64>,
) {
    let rule = Rule::new(profile, limit);
    let job = Job { profile, limit, rule };
    match (rule, kernel.0, seeds.len()) {
        (Rule::Zero, ..) => numbers.extend(seeds.map(|_| 0)),
        (_, Level::Plain, _) | (_, _, ..2) => {
            numbers.extend(seeds.map(|seed| one::draw(profile, limit, seed)));
        }
        (_, Level::Baseline, ..=FEW) => job.draw::<_, 4, { FEW / 4 }>(Baseline, seeds, numbers),
        (_, Level::Baseline, _) => job.draw::<_, 4, 16>(Baseline, seeds, numbers),
        #[cfg(target_arch = "x86_64")]
        (_, Level::Avx2(isa), ..=FEW) => job.draw::<_, 8, { FEW / 8 }>(isa, seeds, numbers),
        #[cfg(target_arch = "x86_64")]
        (_, Level::Avx2(isa), _) => job.draw::<_, 8, 10>(isa, seeds, numbers),
        #[cfg(target_arch = "x86_64")]
        (_, Level::Avx512(isa), ..=FEW) => job.draw::<_, 16, { FEW / 16 }>(isa, seeds, numbers),
        #[cfg(target_arch = "x86_64")]
        (_, Level::Avx512(isa), _) => job.draw::<_, 16, 12>(isa, seeds, numbers),
    }
}

#[derive(Debug, Clone, Copy)]
struct Job {
    profile: Profile,
    limit: NonZeroU64,
    rule: Rule,
}

thread_local! {
    /// What the last batch was worked out in, at most half a MiB.
    static MEMORY: Cell<Vec<u32>> = const { Cell::new(Vec::new()) };
}

/// Words of a cache line, on which rows start.
const LINE: usize = 16;

impl Job {
    fn draw<I: Isa<L>, const L: usize, const K: usize>(
        self,
        isa: I,
        seeds: impl ExactSizeIterator<Item = Integer>,
        numbers: &mut Vec<u64>,
    ) {
        let first = numbers.len();
        numbers.resize(first + seeds.len(), 0);
        let Some(numbers) = numbers.get_mut(first..) else { return };
        let mut memory = MEMORY.take();
        memory.resize(memory.len().max(STATE * L * K + LINE), 0);
        let start = memory.as_ptr().align_offset(size_of::<u32>() * LINE);
        let lines = memory.get_mut(start..).map(|words| words.as_chunks_mut::<L>().0);
        let rows = lines.map(|lines| lines.as_chunks_mut::<K>().0);
        if let Some(state) = rows.and_then(<[_]>::first_chunk_mut) {
            self.draw_in(isa, state, seeds, numbers);
        }
        MEMORY.set(memory);
    }

    /// IDs are taken in row by row. A row of keys that are alike, as nearly all are, is drawn as it
    /// is; the IDs of another wait until as many of their kind are there.
    fn draw_in<I: Isa<L>, const L: usize, const K: usize>(
        self,
        isa: I,
        state: &mut [Row<L, K>; STATE],
        mut seeds: impl Iterator<Item = Integer>,
        numbers: &mut [u64],
    ) {
        let mut taken = Taken::new();
        let mut waiting = None;
        for start in (0..numbers.len()).step_by(L * K) {
            let end = numbers.len().min(start + L * K);
            let Some(row) = numbers.get_mut(start..end) else { break };
            if let Some(alike) = taken.refill(self.profile, &mut seeds) {
                self.draw_row(isa, alike, state, row);
                continue;
            }
            let waiting = waiting.get_or_insert_with(Waiting::of_each_kind);
            for (lane, place) in (start..end).enumerate() {
                if let Some(full) = taken.send(lane, place, waiting) {
                    self.settle(isa, full, state, numbers);
                }
            }
        }
        for waiting in waiting.iter_mut().flatten().filter(|waiting| !waiting.is_empty()) {
            self.settle(isa, waiting, state, numbers);
        }
    }

    /// Draws for those who wait and writes the numbers to their places.
    #[inline(never)]
    fn settle<I: Isa<L>, const L: usize, const K: usize>(
        self,
        isa: I,
        waiting: &mut Waiting<L, K>,
        state: &mut [Row<L, K>; STATE],
        numbers: &mut [u64],
    ) {
        let mut drawn = [[0; L]; K];
        let (seeds, places) = waiting.take();
        if let Some(drawn) = drawn.as_flattened_mut().get_mut(..places.len()) {
            self.draw_row(isa, seeds, state, drawn);
        }
        for (place, drawn) in places.iter().zip(drawn.as_flattened()) {
            numbers.get_mut(*place).into_iter().for_each(|number| *number = *drawn);
        }
    }

    /// Draws for a row of seeds, of which as many are somebody's as there are numbers.
    #[inline(never)]
    fn draw_row<I: Isa<L>, const L: usize, const K: usize>(
        self,
        isa: I,
        seeds: &Seeds<L, K>,
        state: &mut [Row<L, K>; STATE],
        numbers: &mut [u64],
    ) {
        let Self { profile, limit, rule } = self;
        let mut candidates = Aligned([[0; L]; K]);
        let candidates = &mut candidates.0;
        isa.run(SeedAndDraw { seeds, rule, state, candidates });
        let further = |lane| Twister::of_key(profile, seeds.key(lane)).below(limit);
        match rule {
            Rule::Zero => {}
            Rule::OneWord(rule) => {
                rule.numbers(candidates.as_flattened(), numbers);
                let candidates = candidates.as_flattened().iter().enumerate();
                for (number, (lane, candidate)) in numbers.iter_mut().zip(candidates) {
                    if *candidate > rule.largest {
                        *number = further(lane);
                    }
                }
            }
            Rule::TwoWords => {
                for (lane, number) in numbers.iter_mut().enumerate() {
                    let words = state.iter().take(DRAWN);
                    let mut words = words.filter_map(|row| row.as_flattened().get(lane));
                    let drawn = profile.below(limit, || words.next().copied().ok_or(()));
                    *number = drawn.unwrap_or_else(|()| further(lane));
                }
            }
        }
    }
}
