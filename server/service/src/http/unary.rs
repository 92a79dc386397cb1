//! Unary calls: one message in, and one out.
//!
//! Large ones are answered on another thread, from the first byte of the message to the last of
//! the answer: megabytes take milliseconds to decode, or to write, in which the event loop would
//! answer nobody.

use bytes::{Buf as _, Bytes};
use http::{Request, Response};
use http_body::{Body as _, Frame};
use http_body_util::{BodyExt as _, Full};
use tonic::Status;
use tonic::body::Body;
use tonic::service::Routes;
use tower::ServiceExt as _;

use super::message_size::MeasuredBody;
use crate::rpc::methods::Apart;
use crate::rpc::single::PREFIX;
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
    let mut message = Vec::new();
    while let Some(frame) = body.frame().await {
        match frame.map(Frame::into_data) {
            Ok(Ok(piece)) => {
                if message.capacity() - message.len() < piece.len() {
                    message.reserve_exact(room(&message, piece.len()));
                }
                message.extend_from_slice(&piece);
                if announced(&message).is_some_and(|length| length < message.len()) {
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
    let request = Request::from_parts(head, Body::new(Full::<Bytes>::from(message)));
    if !is_long {
        return answer(routes, request).await;
    }
    let runtime = tokio::runtime::Handle::current();
    let answered = off_loop(true, Some(permit), move || {
        runtime.block_on(async {
            let (head, body) = answer(routes, request).await.into_parts();
            if body.is_end_stream() {
                return Response::from_parts(head, body); // refusals are headers alone
            }
            match body.collect().await {
                Ok(written) => Response::from_parts(head, Body::new(written)),
                Err(failed) => failed.into_http(),
            }
        })
    });
    answered.await.unwrap_or_else(|lost| Status::from(lost).into_http())
}

/// The bytes of the first message with its prefix, if that has come.
fn announced(mut bytes: &[u8]) -> Option<usize> {
    bytes.try_get_u8().ok()?; // whether it is compressed
    let length = usize::try_from(bytes.try_get_u32().ok()?).ok()?;
    length.checked_add(PREFIX)
}

/// Room for `more` bytes behind `bytes`, and for as many again as have come, but not for more than
/// are announced: who announces much and sends little takes little.
fn room(bytes: &[u8], more: usize) -> usize {
    let missing = announced(bytes).map_or(0, |length| length.saturating_sub(bytes.len()));
    missing.min(bytes.len()).max(more)
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
    fn a_message_says_how_long_it_is() {
        assert_eq!(announced(&[0, 0, 0, 0]), None);
        assert_eq!(announced(&[0, 0, 0, 0, 0]), Some(5));
        assert_eq!(announced(&[0, 0, 0, 1, 2, 7, 7]), Some(5 + 258));
    }

    #[test]
    fn there_is_room_for_what_has_come_twice_and_never_for_more_than_is_announced() {
        let begun = [&[0, 0, 0, 100, 0][..], &[7; 1_000]].concat();
        assert_eq!(room(&[], 5), 5);
        assert_eq!(room(&begun, 10), begun.len());
        assert_eq!(room(&begun, 2_000), 2_000);
        let nearly = [&[0, 0, 0, 4, 0][..], &[7; 1_000]].concat();
        assert_eq!(room(&nearly, 1), 24);
    }
}
