//! The load to expect when a population is thrown on slots.
//!
//! The fullest of n slots holds at most m of N IDs with a probability of about
//! BinomCDF(m; N, 1/n)^n. These are estimates: floats, on purpose.

/// What the fullest slot (or second) of a cycle will hold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ExpectedLoad {
    /// IDs per slot on average.
    pub mean: f64,
    /// The fullest slot, median: half of all populations stay at or below it.
    pub fullest_median: u64,
    /// The fullest slot, 99th percentile.
    pub fullest_p99: u64,
}

impl ExpectedLoad {
    /// The load of `population` IDs thrown evenly on `places` slots.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    pub fn new(population: u64, places: u64) -> Self {
        let mean = population as f64 / places as f64;
        if places <= 1 {
            return Self { mean, fullest_median: population, fullest_p99: population };
        }
        let [fullest_p99, fullest_median] = fullest(population, places, mean, [0.99, 0.5]);
        Self { mean, fullest_median, fullest_p99 }
    }
}

/// For each probability (falling), the smallest m with P(max ≤ m) at or above it.
///
/// Walks down from far above the mean, where the tail is nothing, and sums the
/// binomial as it goes: some 10 standard deviations of steps, and no
/// cancellation, since the tail is summed from its small end.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "an estimate; populations are far below 2^53"
)]
fn fullest(population: u64, places: u64, mean: f64, probabilities: [f64; 2]) -> [u64; 2] {
    let p = 1.0 / places as f64;
    let odds = p / (1.0 - p);
    let highest = (mean + 10.0 * libm::sqrt(mean) + 15.0) as u64;
    let mut count = highest.min(population);
    let mut mass = binomial_mass(count, population, p);
    let mut above = 0.0; // P(X > count)
    probabilities.map(|probability| {
        // n·ln(1 − P(X > m)) ≥ ln(probability), for m = count − 1
        let bound = libm::log(probability) / places as f64;
        while count > 0 && libm::log1p(-(above + mass)) >= bound {
            above += mass;
            mass *= count as f64 / ((population - count + 1) as f64 * odds);
            count -= 1;
        }
        count
    })
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
            let load = ExpectedLoad::new(population, places);
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

    /// Means of the fullest over the average, found by simulation outside this project.
    #[test]
    fn the_median_is_near_what_simulation_found() {
        for (population, places, ratio) in [
            (1_000, 128, 2.05),
            (10_000, 128, 1.31),
            (100_000, 128, 1.096),
            (1_000_000, 128, 1.030),
            (10_000, 15, 1.069),
            (100_000, 28_800, 3.79),
        ] {
            let load = ExpectedLoad::new(population, places);
            let found = load.fullest_median as f64 / load.mean;
            // a count is whole: allow one more or less besides 1.5 %
            let slack = 0.015 * ratio + 1.0 / load.mean;
            assert!((found - ratio).abs() <= slack, "{population}/{places}: {found} for {ratio}");
        }
    }

    #[test]
    fn the_largest_question_ends() {
        let load = ExpectedLoad::new(1_000_000_000, 2);
        assert!(load.fullest_median > 500_000_000 && load.fullest_p99 < 500_100_000);
        assert_eq!(ExpectedLoad::new(7, 1).fullest_p99, 7);
        let sparse = ExpectedLoad::new(1, 316_224_000);
        assert_eq!((sparse.fullest_median, sparse.fullest_p99), (1, 1));
    }
}
