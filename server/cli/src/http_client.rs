//! Requests over HTTP/1.1, one after the other on one connection: over TCP, with or without TLS, or
//! over a Unix socket.

use std::error::Error;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, UnixStream};
use tokio::task::JoinHandle;
use tokio_rustls::TlsConnector;

/// Longer answers are refused. The longest ones are jobs, of about 1 MiB, and the states of 4,096
/// groups.
const RESPONSE_BYTES: usize = 8 << 20;

/// The server that is asked.
pub(super) enum Peer {
    /// `HOST:PORT`, and TLS with the name that its certificate must have, if it is used.
    Tcp {
        address: String,
        tls: Option<(Tls, ServerName<'static>)>,
    },
    Unix(PathBuf),
}

/// How a server's certificate is checked.
pub(super) struct Tls(TlsConnector);

impl Tls {
    /// Trusts certificates that the authorities in a file (PEM) have signed.
    pub(super) fn trusting(authorities: &Path) -> Result<Self, String> {
        let refused = |error: &dyn fmt::Display| format!("{}: {error}", authorities.display());
        let mut roots = RootCertStore::empty();
        for certificate in
            CertificateDer::pem_file_iter(authorities).map_err(|error| refused(&error))?
        {
            let certificate = certificate.map_err(|error| refused(&error))?;
            roots.add(certificate).map_err(|error| refused(&error))?;
        }
        if roots.is_empty() {
            return Err(refused(&"must hold a certificate (PEM)"));
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(Self(TlsConnector::from(Arc::new(config))))
    }
}

/// Why there is no answer: the innermost cause, since the outer ones often say "connection error".
pub(super) struct SendError {
    message: String,
    is_permanent: bool,
}

impl SendError {
    /// Whether the server's certificate was refused, which no repetition changes.
    pub(super) const fn is_permanent(&self) -> bool {
        self.is_permanent
    }
}

impl fmt::Display for SendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl<E: Into<Box<dyn Error + Send + Sync>>> From<E> for SendError {
    fn from(error: E) -> Self {
        let error = error.into();
        let mut cause: &(dyn Error + 'static) = &*error;
        while let Some(deeper) = cause.source() {
            cause = deeper;
        }
        // The TLS library wraps its error so that it is no source of the I/O error.
        let inner = cause.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        let is_permanent = matches!(
            inner.and_then(|error| error.downcast_ref()),
            Some(rustls::Error::InvalidCertificate(_))
        );
        let mut message = cause.to_string();
        // `openssl req -x509` makes such certificates by default.
        if is_permanent && message.contains("CaUsedAsEndEntity") {
            message.push_str(": it is an authority's; a server's has basicConstraints CA:FALSE");
        }
        Self { message, is_permanent }
    }
}

trait Socket: AsyncRead + AsyncWrite + Send + Unpin {}
impl<S: AsyncRead + AsyncWrite + Send + Unpin> Socket for S {}

/// An open connection, and the task that drives it.
struct OpenConnection {
    sender: SendRequest<Full<Bytes>>,
    driver: JoinHandle<hyper::Result<()>>,
}

/// A connection to a server: opened by the first request, and by the next one after a failure.
pub(super) struct Connection {
    peer: Peer,
    open: Option<OpenConnection>,
}

impl Connection {
    pub(super) const fn new(peer: Peer) -> Self {
        Self { peer, open: None }
    }

    /// Sends a request with an absolute path, and reads the whole answer, all of it within `timeout`.
    pub(super) async fn send(
        &mut self,
        request: Request<Bytes>,
        timeout: Duration,
    ) -> Result<Response<Bytes>, SendError> {
        // A request that fails, or is not waited for, leaves no connection behind.
        let kept = self.open.take().filter(|open| !open.sender.is_closed());
        let exchange = exchange(&self.peer, kept, request);
        let (open, response) = tokio::time::timeout(timeout, exchange)
            .await
            .unwrap_or_else(|_| Err(format!("no answer within {timeout:?}").into()))?;
        self.open = Some(open);
        Ok(response)
    }
}

async fn exchange(
    peer: &Peer,
    kept: Option<OpenConnection>,
    request: Request<Bytes>,
) -> Result<(OpenConnection, Response<Bytes>), SendError> {
    let mut open = match kept {
        Some(open) => open,
        None => connect(peer).await?,
    };
    open.sender.ready().await?;
    let (head, body) = match open.sender.send_request(request.map(Full::new)).await {
        Ok(response) => response.into_parts(),
        Err(error) => {
            // The error of the connection says more than that it has ended.
            if let Ok(Err(cause)) = open.driver.await {
                return Err(cause.into());
            }
            return Err(error.into());
        }
    };
    let body = Limited::new(body, RESPONSE_BYTES).collect().await?;
    Ok((open, Response::from_parts(head, body.to_bytes())))
}

async fn connect(peer: &Peer) -> Result<OpenConnection, SendError> {
    let socket: Box<dyn Socket> = match peer {
        Peer::Unix(path) => Box::new(UnixStream::connect(path).await?),
        Peer::Tcp { address, tls } => {
            let socket = TcpStream::connect(address).await?;
            socket.set_nodelay(true)?;
            match tls {
                None => Box::new(socket),
                Some((tls, name)) => Box::new(tls.0.connect(name.clone(), socket).await?),
            }
        }
    };
    let (sender, connection) = http1::handshake(TokioIo::new(socket)).await?;
    Ok(OpenConnection { sender, driver: tokio::spawn(connection) })
}
