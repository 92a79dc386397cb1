//! Where named spreads are kept.

use clap::Args;

/// Flags of `offbeat serve` about the store of named spreads; each has a variable.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Named spreads")]
pub struct SpreadStoreArgs {
    /// A Redis (7.0 or later) or Valkey that keeps named spreads for several servers:
    /// redis://USER:PASSWORD@HOST:PORT/DATABASE, rediss:// for TLS, or redis+unix:///PATH
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
}

/// Where named spreads are kept: in Redis, or, without a URL, in memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpreadStoreConfig {
    /// Which Redis. It may hold a password.
    pub url: Option<String>,
    /// What all keys begin with.
    pub prefix: String,
}

impl From<&SpreadStoreArgs> for SpreadStoreConfig {
    fn from(args: &SpreadStoreArgs) -> Self {
        let SpreadStoreArgs { spread_store, spread_store_prefix } = args;
        Self { url: spread_store.clone(), prefix: spread_store_prefix.clone() }
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
