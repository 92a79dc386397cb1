//! Statistics of samples.

use crate::distribution::real;

pub(super) fn mean(values: &[u64]) -> f64 {
    let sum: f64 = values.iter().copied().map(real).sum();
    sum / real(values.len().max(1) as u64)
}

/// The root mean square distance of intervals from the cycle, as a part of the cycle.
pub(super) fn deviation(intervals: &[u64], cycle: u64) -> f64 {
    let off = |interval: &u64| real(interval.abs_diff(cycle));
    let squares: f64 = intervals.iter().map(|interval| off(interval) * off(interval)).sum();
    (squares / real(intervals.len().max(1) as u64)).sqrt() / real(cycle.max(1))
}

/// The mean, and the standard deviation as a part of it.
pub(super) fn spread(values: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
    let (count, sum) =
        values.clone().fold((0_u64, 0.0), |(count, sum), value| (count + 1, sum + value));
    let mean = sum / real(count.max(1));
    let squares: f64 = values.map(|value| (value - mean) * (value - mean)).sum();
    let deviation = (squares / real(count.max(1))).sqrt();
    (mean, if mean > 0.0 { deviation / mean } else { 0.0 })
}

/// For shares that ascend, the smallest value that each of them does not exceed.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below the length")]
pub(super) fn quantiles<const N: usize>(values: &mut [u64], shares: [f64; N]) -> [u64; N] {
    let (count, mut passed, mut last) = (values.len(), 0, 0);
    let mut left = values;
    shares.map(|share| {
        let place = ((real(count as u64) * share).ceil() as usize).clamp(1, count.max(1)) - 1;
        // Values up to the last quantile need not be looked at again.
        if place >= passed && place < count {
            let (_, value, above) = std::mem::take(&mut left).select_nth_unstable(place - passed);
            (passed, last, left) = (place + 1, *value, above);
        }
        last
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generator::Generator;

    #[test]
    fn quantiles_are_those_of_the_sorted_values() {
        let mut generator = Generator::new(5);
        for count in [0_usize, 1, 2, 3, 20, 1_000] {
            let mut values: Vec<u64> = (0..count).map(|_| generator.below(50) as u64).collect();
            let mut sorted = values.clone();
            sorted.sort_unstable();
            let shares = [0.05, 0.5, 0.5, 0.95, 0.999];
            // At least n·share values are not above the quantile.
            let expected = shares.map(|share| {
                let enough = |value: &&u64| {
                    let not_above = sorted.iter().filter(|other| other <= value).count();
                    real(not_above as u64) >= real(count as u64) * share
                };
                sorted.iter().find(enough).copied().unwrap_or_default()
            });
            assert_eq!(quantiles(&mut values, shares), expected, "{count} values");
        }
    }
}
