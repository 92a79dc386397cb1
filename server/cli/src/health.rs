//! `offbeat health`

use std::env;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::process::ExitCode;
use std::time::Duration;

use bytes::Bytes;
use clap::Args;
use http::{Request, Response, StatusCode};
use prost::Message as _;
use tonic_health::ServingStatus;
use tonic_health::pb::{HealthCheckRequest, HealthCheckResponse};

use super::Failure;
use super::http_client::Connection;
use super::server_address::{ServerAddress, TlsArgs};
use offbeat_service::config::{
    AdminAddress, DEFAULT_ADDRESS, DEFAULT_ADMIN_ADDRESS, ListenAddress,
};

/// The method of the standard health service, by Connect.
const CHECK: &str = "/grpc.health.v1.Health/Check";

#[derive(Debug, Args)]
pub(super) struct HealthArgs {
    /// The admin port of the server, whose /readyz is asked: ADDRESS:PORT, unix:PATH, or off to ask
    /// the first address of OFFBEAT_LISTEN [default: 127.0.0.1:2329]
    #[arg(long, env = "OFFBEAT_ADMIN_LISTEN", value_name = "ADDRESS")]
    admin_address: Option<AdminAddress>,

    /// The port of the services to ask instead: HOST:PORT, or unix:PATH
    #[arg(long, env = "OFFBEAT_ADDRESS", value_name = "ADDRESS")]
    address: Option<ServerAddress>,

    /// The service to ask about, with --address [default: all]
    #[arg(long, value_name = "NAME", default_value = "", hide_default_value = true)]
    service: String,

    #[command(flatten)]
    tls: TlsArgs,

    /// How long to wait for the answer, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 2, value_parser = clap::value_parser!(u64).range(1..=60))]
    timeout: u64,
}

/// The question that a probe asks.
enum Probe {
    /// `/readyz` of the admin port.
    Ready,
    /// The health service.
    Service,
}

pub(super) fn run(args: &HealthArgs) -> Result<ExitCode, Failure> {
    let (probe, address) = target(args)?;
    let mut connection = Connection::new(args.tls.peer(&reachable(&address))?);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let request = request(&probe, &args.service)?;
    let timeout = Duration::from_secs(args.timeout);
    let answered = runtime.block_on(connection.send(request, timeout));
    let failed = |why: String| Failure::Other(format!("{address} is not serving: {why}"));
    let response = answered.map_err(|error| failed(error.to_string()))?;
    check(&probe, &args.service, response).map_err(failed)?;
    Ok(ExitCode::SUCCESS)
}

/// The variables that configure the server tell its probe where it is.
fn target(args: &HealthArgs) -> Result<(Probe, ServerAddress), Failure> {
    let parse = |address: &str| -> Result<ServerAddress, Failure> {
        let listen = address.parse().map(ServerAddress::Listen);
        listen.map_err(|invalid| Failure::Usage(format!("OFFBEAT_LISTEN: {invalid}")))
    };
    match (&args.address, &args.admin_address) {
        (Some(address), _) => Ok((Probe::Service, address.clone())),
        (None, Some(AdminAddress::At(address))) => {
            Ok((Probe::Ready, ServerAddress::Listen(address.clone())))
        }
        (None, Some(AdminAddress::Off)) => {
            let listen = env::var("OFFBEAT_LISTEN").unwrap_or_else(|_| DEFAULT_ADDRESS.to_owned());
            let first = listen.split(',').next().unwrap_or_default();
            Ok((Probe::Service, parse(first)?))
        }
        (None, None) => Ok((Probe::Ready, parse(DEFAULT_ADMIN_ADDRESS)?)),
    }
}

fn request(probe: &Probe, service: &str) -> Result<Request<Bytes>, Failure> {
    let builder = Request::builder().header("host", "localhost");
    let request = match probe {
        Probe::Ready => builder.uri("/readyz").body(Bytes::new()),
        Probe::Service => {
            let question = HealthCheckRequest { service: service.to_owned() };
            builder
                .method("POST")
                .uri(CHECK)
                .header("content-type", "application/proto")
                .body(question.encode_to_vec().into())
        }
    };
    request.map_err(|error| Failure::Other(error.to_string()))
}

/// Why the server is not serving, if it is not.
fn check(probe: &Probe, service: &str, response: Response<Bytes>) -> Result<(), String> {
    let (head, body) = response.into_parts();
    match (probe, head.status) {
        (Probe::Ready, StatusCode::OK) => Ok(()),
        (Probe::Ready, StatusCode::SERVICE_UNAVAILABLE) => Err("it is not ready".to_owned()),
        (Probe::Service, StatusCode::OK) => {
            let answer = HealthCheckResponse::decode(body).map_err(|error| error.to_string())?;
            if answer.status == ServingStatus::Serving as i32 {
                Ok(())
            } else {
                Err("it says so".to_owned())
            }
        }
        (Probe::Service, StatusCode::NOT_FOUND) => Err(format!("it has no service {service:?}")),
        (_, status) => Err(format!("it answered {status}")),
    }
}

/// A server that listens on all addresses is asked on loopback.
fn reachable(address: &ServerAddress) -> ServerAddress {
    let ServerAddress::Listen(ListenAddress::Tcp(listened)) = address else {
        return address.clone();
    };
    let ip = match listened.ip() {
        ip if !ip.is_unspecified() => ip,
        IpAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
    };
    ServerAddress::Listen(ListenAddress::Tcp(SocketAddr::new(ip, listened.port())))
}
