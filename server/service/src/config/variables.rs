//! Unknown variables that look like settings.

use std::ffi::OsString;
use std::fmt;

use offbeat_core::rejection::shorten;

/// Prefix of our variables.
const PREFIX: &str = "OFFBEAT_";

/// Variables of the clients, which may be in the environment of a sidecar, too.
const OF_CLIENTS: [&str; 2] = ["OFFBEAT_ADDRESS", "OFFBEAT_TIMEOUT"];

/// Minimum Jaro similarity of a name that is suggested: clap's own threshold.
const SIMILAR: f64 = 0.7;

/// A variable `OFFBEAT_…` that sets nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownVariable {
    /// Name of the variable.
    pub name: String,
    /// The setting that was probably meant.
    pub similar: Option<String>,
}

impl fmt::Display for UnknownVariable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&shorten(&self.name))?;
        self.similar.as_ref().map_or(Ok(()), |similar| write!(f, " (did you mean {similar}?)"))
    }
}

/// The `variables` that have our prefix and are neither `known` nor those of a client. Variables
/// that Kubernetes derives from the names of Services are left out.
#[must_use]
pub fn unknown_variables(
    variables: impl IntoIterator<Item = (OsString, OsString)>,
    known: &[String],
) -> Vec<UnknownVariable> {
    let mut unknown: Vec<_> = variables
        .into_iter()
        .map(|(name, value)| (name.to_string_lossy().into_owned(), value))
        .filter(|(name, value)| {
            let is_ours = known.contains(name) || OF_CLIENTS.contains(&name.as_str());
            name.starts_with(PREFIX) && !is_ours && !is_service_link(name, &value.to_string_lossy())
        })
        .map(|(name, _)| UnknownVariable { similar: similar(&name, known), name })
        .collect();
    unknown.sort_by(|a, b| a.name.cmp(&b.name));
    unknown
}

/// Whether Kubernetes derived it from a Service whose name begins with "offbeat".
fn is_service_link(name: &str, value: &str) -> bool {
    let of_port = |(_, rest): (&str, &str)| rest.starts_with(|first: char| first.is_ascii_digit());
    name.ends_with("_SERVICE_HOST")
        || name.ends_with("_SERVICE_PORT")
        || name.contains("_SERVICE_PORT_")
        || name.split_once("_PORT_").is_some_and(of_port)
        || (name.ends_with("_PORT")
            && ["tcp://", "udp://"].iter().any(|url| value.starts_with(url)))
}

fn similar(name: &str, known: &[String]) -> Option<String> {
    let bare = |name: &str| name.trim_start_matches(PREFIX).to_ascii_uppercase();
    let rated = known.iter().map(|known| (strsim::jaro(&bare(name), &bare(known)), known));
    let best = rated.max_by(|(a, _), (b, _)| a.total_cmp(b));
    best.filter(|(rating, _)| *rating >= SIMILAR).map(|(_, known)| known.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typos_are_found_and_foreign_variables_ignored() {
        let known = ["OFFBEAT_LISTEN", "OFFBEAT_ADMIN_LISTEN", "OFFBEAT_LOG"].map(str::to_owned);
        let found = |name: &str, value: &str| {
            let unknown = unknown_variables([(name.into(), value.into())], &known);
            unknown.first().map(ToString::to_string)
        };
        for (name, value) in [
            ("OFFBEAT_LISTEN", "x"),
            ("OFFBEAT_ADDRESS", "unix:/a"),
            ("OFFBEATS", "x"),
            ("PATH", "x"),
            ("OFFBEAT_SERVICE_HOST", "10.0.0.1"),
            ("OFFBEAT_SERVICE_PORT", "2328"),
            ("OFFBEAT_SERVICE_PORT_GRPC", "2328"),
            ("OFFBEAT_PORT", "tcp://10.0.0.1:2328"),
            ("OFFBEAT_PORT_2328_TCP", "tcp://10.0.0.1:2328"),
            ("OFFBEAT_PORT_2328_TCP_ADDR", "10.0.0.1"),
            ("OFFBEAT_STAGING_SERVICE_HOST", "10.0.0.1"),
        ] {
            assert_eq!(found(name, value), None, "{name}");
        }
        for (name, said) in [
            ("OFFBEAT_LISTENN", "OFFBEAT_LISTENN (did you mean OFFBEAT_LISTEN?)"),
            ("OFFBEAT_ADMINLISTEN", "OFFBEAT_ADMINLISTEN (did you mean OFFBEAT_ADMIN_LISTEN?)"),
            ("OFFBEAT_PORT", "OFFBEAT_PORT"),
            ("OFFBEAT_XYZZY", "OFFBEAT_XYZZY"),
        ] {
            assert_eq!(found(name, "2328").as_deref(), Some(said), "{name}");
        }
    }
}
