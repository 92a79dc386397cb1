//! Random numbers that are the same on every machine.

use rand_core::{RngCore as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

/// xoshiro256++ (D. Blackman and S. Vigna, 2019), seeded by SplitMix64.
#[derive(Debug, Clone)]
pub struct Generator(Xoshiro256PlusPlus);

impl Generator {
    /// The generator of a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// Uniform in [0, 1): 53 bits.
    #[expect(clippy::cast_precision_loss, reason = "53 bits fit")]
    pub fn uniform(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Exponential with mean 1.
    pub fn exponential(&mut self) -> f64 {
        -libm::log(1.0 - self.uniform())
    }

    /// A number below `limit`. All are equally probable, within 2^-64 · `limit`.
    #[expect(clippy::cast_possible_truncation, reason = "below the limit")]
    pub fn below(&mut self, limit: usize) -> usize {
        ((u128::from(self.0.next_u64()) * limit as u128) >> 64) as usize
    }

    /// Shuffles `items`: all orders are equally probable (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let other = self.below(last + 1);
            items.swap(last, other);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first numbers of the authors' reference program for the state 1, 2, 3, 4.
    #[test]
    fn it_is_the_published_generator() {
        let mut state = [0_u8; 32];
        for (place, word) in state.chunks_mut(8).zip(1_u64..) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        let mut generator = Generator(Xoshiro256PlusPlus::from_seed(state));
        let first: Vec<u64> = (0..3).map(|_| generator.0.next_u64()).collect();
        assert_eq!(first, [41_943_041, 58_720_359, 3_588_806_011_781_223]);
    }

    #[test]
    fn a_shuffle_keeps_all() {
        let mut items: Vec<u32> = (0..1_000).collect();
        Generator::new(7).shuffle(&mut items);
        assert!(items.windows(2).any(|pair| pair[0] > pair[1]));
        items.sort_unstable();
        assert_eq!(items, (0..1_000).collect::<Vec<_>>());
    }
}
