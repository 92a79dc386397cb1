//! `offbeat simulate`

#[cfg_attr(not(feature = "sqlite"), path = "no_database.rs")]
mod database;
mod out;
mod overwrite;
mod progress;
mod queue;
mod table;

use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::time::Duration;

use clap::{Args, Subcommand};
use offbeat_core::{Reason, Rejection};
use offbeat_sim::results::{Digest, Results};
use offbeat_sim::scenario::{Scenario, parse};
use offbeat_sim::world::{RunError, Trace, Watch, run_each};

use self::out::{Ended, Out};
use self::progress::Progress;
use super::Failure;
use super::lanes::read_run_times_of;
use super::output::{AnswerFormat, write_json_line};
use crate::report;
use offbeat_service::limits::SCENARIO_BYTES;

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(super) struct SimulateArgs {
    #[command(subcommand)]
    command: Option<SimulateCommand>,

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
    #[arg(long, value_enum, default_value_t = AnswerFormat::Table)]
    format: AnswerFormat,
}

#[derive(Debug, Subcommand)]
enum SimulateCommand {
    /// Say when each job of one queue starts
    ///
    /// Reads CSV with the columns arrival_gap and service_time, in seconds with up to six
    /// decimals, from standard input; writes a line with the start of each job, in seconds from the
    /// beginning.
    Queue(queue::QueueArgs),
}

pub(super) fn run(args: &SimulateArgs) -> Result<ExitCode, Failure> {
    match (&args.command, &args.scenario) {
        (Some(SimulateCommand::Queue(args)), _) => queue::run(args),
        (None, Some(path)) => simulate(args, path),
        (None, None) => Err(Failure::Usage("there is no scenario".to_owned())),
    }
}

fn simulate(args: &SimulateArgs, path: &Path) -> Result<ExitCode, Failure> {
    let outs = args.out.iter().map(|path| Out::at(path)).collect::<Result<Vec<_>, _>>()?;
    let mut scenario = read_scenario(path)?;
    scenario.keeps_rows = !outs.is_empty();
    let scenario = scenario;
    // Before a long simulation, not after it.
    overwrite::check(args.out.iter().chain(&args.report), args.force)?;
    // What was counted is written while other runs go on, and while the figures are made of it.
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
    if let Some(path) = &args.report {
        let page = report::page(&results).map_err(|none| Failure::Other(none.to_string()))?;
        std::fs::write(path, page).map_err(|error| at(path, &error))?;
    }
    let mut stdout = io::stdout().lock();
    match args.format {
        AnswerFormat::Json => write_json_line(&mut stdout, &results)?,
        AnswerFormat::Table => table::write(&mut stdout, &results)?,
    }
    stdout.flush()?;
    Ok(ExitCode::SUCCESS)
}

fn at(path: &Path, error: &io::Error) -> Failure {
    Failure::Other(format!("{}: {error}", path.display()))
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
        read_run_times_of(io::BufReader::new(file)).map_err(|failure| bad(failure.message()))
    };
    parse(&text, &load).map_err(|refused| Failure::Usage(format!("{}: {refused}", path.display())))
}

/// Runs a scenario on the cores there are, with a progress bar; Ctrl-C ends it with what there is.
fn watched(scenario: &Scenario, tell: SyncSender<Ended>) -> Result<Vec<Vec<Digest>>, Failure> {
    let watch = Arc::new(Watch::default());
    let runs = (scenario.strategies.len() * scenario.seeds.len()) as u64;
    let bar = Progress::new(scenario.duration / 1_000_000 * runs);
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
            bar.show(watch.seconds.load(Ordering::Relaxed));
            std::thread::park_timeout(Duration::from_millis(50));
        }
        running.join()
    });
    bar.clear();
    if watch.stop.load(Ordering::Relaxed) {
        let _ = writeln!(io::stderr(), "offbeat: interrupted; what follows ends there");
    }
    digests.map_err(lost)?.map_err(failed)
}

fn failed(error: RunError) -> Failure {
    match error {
        RunError::Refused(rejection) => rejection.into(),
        RunError::Lost { .. } => Failure::Other(error.to_string()),
    }
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
