//! One request over HTTP/1.1, on a connection of its own: over TCP, with or without TLS, or over a
//! Unix socket.

use std::error::Error;
use std::fmt;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, UnixStream};
use tokio_rustls::TlsConnector;

/// Longer answers are refused.
const RESPONSE_BYTES: usize = 64 << 10;

/// The server that is asked.
pub(super) enum Peer {
    Tcp { address: SocketAddr, tls: Option<(Tls, ServerName<'static>)> },
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

/// Why there is no answer: the innermost cause, since that around it often says "connection error".
pub(super) struct SendError(String);

impl fmt::Display for SendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<E: Into<Box<dyn Error + Send + Sync>>> From<E> for SendError {
    fn from(error: E) -> Self {
        let error = error.into();
        let mut cause: &(dyn Error + 'static) = &*error;
        while let Some(deeper) = cause.source() {
            cause = deeper;
        }
        Self(cause.to_string())
    }
}

trait Connection: AsyncRead + AsyncWrite + Send + Unpin {}
impl<C: AsyncRead + AsyncWrite + Send + Unpin> Connection for C {}

/// Sends a request with an absolute path, and reads the whole answer, all of it within `timeout`.
pub(super) async fn send(
    peer: &Peer,
    request: Request<Bytes>,
    timeout: Duration,
) -> Result<Response<Bytes>, SendError> {
    tokio::time::timeout(timeout, exchange(peer, request))
        .await
        .unwrap_or_else(|_| Err(format!("no answer within {timeout:?}").into()))
}

async fn exchange(peer: &Peer, request: Request<Bytes>) -> Result<Response<Bytes>, SendError> {
    let connection: Box<dyn Connection> = match peer {
        Peer::Unix(path) => Box::new(UnixStream::connect(path).await?),
        Peer::Tcp { address, tls: None } => Box::new(TcpStream::connect(address).await?),
        Peer::Tcp { address, tls: Some((tls, name)) } => {
            let socket = TcpStream::connect(address).await?;
            Box::new(tls.0.connect(name.clone(), socket).await?)
        }
    };
    let (mut sender, connection) = http1::handshake(TokioIo::new(connection)).await?;
    let connection = tokio::spawn(connection);
    let (head, body) = match sender.send_request(request.map(Full::new)).await {
        Ok(response) => response.into_parts(),
        Err(error) => {
            // What ended the connection says more than that it has ended.
            if let Ok(Err(cause)) = connection.await {
                return Err(cause.into());
            }
            return Err(error.into());
        }
    };
    let body = Limited::new(body, RESPONSE_BYTES).collect().await?;
    Ok(Response::from_parts(head, body.to_bytes()))
}
