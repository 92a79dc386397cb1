//! The services behind the layers that every request passes through, without sockets.
//!
//! Time is paused: a wait jumps to its end, and the wall clock always shows the same instant.

use std::cell::OnceCell;
use std::sync::Arc;
use std::time::Duration;

use bytes::{BufMut as _, Bytes, BytesMut};
use http::{HeaderMap, Request, StatusCode};
use http_body::Frame;
use http_body_util::{BodyExt as _, StreamBody};
use offbeat::api::{
    LaneHandlers, NamedSpreadHandlers, SlotHandlers, SpreadHandlers, StageHandlers,
};
use offbeat::config::Config;
use offbeat::layers::{
    Admission, AllowedHosts, Credentials, MessageLimits, ShutdownSignals, Stack, layered,
};
use offbeat::metrics::Metrics;
use offbeat::proto::lane_service_server::LaneServiceServer;
use offbeat::proto::named_spread_service_server::NamedSpreadServiceServer;
use offbeat::proto::slot_service_server::SlotServiceServer;
use offbeat::proto::spread_service_server::SpreadServiceServer;
use offbeat::proto::stage_service_server::StageServiceServer;
use offbeat::schedules::LoadedSchedules;
use offbeat::spreads::MemoryStore;
use offbeat_core::Moment;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;
use tonic::Status;
use tonic::body::Body;
use tonic::service::{AxumRouter as Router, RoutesBuilder};
use tower::ServiceExt as _;

/// Longer than any call may take, in paused time.
const FOR_EVER: Duration = Duration::from_secs(3_600);

fn now() -> Moment {
    Moment::try_new(1_767_225_600, 0).unwrap() // 2026-01-01
}

/// The services, and the runtime that calls them.
pub struct Port {
    runtime: Runtime,
    config: Config,
    stateless: Router,
}

thread_local! {
    static PORT: OnceCell<Port> = const { OnceCell::new() };
}

/// Runs `act` with the port of this thread.
pub fn with<T>(act: impl FnOnce(&Port) -> T) -> T {
    PORT.with(|port| act(port.get_or_init(Port::new)))
}

impl Port {
    fn new() -> Self {
        let runtime = Builder::new_current_thread().enable_all().start_paused(true).build();
        let config = Config::from_flags(["--max-requests", "64"]).unwrap();
        let mut services = RoutesBuilder::default();
        services
            .add_service(SlotServiceServer::new(SlotHandlers::new(now, LoadedSchedules::default())))
            .add_service(StageServiceServer::new(StageHandlers))
            .add_service(LaneServiceServer::new(LaneHandlers))
            .add_service(SpreadServiceServer::new(SpreadHandlers));
        let stateless = behind_layers(services, &config);
        Self { runtime: runtime.unwrap(), config, stateless }
    }

    /// All services but named spreads and simulations.
    pub const fn stateless(&self) -> &Router {
        &self.stateless
    }

    /// The service of named spreads over a new, empty store.
    pub fn named(&self) -> (Arc<MemoryStore>, Router) {
        let _entered = self.runtime.enter();
        let store = Arc::new(MemoryStore::new(now, self.config.limits.spread_bytes));
        let handlers = NamedSpreadHandlers::new(store.clone(), self.config.limits.unary_time);
        let mut services = RoutesBuilder::default();
        services.add_service(NamedSpreadServiceServer::new(handlers));
        (store, behind_layers(services, &self.config))
    }

    /// Advances the paused clock.
    pub fn pass(&self, time: Duration) {
        self.runtime.block_on(async { tokio::time::sleep(time).await });
    }

    pub fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
        let bounded = async { tokio::time::timeout(FOR_EVER, future).await };
        let bounded = self.runtime.block_on(bounded);
        bounded.expect("an answer comes at last")
    }

    /// The response to a request whose body arrives in these chunks.
    pub fn ask(
        &self,
        router: &Router,
        path: &str,
        headers: &[(&str, &str)],
        chunks: Vec<Bytes>,
    ) -> Answer {
        let mut request = Request::post(format!("http://localhost{path}"));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let chunks = chunks.into_iter().map(|chunk| Ok::<_, Status>(Frame::data(chunk)));
        let body = Body::new(StreamBody::new(futures_util::stream::iter(chunks)));
        self.answer(router, request.body(body).unwrap())
    }

    pub fn answer(&self, router: &Router, request: Request<Body>) -> Answer {
        self.block_on(async {
            let Ok(response) = router.clone().oneshot(request).await;
            let (head, mut body) = response.into_parts();
            let mut answer = Answer {
                http_status: head.status,
                headers: head.headers,
                data: Vec::new(),
                status: None,
            };
            answer.status = Status::from_header_map(&answer.headers);
            while let Some(frame) = body.frame().await {
                match frame.map(Frame::into_data) {
                    Ok(Ok(data)) => answer.data.extend(&data),
                    Ok(Err(frame)) => {
                        let trailers = frame.into_trailers().unwrap();
                        answer.status = Status::from_header_map(&trailers);
                    }
                    Err(error) => answer.status = Some(Status::from_error(error.into_inner())),
                }
            }
            answer
        })
    }

    /// The response to a gRPC call with these messages.
    pub fn grpc(&self, router: &Router, path: &str, messages: &[&[u8]]) -> Answer {
        let headers = [("content-type", "application/grpc"), ("te", "trailers")];
        self.ask(router, path, &headers, messages.iter().map(|message| frame(message)).collect())
    }
}

fn behind_layers(services: RoutesBuilder, config: &Config) -> Router {
    let limits = &config.limits;
    let never = watch::channel(false).1;
    let stack = Stack {
        credentials: Credentials::default(),
        hosts: AllowedHosts::default(),
        admission: Admission::new(limits.requests, limits.bytes_in_flight),
        metrics: Arc::new(Metrics::default()),
        spans: true,
        spread_store: "memory",
        limits: MessageLimits::new(limits),
        unary_time: limits.unary_time,
        ends: ShutdownSignals { draining: never.clone(), terminating: never },
    };
    layered(services.routes().into_axum_router(), Arc::new(stack))
}

/// A message with its gRPC prefix.
pub fn frame(message: &[u8]) -> Bytes {
    let mut frame = BytesMut::with_capacity(message.len() + 5);
    frame.put_u8(0);
    frame.put_u32(u32::try_from(message.len()).unwrap());
    frame.put_slice(message);
    frame.freeze()
}

/// A complete response.
#[derive(Debug)]
pub struct Answer {
    pub http_status: StatusCode,
    pub headers: HeaderMap,
    pub data: Vec<u8>,
    /// The gRPC status, if there is one.
    pub status: Option<Status>,
}

impl Answer {
    /// The messages in the frames of a gRPC response.
    pub fn messages(&self) -> Vec<&[u8]> {
        let mut rest = &self.data[..];
        let mut messages = Vec::new();
        while let Some((prefix, behind)) = rest.split_first_chunk::<5>() {
            let [flag, length @ ..] = *prefix;
            assert_eq!(flag, 0, "compressed, or no message");
            let (message, behind) = behind.split_at(u32::from_be_bytes(length) as usize);
            messages.push(message);
            rest = behind;
        }
        assert!(rest.is_empty(), "half a prefix");
        messages
    }
}
