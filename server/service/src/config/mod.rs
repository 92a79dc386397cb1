//! The configuration of `offbeat serve`, checked before anything is bound.

mod address;
mod limits;
mod log;

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::{Args, Parser, ValueEnum};
use offbeat_core::limits::Limit;

use crate::limits::{ALLOWED_HOSTS, GRACE_SECONDS, LISTENERS, SOCKET_UIDS};
pub use address::{InvalidAddress, ListenAddress};
pub use limits::{LimitArgs, Limits};
pub use log::log_filter;

/// Where a server listens or a client calls by default; 2328 is free of a registered service.
pub const DEFAULT_ADDRESS: &str = "127.0.0.1:2328";

/// Where metrics and probes are answered by default.
pub const DEFAULT_ADMIN_ADDRESS: &str = "127.0.0.1:2329";

/// Flags of `offbeat serve`; each has a variable.
#[derive(Debug, Clone, Args)]
pub struct ServeArgs {
    /// Where to listen: ADDRESS:PORT, or unix:PATH; several, separated by commas
    #[arg(long, env = "OFFBEAT_LISTEN", default_value = DEFAULT_ADDRESS, value_delimiter = ',', value_name = "ADDRESS")]
    pub listen: Vec<ListenAddress>,

    /// Where to answer /metrics, /livez and /readyz: ADDRESS:PORT, unix:PATH or off
    /// [default: 127.0.0.1:2329, if it is free]
    #[arg(long, env = "OFFBEAT_ADMIN_LISTEN", value_name = "ADDRESS")]
    pub admin_listen: Option<AdminAddress>,

    /// Let --listen be without TLS on addresses that other machines can reach
    #[arg(long, env = "OFFBEAT_INSECURE", value_parser = clap::builder::BoolishValueParser::new())]
    pub insecure: bool,

    /// Let --admin-listen, which has no TLS and no tokens, be an address that other machines can reach
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

    /// How long requests in flight may go on after SIGTERM or SIGINT, in seconds
    #[arg(long, env = "OFFBEAT_GRACE_PERIOD", default_value_t = 10, value_name = "SECONDS", allow_negative_numbers = true, value_parser = within(GRACE_SECONDS))]
    pub grace_period: i64,

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
    /// The OTEL_EXPORTER_OTLP_* variables are heeded, too, and suffice
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
    /// Nowhere.
    Off,
    /// There.
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

/// A checked configuration.
#[derive(Debug, Clone)]
pub struct Config {
    /// Where to listen.
    pub listen: Vec<ListenAddress>,
    /// Where to answer metrics and probes.
    pub admin: Admin,
    /// What TLS needs; without it TCP is plain.
    pub tls: Option<TlsFiles>,
    /// The bearer tokens, if calls must carry one.
    pub token_file: Option<PathBuf>,
    /// The file of schedules that callers may name, if there is one.
    pub schedules: Option<PathBuf>,
    /// Permissions of Unix sockets.
    pub socket_mode: SocketMode,
    /// Who may call over Unix sockets; nobody named is everybody.
    pub socket_uids: Vec<u32>,
    /// Host names that callers on loopback may use besides `localhost` and addresses.
    pub allowed_hosts: Vec<String>,
    /// Whether gRPC reflection is answered.
    pub reflection: bool,
    /// How long requests in flight may go on after the signal to stop.
    pub grace_period: Duration,
    /// Limits.
    pub limits: Limits,
}

/// Where metrics and probes are answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Admin {
    /// Nowhere.
    Off,
    /// At the default address, if it is free: a second server on the machine goes without.
    IfFree(ListenAddress),
    /// There, or the server does not start.
    At(ListenAddress),
}

/// The files of TLS (PEM).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsFiles {
    /// The server's certificate, and those between it and a root.
    pub certificate: PathBuf,
    /// Its private key.
    pub key: PathBuf,
    /// Who must have signed the clients' certificates, if they must have some.
    pub client_ca: Option<PathBuf>,
}

#[derive(Debug, Parser)]
#[command(args_override_self = true)]
struct Flags {
    #[command(flatten)]
    args: ServeArgs,
}

impl Config {
    /// Reads flags as `offbeat serve` takes them; of a flag that is given twice the last one
    /// stands.
    ///
    /// # Errors
    /// When one is unknown or refused.
    pub fn from_flags<T: Into<OsString> + Clone>(
        flags: impl IntoIterator<Item = T>,
    ) -> Result<Self, InvalidConfig> {
        let name = std::iter::once(OsString::from("serve"));
        let flags = Flags::try_parse_from(name.chain(flags.into_iter().map(Into::into)));
        let flags = flags.map_err(|error| InvalidConfig(error.to_string()))?;
        Self::try_new(&flags.args)
    }

    /// Checks what single flags cannot.
    ///
    /// # Errors
    /// When an address can be reached by other machines without TLS and without `--insecure` or
    /// `--admin-insecure`, or there are too many.
    pub fn try_new(args: &ServeArgs) -> Result<Self, InvalidConfig> {
        within_limit("--listen", args.listen.len(), LISTENERS)?;
        within_limit("--socket-uids", args.socket_uids.len(), SOCKET_UIDS)?;
        within_limit("--allowed-host", args.allowed_hosts.len(), ALLOWED_HOSTS)?;
        let tls = args.tls_certificate.clone().zip(args.tls_key.clone());
        let tls = tls.map(|(certificate, key)| {
            let client_ca = args.tls_client_ca.clone();
            TlsFiles { certificate, key, client_ca }
        });
        let exposed = args.listen.iter().find(|address| !address.is_local());
        if let (Some(address), None, false) = (exposed, &tls, args.insecure) {
            return Err(InvalidConfig(format!(
                "--listen: {address} is refused: other machines can reach it, and there is no TLS; \
                 must be a loopback address or unix:PATH, have --tls-certificate and --tls-key, or \
                 be allowed by --insecure"
            )));
        }
        if let (Some(AdminAddress::At(address)), false) = (&args.admin_listen, args.admin_insecure)
            && !address.is_local()
        {
            return Err(InvalidConfig(format!(
                "--admin-listen: {address} is refused: other machines can reach it, and it has no \
                 TLS; must be a loopback address, unix:PATH or off, or be allowed by \
                 --admin-insecure"
            )));
        }
        let admin = match &args.admin_listen {
            Some(AdminAddress::Off) => Admin::Off,
            Some(AdminAddress::At(address)) => Admin::At(address.clone()),
            None => match DEFAULT_ADMIN_ADDRESS.parse() {
                Ok(address) => Admin::IfFree(address),
                Err(_) => Admin::Off, // it parses
            },
        };
        Ok(Self {
            listen: args.listen.clone(),
            admin,
            tls,
            token_file: args.token_file.clone(),
            schedules: args.schedules.clone(),
            socket_mode: args.socket_mode,
            socket_uids: args.socket_uids.clone(),
            allowed_hosts: args.allowed_hosts.clone(),
            reflection: args.reflection,
            grace_period: Duration::from_secs(args.grace_period.unsigned_abs()),
            limits: Limits::try_new(&args.limits).map_err(InvalidConfig)?,
        })
    }
}

fn within_limit(flag: &str, count: usize, limit: Limit) -> Result<(), InvalidConfig> {
    if limit.allows(i128::try_from(count).unwrap_or(i128::MAX)) {
        return Ok(());
    }
    let unit = limit.unit;
    Err(InvalidConfig(format!("{flag}: {count} {unit} are refused: must be {limit}")))
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

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(flags: &[&str]) -> String {
        Config::from_flags(flags.iter().copied()).unwrap_err().to_string()
    }

    #[test]
    fn what_other_machines_reach_is_encrypted_or_allowed() {
        assert!(refusal(&["--listen", "0.0.0.0:2328"]).contains("--insecure"));
        assert!(refusal(&["--listen", "127.0.0.1:1,[::]:2"]).contains("[::]:2 is refused"));
        assert!(refusal(&["--admin-listen", "0.0.0.0:2329"]).contains("--admin-insecure"));
        let tls = ["--tls-certificate", "c.pem", "--tls-key", "k.pem"];
        assert!(Config::from_flags([&["--listen", "0.0.0.0:1"][..], &tls].concat()).is_ok());
        assert!(Config::from_flags(["--listen", "0.0.0.0:1", "--insecure"]).is_ok());
        // TLS does not cover the admin port.
        let admin = ["--admin-listen", "0.0.0.0:1"];
        assert!(refusal(&[&admin[..], &tls].concat()).contains("--admin-listen"));
        // Each flag allows its own port alone.
        assert!(refusal(&[&admin[..], &["--insecure"]].concat()).contains("--admin-insecure"));
        assert!(Config::from_flags([&admin[..], &["--admin-insecure"]].concat()).is_ok());
        let both = ["--listen", "0.0.0.0:1", "--admin-insecure"];
        assert!(refusal(&both).contains("allowed by --insecure"));
    }

    #[test]
    fn half_a_configuration_of_tls_is_refused() {
        for flags in [
            ["--tls-certificate", "c.pem"],
            ["--tls-key", "k.pem"],
            ["--tls-client-ca", "ca.pem"],
            ["--socket-mode", "0o660"],
            ["--socket-mode", "1777"],
            ["--socket-uids", "root"],
            ["--max-requests", "0"],
            ["--unary-timeout", "-1"],
        ] {
            assert!(refusal(&flags).contains(flags[0]), "{flags:?}");
        }
    }
}
