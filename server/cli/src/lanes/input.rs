//! Standard input: lines of run times, or CSV.

use std::io::{BufRead, Read as _};

use offbeat_core::limits::RUN_TIME_SAMPLES;
use offbeat_text::{INPUT_LINE_BYTES, read_run_times};

use super::jobs::{Jobs, RunTimes};
use super::{ColumnArgs, columns};
use crate::Failure;

/// Reads jobs, each on a line of its own.
pub(super) fn read(mut input: impl BufRead, args: &ColumnArgs) -> Result<Jobs, Failure> {
    let mut first = Vec::new();
    input.by_ref().take(INPUT_LINE_BYTES.max_size() as u64).read_until(b'\n', &mut first)?;
    let jobs = match &args.column {
        Some(column) => columns::read(&first, input, column, args)?,
        None => {
            columns::refuse_header(&first)?;
            let micros = read_run_times(first.as_slice().chain(input))?;
            Jobs { run_times: RunTimes::All(micros), arrivals: None }
        }
    };
    if jobs.run_times.len() == 0 {
        let what = match &args.column {
            Some(column) => format!("a run time on each line, in column {column:?}"),
            None => "a run time in seconds on each line".to_owned(),
        };
        return Err(Failure::Usage(format!(
            "standard input: must hold {RUN_TIME_SAMPLES}, {what}"
        )));
    }
    Ok(jobs)
}
