//! `offbeat serve`

use std::process::ExitCode;

use tokio::signal::unix::{SignalKind, signal};

use super::Failure;
use offbeat_service::config::{Admin, Config, ServeArgs};
use offbeat_service::net::Server;
use offbeat_service::telemetry::Telemetry;

pub(super) fn run(args: &ServeArgs) -> Result<ExitCode, Failure> {
    let config = Config::try_new(args).map_err(|invalid| Failure::Usage(invalid.to_string()))?;
    // One thread serves: a pool answers fewer calls (docs/decisions/0014).
    // Long batches go to a pool of as many threads as there are cores.
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(cores)
        .build()?;
    runtime.block_on(serve(args, &config))?;
    runtime.shutdown_background(); // a long batch does not outlast the grace period
    Ok(ExitCode::SUCCESS)
}

async fn serve(args: &ServeArgs, config: &Config) -> Result<(), Failure> {
    let mut terminate = signal(SignalKind::terminate())?; // first: it may come at once
    let mut interrupt = signal(SignalKind::interrupt())?;
    let telemetry = Telemetry::start(args).map_err(Failure::Usage)?;
    let server = Server::bind(config).await.map_err(Failure::Other)?;
    let server = server.with_spans(telemetry.has_spans());
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
    let shutdown = async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    };
    server.run(shutdown).await;
    telemetry.flush().await;
    Ok(())
}
