//! The configuration of `offbeat serve`, checked before anything is bound.

mod address;
mod args;
mod limits;
mod log;
mod settings;
mod spread_store;
mod variables;

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use clap::Parser;
use offbeat_core::limits::Limit;

use crate::limits::{ALLOWED_HOSTS, LISTENERS, SOCKET_UIDS};
pub use address::{InvalidAddress, ListenAddress};
pub use args::{AdminAddress, LogFormat, ServeArgs, SocketMode, within};
pub use limits::{LimitArgs, Limits};
pub use log::log_filter;
pub use settings::{Setting, Source, settings};
pub use spread_store::{SpreadStoreArgs, SpreadStoreConfig};
pub use variables::{UnknownVariable, unknown_variables};

/// Where a server listens or a client calls by default; no service is registered for port 2328.
pub const DEFAULT_ADDRESS: &str = "127.0.0.1:2328";

/// The default address of metrics and probes.
pub const DEFAULT_ADMIN_ADDRESS: &str = "127.0.0.1:2329";

/// A checked configuration.
#[derive(Debug, Clone)]
pub struct Config {
    /// Addresses of the services.
    pub listen: Vec<ListenAddress>,
    /// Address of metrics and probes.
    pub admin: Admin,
    /// Whether the admin port speaks TLS, and asks for tokens where the services do.
    pub admin_tls: bool,
    /// Whether the console may change something.
    pub console_write: bool,
    /// Files of TLS; without them, TCP connections are not encrypted.
    pub tls: Option<TlsFiles>,
    /// The bearer tokens, if calls must carry one.
    pub token_file: Option<PathBuf>,
    /// The file of schedules that callers may name, if there is one.
    pub schedules: Option<ScheduleFiles>,
    /// Permissions of Unix sockets.
    pub socket_mode: SocketMode,
    /// Users who may call over Unix sockets; all users if it is empty.
    pub socket_uids: Vec<u32>,
    /// Host names that callers on loopback may use besides `localhost` and addresses.
    pub allowed_hosts: Vec<String>,
    /// Whether gRPC reflection is answered.
    pub reflection: bool,
    /// How long all requests are still served after the signal to stop.
    pub drain_delay: Duration,
    /// How long requests in flight may continue after that.
    pub grace_period: Duration,
    /// Where named spreads are kept.
    pub spread_store: SpreadStoreConfig,
    /// The limits in force.
    pub limits: Limits,
}

/// The address of metrics and probes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Admin {
    /// There is no admin port.
    Off,
    /// At the default address, if it is free: a second server on the machine has no admin port.
    IfFree(ListenAddress),
    /// At this address, or the server does not start.
    At(ListenAddress),
}

/// The files of TLS (PEM).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsFiles {
    /// The server's certificate chain.
    pub certificate: PathBuf,
    /// The private key of the certificate.
    pub key: PathBuf,
    /// Authorities of client certificates, if clients must have one.
    pub client_ca: Option<PathBuf>,
}

/// The files of schedules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScheduleFiles {
    /// The file that is read again when it changes.
    pub path: PathBuf,
    /// A copy of the last content that was accepted, if one is kept.
    pub last_good: Option<PathBuf>,
}

#[derive(Debug, Parser)]
#[command(args_override_self = true)]
struct Flags {
    #[command(flatten)]
    args: ServeArgs,
}

impl Config {
    /// Reads flags as `offbeat serve` takes them; if a flag is given twice, the last one counts.
    ///
    /// # Errors
    /// When a flag is unknown or refused.
    pub fn from_flags<T: Into<OsString> + Clone>(
        flags: impl IntoIterator<Item = T>,
    ) -> Result<Self, InvalidConfig> {
        let name = std::iter::once(OsString::from("serve"));
        let flags = Flags::try_parse_from(name.chain(flags.into_iter().map(Into::into)));
        let flags = flags.map_err(|error| InvalidConfig(error.to_string()))?;
        Self::try_new(&flags.args)
    }

    /// Checks the flags together.
    ///
    /// # Errors
    /// When an address can be reached by other machines without TLS and without `--insecure` or
    /// `--admin-insecure`, a list is too long, limits contradict each other, or a file would be its
    /// own copy.
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
        if args.admin_tls && tls.is_none() {
            let allowed = "needs --tls-certificate and --tls-key";
            return Err(InvalidConfig(format!("--admin-tls: {allowed}")));
        }
        let is_admin_safe = args.admin_tls || args.admin_insecure;
        if let (Some(AdminAddress::At(address)), false) = (&args.admin_listen, is_admin_safe)
            && !address.is_local()
        {
            return Err(InvalidConfig(format!(
                "--admin-listen: {address} is refused: other machines can reach it, and there is \
                 no TLS; must be a loopback address, unix:PATH or off, have --admin-tls, or be \
                 allowed by --admin-insecure"
            )));
        }
        let admin = match &args.admin_listen {
            Some(AdminAddress::Off) => Admin::Off,
            Some(AdminAddress::At(address)) => Admin::At(address.clone()),
            None => match DEFAULT_ADMIN_ADDRESS.parse() {
                Ok(address) => Admin::IfFree(address),
                Err(_) => Admin::Off, // unreachable: it parses
            },
        };
        let schedules = args.schedules.clone().map(|path| {
            let last_good = args.last_good_schedules.clone();
            ScheduleFiles { path, last_good }
        });
        if let Some(ScheduleFiles { path, last_good: Some(copy) }) = &schedules
            && path == copy
        {
            return Err(InvalidConfig(format!(
                "--last-good-schedules: {} is refused: must be another file than --schedules",
                copy.display()
            )));
        }
        Ok(Self {
            listen: args.listen.clone(),
            admin,
            admin_tls: args.admin_tls,
            console_write: args.console_write,
            tls,
            token_file: args.token_file.clone(),
            schedules,
            socket_mode: args.socket_mode,
            socket_uids: args.socket_uids.clone(),
            allowed_hosts: args.allowed_hosts.clone(),
            reflection: args.reflection,
            drain_delay: Duration::from_secs(args.drain_delay.unsigned_abs()),
            grace_period: Duration::from_secs(args.grace_period.unsigned_abs()),
            spread_store: (&args.spread_store).into(),
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
    fn remote_listeners_must_be_encrypted_or_explicitly_insecure() {
        assert!(refusal(&["--listen", "0.0.0.0:2328"]).contains("--insecure"));
        assert!(refusal(&["--listen", "127.0.0.1:1,[::]:2"]).contains("[::]:2 is refused"));
        assert!(refusal(&["--admin-listen", "0.0.0.0:2329"]).contains("--admin-insecure"));
        let tls = ["--tls-certificate", "c.pem", "--tls-key", "k.pem"];
        assert!(Config::from_flags([&["--listen", "0.0.0.0:1"][..], &tls].concat()).is_ok());
        assert!(Config::from_flags(["--listen", "0.0.0.0:1", "--insecure"]).is_ok());
        // TLS on the service port does not cover the admin port.
        let admin = ["--admin-listen", "0.0.0.0:1"];
        assert!(refusal(&[&admin[..], &tls].concat()).contains("--admin-listen"));
        let encrypted = [&admin[..], &tls, &["--admin-tls"]].concat();
        assert!(Config::from_flags(encrypted).is_ok());
        assert!(refusal(&["--admin-tls"]).contains("--tls-certificate"));
        // Each flag applies to its own port only.
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
            ["--drain-delay", "3601"],
            ["--last-good-schedules", "copy.toml"],
        ] {
            assert!(refusal(&flags).contains(flags[0]), "{flags:?}");
        }
        let copy = ["--schedules", "s.toml", "--last-good-schedules", "s.toml"];
        assert!(refusal(&copy).contains("--last-good-schedules: s.toml is refused"));
    }
}
