//! Why a command cannot do its work, and what it exits with.

use std::fmt;
use std::io::{self, Write as _};
use std::process::ExitCode;

use offbeat_core::Rejection;
use offbeat_text::RunTimesError;

/// Invalid usage, as `sysexits.h` numbers it.
pub(crate) const EXIT_USAGE: u8 = 64;

/// Why a command cannot do its work.
#[derive(Debug)]
pub enum Failure {
    /// Invalid usage: exit status 64.
    Usage(String),
    /// A runtime error: exit status 1.
    Other(String),
    /// The reader of the output has closed it, as in `offbeat … | head`: exit status 0.
    OutputClosed,
}

impl Failure {
    /// Says so on standard error; the exit status of the process.
    pub(crate) fn report(&self) -> ExitCode {
        if !matches!(self, Self::OutputClosed) {
            let _ = writeln!(io::stderr(), "offbeat: {self}");
        }
        match self {
            Self::Usage(_) => EXIT_USAGE.into(),
            Self::Other(_) => ExitCode::FAILURE,
            Self::OutputClosed => ExitCode::SUCCESS,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Usage(message) | Self::Other(message) => message,
            Self::OutputClosed => "the output is closed",
        })
    }
}

impl std::error::Error for Failure {}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::OutputClosed,
            _ => Self::Other(error.to_string()),
        }
    }
}

impl From<csv::Error> for Failure {
    fn from(error: csv::Error) -> Self {
        match error.into_kind() {
            csv::ErrorKind::Io(error) => error.into(),
            kind => Self::Other(format!("{kind:?}")),
        }
    }
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Self {
        io::Error::from(error).into()
    }
}

impl From<RunTimesError> for Failure {
    fn from(error: RunTimesError) -> Self {
        match error {
            RunTimesError::Io(error) => error.into(),
            RunTimesError::Refused(rejection) => Self::Usage(rejection.to_string()),
        }
    }
}

/// A refusal names the field of the question; on the command line it has a flag.
impl From<Rejection> for Failure {
    fn from(mut rejection: Rejection) -> Self {
        let flag = match rejection.field.as_str() {
            "period" | "calendar" => "--cycle",
            "active_windows" => "--active",
            "exclusions" => "--exclude",
            "resolution" => "--resolution",
            "anchor_time" => "--anchor",
            "slot_count" => "--slots",
            "bucket_count" => "--buckets",
            "profile" => "--profile",
            "salt" => "--salt",
            "weight_quantum" => "--weight-quantum",
            "created_time" => "--created",
            "smear_span" => "--smear",
            "watermark" => "--watermark",
            "on_time_tolerance" => "--tolerance",
            "catch_up_horizon" => "--horizon",
            "max_clock_skew" => "--skew",
            "cutover_time" => "--cutover",
            "min_gap" => "--min-gap",
            "kind" => "--kind",
            "from_time" => "--from",
            "at_time" => "--at",
            "start_time" => "--start",
            "end_time" => "--end",
            "slot_index" => "--slot",
            "kind_count" => "--kinds",
            "run_times" => "--run-time",
            "polling_delay" => "--polling-delay",
            "slot_job_delay" => "--slot-job-delay",
            "population" => "--population",
            "feeder_count" => "--feeders",
            "max_open_groups" => "--max-open-groups",
            "worker_count" => "--workers",
            "arrival_rate" => "--arrival-rate",
            "tolerated_wait" => "--tolerated-wait",
            "slowdown_floor" => "--slowdown-floor",
            "max_lane_count" => "--max-lanes",
            "max_moves" => "--max-moves",
            "minimum_improvement_percent" => "--minimum-improvement",
            "on_shortage" => "--on-shortage",
            _ => return Self::Usage(rejection.to_string()),
        };
        flag.clone_into(&mut rejection.field);
        Self::Usage(rejection.to_string())
    }
}
