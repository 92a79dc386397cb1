//! Spans sent to a collector: the server as a process, and a collector that keeps what it
//! receives.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, clippy::disallowed_methods)]

#[path = "support/redis.rs"]
mod redis_server;
mod support;

use std::io::{BufRead as _, BufReader, Lines};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use http::HeaderMap;
use http_body_util::{BodyExt as _, Full};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use redis_server::Redis;
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use serde_json::Value;
use support::Socket;
use support::authority::Authority;
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

const POST: http::Method = http::Method::POST;
const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT: &str = "00f067aa0ba902b7";

/// A server process, killed when dropped.
struct Process {
    child: Child,
    log: Option<Lines<BufReader<ChildStderr>>>,
    address: String,
}

impl Process {
    fn start(flags: &[&str], variables: &[(&str, &str)]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_offbeat"))
            .args(["serve", "--listen", "127.0.0.1:0", "--admin-listen", "off"])
            .args(["--log-format", "json"])
            .args(flags)
            .envs(variables.iter().copied())
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut log = BufReader::new(child.stderr.take().unwrap()).lines();
        let mut lines =
            log.by_ref().map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap());
        let listening = lines.find(|line| line["message"] == "listening").unwrap();
        let address = listening["address"].as_str().unwrap().to_owned();
        Self { child, log: Some(log), address }
    }

    /// Sends a request that belongs to a trace.
    async fn ask(&self) {
        let question = br#"{"schedule": {"spec": {"period": "28800s"}}, "id": {"text": "an-id-that-nobody-logs"}}"#;
        self.call("SlotService/AssignSlot", question).await;
    }

    async fn call(&self, method: &str, question: &'static [u8]) {
        let socket = tokio::net::TcpStream::connect(&self.address).await.unwrap();
        let (mut sender, connection) =
            hyper::client::conn::http1::handshake(TokioIo::new(socket)).await.unwrap();
        tokio::spawn(connection);
        let request = http::Request::post(format!("/offbeat.v1.{method}"))
            .header("host", "localhost")
            .header("content-type", "application/json")
            .header("authorization", "Bearer a-secret-that-nobody-logs")
            .header("traceparent", format!("00-{TRACE}-{PARENT}-01"))
            .body(Full::new(Bytes::from_static(question)));
        let response = sender.send_request(request.unwrap()).await.unwrap();
        assert_eq!(response.status(), 200);
        response.into_body().collect().await.unwrap();
    }

    /// Ends the server, which exports the remaining spans; returns all lines logged since it
    /// listened.
    async fn end(mut self) -> String {
        Command::new("kill").arg(self.child.id().to_string()).status().unwrap();
        let ended = tokio::task::spawn_blocking(move || {
            let status = self.child.wait().unwrap();
            let log: Vec<String> = self.log.take().unwrap().map_while(Result::ok).collect();
            (status, log.join("\n"))
        });
        let (status, log) =
            tokio::time::timeout(Duration::from_secs(20), ended).await.unwrap().unwrap();
        assert!(status.success(), "{status}: {log}");
        log
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Answers every export with an empty message, and keeps what it received.
#[derive(Debug, Clone, Default)]
struct Collector {
    exported: Arc<Mutex<Vec<u8>>>,
    headers: Arc<Mutex<HeaderMap>>,
    /// While it is set, the collector rejects exports.
    is_full: Arc<AtomicBool>,
}

impl Collector {
    /// Serves on a free port and returns the port.
    async fn start(&self, tls: Option<TlsAcceptor>) -> u16 {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let collector = self.clone();
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                let (collector, tls) = (collector.clone(), tls.clone());
                tokio::spawn(async move {
                    match tls {
                        None => collector.serve(socket).await,
                        Some(tls) => {
                            if let Ok(socket) = tls.accept(socket).await {
                                collector.serve(socket).await;
                            }
                        }
                    }
                });
            }
        });
        port
    }

    async fn serve(self, socket: impl Socket) {
        let service = service_fn(move |request: http::Request<hyper::body::Incoming>| {
            let collector = self.clone();
            async move {
                assert_eq!((request.method(), request.uri().path()), (&POST, "/v1/traces"));
                if collector.is_full.load(Ordering::SeqCst) {
                    let response = http::Response::builder().status(503);
                    return Ok(response.body(Full::default()).unwrap());
                }
                let (head, body) = request.into_parts();
                let body = body.collect().await?.to_bytes();
                collector.exported.lock().unwrap().extend_from_slice(&body);
                *collector.headers.lock().unwrap() = head.headers;
                Ok::<_, hyper::Error>(http::Response::new(Full::<Bytes>::default()))
            }
        });
        let _ = http1::Builder::new().serve_connection(TokioIo::new(socket), service).await;
    }

    fn has(&self, part: &[u8]) -> bool {
        self.exported.lock().unwrap().windows(part.len()).any(|window| window == part)
    }

    fn header(&self, name: &str) -> String {
        self.headers.lock().unwrap()[name].to_str().unwrap().to_owned()
    }
}

/// The collector's side of TLS, with a certificate for 127.0.0.1.
fn acceptor(authority: &Authority) -> TlsAcceptor {
    let (certificate, key) = authority.sign("127.0.0.1");
    let chain = vec![CertificateDer::from_pem_slice(certificate.as_bytes()).unwrap()];
    let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .unwrap();
    TlsAcceptor::from(Arc::new(config))
}

fn hex(text: &str) -> Vec<u8> {
    (0..text.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap())
        .collect()
}

#[tokio::test]
async fn requests_are_exported_in_the_trace_of_their_caller_and_logged_with_it() {
    let collector = Collector::default();
    let endpoint = format!("http://127.0.0.1:{}", collector.start(None).await);
    let flags = ["--log", "info,offbeat::request=debug", "--otlp-endpoint", &endpoint];
    let server = Process::start(&flags, &[]);
    server.ask().await;
    let log = server.end().await;
    let line = log.lines().find(|line| line.contains("SlotService/AssignSlot")).unwrap();
    let line: Value = serde_json::from_str(line).unwrap();
    assert_eq!((line["code"].as_str(), line["trace_id"].as_str()), (Some("OK"), Some(TRACE)));
    assert!(!log.contains("nobody-logs"), "neither secrets nor payloads: {log}");
    for part in [&hex(TRACE)[..], &hex(PARENT), b"SlotService/AssignSlot", b"rpc.grpc.status_code"]
    {
        assert!(collector.has(part), "{part:?} was not exported: {log}");
    }
    assert!(!collector.has(b"nobody-logs"));
    assert_eq!(collector.header("content-type"), "application/x-protobuf");
    assert!(collector.header("host").starts_with("127.0.0.1:"));
}

#[tokio::test]
async fn calls_about_named_spreads_name_their_store_and_show_its_steps() {
    let open = br#"{"spreadName": "s", "spec": {"order": {"feederCount": 2}}}"#;
    let pull = br#"{"spreadName": "s", "consumerId": "one", "maxPulledJobCount": 1}"#;
    let asked = async |flags: &[&str]| {
        let collector = Collector::default();
        let endpoint = format!("http://127.0.0.1:{}", collector.start(None).await);
        let server = Process::start(&[&["--otlp-endpoint", &endpoint], flags].concat(), &[]);
        server.ask().await;
        server.call("NamedSpreadService/OpenSpread", open).await;
        server.call("NamedSpreadService/PullJobs", pull).await;
        let log = server.end().await;
        assert!(collector.has(b"NamedSpreadService/OpenSpread"), "{log}");
        collector
    };
    let collector = asked(&[]).await;
    for part in ["offbeat.spread_store", "memory"] {
        assert!(collector.has(part.as_bytes()), "{part}");
    }
    assert!(!collector.has(b"db.system.name"));

    let redis = Redis::start(&[]).await;
    let url = redis.url();
    let collector = asked(&["--spread-store", &url]).await;
    let socket = url.trim_start_matches("redis+unix://");
    for part in
        ["offbeat.spread_store", "db.system.name", "redis", "db.operation.name", "EVALSHA open"]
    {
        assert!(collector.has(part.as_bytes()), "{part}");
    }
    for part in ["EVALSHA read", "server.address", socket, "db.namespace"] {
        assert!(collector.has(part.as_bytes()), "{part}");
    }
    // Background work belongs to no request, so it is not exported.
    assert!(!collector.has(b"SUBSCRIBE listen"));
}

#[tokio::test]
async fn spans_go_to_a_collector_of_the_right_authority_alone() {
    let (authority, stranger) = (Authority::new(), Authority::new());
    let folder = tempfile::tempdir().unwrap();
    let trusted = folder.path().join("ca.pem");
    std::fs::write(&trusted, authority.pem()).unwrap();
    let (collector, impostor) = (Collector::default(), Collector::default());
    let ports = [
        collector.start(Some(acceptor(&authority))).await,
        impostor.start(Some(acceptor(&stranger))).await,
    ];
    let server = |port: u16| {
        let variables = [
            ("OTEL_EXPORTER_OTLP_ENDPOINT", &*format!("https://127.0.0.1:{port}")),
            ("OTEL_EXPORTER_OTLP_CERTIFICATE", trusted.to_str().unwrap()),
            ("OTEL_EXPORTER_OTLP_HEADERS", "x-tenant=acme,authorization=Bearer%20nobody-logs"),
            ("OTEL_BSP_SCHEDULE_DELAY", "100"), // an export every 100 ms
        ];
        Process::start(&[], &variables)
    };
    let [trusting, deceived] = ports.map(server);
    trusting.ask().await;
    for _ in 0..10 {
        deceived.ask().await; // the request is still answered
        tokio::time::sleep(Duration::from_millis(150)).await; // one export per span
    }
    let log = trusting.end().await;
    assert!(collector.has(&hex(TRACE)), "{log}");
    assert_eq!(collector.header("x-tenant"), "acme");
    assert_eq!(collector.header("authorization"), "Bearer nobody-logs");
    assert!(!log.contains("WARN"), "{log}");

    let log = deceived.end().await;
    assert!(impostor.exported.lock().unwrap().is_empty(), "{log}");
    let warnings: Vec<_> = log.lines().filter(|line| line.contains("WARN")).collect();
    let [warning] = warnings[..] else { panic!("once, not for each export: {log}") };
    for part in ["spans are not exported", "invalid peer certificate"] {
        assert!(warning.contains(part), "{warning}");
    }
    assert!(!log.contains("nobody-logs"), "{log}");
}

#[tokio::test]
async fn a_collector_that_comes_back_is_a_line_of_the_log_too() {
    let collector = Collector::default();
    collector.is_full.store(true, Ordering::SeqCst);
    let endpoint = format!("http://127.0.0.1:{}", collector.start(None).await);
    let server =
        Process::start(&["--otlp-endpoint", &endpoint], &[("OTEL_BSP_SCHEDULE_DELAY", "100")]);
    let ask_three_times = async || {
        for _ in 0..3 {
            server.ask().await;
            tokio::time::sleep(Duration::from_millis(150)).await;
        }
    };
    ask_three_times().await;
    collector.is_full.store(false, Ordering::SeqCst);
    ask_three_times().await;
    let log = server.end().await;
    let lines = |message: &str| log.lines().filter(|line| line.contains(message)).count();
    assert_eq!((lines("not exported"), lines("exported again")), (1, 1), "{log}");
    assert_eq!(lines("503 Service Unavailable"), 1, "{log}");
    assert!(collector.has(&hex(TRACE)));
}
