//! Pearson's chi-square: how likely chance alone is as uneven. Estimates: floats, on purpose.

/// Σ (observed − expected)² / expected, over cells whose shares add up to 1. Cells without a share
/// must be empty, and do not count.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "an estimate; counts are far below 2^53")]
pub(super) fn statistic(cells: impl IntoIterator<Item = (u64, f64)>, total: u64) -> f64 {
    cells
        .into_iter()
        .map(|(observed, share)| {
            let expected = share * total as f64;
            let difference = observed as f64 - expected;
            if expected > 0.0 { difference * difference / expected } else { 0.0 }
        })
        .sum()
}

/// P(X ≥ `statistic`) of the chi-square distribution: the regularised upper incomplete gamma
/// function Q(degrees / 2, statistic / 2). 1 without degrees of freedom.
///
/// Below its mean by the series of P, above by the continued fraction of Q (Abramowitz and Stegun,
/// 6.5.29 and 6.5.31; the latter by Lentz's method).
#[must_use]
pub(super) fn p_value(statistic: f64, degrees: u32) -> f64 {
    if degrees == 0 || statistic.is_nan() || statistic <= 0.0 {
        return 1.0;
    }
    let (a, x) = (f64::from(degrees) / 2.0, statistic / 2.0);
    // x^a · e^−x / Γ(a)
    let front = libm::exp(a * libm::log(x) - x - libm::lgamma(a));
    let q = if x < a + 1.0 { 1.0 - front * series(a, x) } else { front * fraction(a, x) };
    q.clamp(0.0, 1.0)
}

/// Both converge in some multiple of √a steps; 2^20 slots take fewer than 10,000.
const STEPS: u32 = 100_000;
const PRECISION: f64 = 1e-15;

/// Σ x^k / (a·(a + 1)⋯(a + k)).
fn series(a: f64, x: f64) -> f64 {
    let mut term = 1.0 / a;
    let mut sum = term;
    for k in 1..STEPS {
        term *= x / (a + f64::from(k));
        sum += term;
        if term < sum * PRECISION {
            break;
        }
    }
    sum
}

/// 1 / (x + 1 − a − 1·(1 − a) / (x + 3 − a − 2·(2 − a) / (x + 5 − a − …))).
fn fraction(a: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let nonzero = |value: f64| if value.abs() < TINY { TINY } else { value };
    let mut b = x + 1.0 - a;
    let mut c = 1.0 / TINY;
    let mut d = 1.0 / nonzero(b);
    let mut value = d;
    for k in 1..STEPS {
        let k = f64::from(k);
        let numerator = k * (a - k);
        b += 2.0;
        d = 1.0 / nonzero(numerator * d + b);
        c = nonzero(b + numerator / c);
        let factor = c * d;
        value *= factor;
        if (factor - 1.0).abs() < PRECISION {
            break;
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    /// NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.4: upper critical values.
    #[test]
    fn the_published_critical_values_have_their_probabilities() {
        for (degrees, alpha, critical) in [
            (1, 0.10, 2.706),
            (1, 0.001, 10.828),
            (2, 0.05, 5.991),
            (5, 0.01, 15.086),
            (10, 0.001, 29.588),
            (30, 0.05, 43.773),
            (100, 0.01, 135.807),
            (100, 0.999, 61.918),
            (100, 0.10, 118.498),
        ] {
            let p = p_value(critical, degrees);
            assert!((p / alpha - 1.0).abs() < 3e-3, "{degrees} {critical}: {p}, not {alpha}");
        }
    }

    /// For even degrees of freedom, Q(k, x) is the Poisson probability of fewer than k events,
    /// which is a finite sum.
    #[test]
    fn even_degrees_are_a_finite_sum() {
        for (degrees, statistic) in
            [(2, 0.01), (2, 30.0), (8, 3.5), (40, 40.0), (126, 200.0), (254, 180.0), (254, 340.0)]
        {
            let x: f64 = statistic / 2.0;
            let mut term = (-x).exp();
            let mut sum = term;
            for k in 1..degrees / 2 {
                term *= x / f64::from(k);
                sum += term;
            }
            let p = p_value(statistic, degrees);
            assert!((p / sum - 1.0).abs() < 1e-10, "{degrees} {statistic}: {p}, not {sum}");
        }
    }

    /// By Wilson and Hilferty, the cube root is nearly normal; exact at the median of many degrees
    /// of freedom.
    #[test]
    fn a_million_slots_end_and_are_right() {
        let degrees = (1 << 20) - 1;
        let median = f64::from(degrees) - 2.0 / 3.0;
        assert!((p_value(median, degrees) - 0.5).abs() < 1e-5);
        assert!(p_value(f64::from(degrees) * 1.01, degrees) < 1e-10);
        assert!(p_value(f64::from(degrees) * 0.99, degrees) > 1.0 - 1e-10);
    }

    #[test]
    fn nothing_is_no_evidence() {
        assert_eq!((p_value(0.0, 5), p_value(3.0, 0)), (1.0, 1.0));
        assert!(p_value(1e9, 3) < 1e-100);
        assert_eq!(statistic([(5, 0.5), (5, 0.5), (0, 0.0)], 10), 0.0);
        assert_eq!(statistic([(8, 0.5), (2, 0.5)], 10), 3.6);
    }
}
