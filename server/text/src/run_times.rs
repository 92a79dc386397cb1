//! Run times of jobs, as they were observed: one a line.

use std::fmt;
use std::io::{self, BufRead};

use offbeat_core::limits::RUN_TIME_SAMPLES;
use offbeat_core::{Reason, Rejection};

use crate::{Line, for_each_line};

/// Why run times cannot be read.
#[derive(Debug)]
pub enum RunTimesError {
    /// The input cannot be read.
    Io(io::Error),
    /// A line is no run time, or there are too many; the field names the line.
    Refused(Rejection),
}

impl fmt::Display for RunTimesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => error.fmt(f),
            Self::Refused(rejection) => rejection.fmt(f),
        }
    }
}

impl std::error::Error for RunTimesError {}

impl From<io::Error> for RunTimesError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Reads one run time in seconds a line, rounded to microseconds; blank lines are left out.
///
/// # Errors
/// When the input cannot be read, a line is no run time, or there are too many.
pub fn read_run_times(input: impl BufRead) -> Result<Vec<i64>, RunTimesError> {
    let mut micros = Vec::new();
    for_each_line(input, |number, line| {
        let refused = |rejection: Rejection| {
            RunTimesError::Refused(rejection.under(&format!("line {number} of the run times")))
        };
        let text = match line {
            Line::Text(text) => text.trim(),
            Line::Refused(rejection) => return Err(refused(rejection)),
        };
        if !text.is_empty() {
            micros.push(parse_micros(text).map_err(refused)?);
        }
        if micros.len() > RUN_TIME_SAMPLES.max_size() {
            let allowed = format!("must be {RUN_TIME_SAMPLES}");
            return Err(refused(Rejection::new(Reason::OutOfRange, "", "one more", allowed)));
        }
        Ok(())
    })?;
    Ok(micros)
}

#[expect(clippy::cast_possible_truncation, reason = "it is in range")]
fn parse_micros(text: &str) -> Result<i64, Rejection> {
    let allowed = "must be a run time in seconds, such as 0.25: 0.000001 to 31622400 s";
    let refused = |reason| Rejection::new(reason, "", format!("{text:?}"), allowed);
    let seconds: f64 = text.parse().map_err(|_| refused(Reason::Malformed))?;
    let micros = (seconds * 1e6).round();
    let range = 1.0..=31_622_400e6;
    range.contains(&micros).then_some(micros as i64).ok_or_else(|| refused(Reason::OutOfRange))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn run_times_are_rounded_to_microseconds() {
        assert_eq!(read_run_times(&b"1\n\n 0.25 \r\n1e-6"[..]).unwrap(), [1_000_000, 250_000, 1]);
        for (bad, line) in [("1\nx", "line 2"), ("0", "line 1"), ("1\n2\n31622401", "line 3")] {
            let refused = read_run_times(bad.as_bytes()).unwrap_err().to_string();
            assert!(refused.starts_with(line), "{refused}");
        }
    }
}
