//! Twisters seeded side by side, one in each lane of a row.

use fearless_simd::prelude::*;
use fearless_simd::u32x16;

use super::draw::{OneWord, Rule};
use super::input::Seeds;
use super::lanes::{Aligned, LANES, Row, load};
use crate::placement::twister::MAX_WORDS;

/// Words of a twister's state.
pub(super) const STATE: usize = 624;
/// Word t of the first block is made of the state's words t, t + 1 and t + 397.
pub(super) const MIDDLE: usize = 397;
/// Words made for each ID; the plain twister takes over for an ID that needs more.
pub(super) const DRAWN: usize = 16;
/// Words of the state that no drawn word needs: between those of the first words and the middle.
const SKIPPED: core::ops::Range<u32> = 17..397;
/// Words from here on are not needed either.
const LAST: u32 = 397 + 16;

const BY_WORD: u32 = 1_812_433_253;
const FIRST_PASS: u32 = 1_664_525;
const SECOND_PASS: u32 = 1_566_083_941;

/// What `init_by_array` starts from: `init_genrand(19650218)`.
pub(super) static BASE: [u32; STATE] = base();

#[expect(clippy::indexing_slicing, clippy::cast_possible_truncation, reason = "below 624")]
const fn base() -> [u32; STATE] {
    let mut base = [19_650_218; STATE];
    let mut place = 1;
    while place < STATE {
        base[place] = next_by_word(base[place - 1], place as u32);
        place += 1;
    }
    base
}

#[inline(always)]
const fn mixed(previous: u32, multiplier: u32) -> u32 {
    (previous ^ (previous >> 30)).wrapping_mul(multiplier)
}

#[inline(always)]
pub(super) const fn next_by_word(previous: u32, place: u32) -> u32 {
    mixed(previous, BY_WORD).wrapping_add(place)
}

/// One step of the first pass; `key` is the key's word plus its place.
#[inline(always)]
pub(super) const fn first_pass(word: u32, previous: u32, key: u32) -> u32 {
    (word ^ mixed(previous, FIRST_PASS)).wrapping_add(key)
}

#[inline(always)]
pub(super) const fn second_pass(word: u32, previous: u32, place: u32) -> u32 {
    (word ^ mixed(previous, SECOND_PASS)).wrapping_sub(place)
}

/// The word that is drawn from three words of the state.
#[inline(always)]
pub(super) const fn drawn(word: u32, next: u32, middle: u32) -> u32 {
    let both = (word & 0x8000_0000) | (next & 0x7fff_ffff);
    let odd = 0_u32.wrapping_sub(next & 1) & 0x9908_b0df;
    let mut drawn = middle ^ (both >> 1) ^ odd;
    drawn ^= drawn >> 11;
    drawn ^= (drawn << 7) & 0x9d2c_5680;
    drawn ^= (drawn << 15) & 0xefc6_0000;
    drawn ^ (drawn >> 18)
}

/// Seeds a twister in each lane and draws.
///
/// With a rule of one word, `candidates` holds the result; a candidate above the largest says that
/// the words made did not suffice. With a rule of two words, the first rows of `state` hold the
/// words drawn.
#[inline(always)]
pub(super) fn seed_and_draw<S: Simd, const K: usize>(
    simd: S,
    seeds: &Seeds<K>,
    rule: Rule,
    state: &mut [Row<K>; STATE],
    candidates: &mut Row<K>,
) {
    match seeds.array_len {
        Some(len) => seed_by_array(simd, &seeds.words, len, state),
        None => seed_by_word(simd, &seeds.words[0], state),
    }
    let grow = |state: &mut _, word: usize| {
        if seeds.array_len.is_none() {
            grow(state, word);
        }
    };
    match rule {
        Rule::Zero => {}
        Rule::OneWord(rule) => draw(rule, state, candidates, grow),
        Rule::TwoWords => {
            (1..DRAWN).for_each(|word| grow(state, word));
            draw_words(state);
        }
    }
}

#[inline(always)]
fn mix<S: Simd>(previous: u32x16<S>, multiplier: u32) -> u32x16<S> {
    (previous ^ previous >> 30) * multiplier
}

/// `init_genrand`, as far as the first word drawn needs it.
#[inline(always)]
fn seed_by_word<S: Simd, const K: usize>(simd: S, words: &Row<K>, state: &mut [Row<K>; STATE]) {
    let [origin, rows @ ..] = state;
    *origin = *words;
    let mut previous = words.each_ref().map(|words| load(simd, words));
    for (row, place) in rows.iter_mut().zip(1..).take(MIDDLE) {
        for previous in &mut previous {
            *previous = mix(*previous, BY_WORD) + place;
        }
        if !SKIPPED.contains(&place) {
            for (previous, words) in previous.iter().zip(row) {
                previous.store_array(words);
            }
        }
    }
}

/// One more row of `init_genrand`, for word `word`.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "below 624")]
fn grow<const K: usize>(state: &mut [Row<K>; STATE], word: usize) {
    let place = MIDDLE + word;
    if let Some([previous, row]) = state.get_mut(place - 1..=place) {
        for (row, previous) in row.as_flattened_mut().iter_mut().zip(previous.as_flattened()) {
            *row = next_by_word(*previous, place as u32);
        }
    }
}

/// `init_by_array`; only the rows that [`DRAWN`] words need are right in the end.
#[inline(always)]
fn seed_by_array<S: Simd, const K: usize>(
    simd: S,
    words: &[Row<K>; MAX_WORDS],
    len: usize,
    state: &mut [Row<K>; STATE],
) {
    let mut keys = Aligned(*words);
    for (key, place) in keys.0.iter_mut().zip(0..) {
        key.as_flattened_mut().iter_mut().for_each(|word| *word = word.wrapping_add(place));
    }
    let mut keys = keys.0.iter().take(len).cycle();
    let [origin, rows @ ..] = state;
    let mut previous = [u32x16::splat(simd, BASE[0]); K];
    for ((row, base), key) in rows.iter_mut().zip(&BASE[1..]).zip(keys.by_ref()) {
        for ((previous, words), key) in previous.iter_mut().zip(row).zip(key) {
            let mixed = mix(*previous, FIRST_PASS) ^ *base;
            *previous = mixed + load(simd, key);
            previous.store_array(words);
        }
    }
    let [second, rows @ ..] = rows;
    let Some(key) = keys.next() else { return };
    for ((previous, words), key) in previous.iter_mut().zip(second.iter_mut()).zip(key) {
        let mixed = load(simd, words) ^ mix(*previous, FIRST_PASS);
        *previous = mixed + load(simd, key);
        previous.store_array(words);
    }
    for (row, place) in rows.iter_mut().zip(2..) {
        for (previous, words) in previous.iter_mut().zip(row.iter()) {
            let mixed = load(simd, words) ^ mix(*previous, SECOND_PASS);
            *previous = mixed - place;
        }
        if !SKIPPED.contains(&place) && place < LAST {
            for (previous, words) in previous.iter().zip(row) {
                previous.store_array(words);
            }
        }
    }
    for (previous, words) in previous.iter().zip(second) {
        let mixed = load(simd, words) ^ mix(*previous, SECOND_PASS);
        (mixed - 1).store_array(words);
    }
    *origin = [[0x8000_0000; LANES]; K];
}

/// Draws one word in each lane, and again in those whose candidate is above the largest.
#[inline(always)]
fn draw<const K: usize>(
    rule: OneWord,
    state: &mut [Row<K>; STATE],
    candidates: &mut Row<K>,
    grow: impl Fn(&mut [Row<K>; STATE], usize),
) {
    let candidates = candidates.as_flattened_mut();
    for place in 0..DRAWN {
        if place > 0 {
            grow(state, place);
        }
        let (Some([words, nexts]), Some(middles)) =
            (state.get(place..place + 2), state.get(MIDDLE + place))
        else {
            return;
        };
        let words = words.as_flattened().iter().zip(nexts.as_flattened());
        let words = words.zip(middles.as_flattened());
        for (candidate, ((word, next), middle)) in candidates.iter_mut().zip(words) {
            let again = rule.candidate(drawn(*word, *next, *middle));
            *candidate = if place == 0 || *candidate > rule.largest { again } else { *candidate };
        }
        if candidates.iter().fold(0, |largest, candidate| largest.max(*candidate)) <= rule.largest {
            return;
        }
    }
}

/// Writes the words drawn over the first rows of the state.
#[inline(always)]
fn draw_words<const K: usize>(state: &mut [Row<K>; STATE]) {
    let (front, back) = state.split_at_mut(MIDDLE);
    let mut front = front.iter_mut().take(DRAWN + 1);
    let Some(mut words) = front.next() else { return };
    for (nexts, middles) in front.zip(back) {
        let others = nexts.as_flattened().iter().zip(middles.as_flattened());
        for (word, (next, middle)) in words.as_flattened_mut().iter_mut().zip(others) {
            *word = drawn(*word, *next, *middle);
        }
        words = nexts;
    }
}
