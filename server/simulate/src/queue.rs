//! `offbeat simulate queue`

use std::io::{self, BufWriter, Write as _};
use std::process::ExitCode;

use clap::Args;
use offbeat_core::{Reason, Rejection};
use offbeat_sim::kiefer_wolfowitz::starts;
use offbeat_sim::limits::SCENARIO_WORKERS;

use crate::failure::Failure;
use offbeat_text::parse_count;

#[derive(Debug, Args)]
pub(crate) struct QueueArgs {
    /// How many jobs run at once
    #[arg(long, value_name = "COUNT", value_parser = parse_count, allow_hyphen_values = true)]
    workers: i64,
}

pub(crate) fn run(args: &QueueArgs) -> Result<ExitCode, Failure> {
    let workers = usize::try_from(args.workers)
        .ok()
        .filter(|workers| *workers > 0 && SCENARIO_WORKERS.allows(args.workers.into()));
    let workers = workers.ok_or_else(|| {
        let allowed = format!("must be 1 to {} workers", SCENARIO_WORKERS.maximum);
        Rejection::new(Reason::OutOfRange, "--workers", args.workers, allowed)
    })?;
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(io::stdin().lock());
    let columns = columns(&mut reader)?;
    let mut out = BufWriter::new(io::stdout().lock());
    let (mut failure, mut now) = (None, 0_u64);
    let mut records = reader.records();
    let jobs = std::iter::from_fn(|| {
        let read = job(records.next()?, columns, now);
        match read {
            Ok((arrival, run_time)) => {
                now = arrival;
                Some((arrival, run_time))
            }
            Err(failed) => {
                failure = Some(failed);
                None
            }
        }
    });
    for start in starts(workers, jobs) {
        writeln!(out, "{}.{:06}", start / 1_000_000, start % 1_000_000)?;
    }
    out.flush()?;
    failure.map_or(Ok(ExitCode::SUCCESS), Err)
}

/// Indexes of the two columns.
fn columns<R: io::Read>(reader: &mut csv::Reader<R>) -> Result<[usize; 2], Failure> {
    let titles = reader.headers().map_err(|error| bad(&error.to_string()))?.clone();
    let place = |title: &str| {
        let missing = || bad(&format!("must have a column {title}"));
        titles.iter().position(|other| other == title).ok_or_else(missing)
    };
    Ok([place("arrival_gap")?, place("service_time")?])
}

fn job(
    record: csv::Result<csv::StringRecord>,
    columns: [usize; 2],
    now: u64,
) -> Result<(u64, u64), Failure> {
    let record = record.map_err(|error| bad(&error.to_string()))?;
    let line = record.position().map_or(0, csv::Position::line);
    let [gap, run_time] = columns.map(|column| {
        let text = record.get(column).unwrap_or_default();
        micros(text).ok_or_else(|| {
            let allowed = "must be seconds with up to six decimals, 0 to 10000000000";
            bad(&format!("line {line}: {text:?} is refused: {allowed}"))
        })
    });
    let arrival = now.checked_add(gap?).ok_or_else(|| bad("the arrivals go on for too long"))?;
    Ok((arrival, run_time?))
}

fn bad(what: &str) -> Failure {
    Failure::Usage(format!("standard input: {what}"))
}

/// Decimal seconds as microseconds, exactly.
fn micros(text: &str) -> Option<u64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !digits(whole) || !digits(fraction) || fraction.len() > 6 {
        return None;
    }
    let whole: u64 = whole.parse().ok().filter(|seconds| *seconds <= 10_000_000_000)?;
    let fraction: u64 = format!("{fraction:0<6}").parse().ok()?;
    Some(whole * 1_000_000 + fraction)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_read_exactly() {
        assert_eq!(micros("0.000001"), Some(1));
        assert_eq!(micros("12"), Some(12_000_000));
        assert_eq!(micros("0.1"), Some(100_000));
        for bad in ["", ".5", "-1", "1e3", "0.0000001", "1.2.3", " 1", "+1", "10000000001"] {
            assert_eq!(micros(bad), None, "{bad}");
        }
    }
}
