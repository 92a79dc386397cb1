//! `offbeat serve`

use std::io::IsTerminal as _;
use std::process::ExitCode;

use tokio::signal::unix::{SignalKind, signal};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::LevelFilter;

use super::Failure;
use crate::config::{Config, LogFormat, ServeArgs};
use crate::net::{self, Listener};

pub(super) fn run(args: &ServeArgs) -> Result<ExitCode, Failure> {
    let config = Config::try_new(args).map_err(|invalid| Failure::Usage(invalid.to_string()))?;
    start_logging(args)?;
    // One thread serves: two halve the throughput of a connection on two cores.
    // Long batches go to a pool of as many threads as there are cores.
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(cores)
        .build()?;
    runtime.block_on(serve(&config))?;
    runtime.shutdown_background(); // a long batch does not outlast the grace period
    Ok(ExitCode::SUCCESS)
}

async fn serve(config: &Config) -> Result<(), Failure> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut listeners = Vec::with_capacity(config.listen.len());
    for address in &config.listen {
        let bound = Listener::bind(address).await;
        let listener = bound
            .map_err(|error| Failure::Other(format!("cannot listen on {address}: {error}")))?;
        tracing::info!(address = %listener.address()?, "listening");
        listeners.push(listener);
    }
    let shutdown = async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    };
    net::run(listeners, config, shutdown).await;
    Ok(())
}

fn start_logging(args: &ServeArgs) -> Result<(), Failure> {
    let filter = log_filter(&args.log)?;
    let logs = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(std::io::stderr);
    match args.log_format {
        LogFormat::Text => logs.init(),
        LogFormat::Json => logs.json().flatten_event(true).init(),
    }
    Ok(())
}

/// Reads a filter; a bare word must be a level, or a typo would silence everything.
fn log_filter(text: &str) -> Result<EnvFilter, Failure> {
    let refused = || {
        let allowed = "must be off, error, warn, info, debug or trace, or a filter such as \
                       info,offbeat=debug";
        Failure::Usage(format!("--log: {text:?} is refused: {allowed}"))
    };
    let is_known = |part: &str| part.contains(['=', '[']) || part.parse::<LevelFilter>().is_ok();
    if !text.split(',').all(|part| is_known(part.trim())) {
        return Err(refused());
    }
    EnvFilter::try_new(text).map_err(|_| refused())
}
