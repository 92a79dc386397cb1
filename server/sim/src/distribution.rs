//! How long jobs run: a distribution of finitely many values, with its partial moments.

use offbeat_core::limits::{HISTOGRAM_BUCKETS, PLAN_TYPES, RUN_TIME_MICROS, RUN_TIME_SAMPLES};
use offbeat_core::{Reason, Rejection, Span};

/// The 90th percentile of the normal distribution.
const Z90: f64 = 1.281_551_565_544_600_4;

/// How many values stand for a distribution with a formula; each has the mean of its part.
const VALUES: u32 = 4_000;

/// How many values a bucket counts as, evenly apart.
const VALUES_OF_A_BUCKET: u64 = 8;

/// Run times, ascending, each with its share; and sums over them.
#[derive(Debug, Clone)]
pub struct Distribution {
    micros: Vec<u64>,
    /// The share of the values up to each, from 0 before the first to 1 after the last.
    cumulative: Vec<f64>,
    /// ∫x and ∫x² over the same values, in seconds and seconds².
    first: Vec<f64>,
    second: Vec<f64>,
    /// The type of job of each value; empty if types are not known.
    types: Vec<u8>,
}

impl Distribution {
    /// The distribution of observed run times, in microseconds.
    ///
    /// # Errors
    /// When there are none or too many, or one is out of its range.
    pub fn of_samples(samples: &[i64]) -> Result<Self, Rejection> {
        check_count("run_time_micros", samples.len(), RUN_TIME_SAMPLES)?;
        let mut micros = Vec::with_capacity(samples.len());
        for (place, sample) in samples.iter().enumerate() {
            micros.push(check_micros(&format!("run_time_micros[{place}]"), (*sample).into())?);
        }
        micros.sort_unstable();
        Ok(Self::weighted(micros.into_iter().map(|micros| (micros, 1.0))))
    }

    /// The same for several types of job: one slice of run times for each.
    ///
    /// # Errors
    /// When there are none or too many, or one is out of its range.
    pub fn of_samples_by_type(types: &[&[i64]]) -> Result<Self, Rejection> {
        check_count("types", types.len(), PLAN_TYPES)?;
        let field = |place: usize| format!("types[{place}].run_time_micros");
        for (place, samples) in types.iter().enumerate() {
            check_count(&field(place), samples.len(), RUN_TIME_SAMPLES)?;
        }
        let count = types.iter().map(|samples| samples.len()).sum();
        check_count("types", count, RUN_TIME_SAMPLES)?;
        let mut values = Vec::with_capacity(count);
        for (place, (samples, kind)) in types.iter().zip(0_u8..).enumerate() {
            for (at, sample) in samples.iter().enumerate() {
                let micros = i128::from(*sample);
                values.push((check_micros(&format!("{}[{at}]", field(place)), micros)?, kind));
            }
        }
        values.sort_unstable();
        let types = values.iter().map(|(_, kind)| *kind).collect();
        let merged = Self::weighted(values.into_iter().map(|(micros, _)| (micros, 1.0)));
        Ok(Self { types, ..merged })
    }

    /// The distribution of a histogram: each bucket has an upper bound and the count of run times
    /// up to it and above the bound before. Run times are taken to lie evenly in a bucket.
    ///
    /// # Errors
    /// When there are none or too many, or one is out of its range.
    pub fn of_histogram(buckets: &[(Span, i64)]) -> Result<Self, Rejection> {
        check_count("buckets", buckets.len(), HISTOGRAM_BUCKETS)?;
        let (mut before, mut values, mut total) = (0, Vec::new(), 0_u128);
        for (place, (bound, count)) in buckets.iter().enumerate() {
            let at = |field: &str| format!("buckets[{place}].{field}");
            let bound_micros = check_micros(&at("upper_bound"), bound.nanos() / 1_000)?;
            if bound_micros <= before {
                let allowed = "must be longer than that of the bucket before";
                let field = at("upper_bound");
                return Err(Rejection::new(Reason::Contradictory, field, bound, allowed));
            }
            let count = u64::try_from(*count).map_err(|_| {
                Rejection::new(Reason::OutOfRange, at("job_count"), count, "must be 0 jobs or more")
            })?;
            total += u128::from(count);
            let width = bound_micros - before;
            for part in 0..VALUES_OF_A_BUCKET {
                let into = width * (2 * part + 1) / (2 * VALUES_OF_A_BUCKET);
                values.push(((before + into).max(1), real(count)));
            }
            before = bound_micros;
        }
        if total == 0 {
            let allowed = "must have a bucket with a job_count of 1 or more";
            return Err(Rejection::new(Reason::OutOfRange, "buckets", "no jobs", allowed));
        }
        Ok(Self::weighted(values.into_iter().filter(|(_, weight)| *weight > 0.0)))
    }

    /// A lognormal distribution with this 90th percentile, and this median or mean.
    ///
    /// # Errors
    /// When there is no such distribution: the percentile is below the median, or further above the
    /// mean than in any lognormal distribution; when both or neither of median and mean are given;
    /// or when a span is out of its range.
    pub fn of_percentiles(
        p50: Option<Span>,
        p90: Option<Span>,
        mean: Option<Span>,
    ) -> Result<Self, Rejection> {
        let missing = |field: &str, allowed: &str| {
            Rejection::new(Reason::FieldMissing, field, "nothing", allowed)
        };
        let micros = |field: &str, span: Span| check_micros(field, span.nanos() / 1_000).map(real);
        let given = p90.ok_or_else(|| missing("p90", "must be set"))?;
        let p90 = micros("p90", given)?;
        let (location, sigma) = match (p50, mean) {
            (Some(p50), None) => {
                let median = micros("p50", p50)?;
                if p90 < median {
                    let allowed = format!("must be {p50} or more, p50");
                    return Err(Rejection::new(Reason::Contradictory, "p90", given, allowed));
                }
                (libm::log(median), libm::log(p90 / median) / Z90)
            }
            (None, Some(mean)) => lognormal_of_mean(given, p90, mean, micros("mean", mean)?)?,
            (Some(_), Some(_)) => {
                let allowed = "must not be set beside p50";
                return Err(Rejection::new(Reason::Contradictory, "mean", "both", allowed));
            }
            (None, None) => return Err(missing("p50", "p50 or mean must be set")),
        };
        Ok(Self::lognormal(location, sigma))
    }

    /// Cuts the range of the normal distribution into equal parts; each value has the share and the
    /// mean of its part.
    fn lognormal(location: f64, sigma: f64) -> Self {
        let (low, high) = (-8.0, 8.0 + sigma);
        let at = |part: u32| low + (high - low) * f64::from(part) / f64::from(VALUES);
        let upper = |z: f64| libm::erfc(z / core::f64::consts::SQRT_2) / 2.0;
        let value = |part: u32| {
            let (from, to) = (at(part), at(part + 1));
            let share = upper(from) - upper(to);
            let mass = upper(from - sigma) - upper(to - sigma);
            let mean = libm::exp(location + sigma * sigma / 2.0) * mass / share;
            (whole(mean.clamp(1.0, real(RUN_TIME_MICROS.maximum.unsigned_abs()))), share)
        };
        let values = (0..VALUES).map(value);
        Self::weighted(values.filter(|(_, share)| *share > 0.0 && share.is_finite()))
    }

    /// An exponential distribution with this mean in microseconds.
    #[must_use]
    pub fn exponential(mean: u64) -> Self {
        let (parts, mean) = (VALUES, real(mean));
        let at = |part: u32| 40.0 * f64::from(part) / f64::from(parts);
        let tail = |x: f64| libm::exp(-x);
        let value = |part: u32| {
            let (a, b) = (at(part), at(part + 1));
            let share = tail(a) - tail(b);
            let mass = (a + 1.0) * tail(a) - (b + 1.0) * tail(b);
            (whole(mean * mass / share).max(1), share)
        };
        Self::weighted((0..parts).map(value).filter(|(_, share)| *share > 0.0))
    }

    /// A uniform distribution between two run times, in microseconds.
    #[must_use]
    pub fn uniform(low: u64, high: u64) -> Self {
        let parts = u64::from(VALUES);
        let at = |part: u64| low + (high - low) * (2 * part + 1) / (2 * parts);
        Self::weighted((0..parts).map(|part| (at(part).max(1), 1.0)))
    }

    /// A bounded Pareto distribution of this shape, between two run times in microseconds.
    #[must_use]
    pub fn bounded_pareto(shape: f64, low: u64, high: u64) -> Self {
        let parts = VALUES;
        let (low, ratio) = (real(low), real(high) / real(low));
        let at = |part: u32| libm::pow(ratio, f64::from(part) / f64::from(parts));
        let tail = |x: f64| libm::pow(x, -shape);
        let value = |part: u32| {
            let (a, b) = (at(part), at(part + 1));
            // ∫x dF between a and b over ∫dF. The parts are narrow. For a shape of 1, the formula
            // is not defined.
            let middle = if (shape - 1.0).abs() < 1e-9 {
                libm::log(b / a) / (1.0 / a - 1.0 / b)
            } else {
                let mass = libm::pow(a, 1.0 - shape) - libm::pow(b, 1.0 - shape);
                shape / (shape - 1.0) * mass / (tail(a) - tail(b))
            };
            (whole(low * middle).max(1), tail(a) - tail(b))
        };
        Self::weighted((0..parts).map(value).filter(|(_, share)| *share > 0.0))
    }

    /// A distribution through known quantiles: shares that ascend to 1, and their run times in
    /// microseconds. Between two of them, the logarithm of the run time is linear in the share;
    /// below the first, all run times are equal.
    #[must_use]
    pub fn quantiles(known: &[(f64, u64)]) -> Self {
        let parts = VALUES;
        let value = |part: u32| {
            let share = (f64::from(part) + 0.5) / f64::from(parts);
            let place = known.partition_point(|(up_to, _)| *up_to < share);
            let at = |place: usize| known.get(place).or(known.last()).copied().unwrap_or((1.0, 1));
            let (above, Some(below)) = (at(place), place.checked_sub(1).map(at)) else {
                return (at(0).1, 1.0);
            };
            let into = (share - below.0) / (above.0 - below.0).max(f64::MIN_POSITIVE);
            let ratio = libm::log(real(above.1) / real(below.1));
            (whole(real(below.1) * libm::exp(ratio * into.min(1.0))).max(1), 1.0)
        };
        Self::weighted((0..parts).map(value))
    }

    /// Ascending values in microseconds, with any weights above 0.
    #[must_use]
    pub fn weighted(values: impl Iterator<Item = (u64, f64)> + Clone) -> Self {
        let total: f64 = values.clone().map(|(_, weight)| weight).sum();
        let mut micros = Vec::new();
        let (mut cumulative, mut first, mut second) = (vec![0.0], vec![0.0], vec![0.0]);
        let (mut share, mut x1, mut x2) = (0.0, 0.0, 0.0);
        for (value, weight) in values {
            let (weight, seconds) = (weight / total, real(value) / 1e6);
            share += weight;
            x1 += weight * seconds;
            x2 += weight * seconds * seconds;
            micros.push(value);
            cumulative.push(share);
            first.push(x1);
            second.push(x2);
        }
        Self { micros, cumulative, first, second, types: Vec::new() }
    }

    /// How many of the values are at most `micros`.
    #[must_use]
    pub fn place(&self, micros: u64) -> usize {
        self.micros.partition_point(|value| *value <= micros)
    }

    /// The share, ∫x and ∫x² of the values from one place up to another, in seconds and seconds².
    #[must_use]
    pub fn moments(&self, from: usize, to: usize) -> Moments {
        let between = |sums: &[f64]| {
            let at = |place: usize| sums.get(place).or(sums.last()).copied().unwrap_or_default();
            at(to) - at(from)
        };
        Moments {
            share: between(&self.cumulative),
            first: between(&self.first),
            second: between(&self.second),
        }
    }

    /// The moments of all values.
    #[must_use]
    pub fn all(&self) -> Moments {
        self.moments(0, self.micros.len())
    }

    /// The values, ascending, in microseconds.
    #[must_use]
    pub fn micros(&self) -> &[u64] {
        &self.micros
    }

    /// The type of job of each value; empty if types are not known.
    #[must_use]
    pub fn types(&self) -> &[u8] {
        &self.types
    }

    /// The shares up to each value, from 0 before the first: one more than there are values.
    #[must_use]
    pub fn cumulative(&self) -> &[f64] {
        &self.cumulative
    }

    /// The smallest value up to which the values have at least this share, in microseconds.
    #[must_use]
    pub fn quantile(&self, share: f64) -> u64 {
        let place = self.cumulative.iter().skip(1).position(|up_to| *up_to >= share);
        place.and_then(|place| self.micros.get(place)).or(self.micros.last()).copied().unwrap_or(1)
    }

    /// `count` run times, ascending, that represent the distribution as evenly as possible: its
    /// quantiles at (i + `offset`)/n. Each has its type; 0 if types are not known.
    #[must_use]
    pub fn spread(&self, count: usize, offset: f64) -> Vec<(u64, u8)> {
        let mut values = Vec::with_capacity(count);
        let mut place = 0;
        for number in 0..count {
            let share = (real(number as u64) + offset) / real(count as u64);
            while self.cumulative.get(place + 1).is_some_and(|up_to| *up_to <= share)
                && place + 1 < self.micros.len()
            {
                place += 1;
            }
            let kind = self.types.get(place).copied().unwrap_or_default();
            values.push((self.micros.get(place).copied().unwrap_or(1), kind));
        }
        values
    }
}

/// Draws run times at random, in the same time for any distribution.
#[derive(Debug, Clone)]
pub struct Draw {
    /// The values, ascending, each after the share up to it. They are stored together because they
    /// are read together.
    steps: Vec<(f64, u64)>,
    /// For each of many equal parts of all shares, the first value in it (H. C. Chen and Y. Asau,
    /// 1974).
    first: Vec<u32>,
    /// How many parts there are: several for each value, so that the first value in a part is
    /// mostly the one to draw.
    parts: f64,
}

/// Parts that a distribution is cut into, at most.
const PARTS: usize = 1 << 20;

impl Draw {
    /// Draws from a distribution.
    #[must_use]
    pub fn new(run_times: &Distribution) -> Self {
        let shares = run_times.cumulative.iter().skip(1).copied();
        let steps: Vec<_> = shares.zip(run_times.micros.iter().copied()).collect();
        let count = (4 * steps.len()).clamp(1, PARTS);
        let (mut place, parts) = (0, real(count as u64));
        let first = (0..count).map(|part| {
            let share = real(part as u64) / parts;
            while steps.get(place as usize).is_some_and(|(up_to, _)| *up_to <= share)
                && steps.len() > place as usize + 1
            {
                place += 1;
            }
            place
        });
        Self { first: first.collect(), parts, steps }
    }

    /// The run time at a share from 0 to below 1.
    #[inline]
    #[must_use]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to the length")]
    pub fn at(&self, share: f64) -> u64 {
        let part = (share * self.parts) as usize;
        let place = self.first.get(part).copied().unwrap_or_default() as usize;
        let from = self.steps.get(place..).unwrap_or_default();
        let step = from.iter().find(|(up_to, _)| share < *up_to);
        step.or(self.steps.last()).map_or(1, |(_, micros)| *micros)
    }
}

/// The moments of some of the run times.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moments {
    /// Their share of all run times.
    pub share: f64,
    /// ∫x, in seconds.
    pub first: f64,
    /// ∫x², in seconds².
    pub second: f64,
}

/// The σ of the two lognormal distributions with this 90th percentile, as a multiple of the mean:
/// the smaller one first; or only the larger one, if the other is below 0. `None` if the multiple
/// is above 2.273.
#[must_use]
pub fn lognormal_sigmas(p90_over_mean: f64) -> Option<(f64, Option<f64>)> {
    let ratio = libm::log(p90_over_mean);
    let discriminant = Z90 * Z90 - 2.0 * ratio;
    if discriminant.is_nan() || discriminant < 0.0 {
        return None;
    }
    let root = libm::sqrt(discriminant);
    if ratio >= 0.0 { Some((Z90 - root, Some(Z90 + root))) } else { Some((Z90 + root, None)) }
}

/// ln(p90/mean) = zσ − σ²/2 has two solutions; the smaller one is the likelier.
fn lognormal_of_mean(
    given: Span,
    p90: f64,
    mean_given: Span,
    mean: f64,
) -> Result<(f64, f64), Rejection> {
    let Some((sigma, _)) = lognormal_sigmas(p90 / mean) else {
        let most = libm::exp(Z90 * Z90 / 2.0);
        let bound = if p90 > 10.0 * mean {
            format!("10 times the mean of {mean_given}, as no distribution has it beyond")
        } else {
            format!("{most:.3} times the mean of {mean_given}, as no lognormal has it beyond")
        };
        let allowed = format!("must be at most {bound}; give samples or a histogram instead");
        return Err(Rejection::new(Reason::OutOfRange, "p90", given, allowed));
    };
    Ok((libm::log(mean) - sigma * sigma / 2.0, sigma))
}

fn check_count(
    field: &str,
    count: usize,
    limit: offbeat_core::limits::Limit,
) -> Result<(), Rejection> {
    if limit.allows(count as i128) {
        return Ok(());
    }
    Err(Rejection::new(Reason::OutOfRange, field, count, format!("must be {limit}")))
}

fn check_micros(field: &str, micros: i128) -> Result<u64, Rejection> {
    let checked = u64::try_from(micros).ok().filter(|_| RUN_TIME_MICROS.allows(micros));
    checked.ok_or_else(|| {
        let value = format!("{micros} us");
        Rejection::new(Reason::OutOfRange, field, value, format!("must be {RUN_TIME_MICROS}"))
    })
}

#[expect(clippy::cast_precision_loss, reason = "an estimate begins here")]
pub(crate) const fn real(number: u64) -> f64 {
    number as f64
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "rounded")]
pub(crate) fn whole(number: f64) -> u64 {
    (number + 0.5) as u64
}
