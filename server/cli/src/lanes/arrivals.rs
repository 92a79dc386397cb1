//! The arrivals of jobs, and their rate.

use std::collections::BTreeMap;

use offbeat_core::Moment;
use offbeat_text::figures::{figure, span};
use offbeat_text::parse_moment;

/// The busiest hour is reported above this multiple of the mean rate: a plan looks at 20 % more.
const BUSY: f64 = 1.2;

/// The busiest hour is reported above this number of standard deviations of a Poisson process.
const DEVIATIONS: f64 = 5.0;

/// Arrival times of jobs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Arrivals {
    count: usize,
    /// From the first arrival to the last.
    seconds: f64,
    /// Jobs per second.
    pub(super) rate: f64,
    busiest: Option<PeakPeriod>,
}

/// The hour, or the minute, in which most jobs arrived.
#[derive(Debug, Clone, Copy, PartialEq)]
struct PeakPeriod {
    unit: &'static str,
    /// Jobs per second.
    rate: f64,
}

impl Arrivals {
    /// Measures the rate of arrivals at these times, in microseconds.
    pub(super) fn of(times: &[i64]) -> Result<Self, &'static str> {
        let (first, last) = (times.iter().min(), times.iter().max());
        let (Some(first), Some(last)) = (first.copied(), last.copied()) else {
            return Err("must have two different times");
        };
        if first == last {
            return Err("must have two different times");
        }
        let seconds = seconds(last - first);
        let rate = real(times.len() - 1) / seconds;
        let busiest = busiest(times, first, seconds).filter(|busiest| {
            let length = if busiest.unit == "hour" { 3_600.0 } else { 60.0 };
            let noise = DEVIATIONS * (rate * length).sqrt() / length;
            busiest.rate > BUSY * rate && busiest.rate > rate + noise
        });
        Ok(Self { count: times.len(), seconds, rate, busiest })
    }

    /// `Measured: 50000 jobs in 3.48 h, 3.99 jobs/s.`
    pub(super) fn sentence(&self) -> String {
        let Self { count, seconds, rate, .. } = self;
        format!("Measured: {count} jobs in {}, {} jobs/s.", span(*seconds), figure(*rate))
    }

    /// Advice about a busy hour, for a plan for `planned_rate` jobs per second at this utilization.
    pub(super) fn busiest_sentence(&self, planned_rate: f64, utilization: f64) -> Option<String> {
        let PeakPeriod { unit, rate } =
            self.busiest.filter(|busiest| busiest.rate > BUSY * planned_rate)?;
        let times = rate / planned_rate;
        let advice = if utilization * times >= 1.0 {
            "more than the workers can do".to_owned()
        } else {
            format!("plan for it with --arrival-rate {}", figure(rate))
        };
        Some(format!(
            "In the busiest {unit}, {} jobs arrived per second, {} times as many as planned for: {advice}.",
            figure(rate),
            figure(times)
        ))
    }
}

/// The busiest hour since the first arrival; the busiest minute, if all arrived within three hours;
/// `None`, if within three minutes.
fn busiest(times: &[i64], first: i64, seconds: f64) -> Option<PeakPeriod> {
    let (unit, length) = match seconds {
        few if few < 180.0 => return None,
        some if some < 10_800.0 => ("minute", 60),
        _ => ("hour", 3_600),
    };
    let mut counts = BTreeMap::new();
    for time in times {
        *counts.entry((time - first) / (length * 1_000_000)).or_insert(0_usize) += 1;
    }
    let most = counts.into_values().max()?;
    Some(PeakPeriod { unit, rate: real(most) / seconds_of(length) })
}

/// Reads an instant as RFC 3339, also with a space and without an offset as databases print it, or
/// as Unix seconds. Returns microseconds since 1970.
pub(super) fn parse_arrival(text: &str) -> Result<i64, String> {
    if let Ok(seconds) = text.parse::<f64>() {
        let (first, last) = (Moment::MIN.parts().0, Moment::MAX.parts().0);
        #[expect(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            reason = "in range"
        )]
        return if (first as f64..=last as f64).contains(&seconds) {
            Ok((seconds * 1e6).round() as i64)
        } else {
            Err(format!("must be Unix seconds, {first} to {last}, not milliseconds"))
        };
    }
    let with_t = text.replacen(' ', "T", 1);
    let forms = [String::new(), "Z".to_owned(), ":00".to_owned()];
    let mut read = forms.iter().filter_map(|end| parse_moment(&format!("{with_t}{end}")).ok());
    let moment = read
        .next()
        .ok_or("must be an instant as RFC 3339, such as 2026-01-01T00:00:00Z, or Unix seconds")?;
    let (seconds, nanos) = moment.parts();
    Ok(seconds * 1_000_000 + i64::from(nanos) / 1_000)
}

#[expect(clippy::cast_precision_loss, reason = "a few centuries")]
fn seconds(micros: i64) -> f64 {
    micros as f64 / 1e6
}

#[expect(clippy::cast_precision_loss, reason = "an hour at most")]
fn seconds_of(length: i64) -> f64 {
    length as f64
}

#[expect(clippy::cast_precision_loss, reason = "a few hundred thousand")]
fn real(count: usize) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_are_read_as_databases_print_them() {
        let micros = 1_767_225_600_250_000;
        for text in [
            "2026-01-01T00:00:00.25Z",
            "2026-01-01T01:00:00.25+01:00",
            "2026-01-01 00:00:00.25",
            "2026-01-01 01:00:00.25+01",
            "1767225600.25",
        ] {
            assert_eq!(parse_arrival(text), Ok(micros), "{text}");
        }
        for bad in ["", "yesterday", "2026-01-01", "01/02/2026 00:00", "inf", "NaN"] {
            assert!(parse_arrival(bad).is_err(), "{bad}");
        }
        assert!(parse_arrival("1767225600250").unwrap_err().contains("not milliseconds"));
    }

    #[test]
    fn the_rate_is_that_between_the_first_and_the_last() {
        let even: Vec<i64> = (0..=1_000).rev().map(|second| second * 1_000_000).collect();
        let arrivals = Arrivals::of(&even).unwrap();
        assert!((arrivals.rate - 1.0).abs() < 1e-12);
        assert_eq!(arrivals.sentence(), "Measured: 1001 jobs in 16.7 min, 1 jobs/s.");
        assert_eq!(arrivals.busiest, None);
        assert!(Arrivals::of(&[5]).is_err() && Arrivals::of(&[5, 5]).is_err());
    }

    #[test]
    fn a_busy_hour_is_said() {
        // One job a second for a day, and three more in the tenth hour.
        let second = 1_000_000;
        let mut times: Vec<i64> = (0..86_400).map(|at| at * second).collect();
        times.extend((36_000..39_600).flat_map(|at| [at * second; 3]));
        let arrivals = Arrivals::of(&times).unwrap();
        let said = arrivals.busiest_sentence(arrivals.rate, 0.2).unwrap();
        assert!(said.contains("busiest hour, 4 jobs arrived per second, 3.56 times"), "{said}");
        assert!(said.ends_with("--arrival-rate 4."), "{said}");
        let said = arrivals.busiest_sentence(arrivals.rate, 0.3).unwrap();
        assert!(said.ends_with("more than the workers can do."), "{said}");
        assert_eq!(arrivals.busiest_sentence(4.0, 0.9), None);
    }
}
