//! Draws of many twisters.

use core::cell::Cell;
use core::num::NonZeroU64;

use super::draw::Rule;
use super::isa::{Aligned, Baseline, Isa, Row};
use super::seeding::{DRAWN, STATE, SeedAndDraw, Seeds};
use super::{Kernel, Level, one};
use crate::id::Integer;
use crate::twister::{Key, MAX_WORDS, Profile, Twister, Words};

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

/// IDs of one kind and length of key that wait until they fill a row.
#[derive(Debug)]
struct Waiting<const L: usize, const K: usize> {
    seeds: Seeds<L, K>,
    places: [[usize; L]; K],
    count: usize,
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

    fn draw_in<I: Isa<L>, const L: usize, const K: usize>(
        self,
        isa: I,
        state: &mut [Row<L, K>; STATE],
        seeds: impl Iterator<Item = Integer>,
        numbers: &mut [u64],
    ) {
        let mut by_word = Waiting::new(None);
        let mut by_array = [Some(1), Some(2), Some(3), Some(4)].map(Waiting::new);
        for (place, seed) in seeds.enumerate() {
            let waiting = match self.profile.key(seed) {
                Key::Word(word) => by_word.push([word], place),
                Key::Array(words) => {
                    let [one, two, three, four] = &mut by_array;
                    let [a, b, c, d] = words.words();
                    match words.len() {
                        1 => one.push([a], place),
                        2 => two.push([a, b], place),
                        3 => three.push([a, b, c], place),
                        _ => four.push([a, b, c, d], place),
                    }
                }
            };
            if waiting.count == L * K {
                self.settle(isa, waiting, state, numbers);
            }
        }
        for waiting in by_array.iter_mut().chain([&mut by_word]).filter(|row| row.count > 0) {
            self.settle(isa, waiting, state, numbers);
        }
    }

    /// Draws for a row and writes the numbers to their places.
    #[inline(never)]
    fn settle<I: Isa<L>, const L: usize, const K: usize>(
        self,
        isa: I,
        waiting: &mut Waiting<L, K>,
        state: &mut [Row<L, K>; STATE],
        numbers: &mut [u64],
    ) {
        let Self { profile, limit, rule } = self;
        let mut candidates = Aligned([[0; L]; K]);
        let candidates = &mut candidates.0;
        isa.run(SeedAndDraw { seeds: &waiting.seeds, rule, state, candidates });
        let places = waiting.places.as_flattened().iter().take(waiting.count);
        let mut settle = |place: &usize, number| {
            numbers.get_mut(*place).into_iter().for_each(|to| *to = number);
        };
        match rule {
            Rule::Zero => {}
            Rule::OneWord(rule) => {
                let candidates = candidates.as_flattened().iter();
                for (lane, (place, candidate)) in places.zip(candidates).enumerate() {
                    let number = if *candidate <= rule.largest {
                        rule.number(*candidate)
                    } else {
                        Twister::of_key(profile, waiting.key(lane)).below(limit)
                    };
                    settle(place, number);
                }
            }
            Rule::TwoWords => {
                for (lane, place) in places.enumerate() {
                    let words = state.iter().take(DRAWN);
                    let mut words = words.filter_map(|row| row.as_flattened().get(lane));
                    let drawn = profile.below(limit, || words.next().copied().ok_or(()));
                    let number = drawn.unwrap_or_else(|()| {
                        Twister::of_key(profile, waiting.key(lane)).below(limit)
                    });
                    settle(place, number);
                }
            }
        }
        waiting.count = 0;
    }
}

impl<const L: usize, const K: usize> Waiting<L, K> {
    fn new(array_len: Option<usize>) -> Self {
        let seeds = Seeds { words: [[[0; L]; K]; MAX_WORDS], array_len };
        Self { seeds, places: [[0; L]; K], count: 0 }
    }

    #[inline]
    fn push<const W: usize>(&mut self, words: [u32; W], place: usize) -> &mut Self {
        for (row, word) in self.seeds.words.iter_mut().zip(words) {
            row.as_flattened_mut().get_mut(self.count).into_iter().for_each(|lane| *lane = word);
        }
        let places = self.places.as_flattened_mut();
        places.get_mut(self.count).into_iter().for_each(|lane| *lane = place);
        self.count += 1;
        self
    }

    /// The key of one lane, for an ID that needs more words than were made.
    #[cold]
    fn key(&self, lane: usize) -> Key {
        let word = |row: &Row<L, K>| row.as_flattened().get(lane).copied().unwrap_or_default();
        let words = self.seeds.words.each_ref().map(word);
        match self.seeds.array_len {
            None => Key::Word(words[0]),
            Some(len) => Key::Array(Words::from_words(words, len)),
        }
    }
}
