//! Filters and formats of the log, from flags and variables.

use offbeat_core::rejection::shorten;
use tracing_subscriber::filter::{LevelFilter, Targets};

/// Libraries that log a warning for each fault of a peer: only their errors are logged, unless the
/// filter names them.
const NOISY_TARGETS: [&str; 3] = ["h2", "hyper", "rustls"];

/// Reads a filter; a bare word must be a level, or a typo would silence everything.
///
/// # Errors
/// When it is not a valid filter.
pub fn log_filter(text: &str) -> Result<Targets, String> {
    let refused = || {
        let allowed = "must be off, error, warn, info, debug or trace, or a filter such as \
                       info,offbeat::request=debug";
        format!("--log: \"{}\" is refused: {allowed}", shorten(text))
    };
    let is_known = |part: &str| {
        let is_level = |level: &str| level.parse::<LevelFilter>().is_ok();
        match part.split_once('=') {
            Some((_, level)) => is_level(level),
            None => !part.is_empty() && is_level(part),
        }
    };
    if !text.split(',').all(|part| is_known(part.trim())) {
        return Err(refused());
    }
    let filter: Targets = text.parse().map_err(|_| refused())?;
    let unnamed = NOISY_TARGETS.into_iter().filter(|library| {
        !text.split(',').any(|part| part.trim().starts_with(&format!("{library}=")))
    });
    let most = filter.default_level().unwrap_or(LevelFilter::OFF).min(LevelFilter::ERROR);
    Ok(unnamed.fold(filter, |filter, library| filter.with_target(library, most)))
}

#[cfg(test)]
mod tests {
    use tracing::Level;

    use super::*;

    #[test]
    fn libraries_do_not_log_peer_errors_by_default() {
        for (filter, h2_warns, we_tell) in [
            ("info", false, true),
            ("off", false, false),
            ("debug", false, true),
            ("info,h2=debug", true, true),
            ("warn,offbeat::request=debug", false, false),
        ] {
            let filter = log_filter(filter).unwrap();
            assert_eq!(filter.would_enable("h2::proto", &Level::WARN), h2_warns, "{filter}");
            assert_eq!(filter.would_enable("offbeat::net", &Level::INFO), we_tell, "{filter}");
        }
        assert!(!log_filter("off").unwrap().would_enable("h2", &Level::ERROR));
        for bad in ["verbose", "offbeat=loud", "info,verbose", ""] {
            assert!(log_filter(bad).is_err(), "{bad}");
        }
    }
}
