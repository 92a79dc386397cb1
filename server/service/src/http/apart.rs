//! Large messages: decoded, decided and answered on another thread.
//!
//! Megabytes take milliseconds to decode, in which the event loop would answer nobody. The body of
//! the request knows when a large message is complete. It then keeps the last piece back, and asks
//! to leave the loop; whoever polls the call polls it once on another thread, where the piece is
//! handed on; and goes on here.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use http::{Request, Response};
use http_body::{Body as HttpBody, Frame, SizeHint};
use http_body_util::BodyExt as _;
use tonic::Status;
use tonic::body::Body;

use super::request_body::RequestBody;
use crate::rpc::methods::Method;
use crate::rpc::router::Router;
use crate::work::{Permit, WorkLost, is_off_loop, off_loop};

/// A wish to be polled on another thread: of the body of a request, for those who poll its call.
#[derive(Debug, Clone, Default)]
pub(super) struct Wish(Arc<AtomicBool>);

impl Wish {
    pub(super) fn make(&self) {
        self.0.store(true, Ordering::Release);
    }

    fn is_made(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }

    fn fulfil(&self) {
        self.0.store(false, Ordering::Release);
    }
}

/// Answers a call as `router` does.
pub(super) async fn call(
    router: Arc<Router>,
    request: Request<RequestBody>,
    method: &Method,
    permit: Permit,
) -> Response<Body> {
    let wish = request.body().wish();
    let request = request.map(Body::new);
    if method.streaming {
        let response = async move { router.answer(request).await };
        let response = Apart::new(Box::pin(response), wish.clone(), permit.clone()).await;
        return response.map_or_else(lost, |response| {
            response.map(|body| Body::new(Apart::new(body, wish, permit)))
        });
    }
    let response = async move {
        let (head, body) = router.answer(request).await.into_parts();
        // Refusals are headers alone.
        if !is_off_loop() || body.is_end_stream() {
            return Response::from_parts(head, body);
        }
        match body.collect().await {
            Ok(written) => Response::from_parts(head, Body::new(written)),
            Err(failed) => failed.into_http(),
        }
    };
    Apart::new(Box::pin(response), wish, permit).await.unwrap_or_else(lost)
}

fn lost(lost: WorkLost) -> Response<Body> {
    Status::from(lost).into_http()
}

/// What is polled here, but on another thread whenever there is the wish.
struct Apart<T, O> {
    here: Option<T>,
    there: Option<There<T, O>>,
    wish: Wish,
    permit: Permit,
}

type There<T, O> = Pin<Box<dyn Future<Output = Result<(T, Poll<O>), WorkLost>> + Send>>;
type Step<T, O> = fn(&mut T, &mut Context<'_>) -> Poll<O>;

impl<T: Send + 'static, O: Send + 'static> Apart<T, O> {
    const fn new(it: T, wish: Wish, permit: Permit) -> Self {
        Self { here: Some(it), there: None, wish, permit }
    }

    fn poll_with(&mut self, step: Step<T, O>, cx: &mut Context<'_>) -> Poll<Result<O, WorkLost>> {
        loop {
            if let Some(there) = &mut self.there {
                let done = std::task::ready!(there.as_mut().poll(cx));
                self.there = None;
                let (it, said) = done?;
                self.here = Some(it);
                if said.is_ready() {
                    return said.map(Ok);
                }
                // What it waits for now does not know our waker.
            }
            let Some(mut it) = self.here.take() else {
                return Poll::Ready(Err(WorkLost)); // polled again though it was lost
            };
            if !self.wish.is_made() {
                let said = step(&mut it, cx);
                if said.is_ready() || !self.wish.is_made() {
                    self.here = Some(it);
                    return said.map(Ok);
                }
            }
            self.wish.fulfil();
            self.there = Some(Box::pin(off_loop(true, Some(self.permit.clone()), move || {
                let said = step(&mut it, &mut Context::from_waker(Waker::noop()));
                (it, said)
            })));
        }
    }
}

impl<F> Future for Apart<F, F::Output>
where
    F: Future<Output: Send + 'static> + Unpin + Send + 'static,
{
    type Output = Result<F::Output, WorkLost>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.get_mut().poll_with(|future, cx| Pin::new(future).poll(cx), cx)
    }
}

type Polled = Option<Result<Frame<Bytes>, Status>>;

impl HttpBody for Apart<Body, Polled> {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Polled> {
        let polled = self.get_mut().poll_with(|body, cx| Pin::new(body).poll_frame(cx), cx);
        polled.map(|frame| frame.unwrap_or_else(|lost| Some(Err(lost.into()))))
    }

    fn is_end_stream(&self) -> bool {
        self.here.as_ref().is_some_and(HttpBody::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.here.as_ref().map(HttpBody::size_hint).unwrap_or_default()
    }
}
