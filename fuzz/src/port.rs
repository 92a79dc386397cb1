//! The services behind everything that a request passes, without sockets.
//!
//! Time stands still but for waits, which it jumps over; the wall clock stands at one instant.

use std::cell::OnceCell;
use std::sync::Arc;
use std::time::Duration;

use bytes::{BufMut as _, Bytes, BytesMut};
use http::{HeaderMap, Request, StatusCode};
use http_body::Frame;
use http_body_util::{BodyExt as _, StreamBody};
use offbeat::config::Config;
use offbeat::http::{Credentials, Ends, Stack};
use offbeat::metrics::Metrics;
use offbeat::rpc::router::Router;
use offbeat::rpc::{
    LaneHandlers, NamedSpreadHandlers, SlotHandlers, SpreadHandlers, StageHandlers,
};
use offbeat::schedules::Loaded;
use offbeat::spreads::MemoryStore;
use offbeat_core::Moment;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;
use tonic::Status;
use tonic::body::Body;

/// Longer than any call may take, by the clock that jumps.
const FOR_EVER: Duration = Duration::from_secs(3_600);

fn now() -> Moment {
    Moment::try_new(1_767_225_600, 0).unwrap() // 2026-01-01
}

/// Where requests come in.
pub struct Port {
    runtime: Runtime,
    config: Config,
    stateless: Stack,
}

thread_local! {
    static PORT: OnceCell<Port> = const { OnceCell::new() };
}

/// Does something with the port of this thread.
pub fn with<T>(act: impl FnOnce(&Port) -> T) -> T {
    PORT.with(|port| act(port.get_or_init(Port::new)))
}

impl Port {
    fn new() -> Self {
        let runtime = Builder::new_current_thread().enable_all().start_paused(true).build();
        let config = Config::from_flags(["--max-requests", "64"]).unwrap();
        let router = Router::default()
            .with(SlotHandlers::new(now, Loaded::default()))
            .with(StageHandlers)
            .with(LaneHandlers)
            .with(SpreadHandlers);
        let stateless = stack(router, &config);
        Self { runtime: runtime.unwrap(), config, stateless }
    }

    /// Everything but named spreads and simulations.
    pub const fn stateless(&self) -> &Stack {
        &self.stateless
    }

    /// Named spreads, of which there are none yet.
    pub fn named(&self) -> (Arc<MemoryStore>, Stack) {
        let _entered = self.runtime.enter();
        let store = Arc::new(MemoryStore::new(now, self.config.limits.spread_bytes));
        let handlers = NamedSpreadHandlers::new(store.clone(), self.config.limits.unary_time);
        (store, stack(Router::default().with(handlers), &self.config))
    }

    /// Lets time pass.
    pub fn pass(&self, time: Duration) {
        self.runtime.block_on(async { tokio::time::sleep(time).await });
    }

    pub fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
        let bounded = async { tokio::time::timeout(FOR_EVER, future).await };
        let bounded = self.runtime.block_on(bounded);
        bounded.expect("an answer comes at last")
    }

    /// The answer to a request whose body comes in these chunks.
    pub fn ask(
        &self,
        stack: &Stack,
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
        self.answer(stack, request.body(body).unwrap())
    }

    pub fn answer(&self, stack: &Stack, request: Request<Body>) -> Answer {
        self.block_on(async {
            let (head, mut body) = stack.answer(request).await.into_parts();
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
                    Err(status) => answer.status = Some(status),
                }
            }
            answer
        })
    }

    /// The answer to messages sent by gRPC.
    pub fn grpc(&self, stack: &Stack, path: &str, messages: &[&[u8]]) -> Answer {
        let headers = [("content-type", "application/grpc"), ("te", "trailers")];
        self.ask(stack, path, &headers, messages.iter().map(|message| frame(message)).collect())
    }
}

fn stack(router: Router, config: &Config) -> Stack {
    let (stop, stopping) = watch::channel(false);
    let (close, closing) = watch::channel(false);
    // Nothing stops here.
    std::mem::forget((stop, close));
    let ends = Ends { stopping, closing };
    let metrics = Arc::new(Metrics::default());
    Stack::new(router, &config.limits, Credentials::default(), metrics, ends, false)
}

/// A message behind its prefix.
pub fn frame(message: &[u8]) -> Bytes {
    let mut frame = BytesMut::with_capacity(message.len() + 5);
    frame.put_u8(0);
    frame.put_u32(u32::try_from(message.len()).unwrap());
    frame.put_slice(message);
    frame.freeze()
}

/// A whole answer.
#[derive(Debug)]
pub struct Answer {
    pub http_status: StatusCode,
    pub headers: HeaderMap,
    pub data: Vec<u8>,
    /// Of gRPC.
    pub status: Option<Status>,
}

impl Answer {
    /// The messages of a gRPC answer, in their frames.
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
