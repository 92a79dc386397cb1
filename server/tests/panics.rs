//! A bug in the server costs one request: it is answered, counted and logged, and the server
//! continues. No caller can make a real handler panic, so these tests put buggy handlers behind
//! the layers of a server.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, clippy::disallowed_methods)]

mod support;

use std::net::SocketAddr;
use std::pin::Pin;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use clap::Parser as _;
use futures_util::{Stream, StreamExt as _, stream};
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use hyper_util::service::TowerToHyperService;
use offbeat::api::NamedSpreadHandlers;
use offbeat::config::ServeArgs;
use offbeat::layers::{
    Admission, AllowedHosts, Credentials, MessageLimits, ShutdownSignals, Stack, layered,
};
use offbeat::metrics::{Metrics, Snapshot};
use offbeat::proto;
use offbeat::proto::named_spread_service_server::NamedSpreadServiceServer;
use offbeat::proto::spread_service_server::{SpreadService, SpreadServiceServer};
use offbeat::proto::stage_service_server::{StageService, StageServiceServer};
use offbeat::spreads::MemoryStore;
use offbeat::telemetry::Telemetry;
use offbeat::work::offload;
use offbeat_core::Moment;
use serde_json::{Value, json};
use support::{
    Answer, Http2, config, encoded, frame, grpc, grpc_request, http2, json_request, path_of, post1,
    post2, raw, request,
};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tonic::service::RoutesBuilder;
use tonic::{Code, Request, Response, Status, Streaming};

const BUG: &str = "a bug on purpose";

/// Worker counts that make `AllocateWorkers` panic: in the handler itself, and in its work on
/// another thread.
const IN_HANDLER: i32 = 1;
const IN_WORK: i32 = 2;

struct BuggyService;

#[tonic::async_trait]
impl StageService for BuggyService {
    async fn allocate_workers(
        &self,
        request: Request<proto::AllocateWorkersRequest>,
    ) -> Result<Response<proto::AllocateWorkersResponse>, Status> {
        let permit = request.extensions().get().cloned();
        assert!(permit.is_some(), "the layers have let it in");
        match request.into_inner().worker_count {
            Some(IN_HANDLER) => panic!("{BUG}"),
            Some(IN_WORK) => offload(true, permit, || panic!("{BUG}")).await?,
            _ => Ok(Response::new(Default::default())),
        }
    }

    async fn choose_stage(
        &self,
        _: Request<proto::ChooseStageRequest>,
    ) -> Result<Response<proto::ChooseStageResponse>, Status> {
        Ok(Response::new(Default::default()))
    }
}

#[tonic::async_trait]
impl SpreadService for BuggyService {
    type SpreadStream = Pin<Box<dyn Stream<Item = Result<proto::SpreadResponse, Status>> + Send>>;

    async fn spread(
        &self,
        _: Request<Streaming<proto::SpreadRequest>>,
    ) -> Result<Response<Self::SpreadStream>, Status> {
        let first = stream::iter([Ok(proto::SpreadResponse::default())]);
        let then = async {
            tokio::task::yield_now().await; // lets the first message go out
            panic!("{BUG}")
        };
        Ok(Response::new(Box::pin(first.chain(stream::once(then)))))
    }
}

static CLOCK_IS_BROKEN: AtomicBool = AtomicBool::new(false);

/// The clock of named spreads.
fn clock() -> Moment {
    assert!(!CLOCK_IS_BROKEN.load(Ordering::SeqCst), "{BUG}");
    offbeat::clock::now()
}

/// A server with the services above behind its layers.
struct LayeredServer {
    address: SocketAddr,
    metrics: Arc<Metrics>,
}

impl LayeredServer {
    async fn start() -> Self {
        let mut routes = RoutesBuilder::default();
        let store = Arc::new(MemoryStore::new(clock, 1 << 20));
        let named = NamedSpreadHandlers::new(store, Duration::from_secs(20));
        routes.add_service(StageServiceServer::new(BuggyService));
        routes.add_service(SpreadServiceServer::new(BuggyService));
        routes.add_service(NamedSpreadServiceServer::new(named));
        let (limits, metrics) = (config().limits, Arc::<Metrics>::default());
        let never = watch::channel(false).1;
        let stack = Stack {
            credentials: Credentials::default(),
            hosts: AllowedHosts::new(&[]),
            admission: Admission::new(limits.requests, limits.bytes_in_flight),
            metrics: Arc::clone(&metrics),
            spans: false,
            spread_store: "memory",
            limits: MessageLimits::new(&limits),
            unary_time: limits.unary_time,
            ends: ShutdownSignals { draining: never.clone(), terminating: never },
        };
        let router = layered(routes.routes().into_axum_router(), Arc::new(stack));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                let service = TowerToHyperService::new(router.clone());
                tokio::spawn(async move {
                    let builder = Builder::new(TokioExecutor::new());
                    let _ = builder.serve_connection(TokioIo::new(socket), service).await;
                });
            }
        });
        Self { address, metrics }
    }

    async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }

    /// The value of a counter.
    fn count(&self, series: &str) -> u32 {
        let text = self.metrics.render(Snapshot::default()).unwrap();
        let value = text.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' '));
        value.map_or(0, |value| value.parse().unwrap())
    }

    fn panics(&self) -> u32 {
        self.count("offbeat_panics_total")
    }
}

fn assert_is_answered(status: &Status) {
    assert_eq!(status.code(), Code::Internal, "{status:?}");
    assert!(status.message().starts_with("a bug: "), "{status:?}");
    assert!(!status.message().contains(BUG), "what it was is for the log: {status:?}");
}

async fn assert_serves_on(channel: &mut Http2) {
    let answered = grpc(channel, "ChooseStage", &json!({})).await;
    assert!(answered.is_ok(), "{answered:?}");
}

/// A panic in the handler, one in its work on another thread, and one on the thread for large
/// messages.
fn bugs() -> [Value; 3] {
    let large = "x".repeat(20_000);
    [
        json!({"worker_count": IN_HANDLER}),
        json!({"worker_count": IN_WORK}),
        json!({"worker_count": IN_HANDLER, "stages": [{"name": large}]}),
    ]
}

#[tokio::test]
async fn a_panic_costs_one_request_wherever_it_happens() {
    let server = LayeredServer::start().await;
    let mut channel = http2(server.connect().await).await;
    let path = path_of("AllocateWorkers");
    for (before, bug) in bugs().iter().enumerate() {
        let before = u32::try_from(before * 2).unwrap();
        assert_is_answered(&grpc(&mut channel, "AllocateWorkers", bug).await.unwrap_err());
        assert_eq!(server.panics(), before + 1, "{bug}");
        let answer = post1(server.connect().await, json_request(&path, &bug.to_string())).await;
        assert_eq!((answer.status.as_u16(), &answer.json()["code"]), (500, &json!("internal")));
        assert!(!answer.json().to_string().contains(BUG), "{answer:?}");
        assert_eq!(server.panics(), before + 2, "{bug}");
        assert_serves_on(&mut channel).await;
    }
    let ended = "offbeat_requests_total{method=\"StageService/AllocateWorkers\",code=\"INTERNAL\"}";
    let counted = async {
        while server.count(ended) < 6 {
            tokio::time::sleep(Duration::from_millis(10)).await; // counted once the answer drops
        }
    };
    tokio::time::timeout(Duration::from_secs(10), counted).await.expect(ended);
    assert_eq!(server.count(ended), 6);
}

#[tokio::test]
async fn a_panic_ends_its_stream_with_a_status() {
    let server = LayeredServer::start().await;
    let mut channel = http2(server.connect().await).await;
    let message = frame(&encoded("Spread", &json!({"spec": {"order": {"feeder_count": 2}}})));
    let answer = post2(&mut channel, grpc_request(&path_of("Spread"), message.clone())).await;
    assert_eq!(answer.body.len(), 5, "the message before it has come");
    assert_is_answered(&answer.grpc_status());
    assert_eq!(server.panics(), 1);
    let connect = [("content-type", "application/connect+proto")];
    let answer =
        post1(server.connect().await, request(&path_of("Spread"), &connect, message)).await;
    let end: Value = serde_json::from_slice(&answer.body[10..]).unwrap();
    assert_eq!((answer.body[5], &end["error"]["code"]), (2, &json!("internal")));
    assert_eq!(server.panics(), 2);
    assert_serves_on(&mut channel).await;
}

#[tokio::test]
async fn a_panic_in_a_store_of_spreads_is_no_end_of_a_spread() {
    let server = LayeredServer::start().await;
    let mut channel = http2(server.connect().await).await;
    let spread = json!({"spread_name": "s", "spec": {"order": {"feeder_count": 2}}});
    grpc(&mut channel, "OpenSpread", &spread).await.unwrap();
    let pull = json!({"spread_name": "s", "consumer_id": "c", "max_pulled_job_count": 1});
    let start = json!({"start": {"spread_name": "s", "consumer_id": "c"}});
    CLOCK_IS_BROKEN.store(true, Ordering::SeqCst);
    assert_is_answered(&grpc(&mut channel, "PullJobs", &pull).await.unwrap_err());
    let stream = raw(&mut channel, "StreamJobs", frame(&encoded("StreamJobs", &start))).await;
    assert_is_answered(&stream);
    assert_eq!(server.panics(), 2);
    CLOCK_IS_BROKEN.store(false, Ordering::SeqCst);
    assert!(grpc(&mut channel, "PullJobs", &pull).await.is_ok());
    let stream = raw(&mut channel, "StreamJobs", frame(&encoded("StreamJobs", &start))).await;
    assert_eq!(stream.code(), Code::Ok, "{stream:?}");
}

#[derive(Debug, clap::Parser)]
struct Flags {
    #[command(flatten)]
    args: ServeArgs,
}

/// The log goes to the standard error of the process, so the test runs itself as a child process.
#[test]
fn a_panic_is_a_line_of_the_log() {
    const IS_CHILD: &str = "LOGS_A_PANIC";
    if std::env::var_os(IS_CHILD).is_some() {
        return log_panics();
    }
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["a_panic_is_a_line_of_the_log", "--exact", "--nocapture"])
        .env(IS_CHILD, "")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let log = String::from_utf8(child.stderr).unwrap();
    assert!(child.status.success(), "{log}");
    let lines: Vec<Value> = log
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{log}")))
        .collect();
    assert_eq!(lines.len(), bugs().len(), "each once: {log}");
    for line in lines {
        let message = line["message"].as_str().unwrap();
        assert_eq!(line["level"], "ERROR");
        assert!(message.contains(BUG) && message.contains("panics.rs:"), "with its place: {log}");
    }
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn log_panics() {
    let flags = Flags::parse_from(["serve", "--log-format", "json"]);
    let _telemetry = Telemetry::start(&flags.args).unwrap();
    let server = LayeredServer::start().await;
    let mut channel = http2(server.connect().await).await;
    for bug in &bugs() {
        let body = frame(&encoded("AllocateWorkers", bug));
        let call = grpc_request(&path_of("AllocateWorkers"), body);
        let answer: Answer = post2(&mut channel, call).await;
        assert_is_answered(&answer.grpc_status());
    }
    assert_serves_on(&mut channel).await;
}
