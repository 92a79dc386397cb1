//! Jobs as they were observed.

use std::collections::BTreeMap;

use offbeat_proto::v1beta1::{self, plan_lanes_request::RunTimes as Question};

use super::arrivals::Arrivals;

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
