//! Refuses requests of web pages. A browser on this machine reaches loopback listeners, and a page
//! whose name has been rebound to 127.0.0.1 (DNS rebinding) can post to them and read the
//! responses. Such a request names a host other than this machine, or names its origin.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::Request;
use axum::response::{IntoResponse as _, Response};
use http::uri::Authority;
use http::{StatusCode, Version, header};

use super::{Call, Stack};

/// Host names with a dot that callers on loopback may use.
#[derive(Debug, Clone, Default)]
pub struct AllowedHosts(Arc<[String]>);

impl AllowedHosts {
    /// Allows `names`, which have no ports.
    #[must_use]
    pub fn new(names: &[String]) -> Self {
        Self(names.iter().map(|name| name.to_ascii_lowercase()).collect())
    }

    /// Refuses a request on a loopback listener that names another host, or that a page of
    /// another origin has sent.
    ///
    /// # Errors
    /// With the HTTP status of the refusal, and what to change.
    pub fn check<B>(&self, request: &http::Request<B>) -> Result<(), (StatusCode, &'static str)> {
        let headers = request.headers();
        let mut hosts = headers.get_all(header::HOST).iter();
        let host = match (hosts.next(), hosts.next()) {
            (Some(host), None) => host.to_str().ok().and_then(|host| host.parse().ok()),
            (Some(_), Some(_)) => None,
            (None, _) => request.uri().authority().cloned(),
        };
        let Some(host) = host else {
            let why = "host: must be one host, and a port if it is not the default\n";
            return match request.version() {
                Version::HTTP_10 => Ok(()),
                _ => Err((StatusCode::BAD_REQUEST, why)),
            };
        };
        if !self.allow(&host) {
            let why = "host: must be localhost, an IP address, a name without a dot, or one of --allowed-host\n";
            return Err((StatusCode::MISDIRECTED_REQUEST, why));
        }
        let same_origin = match headers.get(header::ORIGIN).map(|origin| origin.to_str()) {
            None => true,
            Some(origin) => origin
                .ok()
                .and_then(|origin| origin.split_once("://"))
                .is_some_and(|(_, origin)| origin.eq_ignore_ascii_case(host.as_str())),
        };
        let cross_site = headers
            .get("sec-fetch-site")
            .is_some_and(|site| !matches!(site.as_bytes(), b"same-origin" | b"none"));
        if !same_origin || cross_site {
            return Err((StatusCode::FORBIDDEN, "origin: pages of other origins may not call\n"));
        }
        Ok(())
    }

    fn allow(&self, host: &Authority) -> bool {
        let name = host.host();
        let address = name.trim_start_matches('[').trim_end_matches(']');
        // No public site has a name without a dot, but services of a pod or of compose do.
        let is_known = name.eq_ignore_ascii_case("localhost")
            || address.parse::<IpAddr>().is_ok()
            || !name.contains(['.', '[', ':'])
            || self.0.iter().any(|allowed| allowed.eq_ignore_ascii_case(name));
        is_known && is_host_and_port(host)
    }
}

/// Whether an authority has nothing but a host and a port. (The parser accepts text before and
/// after a host in brackets.)
fn is_host_and_port(authority: &Authority) -> bool {
    let host = authority.host();
    match authority.port() {
        Some(port) => authority.as_str() == format!("{host}:{port}"),
        None => authority.as_str() == host,
    }
}

pub(super) fn refusal(stack: &Stack, call: &Call, request: &Request) -> Option<Response> {
    if !call.peer.on_loopback {
        return None;
    }
    let (code, why) = stack.hosts.check(request).err()?;
    call.outcome.set(&tonic::Status::permission_denied(why));
    Some((code, why).into_response())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(headers: &[(&str, &str)]) -> Result<(), StatusCode> {
        let hosts = AllowedHosts::new(&["sidecar.internal".to_owned()]);
        let mut request = Request::builder().uri("/x").body(()).unwrap();
        for (name, value) in headers {
            let name = http::HeaderName::try_from(*name).unwrap();
            request.headers_mut().append(name, value.parse().unwrap());
        }
        hosts.check(&request).map_err(|(code, _)| code)
    }

    #[test]
    fn only_names_of_this_machine_are_answered() {
        for host in [
            "localhost",
            "LOCALHOST:2328",
            "127.0.0.1:2328",
            "[::1]:1",
            "offbeat",
            "sidecar.internal:80",
        ] {
            assert_eq!(checked(&[("host", host)]), Ok(()), "{host}");
        }
        for host in ["attacker.example", "localhost.attacker.example:2328", "127.0.0.1.nip.io"] {
            assert_eq!(checked(&[("host", host)]), Err(StatusCode::MISDIRECTED_REQUEST), "{host}");
        }
        assert_eq!(checked(&[]), Err(StatusCode::BAD_REQUEST));
        for host in ["user@localhost", "[::1].attacker.example"] {
            assert_eq!(checked(&[("host", host)]), Err(StatusCode::MISDIRECTED_REQUEST), "{host}");
        }
        assert_eq!(checked(&[("host", "a b")]), Err(StatusCode::BAD_REQUEST));
        let twice = [("host", "localhost"), ("host", "attacker.example")];
        assert_eq!(checked(&twice), Err(StatusCode::BAD_REQUEST));
    }

    #[test]
    fn pages_of_other_origins_are_refused() {
        let host = ("host", "localhost:2328");
        assert_eq!(checked(&[host, ("origin", "http://localhost:2328")]), Ok(()));
        assert_eq!(checked(&[host, ("sec-fetch-site", "same-origin")]), Ok(()));
        for (name, value) in [
            ("origin", "http://localhost:3000"),
            ("origin", "https://attacker.example"),
            ("origin", "null"),
            ("sec-fetch-site", "cross-site"),
            ("sec-fetch-site", "same-site"),
        ] {
            assert_eq!(checked(&[host, (name, value)]), Err(StatusCode::FORBIDDEN), "{value}");
        }
    }
}
