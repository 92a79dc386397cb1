//! The protocols of the port: encodings of requests and responses.

use axum::response::Response;
use bytes::Bytes;
use http::Request;
use http::header::CONTENT_TYPE;
use http_body::Frame;
use tonic::Status;

use crate::connect;

/// Protocol and encoding of a request and its response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// gRPC.
    Grpc,
    /// The Connect protocol's unary form: a message as JSON or protobuf.
    Connect,
    /// The Connect protocol's streaming form.
    ConnectStream,
}

impl Form {
    pub(super) fn of<B>(request: &Request<B>) -> Self {
        let content_type = request.headers().get(CONTENT_TYPE).map(http::HeaderValue::as_bytes);
        match content_type {
            Some(b"application/grpc" | b"application/grpc+proto") => Self::Grpc,
            Some(value) if value.starts_with(b"application/grpc;") => Self::Grpc,
            Some(connect::stream::CONTENT_TYPE) => Self::ConnectStream,
            _ => Self::Connect,
        }
    }

    /// The response to a refused request.
    pub(super) fn refusal(self, status: Status) -> Response {
        match self {
            Self::Grpc => status.into_http(),
            Self::Connect => connect::error::response(status),
            Self::ConnectStream => connect::stream::refusal(&status),
        }
    }

    /// The end of a response that has begun. The single message of a Connect response cannot be
    /// revoked: the connection ends instead.
    pub(super) fn end(self, status: Status) -> Result<Frame<Bytes>, axum::Error> {
        match self {
            Self::Grpc => {
                let mut trailers = http::HeaderMap::new();
                let written = status.add_header(&mut trailers);
                written.map(|()| Frame::trailers(trailers)).map_err(axum::Error::new)
            }
            Self::ConnectStream => Ok(Frame::data(connect::stream::end(&status))),
            Self::Connect => Err(axum::Error::new(status)),
        }
    }
}
