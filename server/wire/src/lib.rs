//! HTTP connections, over HTTP/1.1 and HTTP/2, and what messages hold, compiled for speed whatever
//! the rest is compiled for.
//!
//! hyper and h2 are generic in what they serve, and generic code takes the optimisation of the
//! crate that names its types. Here they are named once, behind pointers: the crate that answers
//! can be compiled for size, and no second copy of either is in the binary
//! (`docs/decisions/0011-small-and-fast.md`).

pub mod elements;

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Request, Response};
use http_body::{Body as HttpBody, Frame, SizeHint};
use hyper::body::Incoming;
use hyper::service::Service;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use tokio::io::{AsyncRead, AsyncWrite};

/// What a connection is served by: its protocols and their limits.
pub type Builder = auto::Builder<TokioExecutor>;

/// Why a connection, or the body of an answer, failed.
pub type Failure = Box<dyn std::error::Error + Send + Sync>;

/// What bytes are exchanged over.
pub trait Socket: AsyncRead + AsyncWrite + Unpin + Send {}
impl<S: AsyncRead + AsyncWrite + Unpin + Send> Socket for S {}

/// An answer on its way.
pub type Answering = Pin<Box<dyn Future<Output = Response<Body>> + Send>>;

/// Answers the requests of a connection.
pub type Handler<'a> = Box<dyn Fn(Request<Incoming>) -> Answering + Send + Sync + 'a>;

/// A builder without limits of its own.
#[must_use]
pub fn builder() -> Builder {
    auto::Builder::new(TokioExecutor::new())
}

/// The body of an answer.
pub struct Body(Pin<Box<dyn HttpBody<Data = Bytes, Error = Failure> + Send>>);

impl Body {
    /// Any body.
    pub fn new(body: impl HttpBody<Data = Bytes, Error = Failure> + Send + 'static) -> Self {
        Self(Box::pin(body))
    }
}

impl HttpBody for Body {
    type Data = Bytes;
    type Error = Failure;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Failure>>> {
        self.0.as_mut().poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.0.size_hint()
    }
}

/// A connection: a future that ends with it.
pub struct Connection<'a>(Pin<Box<Named<'a>>>);
type Named<'a> = auto::Connection<'a, TokioIo<Box<dyn Socket>>, Answerer<'a>, TokioExecutor>;

/// Serves a connection: its requests are answered by `handler`.
#[must_use]
pub fn serve<'a>(
    builder: &'a Builder,
    socket: Box<dyn Socket>,
    handler: Handler<'a>,
) -> Connection<'a> {
    let connection = builder.serve_connection(TokioIo::new(socket), Answerer(handler));
    Connection(Box::pin(connection))
}

impl Connection<'_> {
    /// Takes no further request, and ends when those under way have their answers.
    pub fn graceful_shutdown(&mut self) {
        self.0.as_mut().graceful_shutdown();
    }
}

impl Future for Connection<'_> {
    type Output = Result<(), Failure>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.0.as_mut().poll(cx)
    }
}

/// As hyper wants to be served.
struct Answerer<'a>(Handler<'a>);

impl Service<Request<Incoming>> for Answerer<'_> {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Answered;

    fn call(&self, request: Request<Incoming>) -> Answered {
        Answered(self.0(request))
    }
}

struct Answered(Answering);

impl Future for Answered {
    type Output = Result<Response<Body>, Infallible>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.0.as_mut().poll(cx).map(Ok)
    }
}
