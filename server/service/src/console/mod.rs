//! The console: a page for people on the admin port, and the calls that it makes.
//!
//! It is served only where the port of the services would answer the same caller: see [`is_open`].
//! Its calls pass all layers of that port, tokens too.

mod assets;
mod calls;
mod simulations;

use axum::Router;
use axum::body::Bytes;
use axum::routing::get;
use http::header;

use crate::config::{Config, ListenAddress, Setting};

/// What the console needs of a server.
#[derive(Debug, Clone)]
pub(crate) struct Console {
    /// The services behind their layers.
    pub(crate) services: Router,
    /// Whether it may change something, and see what jobs carry.
    pub(crate) writes: bool,
    /// The settings in force, as JSON.
    pub(crate) settings: Bytes,
}

/// Whether a console would show its callers only what the port of the services answers them, too.
///
/// Every user of the machine reaches the admin port on loopback. A server that knows its callers by
/// the user of a Unix socket, or by the certificate of a client, must not answer them there; one
/// that asks for tokens asks for them there as well. Beyond loopback, tokens and TLS are needed.
pub(crate) fn is_open(config: &Config, on_loopback: bool) -> bool {
    let asks_for_certificates = config.tls.as_ref().is_some_and(|tls| tls.client_ca.is_some());
    let is_tcp = |address: &ListenAddress| matches!(address, ListenAddress::Tcp(_));
    let answers_all = !asks_for_certificates && config.listen.iter().any(is_tcp);
    let asks_for_tokens = config.token_file.is_some();
    if on_loopback { asks_for_tokens || answers_all } else { asks_for_tokens && config.admin_tls }
}

/// Settings as the page reads them: the flag, value and source of each.
pub(crate) fn settings_json(settings: &[Setting], writes: bool) -> Bytes {
    let settings: Vec<_> = settings
        .iter()
        .map(|Setting { flag, value, source }| {
            let source = source.to_string();
            serde_json::json!({ "flag": flag, "value": value, "source": source })
        })
        .collect();
    serde_json::json!({ "writes": writes, "settings": settings }).to_string().into()
}

/// The page, its settings and its calls.
pub(crate) fn router(console: &Console) -> Router {
    let settings = console.settings.clone();
    let settings = move || async move { ([(header::CONTENT_TYPE, "application/json")], settings) };
    assets::router().route("/console/settings", get(settings)).merge(calls::router(console))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opens(flags: &[&str]) -> bool {
        is_open(&Config::from_flags(flags.iter().copied()).unwrap(), true)
    }

    #[test]
    fn beyond_loopback_the_console_needs_tls_and_tokens() {
        let tls = ["--tls-certificate", "c.pem", "--tls-key", "k.pem", "--admin-tls"];
        let tokens = ["--token-file", "tokens"];
        let both = [&tls[..], &tokens].concat();
        for (flags, expected) in [(&[][..], false), (&tls, false), (&tokens, false), (&both, true)]
        {
            let config = Config::from_flags(flags.iter().copied()).unwrap();
            assert_eq!(is_open(&config, false), expected, "{flags:?}");
        }
    }

    #[test]
    fn a_server_that_knows_its_callers_has_no_console_without_tokens() {
        let certificates =
            ["--tls-certificate", "c.pem", "--tls-key", "k.pem", "--tls-client-ca", "ca.pem"];
        let tokens = ["--token-file", "tokens"];
        let socket = ["--listen", "unix:/run/offbeat.sock"];
        assert!(opens(&[]));
        assert!(opens(&certificates[..4]));
        assert!(opens(&["--listen", "unix:/run/offbeat.sock,127.0.0.1:2328"]));
        for refused in [&certificates[..], &socket] {
            assert!(!opens(refused), "{refused:?}");
            assert!(opens(&[refused, &tokens].concat()), "{refused:?}");
        }
    }
}
