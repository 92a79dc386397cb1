//! `offbeat serve`

use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::{ArgMatches, Args};
use offbeat_core::Catalog;
use offbeat_service::Server;
use offbeat_service::config::{Admin, Config, ServeArgs, Setting};
use offbeat_service::telemetry::Telemetry;
use tokio::signal::unix::{SignalKind, signal};

use super::{Failure, settings};

/// A second thread serves while the first one is busy. More would not answer more: a sidecar
/// serves one pod.
const SERVING_THREADS: usize = 2;

/// Maximum number of schedules that the log names at the start.
const SHOWN_SCHEDULES: usize = 20;

#[derive(Debug, Args)]
pub(super) struct ServeCommand {
    /// Check flags, variables and files, print the settings in force, and end: nothing is bound
    #[arg(long)]
    check_config: bool,

    #[command(flatten)]
    args: ServeArgs,
}

pub(super) fn run(command: &ServeCommand, matches: &ArgMatches) -> Result<ExitCode, Failure> {
    let args = &command.args;
    let config = Config::try_new(args).map_err(|invalid| Failure::Usage(invalid.to_string()))?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(SERVING_THREADS)
        .enable_all()
        .build()?;
    let settings = settings::of_serve(matches);
    if command.check_config {
        runtime.block_on(async { check(args, &config, &settings) })?;
    } else {
        runtime.block_on(serve(args, &config, &settings))?;
        runtime.shutdown_background(); // a long batch does not outlast the grace period
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints the settings that would be in force. Refuses what a start would refuse, and variables
/// that set nothing.
fn check(args: &ServeArgs, config: &Config, settings: &[Setting]) -> Result<(), Failure> {
    settings::print(settings)?;
    if let Some(unknown) = settings::unknown() {
        return Err(Failure::Usage(format!("unknown variables, which set nothing: {unknown}")));
    }
    Telemetry::start(args).map_err(Failure::Usage)?;
    let schedules = Server::check(config)?.len();
    writeln!(io::stdout(), "accepted: {schedules} schedules are loaded")?;
    Ok(())
}

async fn serve(args: &ServeArgs, config: &Config, settings: &[Setting]) -> Result<(), Failure> {
    let mut terminate = signal(SignalKind::terminate())?; // first: the signal may come at once
    let mut interrupt = signal(SignalKind::interrupt())?;
    let telemetry = Telemetry::start(args).map_err(Failure::Usage)?;
    let server = Server::bind(config).await?;
    let server = server.with_settings(settings).with_spans(telemetry.has_spans());
    for address in server.addresses()? {
        tracing::info!(%address, "listening");
    }
    match (server.admin_address()?, &config.admin) {
        (Some(address), _) => tracing::info!(%address, "metrics and probes"),
        (None, Admin::IfFree(address)) => tracing::warn!(
            %address,
            "no metrics and no probes: the address is taken; --admin-listen says where, or off"
        ),
        (None, _) => {}
    }
    log_start(settings, &server.schedules());
    let signal = async || {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    };
    server.run(signal).await.map_err(Failure::Other)?;
    telemetry.flush().await;
    Ok(())
}

/// Logs what is served: later readers of the log have nothing else.
fn log_start(settings: &[Setting], schedules: &Catalog) {
    let (version, count) = (env!("CARGO_PKG_VERSION"), schedules.len());
    tracing::info!(version, schedules = count, settings = settings::changed(settings), "serving");
    for (name, schedule) in schedules.iter().take(SHOWN_SCHEDULES) {
        let (schedule, fingerprint) = (name.to_string(), schedule.fingerprint());
        tracing::info!(schedule, fingerprint, "loaded");
    }
    if let Some(more) = count.checked_sub(SHOWN_SCHEDULES).filter(|more| *more > 0) {
        tracing::info!(more, "further schedules are loaded: ListSchedules lists all");
    }
    if let Some(variables) = settings::unknown() {
        tracing::warn!(variables, "unknown variables set nothing");
    }
}
