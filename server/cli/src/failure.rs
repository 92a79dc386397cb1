//! Failures of commands, with their exit statuses.

use std::fmt;
use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::{Arg, Command, CommandFactory as _};
use offbeat_core::Rejection;
use offbeat_service::StartError;
use offbeat_text::RunTimesError;

use super::Cli;

/// Invalid usage, as `sysexits.h` numbers it.
pub(crate) const EXIT_USAGE: u8 = 64;

/// A file of the configuration is refused, as `sysexits.h` numbers it.
const EXIT_CONFIG: u8 = 78;

/// The failure of a command.
#[derive(Debug)]
pub enum Failure {
    /// Invalid usage: exit status 64.
    Usage(String),
    /// A file that configures the server is refused: exit status 78.
    Config(String),
    /// A runtime error: exit status 1.
    Other(String),
    /// The reader of the output has closed it, as in `offbeat … | head`: exit status 0.
    OutputClosed,
}

impl Failure {
    /// Reports the failure on standard error. Returns the exit status of the process.
    pub(crate) fn report(&self) -> ExitCode {
        if !matches!(self, Self::OutputClosed) {
            let _ = writeln!(io::stderr(), "offbeat: {self}");
        }
        match self {
            Self::Usage(_) => EXIT_USAGE.into(),
            Self::Config(_) => EXIT_CONFIG.into(),
            Self::Other(_) => ExitCode::FAILURE,
            Self::OutputClosed => ExitCode::SUCCESS,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Usage(message) | Self::Config(message) | Self::Other(message) => message,
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

impl From<StartError> for Failure {
    fn from(error: StartError) -> Self {
        match error {
            StartError::File(why) => Self::Config(why),
            StartError::Address(why) | StartError::Store(why) => Self::Other(why),
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

/// A rejection names a field; on the command line, it names the flag that sets it.
impl From<Rejection> for Failure {
    fn from(rejection: Rejection) -> Self {
        let field = flag_of(&rejection.field).unwrap_or(rejection.field);
        Self::Usage(Rejection { field, ..rejection }.to_string())
    }
}

/// Fields whose members are all set by one flag.
const LISTS: [&str; 4] = ["exclusions", "active_windows", "kinds", "kind_conflicts"];

/// The flag whose ID is the name of a field.
fn flag_of(field: &str) -> Option<String> {
    let list = field.split('[').next().filter(|list| LISTS.contains(list));
    let field = list.unwrap_or(field);
    let id = if matches!(field, "period" | "calendar") { "cycle" } else { field };
    find_flag(&Cli::command(), id)
}

fn find_flag(command: &Command, id: &str) -> Option<String> {
    let own = command.get_arguments().find(|argument| argument.get_id() == id);
    let flag = own.and_then(Arg::get_long).map(|long| format!("--{long}"));
    flag.or_else(|| command.get_subcommands().find_map(|command| find_flag(command, id)))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn flags_are_well_defined() {
        Cli::command().debug_assert();
    }

    #[test]
    fn a_field_has_the_same_flag_in_every_command() {
        fn collect(command: &Command, flags: &mut BTreeMap<String, String>) {
            for argument in command.get_arguments() {
                let Some(long) = argument.get_long() else { continue };
                let before = flags.insert(argument.get_id().to_string(), long.to_owned());
                assert!(before.is_none_or(|before| before == long), "{long}");
            }
            command.get_subcommands().for_each(|command| collect(command, flags));
        }
        collect(&Cli::command(), &mut BTreeMap::new());
    }

    #[test]
    fn fields_are_named_by_their_flags() {
        for (field, flag) in [
            ("period", "--cycle"),
            ("calendar", "--cycle"),
            ("active_windows", "--active"),
            ("slot_count", "--slots"),
            ("create_time", "--created"),
            ("on_time_tolerance", "--tolerance"),
            ("cutover_time", "--cutover"),
            ("from_time", "--from"),
            ("start_time", "--start"),
            ("run_times", "--run-time"),
            ("exclusions[0].policy", "--exclude"),
            ("kinds[3].run_time", "--kinds"),
            ("population", "--population"),
            ("feeder_count", "--feeders"),
            ("worker_count", "--workers"),
            ("max_lane_count", "--max-lanes"),
            ("max_move_count", "--max-moves"),
            ("max_open_group_count", "--max-open-groups"),
            ("min_improvement_percent", "--min-improvement"),
        ] {
            assert_eq!(flag_of(field).as_deref(), Some(flag), "{field}");
        }
        assert_eq!(flag_of("stages[0].name"), None);
    }
}
