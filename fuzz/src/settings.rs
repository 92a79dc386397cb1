//! The configuration of a server: flags, addresses, log filters, tokens, certificates.

use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

use clap::Args as _;
use offbeat::Server;
use offbeat::config::{Admin, Config, LimitArgs, ListenAddress, TlsFiles, log_filter};
use offbeat::layers::Tokens;

use super::choices::Choices;
use super::port;

/// The longest error message for refused settings: clap adds the usage of the flags.
const REFUSAL_BYTES: usize = 20_000;

fn heard<T>(read: Result<T, String>) -> Option<T> {
    read.inspect_err(|said| assert!(!said.is_empty() && said.len() <= REFUSAL_BYTES, "{said}")).ok()
}

/// Input: flags, one per line; an address; a filter; a file of tokens; or limits.
pub fn settings(data: &[u8]) {
    let mut choices = Choices::new(data);
    let kind = choices.below(5);
    if kind == 4 {
        return limits(&mut choices);
    }
    let text = String::from_utf8_lossy(choices.rest());
    match kind {
        0 => {
            let flags = text.lines().take(20);
            let config = Config::from_flags(flags).map_err(|invalid| invalid.to_string());
            let Some(config) = heard(config) else { return };
            let exposed = config.listen.iter().any(|address| !address.is_local());
            let allowed = config.tls.is_some() || text.contains("--insecure");
            assert!(!exposed || allowed || is_allowed_outside(), "{config:?}");
        }
        1 => {
            let address = text
                .parse()
                .map_err(|invalid: offbeat::config::InvalidAddress| invalid.to_string());
            let Some(address): Option<ListenAddress> = heard(address) else { return };
            assert_eq!(address.to_string().parse().as_ref(), Ok(&address), "{text}");
        }
        2 => drop(heard(log_filter(&text))),
        _ => tokens(&text),
    }
}

/// Limits as flags with numbers. A refusal names one of the flags and what is allowed. Accepted
/// limits are the given values, in any order of the flags, and a message fits into the bytes in
/// flight.
fn limits(choices: &mut Choices<'_>) {
    let command = LimitArgs::augment_args(clap::Command::new("limits"));
    let names: Vec<&str> = command.get_arguments().filter_map(clap::Arg::get_long).collect();
    let mut flags = BTreeMap::new();
    for _ in 0..=choices.below(6) {
        let name = names[choices.below(names.len())];
        // Scaled up, because most ranges begin in the thousands.
        let value = choices.integer().saturating_mul(choices.one_of(&[1, 1_024, 1 << 20]));
        flags.insert(name, value);
    }
    let forth: Vec<String> =
        flags.iter().map(|(name, value)| format!("--{name}={value}")).collect();
    let back: Vec<&String> = forth.iter().rev().collect();
    let config = Config::from_flags(&forth).map_err(|invalid| invalid.to_string());
    let backwards = Config::from_flags(back).map(|config| config.limits);
    assert_eq!(config.is_ok(), backwards.is_ok(), "{forth:?}");
    if let Err(said) = &config {
        let named = flags.iter().any(|(name, value)| {
            said.contains(&format!("--{name}")) && said.contains(&value.to_string())
        });
        assert!(named && said.contains("must be"), "{forth:?}: {said}");
    }
    let Some(Config { limits, .. }) = heard(config) else { return };
    assert_eq!(backwards.as_ref(), Ok(&limits), "{forth:?}");
    assert!(limits.message.maximum <= limits.bulk_message.maximum, "{limits:?}");
    let room = i64::try_from(limits.bytes_in_flight).unwrap();
    let seconds = |time: Duration| i64::try_from(time.as_secs()).unwrap();
    let age = limits.connection_age.map_or(0, seconds);
    assert!(limits.bulk_message.maximum <= room, "{limits:?}");
    for (name, held) in [
        ("max-bulk-message-bytes", limits.bulk_message.maximum),
        ("max-bytes-in-flight", room),
        ("max-spread-bytes", i64::try_from(limits.spread_bytes).unwrap()),
        ("max-connection-age", age),
        ("unary-timeout", seconds(limits.unary_time)),
    ] {
        assert!(flags.get(name).is_none_or(|said| *said == held), "{forth:?}: {limits:?}");
    }
}

/// An environment variable allows it, too.
fn is_allowed_outside() -> bool {
    std::env::var_os("OFFBEAT_INSECURE").is_some()
}

/// Neither a refusal nor the accepted value shows a token.
fn tokens(text: &str) {
    let said = match Tokens::parse(text) {
        Ok(tokens) => {
            let trimmed: Vec<&str> = text.lines().map(str::trim).collect();
            assert_eq!(Tokens::parse(&trimmed.join("\r\n")).as_ref(), Ok(&tokens));
            format!("{tokens:?}")
        }
        Err(refused) => refused,
    };
    assert!(said.len() <= 32 << 10, "{said}");
    if shows_no_more_than_a_line(&said) {
        return;
    }
    // Shorter tokens may be words of the message by chance.
    for token in text.lines().map(str::trim).filter(|token| token.len() >= 16) {
        assert!(!said.contains(token), "{said}");
    }
}

/// A file may contain the words of the error message itself as a token.
fn shows_no_more_than_a_line(said: &str) -> bool {
    let words = said.strip_prefix("line ").and_then(|rest| rest.split_once(": "));
    words.is_some_and(|(number, words)| {
        number.parse::<usize>().is_ok() && words == "must be letters, digits and -._~+/= alone"
    })
}

/// TLS files as pieces: certificate, key and, optionally, authorities.
pub fn certificates(data: &[u8]) {
    thread_local! {
        static FOLDER: tempfile::TempDir = tempfile::tempdir().unwrap();
    }
    let mut choices = Choices::new(data);
    FOLDER.with(|folder| {
        let mut write = |name: &str| {
            let path = folder.path().join(name);
            fs::write(&path, choices.piece()).unwrap();
            path
        };
        let (certificate, key, authorities) = (write("c.pem"), write("k.pem"), write("a.pem"));
        let client_ca = fs::metadata(&authorities).unwrap().len().gt(&0).then_some(authorities);
        let tls = Some(TlsFiles { certificate, key, client_ca });
        let mut config = Config::from_flags(["--admin-listen", "off"]).unwrap();
        (config.listen, config.admin, config.tls) = (Vec::new(), Admin::Off, tls);
        let bound = port::with(|port| port.block_on(Server::bind(&config)));
        if let Some(said) = bound.err().map(|refused| refused.to_string()) {
            assert!(said.contains("--tls-"), "{said}");
            assert!(said.len() <= REFUSAL_BYTES, "{said}");
        }
    });
}
