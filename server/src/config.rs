//! What `offbeat serve` is told, parsed before anything is bound.

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::{Args, ValueEnum};
use offbeat_core::limits::Limit;

use crate::limits::{
    CONNECTIONS, GRACE_SECONDS, LISTENERS, NAMED_SPREAD_BYTES, REQUESTS, UNARY_SECONDS,
};

/// Where a server listens or a client calls by default; 2328 is free of a registered service.
pub const DEFAULT_ADDRESS: &str = "127.0.0.1:2328";

/// Flags of `offbeat serve`; each has a variable.
#[derive(Debug, Clone, Args)]
pub struct ServeArgs {
    /// Where to listen: ADDRESS:PORT, or unix:PATH; several, separated by commas
    #[arg(long, env = "OFFBEAT_LISTEN", default_value = DEFAULT_ADDRESS, value_delimiter = ',', value_name = "ADDRESS")]
    pub listen: Vec<ListenAddress>,

    /// Listen without TLS on addresses that other machines can reach
    #[arg(long, env = "OFFBEAT_ALLOW_PLAINTEXT", value_parser = clap::builder::BoolishValueParser::new())]
    pub allow_plaintext: bool,

    /// How long requests under way may go on after SIGTERM or SIGINT, in seconds
    #[arg(long, env = "OFFBEAT_GRACE_PERIOD", default_value_t = 10, value_name = "SECONDS", allow_negative_numbers = true, value_parser = within(GRACE_SECONDS))]
    pub grace_period: i64,

    /// Connections at once
    #[arg(long, env = "OFFBEAT_MAX_CONNECTIONS", default_value_t = 1024, value_name = "COUNT", allow_negative_numbers = true, value_parser = within(CONNECTIONS))]
    pub max_connections: i64,

    /// Requests under way at once, streams included
    #[arg(long, env = "OFFBEAT_MAX_REQUESTS", default_value_t = 512, value_name = "COUNT", allow_negative_numbers = true, value_parser = within(REQUESTS))]
    pub max_requests: i64,

    /// How long a unary call may take, in seconds
    #[arg(long, env = "OFFBEAT_UNARY_TIMEOUT", default_value_t = 30, value_name = "SECONDS", allow_negative_numbers = true, value_parser = within(UNARY_SECONDS))]
    pub unary_timeout: i64,

    /// Bytes of the jobs of all named spreads
    #[arg(long, env = "OFFBEAT_MAX_SPREAD_BYTES", default_value_t = 256 << 20, value_name = "BYTES", allow_negative_numbers = true, value_parser = within(NAMED_SPREAD_BYTES))]
    pub max_spread_bytes: i64,

    /// How to write logs, on standard error
    #[arg(long, env = "OFFBEAT_LOG_FORMAT", default_value = "text", value_name = "FORMAT")]
    pub log_format: LogFormat,

    /// What to log: off, error, warn, info, debug or trace, or a filter such as info,offbeat=debug
    #[arg(long, env = "OFFBEAT_LOG", default_value = "info", value_name = "FILTER")]
    pub log: String,
}

/// Reads a whole number within a limit; the refusal names range and unit.
pub(crate) fn within(
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

/// A checked configuration.
#[derive(Debug, Clone)]
pub struct Config {
    /// Where to listen.
    pub listen: Vec<ListenAddress>,
    /// How long requests under way may go on after the signal to stop.
    pub grace_period: Duration,
    /// Connections at once.
    pub max_connections: usize,
    /// Requests under way at once.
    pub max_requests: usize,
    /// How long a unary call may take.
    pub unary_timeout: Duration,
    /// Bytes of the jobs of all named spreads.
    pub max_spread_bytes: u64,
}

impl Config {
    /// Checks what single flags cannot.
    ///
    /// # Errors
    /// When an address can be reached by other machines without
    /// `--allow-plaintext`, or there are too many.
    pub fn try_new(args: &ServeArgs) -> Result<Self, InvalidConfig> {
        if !LISTENERS.allows(i128::try_from(args.listen.len()).unwrap_or(i128::MAX)) {
            return Err(InvalidConfig(format!(
                "--listen: {} addresses are refused: must be {LISTENERS}",
                args.listen.len()
            )));
        }
        let exposed = args.listen.iter().find(|address| !address.is_local());
        if let (Some(address), false) = (exposed, args.allow_plaintext) {
            return Err(InvalidConfig(format!(
                "--listen: {address} is refused: other machines can reach it, and there is no TLS; \
                 must be a loopback address or unix:PATH, or be allowed by --allow-plaintext"
            )));
        }
        let seconds = |seconds: i64| Duration::from_secs(seconds.unsigned_abs());
        let count = |count: i64| usize::try_from(count).unwrap_or(usize::MAX);
        Ok(Self {
            listen: args.listen.clone(),
            grace_period: seconds(args.grace_period),
            max_connections: count(args.max_connections),
            max_requests: count(args.max_requests),
            unary_timeout: seconds(args.unary_timeout),
            max_spread_bytes: args.max_spread_bytes.unsigned_abs(),
        })
    }
}

/// A configuration that cannot be served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidConfig(String);

impl fmt::Display for InvalidConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for InvalidConfig {}

/// Where to listen, or whom to call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ListenAddress {
    /// An IP address and port.
    Tcp(SocketAddr),
    /// The path of a Unix socket.
    Unix(PathBuf),
}

impl ListenAddress {
    /// Whether only this machine can reach it.
    #[must_use]
    pub fn is_local(&self) -> bool {
        match self {
            Self::Tcp(address) => address.ip().to_canonical().is_loopback(),
            Self::Unix(_) => true,
        }
    }
}

impl FromStr for ListenAddress {
    type Err = InvalidConfig;

    fn from_str(text: &str) -> Result<Self, InvalidConfig> {
        const ALLOWED: &str = "must be ADDRESS:PORT, localhost:PORT or unix:PATH";
        if let Some(path) = text.strip_prefix("unix:") {
            // unix:///path is how URLs say unix:/path
            let path = path.strip_prefix("//").unwrap_or(path);
            if path.is_empty() {
                return Err(InvalidConfig(format!("{text:?} has no path: {ALLOWED}")));
            }
            return Ok(Self::Unix(path.into()));
        }
        let numeric = match text.strip_prefix("localhost:") {
            Some(port) => format!("127.0.0.1:{port}"),
            None => text.to_owned(),
        };
        let address = numeric.parse();
        address
            .map(Self::Tcp)
            .map_err(|_| InvalidConfig(format!("{text:?} is no address: {ALLOWED}")))
    }
}

impl fmt::Display for ListenAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => address.fmt(f),
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_and_printed() {
        for (text, local) in [
            ("127.0.0.1:2328", true),
            ("127.9.9.9:1", true),
            ("[::1]:2328", true),
            ("[::ffff:127.0.0.1]:2328", true),
            ("unix:/run/offbeat.sock", true),
            ("0.0.0.0:2328", false),
            ("[::]:2328", false),
            ("10.0.0.1:2328", false),
        ] {
            let address: ListenAddress = text.parse().unwrap();
            assert_eq!((address.to_string().as_str(), address.is_local()), (text, local));
        }
        assert_eq!("localhost:1".parse::<ListenAddress>().unwrap().to_string(), "127.0.0.1:1");
        assert_eq!("unix:///a".parse::<ListenAddress>().unwrap().to_string(), "unix:/a");
        for bad in
            ["", "2328", "unix:", "unix://", "example.org:80", "127.0.0.1", "127.0.0.1:65536"]
        {
            assert!(bad.parse::<ListenAddress>().is_err(), "{bad}");
        }
    }
}
