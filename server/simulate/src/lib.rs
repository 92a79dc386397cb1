//! `offbeat-simulate`, which `offbeat simulate` runs: what a schedule will do.

mod database;
mod failure;
mod out;
mod overwrite;
mod queue;
pub mod report;
mod run;
mod table;

use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::time::Duration;

use clap::{Parser, Subcommand, ValueEnum};
use indicatif::{ProgressBar, ProgressStyle};
use offbeat_core::{Reason, Rejection};
use offbeat_sim::results::{Digest, Results};
use offbeat_sim::scenario::{Scenario, parse};
use offbeat_sim::world::{RunError, Trace, Watch, run_each};

use offbeat_sim::limits::SCENARIO_BYTES;
use offbeat_text::read_run_times;

use self::failure::{EXIT_USAGE, Failure};
use self::out::OutputPath;
use self::run::FinishedRun;

/// Shows what a schedule will do: simulates a scenario, or one queue
#[derive(Debug, Parser)]
#[command(
    name = "offbeat-simulate",
    version,
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_help = "Exit status: 0 on success; 1 on a runtime error; 64 on invalid usage, such as a \
                  scenario that is refused."
)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,

    /// The scenario, a file in TOML; examples/simulations/ has some
    #[arg(required = true)]
    scenario: Option<PathBuf>,

    /// Write one page with pictures, which needs no network
    #[arg(long, value_name = "FILE.html")]
    report: Option<PathBuf>,

    /// Write what was counted in every second, to a file that ends in .sqlite or .csv; may be repeated
    #[arg(long, value_name = "FILE")]
    out: Vec<PathBuf>,

    /// Overwrite files that are no results of an earlier simulation, too
    #[arg(long)]
    force: bool,

    /// How to write the results
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

/// How results are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Lines for people
    Table,
    /// One JSON object
    Json,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Say when each job of one queue starts
    ///
    /// Reads CSV with the columns arrival_gap and service_time, in seconds with up to six
    /// decimals, from standard input; writes a line with the start of each job, in seconds from the
    /// beginning.
    Queue(queue::QueueArgs),
}

/// Runs the command that the process was started as.
#[must_use]
pub fn main() -> ExitCode {
    let args = match Cli::try_parse() {
        Ok(args) => args,
        Err(error) => {
            let _ = error.print(); // a closed standard error changes nothing
            return if error.use_stderr() { EXIT_USAGE.into() } else { ExitCode::SUCCESS };
        }
    };
    run(&args).unwrap_or_else(Failure::report)
}

fn run(args: &Cli) -> Result<ExitCode, Failure> {
    match (&args.command, &args.scenario) {
        (Some(Command::Queue(args)), _) => queue::run(args),
        (None, Some(path)) => simulate(args, path),
        (None, None) => Err(Failure::Usage("there is no scenario".to_owned())),
    }
}

fn simulate(args: &Cli, path: &Path) -> Result<ExitCode, Failure> {
    let outs = args.out.iter().map(|path| OutputPath::at(path)).collect::<Result<Vec<_>, _>>()?;
    let mut scenario = read_scenario(path)?;
    scenario.keeps_rows = !outs.is_empty();
    let scenario = scenario;
    // Before a long simulation, not after it.
    overwrite::check(args.out.iter().chain(&args.report), args.force)?;
    // What was counted is written while other runs continue, and while the figures are made of it.
    let (results, written) = std::thread::scope(|scope| {
        let (tell, ended) = sync_channel(scenario.strategies.len() * scenario.seeds.len());
        let written = scope.spawn(|| {
            let ended = ended; // dropped here, should writing fail
            out::write(&outs, &scenario, &ended)
        });
        let digests = watched(&scenario, tell);
        let results = digests.and_then(|digests| Ok(Results::new(&scenario, digests)?));
        (results, written.join())
    });
    let (results, written) = (results?, written.map_err(lost)??);
    for file in written {
        file.finish(&results)?;
    }
    let json = serde_json::to_string(&results).map_err(io::Error::from)?;
    if let Some(path) = &args.report {
        std::fs::write(path, report::page(&json)).map_err(|error| Failure::at(path, &error))?;
    }
    let mut stdout = io::stdout().lock();
    match args.format {
        Format::Json => writeln!(stdout, "{json}")?,
        Format::Table => table::write(&mut stdout, &results)?,
    }
    stdout.flush()?;
    Ok(ExitCode::SUCCESS)
}

/// The files with samples that a scenario names stand beside it.
fn read_scenario(path: &Path) -> Result<Scenario, Failure> {
    let bad = |what: String| Failure::Usage(format!("{}: {what}", path.display()));
    let file = std::fs::File::open(path).map_err(|error| bad(error.to_string()))?;
    let (most, mut text) = (SCENARIO_BYTES.max_size(), String::new());
    let mut beginning = file.take(most as u64 + 1);
    match beginning.read_to_string(&mut text) {
        Err(error) if error.kind() == io::ErrorKind::InvalidData => {
            return Err(bad("must be a text in UTF-8".to_owned()));
        }
        Err(error) => return Err(bad(error.to_string())),
        Ok(bytes) if bytes > most => return Err(bad(format!("must be {SCENARIO_BYTES}"))),
        Ok(_) => {}
    }
    let folder = path.parent().unwrap_or(Path::new("."));
    let load = |name: &str| {
        let path = folder.join(name);
        let bad = |what: String| Rejection::new(Reason::Malformed, "samples", name, what);
        let file = std::fs::File::open(&path)
            .map_err(|error| bad(format!("must be a file that can be read ({error})")))?;
        read_run_times(io::BufReader::new(file)).map_err(|error| bad(error.to_string()))
    };
    parse(&text, &load).map_err(|refused| Failure::Usage(format!("{}: {refused}", path.display())))
}

/// Runs a scenario on the cores there are, with a progress bar; Ctrl-C ends it with what there is.
fn watched(
    scenario: &Scenario,
    tell: SyncSender<FinishedRun>,
) -> Result<Vec<Vec<Digest>>, Failure> {
    let watch = Arc::new(Watch::default());
    let runs = (scenario.strategies.len() * scenario.seeds.len()) as u64;
    let bar = progress_bar(scenario.duration / 1_000_000 * runs);
    stop_on_interrupt(&watch);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    // A thread that has said so may take a while to be finished.
    let is_done = AtomicBool::new(false);
    let digests = std::thread::scope(|scope| {
        let watching = std::thread::current();
        let is_done = &is_done;
        let watch = &watch;
        let running = scope.spawn(move || {
            // Nobody listens where writing has failed, which is said later.
            let digest = |number: usize, trace: Trace| {
                let _ = tell.send((number, Arc::clone(&trace.rows)));
                Digest::of(scenario, number, trace)
            };
            let digests = run_each(scenario, threads, watch, &digest);
            is_done.store(true, Ordering::Release);
            watching.unpark();
            digests
        });
        while !is_done.load(Ordering::Acquire) && !running.is_finished() {
            bar.set_position(watch.seconds.load(Ordering::Relaxed));
            std::thread::park_timeout(Duration::from_millis(50));
        }
        running.join()
    });
    bar.finish_and_clear();
    if watch.stop.load(Ordering::Relaxed) {
        let _ = writeln!(io::stderr(), "offbeat-simulate: interrupted; what follows ends there");
    }
    digests.map_err(lost)?.map_err(failed)
}

fn failed(error: RunError) -> Failure {
    match error {
        RunError::Refused(rejection) => rejection.into(),
        RunError::Lost { .. } => Failure::Other(error.to_string()),
    }
}

/// A bar on standard error, if that is a terminal, for this many seconds of simulated time.
fn progress_bar(seconds: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:40} {percent} % of {len} s, {eta} left");
    ProgressBar::new(seconds).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

/// A thread ended by a bug.
fn lost(_: Box<dyn std::any::Any + Send>) -> Failure {
    Failure::Other("the simulation ended without a result".to_owned())
}

fn stop_on_interrupt(watch: &Arc<Watch>) {
    let watch = Arc::clone(watch);
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let Ok(runtime) = runtime else { return }; // then Ctrl-C ends the process, as it does by default
        if runtime.block_on(tokio::signal::ctrl_c()).is_ok() {
            watch.stop.store(true, Ordering::Relaxed);
        }
    });
}
