//! The command line: for people, and for pipes.

mod assign;
mod audit;
mod chart;
mod compare;
mod connect;
mod describe;
mod doctor;
mod due;
mod failure;
mod health;
mod http_client;
mod ids;
pub mod input;
mod kinds;
mod lanes;
mod list;
mod migrate;
mod named;
mod output;
mod reciprocal;
mod schedule;
mod schedules;
mod serve;
mod server_address;
mod settings;
mod simulate;
pub mod spread;
pub mod stages;

use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::{ArgMatches, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use clap_complete::Shell;
use offbeat_service::limits;

use failure::EXIT_USAGE;
pub use failure::Failure;

const EXIT_STATUSES: &str = "Exit status: 0 on success; 1 on a runtime error, if an ID is refused, if a server does not \
serve or `doctor` finds that it could not start, or if `slots compare` finds jobs that are not known to be apart; 2 if \
`schedules check` or `export` refuses a file, `spread` is below --min-gap, or `spread submit --wait` ends with dead letters; \
64 on invalid usage; 78 if `serve` refuses a file of certificates, tokens or schedules.";

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

#[derive(Debug, Subcommand)]
enum Command {
    /// Serve decisions over gRPC and HTTP/JSON
    Serve(Box<serve::ServeCommand>),
    /// Slots and offsets for IDs, without a server
    #[command(subcommand)]
    Slots(Box<SlotsCommand>),
    /// Check files of schedules
    #[command(subcommand)]
    Schedules(SchedulesCommand),
    /// Spread groups from standard input, so that jobs of one group stay apart; or submit them to a
    /// server, and work on them
    ///
    /// Reads lines GROUP<TAB>JOB in any order, or a line {"group": "a", "jobs": ["a1", "a2"]} for each
    /// group, which is read when it is needed; groups and jobs are then any JSON. Writes a line for each
    /// job, and in the end, to standard error, the distances that were kept.
    Spread(Box<spread::SpreadArgs>),
    /// Allocate workers to the stages of a pipeline
    #[command(subcommand)]
    Stages(StagesCommand),
    /// Say whether express and slow lanes pay, and which
    #[command(subcommand)]
    Lanes(LanesCommand),
    /// Show what a schedule will do, with the program offbeat-simulate
    #[command(disable_help_flag = true)]
    Simulate(simulate::SimulateArgs),
    /// Check that a server is ready: exit status 0 if it is (for probes)
    ///
    /// The admin port is asked, or with --address the port of the services.
    Health(health::HealthArgs),
    /// Say what the store of named spreads promises: exit status 0 if a server would start with it
    ///
    /// Takes the flags and variables of `serve` about the store, asks it about itself, and changes
    /// nothing. Prints a line for each finding: `ok`, `warning` where something is not promised, or
    /// `error` where a server does not start.
    Doctor(doctor::DoctorArgs),
    /// Print the table of limits
    Limits,
    /// Print shell completions, to be sourced
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
    /// List the runs that are due since the last call, and those that were missed
    ///
    /// Prints the watermark for the next call on standard error.
    Due(Box<due::DueArgs>),
    /// Plan the migration of IDs from one schedule to another
    ///
    /// The plan holds for all IDs; those that are given are shown one by one too. No IDs are read
    /// from a terminal.
    Migrate(Box<migrate::MigrateArgs>),
    /// Say how evenly IDs fill the slots, and what is wrong if they do not
    Audit(Box<audit::AuditArgs>),
    /// Place kinds of job that must not meet on the same user
    Reciprocal(Box<reciprocal::ReciprocalArgs>),
    /// Say whether jobs of schedules that exist today are kept apart: exit status 0 if all are, 1 if
    /// some meet or it is not known
    Compare(compare::CompareArgs),
}

#[derive(Debug, Subcommand)]
enum SchedulesCommand {
    /// Check a file of schedules: exit status 0 if a server would load it, 2 if not
    ///
    /// Prints each schedule with its fingerprint, the SHA-256 of all that decides. With --against, a
    /// version that means something else in the older file is refused too, and versions that are gone
    /// are named on standard error.
    Check(schedules::CheckArgs),
    /// Write a file of schedules as JSON, for clients that decide without a server
    ///
    /// It is the answer of ListSchedules: every default is filled in, and each schedule has its
    /// fingerprint. The same schedules make the same bytes. Exit status 2 if the file is refused.
    Export(schedules::ExportArgs),
}

#[derive(Debug, Subcommand)]
enum StagesCommand {
    /// Allocate workers to stages
    ///
    /// Reads the stages, in the order of the pipeline, as a JSON array of objects like {"name": "A",
    /// "backlog_count": 3, "mean_run_time": "1s", "done": false}, or as CSV with columns of
    /// these names. Stages without a mean_run_time take the mean of the others. Further
    /// fields: min_worker_count, max_worker_count, current_worker_count, busy_worker_count,
    /// arrival_count, arrival_period.
    Allocate(stages::AllocateArgs),
    /// Allocate workers again and again, at the times of a timeline
    ///
    /// Reads rows like those of `stages allocate`, with a time: a span since the start (90s, "1h
    /// 30m") or an instant (RFC 3339). At the first time every stage has a row, in the order of
    /// the pipeline; later, rows say what is new. A stage keeps the workers of the time before.
    /// Where a row has no backlog_count, that follows from the time before: jobs arrive, workers
    /// do theirs, and what a stage has done comes to the next one, unless that has an
    /// arrival_count of its own.
    Timeline(stages::TimelineArgs),
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

/// Runs the command that the arguments of the process name.
#[must_use]
pub fn main() -> ExitCode {
    let (command, matches) = match parse() {
        Ok(parsed) => parsed,
        Err(error) => {
            let _ = error.print(); // a closed standard error changes nothing
            return if error.use_stderr() { EXIT_USAGE.into() } else { ExitCode::SUCCESS };
        }
    };
    run(command, &matches).unwrap_or_else(|failure| failure.report())
}

/// The command, and the matches, which tell where each value comes from.
fn parse() -> Result<(Command, ArgMatches), clap::Error> {
    let mut command = Cli::command();
    let matches = command.try_get_matches_from_mut(std::env::args_os())?;
    let cli = Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut command))?;
    Ok((cli.command, matches))
}

fn run(command: Command, matches: &ArgMatches) -> Result<ExitCode, Failure> {
    match command {
        Command::Serve(command) => serve::run(&command, matches),
        Command::Spread(args) => spread::run(&args),
        Command::Health(args) => health::run(&args),
        Command::Doctor(args) => doctor::run(&args),
        Command::Slots(command) => match *command {
            SlotsCommand::Assign(args) => assign::run(&args),
            SlotsCommand::Describe(args) => describe::run(&args),
            SlotsCommand::List(args) => list::run(&args),
            SlotsCommand::Due(args) => due::run(&args),
            SlotsCommand::Migrate(args) => migrate::run(&args),
            SlotsCommand::Audit(args) => audit::run(&args),
            SlotsCommand::Reciprocal(args) => reciprocal::run(&args),
            SlotsCommand::Compare(args) => compare::run(&args),
        },
        Command::Schedules(SchedulesCommand::Check(args)) => schedules::check(&args),
        Command::Schedules(SchedulesCommand::Export(args)) => schedules::export(&args),
        Command::Stages(StagesCommand::Allocate(args)) => stages::allocate(&args),
        Command::Stages(StagesCommand::Timeline(args)) => stages::timeline(&args),
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
