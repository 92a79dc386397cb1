//! Services that are made when they are first asked.

use std::convert::Infallible;
use std::fmt::Display;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};

use http::{Request, Response};
use tonic::Status;
use tonic::body::Body;
use tonic::server::NamedService;
use tower::{Service, ServiceExt as _};

/// A service that few processes are ever asked, and that takes memory from when it is made.
pub(super) struct OnDemand<S, E> {
    make: fn() -> Result<S, E>,
    made: Arc<OnceLock<Option<S>>>,
}

impl<S, E> OnDemand<S, E> {
    pub(super) fn new(make: fn() -> Result<S, E>) -> Self {
        Self { make, made: Arc::default() }
    }
}

impl<S, E> Clone for OnDemand<S, E> {
    fn clone(&self) -> Self {
        Self { make: self.make, made: Arc::clone(&self.made) }
    }
}

impl<S: NamedService, E> NamedService for OnDemand<S, E> {
    const NAME: &'static str = S::NAME;
}

impl<S, E> Service<Request<Body>> for OnDemand<S, E>
where
    S: Service<Request<Body>, Response = Response<Body>, Error = Infallible>
        + NamedService
        + Clone
        + Send
        + 'static,
    S::Future: Send,
    E: Display,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let service = self.made.get_or_init(|| {
            let failed = |error: &E| tracing::error!(%error, "{} is off", S::NAME);
            (self.make)().inspect_err(failed).ok()
        });
        match service.clone() {
            Some(service) => Box::pin(service.oneshot(request)),
            None => Box::pin(async { Ok(Status::unimplemented("").into_http()) }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use std::sync::atomic::{AtomicUsize, Ordering};

    static MADE: AtomicUsize = AtomicUsize::new(0);

    #[derive(Clone)]
    struct Echo;

    impl NamedService for Echo {
        const NAME: &'static str = "echo";
    }

    impl Service<Request<Body>> for Echo {
        type Response = Response<Body>;
        type Error = Infallible;
        type Future = std::future::Ready<Result<Response<Body>, Infallible>>;

        fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
            Poll::Ready(Ok(()))
        }

        fn call(&mut self, request: Request<Body>) -> Self::Future {
            std::future::ready(Ok(Response::new(request.into_body())))
        }
    }

    async fn status_of<E: Display>(service: &OnDemand<Echo, E>) -> Option<String> {
        let request = Request::new(Body::empty());
        let Ok(answer) = service.clone().oneshot(request).await;
        let status = answer.headers().get(Status::GRPC_STATUS)?;
        Some(status.to_str().unwrap().to_owned())
    }

    #[tokio::test]
    async fn a_service_is_made_once_and_not_before_it_is_asked() {
        let service = OnDemand::new(|| {
            MADE.fetch_add(1, Ordering::Relaxed);
            Ok::<_, String>(Echo)
        });
        assert_eq!(MADE.load(Ordering::Relaxed), 0);
        assert_eq!(status_of(&service).await, None);
        assert_eq!(status_of(&service).await, None);
        assert_eq!(MADE.load(Ordering::Relaxed), 1);
    }

    #[tokio::test]
    async fn a_service_that_cannot_be_made_answers_that_there_is_none() {
        let service = OnDemand::new(|| Err("broken"));
        assert_eq!(status_of(&service).await.as_deref(), Some("12"));
    }
}
