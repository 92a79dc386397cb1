//! Settings of the store of named spreads.

use std::path::PathBuf;

use clap::Args;

use super::within;
use crate::limits::STORE_REPLICAS;

/// Flags of `offbeat serve` about the store of named spreads; each has a variable.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Named spreads")]
pub struct SpreadStoreArgs {
    /// A Redis (7.0 or later) or Valkey that keeps named spreads for several servers:
    /// redis://USER:PASSWORD@HOST:PORT/DATABASE, rediss:// for TLS, redis+unix:///PATH, or
    /// redis+sentinel://USER:PASSWORD@HOST:PORT,HOST:PORT/SERVICE/DATABASE (rediss+sentinel://)
    /// [default: memory]
    #[arg(long, env = "OFFBEAT_SPREAD_STORE", hide_env_values = true, value_name = "URL")]
    pub spread_store: Option<String>,

    /// What all keys in the store begin with
    #[arg(
        long,
        env = "OFFBEAT_SPREAD_STORE_PREFIX",
        default_value = "offbeat:",
        value_name = "TEXT"
    )]
    pub spread_store_prefix: String,

    /// Replicas of the store that may take over: pulls, groups and extended leases are answered when
    /// so many have them
    #[arg(long, env = "OFFBEAT_SPREAD_STORE_REPLICAS", default_value_t = 0, value_name = "COUNT", allow_negative_numbers = true, value_parser = within(STORE_REPLICAS))]
    pub spread_store_replicas: i64,

    /// The certificate authorities of the store, in PEM [default: those of the system]
    #[arg(long, env = "OFFBEAT_SPREAD_STORE_CA", value_name = "FILE", requires = "spread_store")]
    pub spread_store_ca: Option<PathBuf>,

    /// The certificate that is shown to the store, in PEM
    #[arg(
        long,
        env = "OFFBEAT_SPREAD_STORE_CERTIFICATE",
        value_name = "FILE",
        requires = "spread_store_key"
    )]
    pub spread_store_certificate: Option<PathBuf>,

    /// The key of that certificate, in PEM
    #[arg(
        long,
        env = "OFFBEAT_SPREAD_STORE_KEY",
        value_name = "FILE",
        requires = "spread_store_certificate"
    )]
    pub spread_store_key: Option<PathBuf>,
}

/// The store of named spreads: Redis, or, without a URL, memory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SpreadStoreConfig {
    /// The URL of Redis, which may hold a password; `None` for memory.
    pub url: Option<String>,
    /// Prefix of all keys.
    pub prefix: String,
    /// Number of its replicas that may take over.
    pub replicas: u32,
    /// Its certificate authorities, if they are not those of the system.
    pub ca: Option<PathBuf>,
    /// The certificate that is shown to it.
    pub certificate: Option<PathBuf>,
    /// The key of the certificate.
    pub key: Option<PathBuf>,
}

impl SpreadStoreConfig {
    /// A store at a URL, with a prefix for its keys.
    #[must_use]
    pub fn at(url: &str, prefix: &str) -> Self {
        Self { url: Some(url.to_owned()), prefix: prefix.to_owned(), ..Self::default() }
    }
}

impl From<&SpreadStoreArgs> for SpreadStoreConfig {
    fn from(args: &SpreadStoreArgs) -> Self {
        let args = args.clone();
        Self {
            url: args.spread_store,
            prefix: args.spread_store_prefix,
            replicas: args.spread_store_replicas.try_into().unwrap_or(u32::MAX),
            ca: args.spread_store_ca,
            certificate: args.spread_store_certificate,
            key: args.spread_store_key,
        }
    }
}

/// A URL without the password that it may hold.
pub(super) fn without_password(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let Some((secret, host)) = rest.rsplit_once('@') else { return url.to_owned() };
    let user = secret.split(':').next().unwrap_or_default();
    format!("{scheme}://{user}:***@{host}")
}

#[cfg(test)]
mod tests {
    use super::without_password;

    #[test]
    fn passwords_are_not_shown() {
        for (url, shown) in [
            ("redis://localhost", "redis://localhost"),
            ("redis://:secret@host:1/2", "redis://:***@host:1/2"),
            ("rediss://user:a@b:c@host", "rediss://user:***@host"),
            ("redis+unix:///run/redis.sock", "redis+unix:///run/redis.sock"),
        ] {
            assert_eq!(without_password(url), shown);
        }
    }
}
