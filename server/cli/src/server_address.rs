//! The server that a command calls: its address and its TLS.

use std::fmt;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::Args;
use rustls::pki_types::ServerName;

use super::Failure;
use super::http_client::{Peer, Tls};
use offbeat_service::config::{InvalidAddress, ListenAddress};

const LOCALHOST: &str = "localhost";

/// The address of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ServerAddress {
    /// As in a server's `--listen`.
    Listen(ListenAddress),
    /// A host by its name, which is looked up for each connection, and a port.
    Host { name: String, port: u16 },
}

impl ServerAddress {
    /// Whether the server is on this machine for certain: a name could lead elsewhere, except
    /// `localhost` (RFC 6761).
    pub(super) fn is_local(&self) -> bool {
        match self {
            Self::Listen(address) => address.is_local(),
            Self::Host { name, .. } => name == LOCALHOST,
        }
    }

    /// The host that an HTTP request names.
    pub(super) fn authority(&self) -> String {
        match self {
            Self::Listen(ListenAddress::Unix(_)) => LOCALHOST.to_owned(),
            Self::Listen(ListenAddress::Tcp(_)) | Self::Host { .. } => self.to_string(),
        }
    }
}

impl FromStr for ServerAddress {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let host = || {
            let (name, port) = text.rsplit_once(':')?;
            let is_dns = matches!(ServerName::try_from(name), Ok(ServerName::DnsName(_)));
            let port = port.parse().ok().filter(|_| is_dns)?;
            Some(Self::Host { name: name.to_owned(), port })
        };
        // `localhost` stays a name, because a certificate may contain it and no IP address.
        host().filter(Self::is_local).map_or_else(
            || {
                text.parse().map(Self::Listen).or_else(|invalid: InvalidAddress| {
                    host().ok_or_else(|| invalid.to_string().replace("ADDRESS:PORT", "HOST:PORT"))
                })
            },
            Ok,
        )
    }
}

impl fmt::Display for ServerAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Listen(address) => address.fmt(f),
            Self::Host { name, port } => write!(f, "{name}:{port}"),
        }
    }
}

#[derive(Debug, Args)]
pub(super) struct TlsArgs {
    /// Speak TLS, and trust a certificate that these authorities (PEM) have signed
    #[arg(long, value_name = "FILE")]
    pub(super) tls_ca: Option<PathBuf>,

    /// The name that the certificate must have [default: the host of the address]
    #[arg(long, value_name = "NAME", requires = "tls_ca", value_parser = parse_server_name)]
    tls_server_name: Option<ServerName<'static>>,
}

fn parse_server_name(text: &str) -> Result<ServerName<'static>, String> {
    text.to_owned().try_into().map_err(|_| "must be a DNS name or an IP address".to_owned())
}

impl TlsArgs {
    /// The server at an address.
    pub(super) fn peer(&self, address: &ServerAddress) -> Result<Peer, Failure> {
        let tls = |name| match &self.tls_ca {
            Some(authorities) => self.trusting(authorities, name).map(Some),
            None => Ok(None),
        };
        Ok(match address {
            ServerAddress::Listen(ListenAddress::Unix(_)) if self.tls_ca.is_some() => {
                return Err(Failure::Usage("--tls-ca: Unix sockets have no TLS".to_owned()));
            }
            ServerAddress::Listen(ListenAddress::Unix(path)) => Peer::Unix(path.clone()),
            ServerAddress::Listen(ListenAddress::Tcp(address)) => {
                Peer::Tcp { address: address.to_string(), tls: tls(ip_name(*address))? }
            }
            ServerAddress::Host { name, .. } => Peer::Tcp {
                address: address.to_string(),
                tls: tls(parse_server_name(name).map_err(Failure::Usage)?)?,
            },
        })
    }

    fn trusting(
        &self,
        authorities: &Path,
        host: ServerName<'static>,
    ) -> Result<(Tls, ServerName<'static>), Failure> {
        let tls = Tls::trusting(authorities).map_err(Failure::Usage)?;
        Ok((tls, self.tls_server_name.clone().unwrap_or(host)))
    }
}

fn ip_name(address: SocketAddr) -> ServerName<'static> {
    ServerName::IpAddress(address.ip().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_may_have_names() {
        for (text, shown, local) in [
            ("127.0.0.1:2328", "127.0.0.1:2328", true),
            ("localhost:1", "localhost:1", true),
            ("[::1]:2328", "[::1]:2328", true),
            ("unix:/run/offbeat.sock", "unix:/run/offbeat.sock", true),
            ("offbeat:2328", "offbeat:2328", false),
            ("offbeat.jobs.svc.cluster.local:2328", "offbeat.jobs.svc.cluster.local:2328", false),
        ] {
            let address: ServerAddress = text.parse().unwrap();
            assert_eq!((address.to_string().as_str(), address.is_local()), (shown, local));
        }
        for bad in
            ["", "offbeat", ":1", "offbeat:", "offbeat:65536", "a b:1", "http://a:1", "1.2.3:1"]
        {
            let refused = bad.parse::<ServerAddress>().unwrap_err();
            assert!(refused.contains("must be HOST:PORT"), "{bad}: {refused}");
        }
    }
}
