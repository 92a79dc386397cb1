//! Where the hashes of a row belong.

use super::lanes::LANES;
use super::md5::K;

/// For each lane of a row, the place of its hash among all hashes; ascending.
pub(super) struct Places {
    places: [[usize; LANES]; K],
    count: usize,
}

impl Places {
    pub(super) const fn new() -> Self {
        Self { places: [[0; LANES]; K], count: 0 }
    }

    /// The next free lane.
    #[inline(always)]
    pub(super) const fn next(&self) -> usize {
        self.count
    }

    /// Sets the place of the next lane's hash, which must come after those of the lanes before.
    #[inline(always)]
    pub(super) fn enter(&mut self, place: usize) {
        let places = self.places.as_flattened_mut();
        places.get_mut(self.count).into_iter().for_each(|to| *to = place);
        self.count += 1;
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.count == 0
    }

    #[inline(always)]
    pub(super) const fn is_full(&self) -> bool {
        self.count == LANES * K
    }

    /// Writes the lanes' hashes to their places; all lanes are free again.
    pub(super) fn leave(&mut self, row: &[[u64; LANES]; K], hashes: &mut [u64]) {
        let places = self.places.as_flattened().get(..self.count).unwrap_or_default();
        let row = row.as_flattened().get(..self.count).unwrap_or_default();
        self.count = 0;
        // The places ascend. Without a gap between them, as with IDs of one type, one copy is
        // enough.
        let [first, last] = [places.first(), places.last()].map(Option::<&usize>::copied);
        let run = first.zip(last).filter(|(first, last)| last - first + 1 == places.len());
        if let Some(run) = run.and_then(|(first, last)| hashes.get_mut(first..=last)) {
            run.copy_from_slice(row);
            return;
        }
        for (hash, place) in row.iter().zip(places) {
            hashes.get_mut(*place).into_iter().for_each(|to| *to = *hash);
        }
    }
}
