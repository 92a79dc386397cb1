//! Unary calls: one message in, and one out.
//!
//! Large ones are answered on another thread, from the first byte of the message to the last of
//! the answer: megabytes take milliseconds to decode, or to write, in which the event loop would
//! answer nobody.

use bytes::{Buf as _, BytesMut};
use http::{Request, Response};
use http_body::Frame;
use http_body_util::{BodyExt as _, Full};
use tonic::Status;
use tonic::body::Body;
use tonic::service::Routes;
use tower::ServiceExt as _;

use super::message_size::MeasuredBody;
use crate::rpc::methods::Apart;
use crate::rpc::status;
use crate::work::{Permit, off_loop};

/// Longer messages count as large.
const LARGE: usize = 16 << 10;

/// Answers a unary call as `routes` do.
pub(super) async fn call(
    routes: Routes,
    request: Request<MeasuredBody>,
    apart: Apart,
    permit: Permit,
) -> Response<Body> {
    let (head, mut body) = request.into_parts();
    // In one piece: small ones would each be kept with the buffer that they were read to.
    let mut message = BytesMut::new();
    while let Some(frame) = body.frame().await {
        match frame.map(Frame::into_data) {
            Ok(Ok(piece)) => {
                message.extend_from_slice(&piece);
                if is_more_than_one(&message) {
                    // There could be any number of them.
                    return status::more_than_one_message().into_http();
                }
            }
            Ok(Err(_trailers)) => {} // requests of gRPC have none
            Err(refused) => return refused.into_http(),
        }
    }
    let is_long = match apart {
        Apart::Never => false,
        Apart::Large => message.len() > LARGE,
        Apart::Always => true,
    };
    let request = Request::from_parts(head, Body::new(Full::from(message.freeze())));
    if !is_long {
        return answer(routes, request).await;
    }
    let runtime = tokio::runtime::Handle::current();
    let answered = off_loop(true, Some(permit), move || {
        runtime.block_on(async {
            let (head, body) = answer(routes, request).await.into_parts();
            match body.collect().await {
                Ok(written) => Response::from_parts(head, Body::new(written)),
                Err(failed) => failed.into_http(),
            }
        })
    });
    answered.await.unwrap_or_else(|lost| Status::from(lost).into_http())
}

/// Whether something follows the first message.
fn is_more_than_one(mut bytes: &[u8]) -> bool {
    let (Ok(_compressed), Ok(length)) = (bytes.try_get_u8(), bytes.try_get_u32()) else {
        return false;
    };
    usize::try_from(length).is_ok_and(|length| bytes.len() > length)
}

/// What the routes answer.
pub(super) async fn answer(routes: Routes, request: Request<Body>) -> Response<Body> {
    match routes.oneshot(request).await {
        Ok(response) => response.map(Body::new),
        Err(never) => match never {},
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_than_one_message_is_seen_as_soon_as_the_second_begins() {
        for one in [&[][..], &[0, 0, 0, 0], &[0, 0, 0, 0, 2, 7], &[0, 0, 0, 0, 2, 7, 7]] {
            assert!(!is_more_than_one(one), "{one:?}");
        }
        for more in [&[0, 0, 0, 0, 2, 7, 7, 0][..], &[0, 0, 0, 0, 0, 0]] {
            assert!(is_more_than_one(more), "{more:?}");
        }
    }
}
