//! What is logged, as flags and variables say it.

use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::LevelFilter;

/// Reads a filter; a bare word must be a level, or a typo would silence everything.
///
/// # Errors
/// When it is no filter.
pub fn log_filter(text: &str) -> Result<EnvFilter, String> {
    let refused = || {
        let allowed = "must be off, error, warn, info, debug or trace, or a filter such as \
                       info,offbeat::request=debug";
        format!("--log: {text:?} is refused: {allowed}")
    };
    let is_known = |part: &str| part.contains(['=', '[']) || part.parse::<LevelFilter>().is_ok();
    if !text.split(',').all(|part| is_known(part.trim())) {
        return Err(refused());
    }
    EnvFilter::try_new(text).map_err(|_| refused())
}
