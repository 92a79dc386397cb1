//! The command line: for people, and for pipes.

mod assign;
mod audit;
mod chart;
mod describe;
mod due;
mod health;
mod ids;
mod input;
mod lanes;
mod list;
mod memory;
mod migrate;
mod named;
mod output;
mod post;
mod priority;
pub mod reading;
mod reciprocal;
pub mod report;
mod schedule;
mod schedules;
mod serve;
mod simulate;
mod spread;
mod stages;

use std::env;
use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::{CommandFactory as _, Parser, Subcommand};
use clap_complete::Shell;
use offbeat_core::Rejection;

use offbeat_service::config::ServeArgs;
use offbeat_service::limits;

/// Invalid usage, as `sysexits.h` numbers it.
const EXIT_USAGE: u8 = 64;

const EXIT_STATUSES: &str = "Exit status: 0 on success; 1 on a runtime error, if an ID is refused, or if a server does \
not serve; 64 on invalid usage.";

#[derive(Debug, Parser)]
#[command(
    name = "offbeat",
    version,
    about = "Says when jobs run: slots and offsets for IDs, and slots that never meet"
)]
#[command(arg_required_else_help = true, after_help = EXIT_STATUSES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

/// Of a process that lives long: it does without the flags of all other commands, and without the
/// third of a megabyte that they leave in its memory.
#[derive(Debug, Parser)]
#[command(name = "offbeat", version)]
struct ServeCli {
    #[command(subcommand)]
    command: ServeCommand,
}

#[derive(Debug, Subcommand)]
enum ServeCommand {
    /// Serve decisions over gRPC and HTTP/JSON
    Serve(Box<ServeArgs>),
}

#[derive(Debug, Subcommand)]
enum Command {
    #[command(flatten)]
    Serve(ServeCommand),
    /// Decide here, without a server: slots and offsets for IDs
    #[command(subcommand)]
    Slots(Box<SlotsCommand>),
    /// Work with files of schedules
    #[command(subcommand)]
    Schedules(SchedulesCommand),
    /// Spread groups from standard input, so that jobs of one group stay apart
    ///
    /// Reads a line {"group": "a", "jobs": ["a1", "a2"]} for each group, when it is needed; writes a
    /// line {"sequence": 0, "group": "a", "job": "a1"} for each job, and at the end, to standard error,
    /// what distances were kept. Groups and jobs are any JSON.
    Spread(spread::SpreadArgs),
    /// Share workers out between the stages of a pipeline
    #[command(subcommand)]
    Stages(StagesCommand),
    /// Say whether express and slow lanes pay, and which
    #[command(subcommand)]
    Lanes(LanesCommand),
    /// Show what a schedule will do: simulate a scenario, or one queue
    Simulate(simulate::SimulateArgs),
    /// Ask a server whether it serves: exit status 0 if so (for probes)
    Health(health::HealthArgs),
    /// Print the table of limits
    Limits,
    /// Print the completions of a shell, to be sourced
    Completions {
        /// The shell
        shell: Shell,
    },
}

#[derive(Debug, Subcommand)]
enum SlotsCommand {
    /// Assign IDs: their slots, offsets and next runs
    Assign(Box<assign::AssignArgs>),
    /// Describe a schedule: its defaults, fingerprint, current slot and expected load
    Describe(Box<describe::DescribeArgs>),
    /// List the slots that start in a window of time
    List(Box<list::ListArgs>),
    /// List the runs that are due since the last time, and those that were missed
    ///
    /// Writes the watermark for the next time to standard error.
    Due(Box<due::DueArgs>),
    /// Plan how IDs go over from one schedule to another
    ///
    /// The plan holds for all IDs; those that are given are shown one by one, too. No IDs are read
    /// from a terminal.
    Migrate(Box<migrate::MigrateArgs>),
    /// Say how evenly IDs fill the slots, and what is wrong if they do not
    Audit(Box<audit::AuditArgs>),
    /// Place kinds of job that must not meet on the same user
    Reciprocal(Box<reciprocal::ReciprocalArgs>),
}

#[derive(Debug, Subcommand)]
enum SchedulesCommand {
    /// Check a file of schedules: exit status 0 if a server would load it, 2 if not
    ///
    /// Prints each schedule with its fingerprint: SHA-256 of all that decides. With --against, the
    /// file of before, a version that has changed its meaning is refused too; those that are no
    /// longer there are named on standard error.
    Check(schedules::CheckArgs),
}

#[derive(Debug, Subcommand)]
enum StagesCommand {
    /// Say how many workers each stage gets
    ///
    /// Reads the stages, in the order of the pipeline, as a JSON array of objects like {"name": "A",
    /// "backlog_count": 3, "mean_service_time": "1s", "done": false}, or as CSV with columns of
    /// these names. Stages without a mean_service_time take the mean of the others. Further
    /// fields: minimum_worker_count, maximum_worker_count, current_worker_count, busy_worker_count.
    Allocate(stages::AllocateArgs),
}

#[derive(Debug, Subcommand)]
enum LanesCommand {
    /// Plan lanes from observed run times, or say that there should be none
    ///
    /// Reads one run time in seconds a line. Prints the verdict, the lanes with their workers and
    /// timeouts, how jobs fare with them and in one queue (simulated), and the slowdown over the
    /// cutoff between two lanes.
    Plan(lanes::PlanArgs),
}

/// Runs the command that the process was started as.
#[must_use]
pub fn main() -> ExitCode {
    let command = match env::args_os().nth(1) {
        Some(word) if word == "serve" => {
            ServeCli::try_parse().map(|cli| Command::Serve(cli.command))
        }
        _ => Cli::try_parse().map(|cli| cli.command),
    };
    let command = match command {
        Ok(command) => command,
        Err(error) => {
            let _ = error.print(); // a closed standard error changes nothing
            return if error.use_stderr() { EXIT_USAGE.into() } else { ExitCode::SUCCESS };
        }
    };
    match run(command) {
        Ok(code) => code,
        Err(failure) => failure.report(),
    }
}

fn run(command: Command) -> Result<ExitCode, Failure> {
    match command {
        Command::Serve(ServeCommand::Serve(args)) => serve::run(&args),
        Command::Spread(args) => spread::run(&args),
        Command::Health(args) => health::run(&args),
        Command::Slots(command) => match *command {
            SlotsCommand::Assign(args) => assign::run(&args),
            SlotsCommand::Describe(args) => describe::run(&args),
            SlotsCommand::List(args) => list::run(&args),
            SlotsCommand::Due(args) => due::run(&args),
            SlotsCommand::Migrate(args) => migrate::run(&args),
            SlotsCommand::Audit(args) => audit::run(&args),
            SlotsCommand::Reciprocal(args) => reciprocal::run(&args),
        },
        Command::Schedules(SchedulesCommand::Check(args)) => schedules::check(&args),
        Command::Stages(StagesCommand::Allocate(args)) => stages::run(&args),
        Command::Lanes(LanesCommand::Plan(args)) => lanes::run(&args),
        Command::Simulate(args) => simulate::run(&args),
        Command::Limits => {
            io::stdout().write_all(limits::markdown_table().as_bytes())?;
            Ok(ExitCode::SUCCESS)
        }
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "offbeat", &mut script);
            io::stdout().write_all(&script)?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// Why a command could not do its work.
#[derive(Debug)]
enum Failure {
    /// Invalid usage: exit status 64.
    Usage(String),
    /// A runtime error: exit status 1.
    Other(String),
    /// The reader of the output has closed it, as in `offbeat … | head`: exit status 0.
    OutputClosed,
}

impl Failure {
    /// What went wrong.
    fn message(self) -> String {
        match self {
            Self::Usage(message) | Self::Other(message) => message,
            Self::OutputClosed => "the output is closed".to_owned(),
        }
    }

    fn report(self) -> ExitCode {
        let (message, code) = match self {
            Self::Usage(message) => (message, EXIT_USAGE.into()),
            Self::Other(message) => (message, ExitCode::FAILURE),
            Self::OutputClosed => return ExitCode::SUCCESS,
        };
        let _ = writeln!(io::stderr(), "offbeat: {message}");
        code
    }
}

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
