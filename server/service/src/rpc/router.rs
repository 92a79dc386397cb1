//! From the path of a call to its handler.
//!
//! The servers that tonic generates have a copy for each method of all that frames, decodes and
//! answers: 0.4 MB. Here handlers are pointers, messages are of any type until their handler has
//! them, and one copy serves all. (docs/decisions/0011-small-and-fast.md)

use std::any::type_name;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::fmt;
use std::future::ready;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;
use futures_util::{Stream, StreamExt as _, TryFutureExt as _};
use prost::Message;
use tonic::body::Body;
use tonic::server::{Grpc, NamedService, ServerStreamingService, StreamingService, UnaryService};
use tonic::{Request, Response, Status, Streaming};
use tower::{Service, ServiceExt as _};

use super::codec::{AnyAnswer, AnyMessage, Codec};
use super::status;

type Answered<'a, A> = BoxFuture<'a, Result<Response<A>, Status>>;

/// A method of the traits that tonic generates.
type Method<H, Q, A> = for<'a> fn(&'a H, Request<Q>) -> Answered<'a, A>;

type AnyAnswers = BoxStream<'static, Result<AnyAnswer, Status>>;

/// What answers the call of a method, or any call of a service.
type Call = Box<dyn Fn(http::Request<Body>) -> Answer + Send + Sync>;

type Answer = BoxFuture<'static, http::Response<Body>>;

/// Answers calls by their paths.
#[derive(Default)]
pub struct Router {
    /// By `/package.Service/Method`.
    methods: BTreeMap<String, Call>,
    /// By `package.Service`.
    services: BTreeMap<&'static str, Call>,
}

impl fmt::Debug for Router {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Router")
            .field("methods", &self.methods.keys())
            .field("services", &self.services.keys())
            .finish()
    }
}

/// Handlers of all methods of a service.
pub trait Routed {
    /// Tells a router of each.
    fn route(self, router: &mut Router);
}

impl Router {
    /// The same, answering for these handlers too.
    #[must_use]
    pub fn with(mut self, handlers: impl Routed) -> Self {
        handlers.route(&mut self);
        self
    }

    /// The same, with a service of others for all its methods.
    #[must_use]
    pub fn with_service<S>(self, service: S) -> Self
    where
        S: NamedService + Clone + Send + Sync + 'static,
        S: Service<
                http::Request<Body>,
                Response = http::Response<Body>,
                Error = Infallible,
                Future: Send,
            >,
    {
        self.with_service_as(S::NAME, service)
    }

    /// The same, with a service of others by another name of it.
    #[must_use]
    pub fn with_service_as<S>(mut self, name: &'static str, service: S) -> Self
    where
        S: NamedService + Clone + Send + Sync + 'static,
        S: Service<
                http::Request<Body>,
                Response = http::Response<Body>,
                Error = Infallible,
                Future: Send,
            >,
    {
        let call: Call = Box::new(move |mut request| {
            if name != S::NAME {
                // A path with another name is a path.
                let path = request.uri().path().replacen(name, S::NAME, 1);
                *request.uri_mut() = path.parse().unwrap_or_default();
            }
            let answered = service.clone().oneshot(request);
            Box::pin(async {
                match answered.await {
                    Ok(answer) => answer,
                    Err(never) => match never {},
                }
            })
        });
        self.services.insert(name, call);
        self
    }

    /// Answers a call; says UNIMPLEMENTED, and nothing more, where there is no such method.
    pub async fn answer(&self, request: http::Request<Body>) -> http::Response<Body> {
        let path = request.uri().path();
        let service = || self.services.get(path.strip_prefix('/')?.split_once('/')?.0);
        match self.methods.get(path).or_else(service) {
            Some(call) => call(request).await,
            None => Status::unimplemented("").into_http(),
        }
    }

    pub(super) fn service<H>(&mut self, name: &'static str, handlers: H) -> Routes<'_, H> {
        Routes { router: self, service: name, handlers: Arc::new(handlers) }
    }
}

/// Takes the methods of one service.
pub(super) struct Routes<'a, H> {
    router: &'a mut Router,
    service: &'static str,
    handlers: Arc<H>,
}

impl<H: Send + Sync + 'static> Routes<'_, H> {
    /// One message in, one out.
    pub(super) fn unary<Q, A>(self, name: &str, method: Method<H, Q, A>) -> Self
    where
        Q: Message + Default + 'static,
        A: Message + 'static,
    {
        debug_assert!(are_of::<Q, A>(name), "the messages of {name}");
        let codec = Codec::<Q>::new().of_any();
        let handler = Unary(self.handler(method, AnyAnswer::new));
        self.insert(name, Box::new(move |request| handler.answer(codec, request)))
    }

    /// One message in, any number out.
    pub(super) fn server_streaming<Q, A, S>(self, name: &str, method: Method<H, Q, S>) -> Self
    where
        Q: Message + Default + 'static,
        A: Message + 'static,
        S: Stream<Item = Result<A, Status>> + Send + 'static,
    {
        debug_assert!(are_of::<Q, A>(name), "the messages of {name}");
        let codec = Codec::<Q>::new().of_any();
        let handler = ServerStreaming(self.handler(method, any_answers));
        self.insert(name, Box::new(move |request| handler.answer(codec, request)))
    }

    /// Any number of messages in, any number out.
    pub(super) fn streaming<Q, A, S>(self, name: &str, method: Method<H, Streaming<Q>, S>) -> Self
    where
        Q: Message + Default + 'static,
        A: Message + 'static,
        S: Stream<Item = Result<A, Status>> + Send + 'static,
    {
        debug_assert!(are_of::<Q, A>(name), "the messages of {name}");
        let codec = Codec::<Q>::new();
        let handler = BothStreaming(self.handlers.clone(), method);
        self.insert(name, Box::new(move |request| handler.answer(codec, request)))
    }

    fn handler<Q: 'static, A: 'static, B: Send + 'static>(
        &self,
        method: Method<H, Q, A>,
        any: fn(A) -> B,
    ) -> Arc<dyn Handler<B>> {
        Arc::new(Typed { handlers: Arc::clone(&self.handlers), method, any })
    }

    fn insert(self, name: &str, call: Call) -> Self {
        self.router.methods.insert(format!("/{}/{name}", self.service), call);
        self
    }
}

/// Whether these are the messages of method `name`: each has its own, which are called so.
fn are_of<Q, A>(name: &str) -> bool {
    let is = |message: &str, of: &str| {
        let called = message.rsplit("::").next().unwrap_or_default();
        called.strip_suffix(of) == Some(name)
    };
    is(type_name::<Q>(), "Request") && is(type_name::<A>(), "Response")
}

fn any_answers<A: Message + 'static>(
    answers: impl Stream<Item = Result<A, Status>> + Send + 'static,
) -> AnyAnswers {
    answers.map(|answer| answer.map(AnyAnswer::new)).boxed()
}

fn grpc<Q: Send + 'static>(codec: Codec<Q>) -> Grpc<Codec<Q>> {
    // Message sizes are refused before they reach tonic, per method.
    Grpc::new(codec).max_decoding_message_size(usize::MAX)
}

/// What answers any message of one method.
trait Handler<B>: Send + Sync {
    fn answer(&self, request: Request<AnyMessage>) -> Answered<'_, B>;
}

/// Knows the types of the method.
struct Typed<H, Q, A, B> {
    handlers: Arc<H>,
    method: Method<H, Q, A>,
    any: fn(A) -> B,
}

impl<H: Send + Sync, Q: 'static, A: 'static, B: Send + 'static> Handler<B> for Typed<H, Q, A, B> {
    fn answer(&self, request: Request<AnyMessage>) -> Answered<'_, B> {
        let (metadata, extensions, message) = request.into_parts();
        let Some(message) = message.downcast() else {
            let lost = status::internal("a message is not what its method was to be asked");
            return Box::pin(ready(Err(lost)));
        };
        let request = Request::from_parts(metadata, extensions, message);
        let any = self.any;
        Box::pin((self.method)(&self.handlers, request).map_ok(move |answer| answer.map(any)))
    }
}

#[derive(Clone)]
struct Unary(Arc<dyn Handler<AnyAnswer>>);

impl Unary {
    fn answer(&self, codec: Codec<AnyMessage>, request: http::Request<Body>) -> Answer {
        let handler = self.clone();
        Box::pin(async move { grpc(codec).unary(handler, request).await })
    }
}

impl UnaryService<AnyMessage> for Unary {
    type Response = AnyAnswer;
    type Future = Answered<'static, AnyAnswer>;

    fn call(&mut self, request: Request<AnyMessage>) -> Self::Future {
        let handler = Arc::clone(&self.0);
        Box::pin(async move { handler.answer(request).await })
    }
}

#[derive(Clone)]
struct ServerStreaming(Arc<dyn Handler<AnyAnswers>>);

impl ServerStreaming {
    fn answer(&self, codec: Codec<AnyMessage>, request: http::Request<Body>) -> Answer {
        let handler = self.clone();
        Box::pin(async move { grpc(codec).server_streaming(handler, request).await })
    }
}

impl ServerStreamingService<AnyMessage> for ServerStreaming {
    type Response = AnyAnswer;
    type ResponseStream = AnyAnswers;
    type Future = Answered<'static, AnyAnswers>;

    fn call(&mut self, request: Request<AnyMessage>) -> Self::Future {
        let handler = Arc::clone(&self.0);
        Box::pin(async move { handler.answer(request).await })
    }
}

struct BothStreaming<H, Q, S>(Arc<H>, Method<H, Streaming<Q>, S>);

impl<H, Q, A, S> BothStreaming<H, Q, S>
where
    H: Send + Sync + 'static,
    Q: Send + 'static,
    A: Message + 'static,
    S: Stream<Item = Result<A, Status>> + Send + 'static,
{
    fn answer(&self, codec: Codec<Q>, request: http::Request<Body>) -> Answer {
        let handler = Self(Arc::clone(&self.0), self.1);
        Box::pin(async move { grpc(codec).streaming(handler, request).await })
    }
}

impl<H, Q, A, S> StreamingService<Q> for BothStreaming<H, Q, S>
where
    H: Send + Sync + 'static,
    Q: Send + 'static,
    A: Message + 'static,
    S: Stream<Item = Result<A, Status>> + Send + 'static,
{
    type Response = AnyAnswer;
    type ResponseStream = AnyAnswers;
    type Future = Answered<'static, AnyAnswers>;

    fn call(&mut self, request: Request<Streaming<Q>>) -> Self::Future {
        let (handlers, method) = (Arc::clone(&self.0), self.1);
        Box::pin(async move { Ok(method(&handlers, request).await?.map(any_answers)) })
    }
}
