//! `offbeat health`

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::process::ExitCode;
use std::time::Duration;

use bytes::Bytes;
use clap::Args;
use http::{Request, StatusCode};
use prost::Message as _;
use tonic_health::ServingStatus;
use tonic_health::pb::{HealthCheckRequest, HealthCheckResponse};

use super::Failure;
use offbeat_service::config::{DEFAULT_ADDRESS, ListenAddress};
use super::post::{Peer, post};

/// The standard health service, over HTTP/1.1: a probe needs no more.
const CHECK: &str = "/grpc.health.v1.Health/Check";

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
    match runtime.block_on(ask(&address, &args.service, patience)) {
        Ok(status) if status == ServingStatus::Serving as i32 => Ok(ExitCode::SUCCESS),
        Ok(_) => Err(Failure::Other(format!("{address} is not serving"))),
        Err(why) => Err(Failure::Other(format!("{address} is not serving: {why}"))),
    }
}

/// The same variable configures the server and its probe.
fn address_of_the_server() -> Result<ListenAddress, Failure> {
    let listen = std::env::var("OFFBEAT_LISTEN").unwrap_or_else(|_| DEFAULT_ADDRESS.to_owned());
    let first = listen.split(',').next().unwrap_or_default();
    first.parse().map_err(|invalid| Failure::Usage(format!("OFFBEAT_LISTEN: {invalid}")))
}

async fn ask(address: &ListenAddress, service: &str, patience: Duration) -> Result<i32, String> {
    let peer = match address {
        ListenAddress::Tcp(address) => Peer::Tcp(reachable(*address).to_string()),
        ListenAddress::Unix(path) => Peer::Unix(path.clone()),
    };
    let question = HealthCheckRequest { service: service.to_owned() };
    let request = Request::post(CHECK)
        .header("host", "localhost")
        .header("content-type", "application/proto")
        .body(Bytes::from(question.encode_to_vec()));
    let request = request.map_err(|error| error.to_string())?;
    let answer = post(&peer, request, patience).await.map_err(|failure| innermost(&*failure))?;
    match answer.status() {
        StatusCode::OK => {
            let answer = HealthCheckResponse::decode(answer.into_body());
            answer.map(|answer| answer.status).map_err(|error| error.to_string())
        }
        StatusCode::NOT_FOUND => Err(format!("it knows no service {service:?}")),
        status => Err(format!("it answered {status}")),
    }
}

/// A library's own text is often "connection error"; the cause says which.
fn innermost(mut cause: &(dyn std::error::Error + 'static)) -> String {
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    cause.to_string()
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
