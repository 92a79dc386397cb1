//! `offbeat health`

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use hyper_util::rt::TokioIo;
use tokio::net::UnixStream;
use tonic::Code;
use tonic::transport::{Channel, Endpoint};
use tonic_health::ServingStatus;
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_client::HealthClient;

use super::Failure;
use crate::config::{DEFAULT_ADDRESS, ListenAddress};

#[derive(Debug, Args)]
pub(super) struct HealthArgs {
    /// Whom to ask: ADDRESS:PORT, or unix:PATH [default: the first address of OFFBEAT_LISTEN, else 127.0.0.1:2328]
    #[arg(long, env = "OFFBEAT_ADDRESS", value_name = "ADDRESS")]
    address: Option<ListenAddress>,

    /// The service to ask about [default: all]
    #[arg(long, value_name = "NAME", default_value = "", hide_default_value = true)]
    service: String,

    /// How long to wait for the answer, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 2, value_parser = clap::value_parser!(u64).range(1..=60))]
    timeout: u64,
}

pub(super) fn run(args: &HealthArgs) -> Result<ExitCode, Failure> {
    let address = match &args.address {
        Some(address) => address.clone(),
        None => address_of_the_server()?,
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let patience = Duration::from_secs(args.timeout);
    let asked = runtime
        .block_on(async { tokio::time::timeout(patience, ask(&address, &args.service)).await });
    match asked {
        Ok(Ok(status)) if status == ServingStatus::Serving as i32 => Ok(ExitCode::SUCCESS),
        Ok(Ok(_)) => Err(Failure::Other(format!("{address} is not serving"))),
        Ok(Err(why)) => Err(Failure::Other(format!("{address} is not serving: {why}"))),
        Err(_) => Err(Failure::Other(format!("{address} did not answer within {patience:?}"))),
    }
}

/// The same variable configures the server and its probe.
fn address_of_the_server() -> Result<ListenAddress, Failure> {
    let listen = std::env::var("OFFBEAT_LISTEN").unwrap_or_else(|_| DEFAULT_ADDRESS.to_owned());
    let first = listen.split(',').next().unwrap_or_default();
    first.parse().map_err(|invalid| Failure::Usage(format!("OFFBEAT_LISTEN: {invalid}")))
}

async fn ask(address: &ListenAddress, service: &str) -> Result<i32, String> {
    let channel = connect(address).await.map_err(|error| {
        // tonic's own text is "transport error"; the cause says which.
        let mut cause: &dyn std::error::Error = &error;
        while let Some(deeper) = cause.source() {
            cause = deeper;
        }
        cause.to_string()
    })?;
    let request = HealthCheckRequest { service: service.to_owned() };
    let answer = HealthClient::new(channel).check(request).await;
    answer.map(|answer| answer.into_inner().status).map_err(|status| match status.code() {
        Code::NotFound => format!("it knows no service {service:?}"),
        _ => status.message().to_owned(),
    })
}

async fn connect(address: &ListenAddress) -> Result<Channel, tonic::transport::Error> {
    match address {
        ListenAddress::Tcp(address) => {
            Endpoint::try_from(format!("http://{}", reachable(*address)))?.connect().await
        }
        ListenAddress::Unix(path) => {
            let path: PathBuf = path.clone();
            let connector = tower::service_fn(move |_| {
                let path = path.clone();
                async move { UnixStream::connect(path).await.map(TokioIo::new) }
            });
            Endpoint::from_static("http://localhost").connect_with_connector(connector).await
        }
    }
}

/// A server that listens on all addresses is asked on loopback.
fn reachable(mut address: SocketAddr) -> SocketAddr {
    if address.ip().is_unspecified() {
        address.set_ip(match address.ip() {
            IpAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
            IpAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
        });
    }
    address
}
