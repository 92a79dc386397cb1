//! A request over HTTP/1.1, on a connection of its own: all that the probe, and the exporter of
//! spans, need of a client.

use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, UnixStream};

/// A longer answer counts as a failure.
const ANSWER_BYTES: usize = 64 << 10;

/// Why there is no answer.
pub(super) type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Whom to ask.
#[derive(Debug, Clone)]
pub(super) enum Peer {
    /// `HOST:PORT`; names are looked up.
    Tcp(String),
    /// The path of a Unix socket.
    Unix(std::path::PathBuf),
}

/// Either connection.
trait Connection: AsyncRead + AsyncWrite + Send + Unpin {}
impl<C: AsyncRead + AsyncWrite + Send + Unpin> Connection for C {}

/// Sends a request with an absolute path, and reads the whole answer, all of it within `patience`.
///
/// # Errors
/// When there is no answer in time, or it is too long.
pub(super) async fn post(
    peer: &Peer,
    request: Request<Bytes>,
    patience: Duration,
) -> Result<Response<Bytes>, Failure> {
    tokio::time::timeout(patience, exchange(peer, request))
        .await
        .unwrap_or_else(|_| Err(format!("no answer within {patience:?}").into()))
}

async fn exchange(peer: &Peer, request: Request<Bytes>) -> Result<Response<Bytes>, Failure> {
    let connection: Box<dyn Connection> = match peer {
        Peer::Tcp(address) => Box::new(TcpStream::connect(address).await?),
        Peer::Unix(path) => Box::new(UnixStream::connect(path).await?),
    };
    let (mut sender, connection) = http1::handshake(TokioIo::new(connection)).await?;
    let asked = async {
        let (head, body) = sender.send_request(request.map(Full::new)).await?.into_parts();
        let body = Limited::new(body, ANSWER_BYTES).collect().await?;
        Ok(Response::from_parts(head, body.to_bytes()))
    };
    tokio::pin!(asked);
    tokio::select! {
        answer = &mut asked => answer,
        // The connection may end first, with what is still to be read of the answer.
        ended = connection => match ended {
            Ok(()) => asked.await,
            Err(error) => Err(error.into()),
        },
    }
}
