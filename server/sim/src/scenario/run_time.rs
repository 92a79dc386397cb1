//! Distributions of run times, as scenarios write them.

use std::fmt;

use offbeat_core::{Reason, Rejection, Span};
use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::fields::span;
use crate::distribution::{Distribution, lognormal_sigmas};

/// Reads the samples of a file that a scenario names, in microseconds.
pub type Load<'a> = &'a dyn Fn(&str) -> Result<Vec<i64>, Rejection>;

/// A run time: constant, or a distribution.
#[derive(Debug, Clone)]
pub(super) enum RunTime {
    /// `"4s"`
    Constant(String),
    /// `{ exponential = "4s" }`
    Distribution(Box<DistributionEntry>),
    /// Anything else, which is refused.
    Other(String),
}

impl<'de> Deserialize<'de> for RunTime {
    fn deserialize<D: Deserializer<'de>>(value: D) -> Result<Self, D::Error> {
        value.deserialize_any(RunTimeVisitor)
    }
}

struct RunTimeVisitor;

impl<'de> Visitor<'de> for RunTimeVisitor {
    type Value = RunTime;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a span in quotes, or a table with a distribution")
    }

    fn visit_str<E>(self, text: &str) -> Result<RunTime, E> {
        Ok(RunTime::Constant(text.to_owned()))
    }

    fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<RunTime, A::Error> {
        let distribution = DistributionEntry::deserialize(MapAccessDeserializer::new(fields))?;
        Ok(RunTime::Distribution(Box::new(distribution)))
    }

    fn visit_i64<E>(self, number: i64) -> Result<RunTime, E> {
        Ok(RunTime::Other(number.to_string()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<RunTime, E> {
        Ok(RunTime::Other(number.to_string()))
    }
}

/// A distribution; exactly one must be described.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DistributionEntry {
    /// The mean.
    exponential: Option<String>,
    /// The shortest and the longest run time.
    uniform: Option<[String; 2]>,
    /// Lognormal: the median, or the mean, and the 90th percentile.
    p50: Option<String>,
    mean: Option<String>,
    p90: Option<String>,
    /// A bounded Pareto distribution.
    pareto: Option<Pareto>,
    /// Shares that ascend to 1, and their run times.
    quantiles: Option<Vec<(f64, String)>>,
    /// A file with one run time, in seconds, on each line.
    samples: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Pareto {
    shape: f64,
    low: String,
    high: String,
}

impl RunTime {
    pub(super) fn read(&self, field: &str, load: Load<'_>) -> Result<Distribution, Rejection> {
        match self {
            Self::Constant(text) => {
                Ok(Distribution::weighted([(micros(field, text)?, 1.0)].into_iter()))
            }
            Self::Other(value) => {
                let allowed = "must be a span in quotes, such as \"4s\", or a table with a \
                               distribution, such as { p50 = \"4s\", p90 = \"12s\" }";
                Err(Rejection::new(Reason::Malformed, field, value, allowed))
            }
            Self::Distribution(distribution) => {
                distribution.read(load).map_err(|refused| refused.under(field))
            }
        }
    }
}

impl RunTime {
    /// Notes on how the scenario was interpreted.
    pub(super) fn note(&self) -> Option<String> {
        let Self::Distribution(distribution) = self else { return None };
        let text = |text: &Option<String>| span("", text.as_ref()?).ok();
        let (mean, p90) = (text(&distribution.mean)?, text(&distribution.p90)?);
        #[expect(clippy::cast_precision_loss, reason = "an estimate")]
        let (sigma, other) = lognormal_sigmas(p90.nanos() as f64 / mean.nanos() as f64)?;
        let other = other?;
        // ln(median) = ln(mean) − σ²/2.
        #[expect(clippy::cast_precision_loss, reason = "an estimate")]
        let median = mean.nanos() as f64 / 1e9 * libm::exp(-other * other / 2.0);
        Some(format!(
            "mean {mean} and p90 {p90} fit two lognormal distributions: this one has σ = {sigma:.4}; \
             for the other, σ = {other:.4} with a longer tail, give p50 = \"{median:.6}s\" instead of the mean"
        ))
    }
}

impl DistributionEntry {
    fn read(&self, load: Load<'_>) -> Result<Distribution, Rejection> {
        let lognormal = self.p50.is_some() || self.mean.is_some() || self.p90.is_some();
        let described = [
            self.exponential.is_some(),
            self.uniform.is_some(),
            lognormal,
            self.pareto.is_some(),
            self.quantiles.is_some(),
            self.samples.is_some(),
        ];
        let count = described.iter().filter(|is_set| **is_set).count();
        if count != 1 {
            let allowed = "must be exactly one of exponential, uniform, p50 or mean with p90, \
                           pareto, quantiles and samples";
            let value = format!("{count} of them");
            return Err(Rejection::new(Reason::Contradictory, "", value, allowed));
        }
        if let Some(mean) = &self.exponential {
            return Ok(Distribution::exponential(micros("exponential", mean)?));
        }
        if let Some([low, high]) = &self.uniform {
            let (low, high) = (micros("uniform[0]", low)?, micros("uniform[1]", high)?);
            ascending("uniform", low, high)?;
            return Ok(Distribution::uniform(low, high));
        }
        if let Some(Pareto { shape, low, high }) = &self.pareto {
            let (low, high) = (micros("pareto.low", low)?, micros("pareto.high", high)?);
            ascending("pareto.high", low, high)?;
            if !(0.01..=100.0).contains(shape) {
                let allowed = "must be 0.01 to 100";
                return Err(Rejection::new(Reason::OutOfRange, "pareto.shape", shape, allowed));
            }
            return Ok(Distribution::bounded_pareto(*shape, low, high));
        }
        if let Some(known) = &self.quantiles {
            return quantiles(known);
        }
        if let Some(file) = &self.samples {
            return Distribution::of_samples(&load(file)?)
                .map_err(|refused| refused.under("samples"));
        }
        let optional = |field: &str, text: &Option<String>| {
            text.as_ref().map(|text| span(field, text)).transpose()
        };
        Distribution::of_percentiles(
            optional("p50", &self.p50)?,
            optional("p90", &self.p90)?,
            optional("mean", &self.mean)?,
        )
    }
}

fn quantiles(known: &[(f64, String)]) -> Result<Distribution, Rejection> {
    let refuse = |value: &dyn std::fmt::Display, allowed: &str| {
        Err(Rejection::new(Reason::OutOfRange, "quantiles", value, allowed))
    };
    let mut read: Vec<(f64, u64)> = Vec::new();
    for (place, (share, text)) in known.iter().enumerate() {
        let micros = micros(&format!("quantiles[{place}]"), text)?;
        let (before, shorter) = read.last().copied().unwrap_or((0.0, 1));
        if *share <= before || *share > 1.0 {
            return refuse(share, "must have shares above 0 that ascend to 1");
        }
        if micros < shorter {
            return refuse(text, "must have run times that do not become shorter");
        }
        read.push((*share, micros));
    }
    if !(1..=1_000).contains(&read.len()) {
        return refuse(&read.len(), "must be 1 to 1000 quantiles");
    }
    if read.last().is_some_and(|(share, _)| *share < 1.0) {
        let last = read.last().map_or(0.0, |(share, _)| *share);
        return refuse(&last, "must end with the share 1, the longest run time");
    }
    Ok(Distribution::quantiles(&read))
}

fn ascending(field: &str, low: u64, high: u64) -> Result<(), Rejection> {
    if low < high {
        return Ok(());
    }
    let (value, allowed) = (format!("{high} us"), format!("must be longer than {low} us"));
    Err(Rejection::new(Reason::Contradictory, field, value, allowed))
}

/// A run time in microseconds, at least 1.
fn micros(field: &str, text: &str) -> Result<u64, Rejection> {
    let span: Span = span(field, text)?;
    let micros = u64::try_from(span.nanos() / 1_000).ok();
    let range = 1..=366 * 86_400_000_000;
    micros
        .filter(|micros| range.contains(micros))
        .ok_or_else(|| Rejection::new(Reason::OutOfRange, field, text, "must be 1 us to 366 days"))
}
