//! `offbeat serve`

use std::process::ExitCode;

use tokio::signal::unix::{SignalKind, signal};

use super::Failure;
use offbeat_service::Server;
use offbeat_service::config::{Admin, Config, ServeArgs};
use offbeat_service::telemetry::Telemetry;

/// A second thread serves while the first one is busy. More would not answer more: a sidecar
/// serves one pod.
const SERVING_THREADS: usize = 2;

pub(super) fn run(args: &ServeArgs) -> Result<ExitCode, Failure> {
    let config = Config::try_new(args).map_err(|invalid| Failure::Usage(invalid.to_string()))?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(SERVING_THREADS)
        .enable_all()
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
    server.run(shutdown).await.map_err(Failure::Other)?;
    telemetry.flush().await;
    Ok(())
}
