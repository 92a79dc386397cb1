//! Draws of many twisters.

use core::cell::Cell;
use core::num::NonZeroU64;

use fearless_simd::{Simd, dispatch};

use super::draw::Rule;
use super::input::{InputRow, PendingRow, Seeds};
use super::lanes::{Aligned, LANES, Row, vectorized};
use super::seeding::{DRAWN, STATE, seed_and_draw};
use super::{Kernel, one};
use crate::ids::Integer;
use crate::placement::twister::{Profile, Twister};

/// Lanes of a row of few IDs.
const FEW: usize = 64;
/// Vectors of a row of many IDs: enough of them that the steps of one need not wait for those of
/// another. 8, 9 and 12 are slower with AVX2, and fewer with AVX-512 (decision 0022).
const MANY: usize = 10;

/// The first number below `limit` that each seed's twister draws, appended to `numbers` in order:
/// the same as [`Twister::below`] for each.
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
        (_, None, _) | (_, _, ..2) => {
            numbers.extend(seeds.map(|seed| one::draw(profile, limit, seed)));
        }
        (_, Some(level), ..=FEW) => {
            dispatch!(level, simd => job.draw::<_, { FEW / LANES }>(simd, seeds, numbers));
        }
        (_, Some(level), _) => dispatch!(level, simd => job.draw::<_, MANY>(simd, seeds, numbers)),
    }
}

#[derive(Debug, Clone, Copy)]
struct Job {
    profile: Profile,
    limit: NonZeroU64,
    rule: Rule,
}

thread_local! {
    /// Memory of the last batch, to use again; at most half a MiB.
    static MEMORY: Cell<Vec<u32>> = const { Cell::new(Vec::new()) };
}

impl Job {
    fn draw<S: Simd, const K: usize>(
        self,
        simd: S,
        seeds: impl ExactSizeIterator<Item = Integer>,
        numbers: &mut Vec<u64>,
    ) {
        let first = numbers.len();
        numbers.resize(first + seeds.len(), 0);
        let Some(numbers) = numbers.get_mut(first..) else { return };
        let mut memory = MEMORY.take();
        memory.resize(memory.len().max(STATE * LANES * K + LANES), 0);
        let start = memory.as_ptr().align_offset(size_of::<Row<1>>());
        let lines = memory.get_mut(start..).map(|words| words.as_chunks_mut::<LANES>().0);
        let rows = lines.map(|lines| lines.as_chunks_mut::<K>().0);
        if let Some(state) = rows.and_then(<[_]>::first_chunk_mut) {
            self.draw_in(simd, state, seeds, numbers);
        }
        MEMORY.set(memory);
    }

    /// Takes IDs in row by row. A row whose keys are all of one kind, as most are, is drawn at
    /// once. The IDs of any other row wait until their kinds fill rows.
    fn draw_in<S: Simd, const K: usize>(
        self,
        simd: S,
        state: &mut [Row<K>; STATE],
        mut seeds: impl Iterator<Item = Integer>,
        numbers: &mut [u64],
    ) {
        let mut input = InputRow::new();
        let mut waiting = None;
        for start in (0..numbers.len()).step_by(LANES * K) {
            let end = numbers.len().min(start + LANES * K);
            let Some(row) = numbers.get_mut(start..end) else { break };
            if let Some(alike) = input.refill(self.profile, &mut seeds) {
                self.draw_row(simd, alike, state, row);
                continue;
            }
            let waiting = waiting.get_or_insert_with(PendingRow::of_each_kind);
            for (lane, place) in (start..end).enumerate() {
                if let Some(full) = input.send(lane, place, waiting) {
                    self.settle(simd, full, state, numbers);
                }
            }
        }
        for waiting in waiting.iter_mut().flatten().filter(|waiting| !waiting.is_empty()) {
            self.settle(simd, waiting, state, numbers);
        }
    }

    /// Draws for the waiting IDs and writes the numbers to their places.
    #[inline(never)]
    fn settle<S: Simd, const K: usize>(
        self,
        simd: S,
        waiting: &mut PendingRow<K>,
        state: &mut [Row<K>; STATE],
        numbers: &mut [u64],
    ) {
        let mut drawn = [[0; LANES]; K];
        let (seeds, places) = waiting.take();
        if let Some(drawn) = drawn.as_flattened_mut().get_mut(..places.len()) {
            self.draw_row(simd, seeds, state, drawn);
        }
        for (place, drawn) in places.iter().zip(drawn.as_flattened()) {
            numbers.get_mut(*place).into_iter().for_each(|number| *number = *drawn);
        }
    }

    /// Draws for a row of seeds. `numbers` may be shorter; it then gets those of the first seeds.
    #[inline(never)]
    fn draw_row<S: Simd, const K: usize>(
        self,
        simd: S,
        seeds: &Seeds<K>,
        state: &mut [Row<K>; STATE],
        numbers: &mut [u64],
    ) {
        let Self { profile, limit, rule } = self;
        let mut candidates = Aligned([[0; LANES]; K]);
        let candidates = &mut candidates.0;
        vectorized!(simd, seed_and_draw(simd, seeds, rule, state, candidates));
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
