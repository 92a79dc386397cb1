//! Input, row by row, sorted by the kind of key of its IDs.

use super::lanes::{LANES, Row};
use crate::ids::Integer;
use crate::placement::twister::{Key, MAX_WORDS, Profile, Words};

/// The keys of a row of twisters: all of the same kind and length.
#[derive(Debug, Clone)]
#[repr(align(64))]
pub(super) struct Seeds<const K: usize> {
    pub(super) words: [Row<K>; MAX_WORDS],
    /// Words of the array for `init_by_array`; `None` for the single word of `init_genrand`.
    pub(super) array_len: Option<usize>,
}

impl<const K: usize> Seeds<K> {
    const EMPTY: Self = Self { words: [[[0; LANES]; K]; MAX_WORDS], array_len: None };

    /// The key of one lane, for an ID that needs more words than were made.
    #[cold]
    pub(super) fn key(&self, lane: usize) -> Key {
        let words = self.lane(lane);
        match self.array_len {
            None => Key::Word(words[0]),
            Some(len) => Key::Array(Words::from_words(words, len)),
        }
    }

    fn lane(&self, lane: usize) -> [u32; MAX_WORDS] {
        let word = |row: &Row<K>| row.as_flattened().get(lane).copied().unwrap_or_default();
        self.words.each_ref().map(word)
    }
}

/// Kinds of keys: one word, and an array of each length.
const KINDS: usize = MAX_WORDS + 1;

/// The next IDs in their order, as many as a row has lanes.
#[derive(Debug)]
pub(super) struct InputRow<const K: usize> {
    seeds: Seeds<K>,
    /// The lengths of arrays; 0 for one word.
    kinds: [[usize; LANES]; K],
}

impl<const K: usize> InputRow<K> {
    pub(super) const fn new() -> Self {
        Self { seeds: Seeds::EMPTY, kinds: [[0; LANES]; K] }
    }

    /// Takes in the next IDs, and returns their keys if all are of one kind.
    #[inline]
    pub(super) fn refill(
        &mut self,
        profile: Profile,
        seeds: &mut impl Iterator<Item = Integer>,
    ) -> Option<&Seeds<K>> {
        let [a, b, c, d] = self.seeds.words.each_mut().map(|row| row.as_flattened_mut());
        let lanes = a.iter_mut().zip(b).zip(c.iter_mut().zip(d));
        let lanes = lanes.zip(self.kinds.as_flattened_mut());
        let (mut every, mut any) = (usize::MAX, 0);
        for ((((a, b), (c, d)), kind), seed) in lanes.zip(seeds) {
            let key = profile.key(seed);
            [*a, *b, *c, *d] = key.words();
            *kind = key.array_len();
            every &= *kind;
            any |= *kind;
        }
        self.seeds.array_len = (any > 0).then_some(any);
        (every == any).then_some(&self.seeds)
    }

    /// Moves the ID of one lane to the waiting IDs with its kind of key, and returns those if they
    /// fill a row now.
    pub(super) fn send<'a>(
        &self,
        lane: usize,
        place: usize,
        waiting: &'a mut [PendingRow<K>; KINDS],
    ) -> Option<&'a mut PendingRow<K>> {
        let kind = *self.kinds.as_flattened().get(lane)?;
        let waiting = waiting.get_mut(kind)?;
        waiting.push(self.seeds.lane(lane), place);
        (waiting.count == LANES * K).then_some(waiting)
    }
}

/// IDs of one kind of key that wait until they fill a row.
#[derive(Debug)]
pub(super) struct PendingRow<const K: usize> {
    seeds: Seeds<K>,
    places: [[usize; LANES]; K],
    count: usize,
}

impl<const K: usize> PendingRow<K> {
    /// An empty row for each kind of key.
    pub(super) fn of_each_kind() -> [Self; KINDS] {
        core::array::from_fn(|kind| {
            let seeds = Seeds { array_len: (kind > 0).then_some(kind), ..Seeds::EMPTY };
            Self { seeds, places: [[0; LANES]; K], count: 0 }
        })
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.count == 0
    }

    fn push(&mut self, words: [u32; MAX_WORDS], place: usize) {
        for (row, word) in self.seeds.words.iter_mut().zip(words) {
            row.as_flattened_mut().get_mut(self.count).into_iter().for_each(|lane| *lane = word);
        }
        let places = self.places.as_flattened_mut();
        places.get_mut(self.count).into_iter().for_each(|lane| *lane = place);
        self.count += 1;
    }

    /// Takes out the waiting IDs: their keys and places.
    pub(super) fn take(&mut self) -> (&Seeds<K>, &[usize]) {
        let count = core::mem::take(&mut self.count);
        (&self.seeds, self.places.as_flattened().get(..count).unwrap_or_default())
    }
}
