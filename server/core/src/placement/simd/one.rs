//! A single twister, which makes only the words that are drawn.

use core::num::NonZeroU64;

use super::seeding::{BASE, DRAWN, MIDDLE, STATE, drawn, first_pass, next_by_word, second_pass};
use crate::ids::Integer;
use crate::placement::twister::{Key, Profile, Twister, Words};

/// The first number below `limit` that the twister of `seed` draws: the same as [`Twister::below`].
#[must_use]
pub fn draw(profile: Profile, limit: NonZeroU64, seed: Integer) -> u64 {
    let key = profile.key(seed);
    let state = match key {
        Key::Word(word) => by_word(word),
        Key::Array(words) => by_array(words),
    };
    let [_, nexts @ ..] = &state;
    let middles = state.iter().skip(MIDDLE).take(DRAWN);
    let mut words = state.iter().zip(nexts).zip(middles);
    let next = || words.next().map(|((word, next), middle)| drawn(*word, *next, *middle)).ok_or(());
    // If these words make no number, the whole twister goes on: it has no last word.
    profile.below(limit, next).unwrap_or_else(|()| Twister::of_key(profile, key).below(limit))
}

/// `init_genrand`, as far as [`DRAWN`] words need it.
fn by_word(word: u32) -> [u32; STATE] {
    let mut state = [word; STATE];
    let mut previous = word;
    for (word, place) in state.iter_mut().zip(0..).take(MIDDLE + DRAWN).skip(1) {
        previous = next_by_word(previous, place);
        *word = previous;
    }
    state
}

fn by_array(words: Words) -> [u32; STATE] {
    let mut state = BASE;
    let mut keys = words.zip(0_u32..).map(|(word, place)| word.wrapping_add(place)).cycle();
    let [origin, rest @ ..] = &mut state;
    let mut previous = *origin;
    for (word, key) in rest.iter_mut().zip(keys.by_ref()) {
        previous = first_pass(*word, previous, key);
        *word = previous;
    }
    let [second, rest @ ..] = rest;
    previous = first_pass(*second, previous, keys.next().unwrap_or_default());
    *second = previous;
    for (word, place) in rest.iter_mut().zip(2..) {
        previous = second_pass(*word, previous, place);
        *word = previous;
    }
    *second = second_pass(*second, previous, 1);
    *origin = 0x8000_0000;
    state
}
