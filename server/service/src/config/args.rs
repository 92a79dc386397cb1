//! The flags of `offbeat serve`, and their variables.

use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, ValueEnum};
use offbeat_core::limits::Limit;

use super::DEFAULT_ADDRESS;
use super::address::{InvalidAddress, ListenAddress};
use super::limits::LimitArgs;
use super::spread_store::SpreadStoreArgs;
use crate::limits::{DRAIN_DELAY_SECONDS, GRACE_SECONDS};

/// Flags of `offbeat serve`; each has a variable.
#[derive(Debug, Clone, Args)]
pub struct ServeArgs {
    /// Where to listen: ADDRESS:PORT, or unix:PATH; several, separated by commas
    #[arg(long, env = "OFFBEAT_LISTEN", default_value = DEFAULT_ADDRESS, value_delimiter = ',', value_name = "ADDRESS")]
    pub listen: Vec<ListenAddress>,

    /// Where to answer /metrics, /livez and /readyz, and the console: ADDRESS:PORT, unix:PATH or off
    /// [default: 127.0.0.1:2329, if it is free]
    #[arg(long, env = "OFFBEAT_ADMIN_LISTEN", value_name = "ADDRESS")]
    pub admin_listen: Option<AdminAddress>,

    /// Let the console on the admin port redrive and delete dead letters, and show what they carry
    #[arg(long, env = "OFFBEAT_CONSOLE_WRITE", value_parser = clap::builder::BoolishValueParser::new())]
    pub console_write: bool,

    /// Let --listen be without TLS on addresses that other machines can reach
    #[arg(long, env = "OFFBEAT_INSECURE", value_parser = clap::builder::BoolishValueParser::new())]
    pub insecure: bool,

    /// Let --admin-listen speak TLS with --tls-certificate. With --token-file, /metrics then needs a token, and the console
    /// is there beyond loopback, too
    #[arg(long, env = "OFFBEAT_ADMIN_TLS", value_parser = clap::builder::BoolishValueParser::new())]
    pub admin_tls: bool,

    /// Let --admin-listen be without TLS and tokens on an address that other machines can reach
    #[arg(long, env = "OFFBEAT_ADMIN_INSECURE", value_parser = clap::builder::BoolishValueParser::new())]
    pub admin_insecure: bool,

    /// The certificate chain (PEM) of the server: all TCP listeners then speak TLS; read again when it changes
    #[arg(long, env = "OFFBEAT_TLS_CERTIFICATE", value_name = "FILE", requires = "tls_key")]
    pub tls_certificate: Option<PathBuf>,

    /// The private key (PEM) of the certificate; read again when it changes
    #[arg(long, env = "OFFBEAT_TLS_KEY", value_name = "FILE", requires = "tls_certificate")]
    pub tls_key: Option<PathBuf>,

    /// Certificate authorities (PEM), one of which must have signed a client's certificate; read again when they change
    #[arg(long, env = "OFFBEAT_TLS_CLIENT_CA", value_name = "FILE", requires = "tls_certificate")]
    pub tls_client_ca: Option<PathBuf>,

    /// Bearer tokens, one a line, one of which every call must carry; read again when it changes
    #[arg(long, env = "OFFBEAT_TOKEN_FILE", value_name = "FILE")]
    pub token_file: Option<PathBuf>,

    /// Schedules (TOML) that callers may name; read again when it changes
    #[arg(long, env = "OFFBEAT_SCHEDULES", value_name = "FILE")]
    pub schedules: Option<PathBuf>,

    /// Where to keep a copy of the last schedules that were accepted: if --schedules is refused at
    /// the start, the copy is used
    #[arg(long, env = "OFFBEAT_LAST_GOOD_SCHEDULES", value_name = "FILE", requires = "schedules")]
    pub last_good_schedules: Option<PathBuf>,

    /// Permissions of Unix sockets, in octal
    #[arg(long, env = "OFFBEAT_SOCKET_MODE", default_value = "0660", value_name = "MODE")]
    pub socket_mode: SocketMode,

    /// Users who may call over Unix sockets, by UID, separated by commas [default: everybody who can open the socket]
    #[arg(
        long,
        env = "OFFBEAT_SOCKET_UIDS",
        value_delimiter = ',',
        value_name = "UID",
        hide_default_value = true
    )]
    pub socket_uids: Vec<u32>,

    /// A host name with a dot that callers on loopback may use; several,
    /// separated by commas. Others are refused, since a web page may have sent them
    #[arg(
        long = "allowed-host",
        env = "OFFBEAT_ALLOWED_HOST",
        value_delimiter = ',',
        value_name = "NAME"
    )]
    pub allowed_hosts: Vec<String>,

    /// Answer gRPC reflection, so that grpcurl and the like need no protos
    #[arg(long, env = "OFFBEAT_REFLECTION", value_parser = clap::builder::BoolishValueParser::new())]
    pub reflection: bool,

    /// How long to serve on after SIGTERM or SIGINT while /readyz says 503, in seconds; a second signal ends it
    #[arg(long, env = "OFFBEAT_DRAIN_DELAY", default_value_t = 0, value_name = "SECONDS", allow_negative_numbers = true, value_parser = within(DRAIN_DELAY_SECONDS))]
    pub drain_delay: i64,

    /// How long requests in flight may go on after that, in seconds
    #[arg(long, env = "OFFBEAT_GRACE_PERIOD", default_value_t = 10, value_name = "SECONDS", allow_negative_numbers = true, value_parser = within(GRACE_SECONDS))]
    pub grace_period: i64,

    /// Where named spreads are kept.
    #[command(flatten, next_help_heading = "Named spreads")]
    pub spread_store: SpreadStoreArgs,

    /// The limits that a deployment may choose.
    #[command(flatten)]
    pub limits: LimitArgs,

    /// How to write logs, on standard error
    #[arg(long, env = "OFFBEAT_LOG_FORMAT", default_value = "text", value_name = "FORMAT")]
    pub log_format: LogFormat,

    /// What to log: off, error, warn, info or debug, or a filter such as info,offbeat::request=debug
    #[arg(long, env = "OFFBEAT_LOG", default_value = "info", value_name = "FILTER")]
    pub log: String,

    /// Export a span for each request to this collector, by OTLP over HTTP: http(s)://HOST:PORT.
    /// The OTEL_EXPORTER_OTLP_* variables work, too, without this flag
    #[arg(long, env = "OFFBEAT_OTLP_ENDPOINT", value_name = "URL")]
    pub otlp_endpoint: Option<String>,
}

/// Reads a whole number within a limit; the refusal names range and unit.
pub fn within(
    limit: Limit,
) -> impl Fn(&str) -> Result<i64, String> + Clone + Send + Sync + 'static {
    move |text| {
        let number = text.parse().ok().filter(|number: &i64| limit.allows((*number).into()));
        number.ok_or_else(|| format!("must be a whole number, {limit}"))
    }
}

/// How logs are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// One line for people
    Text,
    /// One JSON object a line
    Json,
}

/// Where metrics and probes are answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AdminAddress {
    /// They are not answered.
    Off,
    /// At this address.
    At(ListenAddress),
}

impl FromStr for AdminAddress {
    type Err = InvalidAddress;

    fn from_str(text: &str) -> Result<Self, InvalidAddress> {
        if text == "off" { Ok(Self::Off) } else { text.parse().map(Self::At) }
    }
}

/// Permissions of a Unix socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SocketMode(pub u32);

impl FromStr for SocketMode {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mode = u32::from_str_radix(text, 8).ok().filter(|mode| *mode <= 0o777);
        mode.map(Self).ok_or_else(|| "must be permissions in octal, 0 to 0777".to_owned())
    }
}
