//! The load to expect when a population is thrown on slots.
//!
//! The fullest of n slots holds at most m of N IDs with a probability of about
//! BinomCDF(m; N, 1/n)^n; slots of different shares contribute a factor each.
//! These are estimates: floats, on purpose.

use crate::limits::MILLIS_PER_SECOND;
use crate::placement::Placement;
use crate::schedule::Schedule;

/// Expected load of the fullest slot (or second) of a cycle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ExpectedLoad {
    /// IDs per slot on average.
    pub mean: f64,
    /// The fullest slot, median: half of all populations stay at or below it.
    pub fullest_median: u64,
    /// The fullest slot, 99th percentile.
    pub fullest_p99: u64,
}

/// Places that an ID is equally likely to fall into.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Places {
    /// How many places have this share.
    pub(crate) count: f64,
    /// The probability of each.
    pub(crate) share: f64,
}

impl Schedule {
    /// The load of the slots when `population` IDs are thrown on them.
    ///
    /// ```
    /// use offbeat_core::{Schedule, ScheduleSpec, Span};
    ///
    /// let daily = Schedule::try_new(&ScheduleSpec::every(Span::from_seconds(86_400)))?;
    /// let load = daily.slot_load(10_000); // of 128 slots
    /// assert!(load.mean < 79.0 && load.fullest_median > 90 && load.fullest_p99 > load.fullest_median);
    /// # Ok::<(), offbeat_core::Rejection>(())
    /// ```
    #[must_use]
    pub fn slot_load(&self, population: u64) -> ExpectedLoad {
        ExpectedLoad::new(population, &self.slot_shares())
    }

    /// The load of the active seconds of a cycle (of the shortest month); none for part seconds.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    pub fn second_load(&self, population: u64) -> Option<ExpectedLoad> {
        let millis = self.active_ticks() * self.tick_millis();
        if !millis.is_multiple_of(MILLIS_PER_SECOND) {
            return None;
        }
        let seconds = (millis / MILLIS_PER_SECOND) as f64 / f64::from(self.slot_count());
        let in_seconds =
            |slots: Places| Places { count: slots.count * seconds, share: slots.share / seconds };
        let shares: Vec<Places> = self.slot_shares().into_iter().map(in_seconds).collect();
        Some(ExpectedLoad::new(population, &shares))
    }

    /// The share of the IDs that each slot can expect, in order; under `TWISTER`, its buckets.
    pub(crate) fn shares_in_order(&self) -> impl Iterator<Item = f64> {
        let slots = self.slot_count();
        let buckets = match *self.placement() {
            Placement::Twister { bucket_count, .. } => u64::from(bucket_count),
            Placement::Hash { .. } | Placement::Fraction => u64::from(slots),
        };
        // The buckets b with ⌊b·n / bucket count⌋ below a slot.
        let before = move |slot: u32| (u64::from(slot) * buckets).div_ceil(u64::from(slots));
        #[expect(clippy::cast_precision_loss, reason = "2^20 at most")]
        (0..slots).map(move |slot| (before(slot + 1) - before(slot)) as f64 / buckets as f64)
    }

    /// The slots by their share of the IDs: under `TWISTER`, those with a bucket more come first.
    fn slot_shares(&self) -> Vec<Places> {
        let slots = self.slot_count();
        let Placement::Twister { bucket_count, .. } = *self.placement() else {
            let count = f64::from(slots);
            return vec![Places { count, share: 1.0 / count }];
        };
        let larger = bucket_count % slots;
        let of = |count: u32, buckets: u32| Places {
            count: f64::from(count),
            share: f64::from(buckets) / f64::from(bucket_count),
        };
        let equal = of(slots - larger, bucket_count / slots);
        if larger == 0 { vec![equal] } else { vec![of(larger, bucket_count / slots + 1), equal] }
    }
}

impl ExpectedLoad {
    /// The load of `population` IDs thrown on places, those of the largest share first.
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    fn new(population: u64, places: &[Places]) -> Self {
        let count: f64 = places.iter().map(|places| places.count).sum();
        let mean = population as f64 / count;
        if count <= 1.0 {
            return Self { mean, fullest_median: population, fullest_p99: population };
        }
        let [fullest_p99, fullest_median] = fullest(population, places, [0.99, 0.5]);
        Self { mean, fullest_median, fullest_p99 }
    }
}

/// For each probability (falling), the smallest m with P(max ≤ m) at or above it.
///
/// Walks down from far above the largest mean, where the tail is nothing, and
/// sums the binomials as it goes: some 10 standard deviations of steps, and no
/// cancellation, since the tails are summed from their small end.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "an estimate; populations are far below 2^53"
)]
fn fullest(population: u64, places: &[Places], probabilities: [f64; 2]) -> [u64; 2] {
    let largest = places.iter().map(|places| places.share).fold(0.0, f64::max);
    let mean = population as f64 * largest;
    let highest = (mean + 10.0 * libm::sqrt(mean) + 15.0) as u64;
    let mut count = highest.min(population);
    let mut tails: Vec<Tail> =
        places.iter().map(|places| Tail::new(*places, population, count)).collect();
    probabilities.map(|probability| {
        let bound = libm::log(probability);
        // ln P(max ≤ count − 1): the sum over the places of ln(1 − P(X ≥ count))
        while count > 0 && tails.iter().map(Tail::log_none_at_or_above).sum::<f64>() >= bound {
            for tail in &mut tails {
                tail.step_down(population, count);
            }
            count -= 1;
        }
        count
    })
}

/// The binomial tail of places of one share, at a count.
struct Tail {
    places: Places,
    odds: f64,
    /// P(X = count).
    mass: f64,
    /// P(X > count).
    above: f64,
}

impl Tail {
    fn new(places: Places, population: u64, count: u64) -> Self {
        let p = places.share;
        Self { places, odds: p / (1.0 - p), mass: binomial_mass(count, population, p), above: 0.0 }
    }

    fn log_none_at_or_above(&self) -> f64 {
        self.places.count * libm::log1p(-(self.above + self.mass).min(1.0))
    }

    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    fn step_down(&mut self, population: u64, count: u64) {
        self.above += self.mass;
        self.mass *= count as f64 / ((population - count + 1) as f64 * self.odds);
    }
}

/// P(X = count) of the binomial distribution.
#[expect(clippy::cast_precision_loss, reason = "an estimate")]
fn binomial_mass(count: u64, population: u64, p: f64) -> f64 {
    let log_factorial = |n: u64| libm::lgamma(n as f64 + 1.0);
    let log_choose =
        log_factorial(population) - log_factorial(count) - log_factorial(population - count);
    let log_mass =
        log_choose + count as f64 * libm::log(p) + (population - count) as f64 * libm::log1p(-p);
    libm::exp(log_mass)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::placement::PlacementKind;
    use crate::schedule::ScheduleSpec;
    use crate::time::Span;

    fn even(population: u64, places: u64) -> ExpectedLoad {
        let count = places as f64;
        ExpectedLoad::new(population, &[Places { count, share: 1.0 / count }])
    }

    /// P(max ≤ m) by summing the binomial from 0, for small populations.
    fn fullest_by_summing(population: u64, places: u64, probability: f64) -> u64 {
        let p = 1.0 / places as f64;
        let mut mass = (1.0 - p).powi(i32::try_from(population).unwrap());
        let mut cdf = mass;
        let mut m = 0;
        while cdf.powf(places as f64) < probability {
            mass *= (population - m) as f64 / (m + 1) as f64 * p / (1.0 - p);
            cdf += mass;
            m += 1;
        }
        m
    }

    #[test]
    fn the_walk_agrees_with_summing_from_zero() {
        for (population, places) in
            [(1, 2), (10, 2), (100, 7), (1_000, 128), (5_000, 15), (700, 5_000)]
        {
            let load = even(population, places);
            assert_eq!(
                load.fullest_median,
                fullest_by_summing(population, places, 0.5),
                "{population}/{places}"
            );
            assert_eq!(
                load.fullest_p99,
                fullest_by_summing(population, places, 0.99),
                "{population}/{places}"
            );
        }
    }

    /// Mean ratios of the fullest slot to the average, from a simulation outside this project.
    #[test]
    fn the_median_is_close_to_simulated_values() {
        for (population, places, ratio) in [
            (1_000, 128, 2.05),
            (10_000, 128, 1.31),
            (100_000, 128, 1.096),
            (1_000_000, 128, 1.030),
            (10_000, 15, 1.069),
            (100_000, 28_800, 3.79),
        ] {
            let load = even(population, places);
            let found = load.fullest_median as f64 / load.mean;
            // a count is whole: allow one more or less in addition to 1.5 %
            let slack = 0.015 * ratio + 1.0 / load.mean;
            assert!((found - ratio).abs() <= slack, "{population}/{places}: {found} for {ratio}");
        }
    }

    #[test]
    fn the_largest_question_ends() {
        let load = even(1_000_000_000, 2);
        assert!(load.fullest_median > 500_000_000 && load.fullest_p99 < 500_100_000);
        assert_eq!(even(7, 1).fullest_p99, 7);
        let sparse = even(1, 316_224_000);
        assert_eq!((sparse.fullest_median, sparse.fullest_p99), (1, 1));
    }

    /// 144 slots of 256 buckets: 112 hold two buckets and 32 one. A million random
    /// integers put 8,037 into the fullest slot.
    #[test]
    fn uneven_slots_are_judged_by_the_largest() {
        let schedule = Schedule::try_new(&ScheduleSpec {
            slot_count: Some(144),
            placement: PlacementKind::Twister,
            ..ScheduleSpec::every(Span::from_seconds(86_400))
        })
        .unwrap();
        let load = schedule.slot_load(1_000_000);
        assert!((7_950..8_100).contains(&load.fullest_median), "{load:?}");
        // On their own, the 112 larger slots receive 7/8 of the IDs.
        let alone = even(875_000, 112);
        assert!(load.fullest_p99.abs_diff(alone.fullest_p99) <= 2, "{load:?} {alone:?}");
        assert!(schedule.second_load(1_000_000).unwrap().fullest_median > 24);
    }
}
