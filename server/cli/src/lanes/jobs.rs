//! Jobs as they were observed: lines of run times, or CSV.

use std::collections::BTreeMap;
use std::io::{BufRead, Read as _};

use offbeat_core::limits::RUN_TIME_SAMPLES;
use offbeat_proto::v1beta1::{self, plan_lanes_request::RunTimes as Question};
use offbeat_text::{INPUT_LINE_BYTES, read_run_times};

use super::ColumnArgs;
use super::arrivals::Arrivals;
use super::columns;
use crate::Failure;

/// The jobs of the input.
#[derive(Debug)]
pub(super) struct Jobs {
    pub(super) run_times: RunTimes,
    pub(super) arrivals: Option<Arrivals>,
}

/// Run times in microseconds.
#[derive(Debug)]
pub(super) enum RunTimes {
    All(Vec<i64>),
    /// By the name of the type of job.
    ByType(BTreeMap<String, Vec<i64>>),
}

impl RunTimes {
    /// The run times as a request holds them.
    pub(super) fn question(&self) -> Question {
        match self {
            Self::All(micros) => {
                let run_time_micros = micros.clone();
                Question::Samples(v1beta1::RunTimeSamples { run_time_micros })
            }
            Self::ByType(types) => {
                let types = types.iter().map(|(name, micros)| v1beta1::JobTypeSamples {
                    name: name.clone(),
                    run_time_micros: micros.clone(),
                });
                Question::SamplesByType(v1beta1::RunTimeSamplesByType { types: types.collect() })
            }
        }
    }

    /// The run times of each type, with its name; or all run times, without one.
    pub(super) fn groups(&self) -> Vec<(Option<&str>, &[i64])> {
        match self {
            Self::All(micros) => vec![(None, micros)],
            Self::ByType(types) => types
                .iter()
                .map(|(name, micros)| (Some(name.as_str()), micros.as_slice()))
                .collect(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.groups().iter().map(|(_, micros)| micros.len()).sum()
    }
}

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
