//! Addresses, as flags and variables give them.

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::str::FromStr;

use offbeat_core::rejection::shorten;

/// An address to listen on, or to call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ListenAddress {
    /// An IP address and port.
    Tcp(SocketAddr),
    /// The path of a Unix socket.
    Unix(PathBuf),
}

impl ListenAddress {
    /// Whether only this machine can reach it.
    #[must_use]
    pub fn is_local(&self) -> bool {
        match self {
            Self::Tcp(address) => address.ip().to_canonical().is_loopback(),
            Self::Unix(_) => true,
        }
    }
}

impl FromStr for ListenAddress {
    type Err = InvalidAddress;

    fn from_str(text: &str) -> Result<Self, InvalidAddress> {
        const ALLOWED: &str = "must be ADDRESS:PORT, localhost:PORT or unix:PATH";
        let refused = |why| InvalidAddress(format!("\"{}\" {why}: {ALLOWED}", shorten(text)));
        if let Some(path) = text.strip_prefix("unix:") {
            // unix:///path is unix:/path in the form of a URL
            let path = path.strip_prefix("//").unwrap_or(path);
            if path.is_empty() {
                return Err(refused("has no path"));
            }
            return Ok(Self::Unix(path.into()));
        }
        let numeric = match text.strip_prefix("localhost:") {
            Some(port) => format!("127.0.0.1:{port}"),
            None => text.to_owned(),
        };
        let address = numeric.parse();
        address.map(Self::Tcp).map_err(|_| refused("is not an address"))
    }
}

impl fmt::Display for ListenAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => address.fmt(f),
            // Two leading slashes would be read as those of a URL.
            Self::Unix(path) if path.as_os_str().as_encoded_bytes().starts_with(b"//") => {
                write!(f, "unix://{}", path.display())
            }
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

/// A text that is not an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidAddress(String);

impl fmt::Display for InvalidAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for InvalidAddress {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_and_printed() {
        for (text, local) in [
            ("127.0.0.1:2328", true),
            ("127.9.9.9:1", true),
            ("[::1]:2328", true),
            ("[::ffff:127.0.0.1]:2328", true),
            ("unix:/run/offbeat.sock", true),
            ("0.0.0.0:2328", false),
            ("[::]:2328", false),
            ("10.0.0.1:2328", false),
        ] {
            let address: ListenAddress = text.parse().unwrap();
            assert_eq!((address.to_string().as_str(), address.is_local()), (text, local));
        }
        assert_eq!("localhost:1".parse::<ListenAddress>().unwrap().to_string(), "127.0.0.1:1");
        assert_eq!("unix:///a".parse::<ListenAddress>().unwrap().to_string(), "unix:/a");
        let slashes: ListenAddress = "unix:////run/a".parse().unwrap();
        assert_eq!(slashes.to_string().parse(), Ok(slashes));
        for bad in
            ["", "2328", "unix:", "unix://", "example.org:80", "127.0.0.1", "127.0.0.1:65536"]
        {
            assert!(bad.parse::<ListenAddress>().is_err(), "{bad}");
        }
    }
}
