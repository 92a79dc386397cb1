//! Spans at a collector: the server as a process, and a collector that keeps what it is sent.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, clippy::disallowed_methods)]

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;

const POST: http::Method = http::Method::POST;
const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT: &str = "00f067aa0ba902b7";

/// Killed when dropped.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Answers every export with an empty message, and keeps what came.
async fn collect(listener: TcpListener, exported: Arc<Mutex<Vec<u8>>>) {
    while let Ok((socket, _)) = listener.accept().await {
        let exported = Arc::clone(&exported);
        let service = service_fn(move |request: http::Request<hyper::body::Incoming>| {
            let exported = Arc::clone(&exported);
            async move {
                assert_eq!((request.method(), request.uri().path()), (&POST, "/v1/traces"));
                assert_eq!(request.headers()["content-type"], "application/x-protobuf");
                assert!(request.headers()["host"].to_str().unwrap().starts_with("127.0.0.1:"));
                let body = request.into_body().collect().await?.to_bytes();
                exported.lock().unwrap().extend_from_slice(&body);
                Ok::<_, hyper::Error>(http::Response::new(Full::<Bytes>::default()))
            }
        });
        let connection = http1::Builder::new();
        tokio::spawn(connection.serve_connection(TokioIo::new(socket), service));
    }
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

fn hex(text: &str) -> Vec<u8> {
    (0..text.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap())
        .collect()
}

#[tokio::test]
async fn requests_are_exported_in_the_trace_of_their_caller_and_logged_with_it() {
    let collector = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("http://{}", collector.local_addr().unwrap());
    let exported = Arc::new(Mutex::new(Vec::new()));
    tokio::spawn(collect(collector, Arc::clone(&exported)));
    let server = Command::new(env!("CARGO_BIN_EXE_offbeat"))
        .args(["serve", "--listen", "127.0.0.1:0", "--admin-listen", "off"])
        .args(["--log", "info,offbeat::request=debug", "--log-format", "json"])
        .args(["--otlp-endpoint", &endpoint])
        .stdin(Stdio::null())
        .stderr(Stdio::piped())
        .spawn();
    let mut server = Process(server.unwrap());
    let mut log = BufReader::new(server.0.stderr.take().unwrap()).lines();
    let first: serde_json::Value = serde_json::from_str(&log.next().unwrap().unwrap()).unwrap();
    let address = first["address"].as_str().unwrap().to_owned();

    let socket = tokio::net::TcpStream::connect(&address).await.unwrap();
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake(TokioIo::new(socket)).await.unwrap();
    tokio::spawn(connection);
    let request = http::Request::post("/offbeat.v1.SlotService/AssignSlot")
        .header("host", "localhost")
        .header("content-type", "application/json")
        .header("authorization", "Bearer a-secret-that-nobody-logs")
        .header("traceparent", format!("00-{TRACE}-{PARENT}-01"))
        .body(Full::new(Bytes::from_static(
            br#"{"schedule": {"spec": {"period": "28800s"}}, "id": {"text": "an-id-that-nobody-logs"}}"#,
        )));
    let response = sender.send_request(request.unwrap()).await.unwrap();
    assert_eq!(response.status(), 200);
    response.into_body().collect().await.unwrap();
    drop(sender);

    // What is left is exported at the end.
    Command::new("kill").arg(server.0.id().to_string()).status().unwrap();
    let ended = tokio::task::spawn_blocking(move || {
        let status = server.0.wait().unwrap();
        let log: Vec<String> = log.map_while(Result::ok).collect();
        (status, log.join("\n"))
    });
    let (status, log) =
        tokio::time::timeout(Duration::from_secs(20), ended).await.unwrap().unwrap();
    assert!(status.success(), "{status}: {log}");
    let line = log.lines().find(|line| line.contains("SlotService/AssignSlot")).unwrap();
    let line: serde_json::Value = serde_json::from_str(line).unwrap();
    assert_eq!((line["code"].as_str(), line["trace_id"].as_str()), (Some("OK"), Some(TRACE)));
    assert!(!log.contains("nobody-logs"), "neither secrets nor payloads: {log}");
    let exported = exported.lock().unwrap();
    for part in [&hex(TRACE)[..], &hex(PARENT), b"SlotService/AssignSlot", b"rpc.grpc.status_code"]
    {
        assert!(contains(&exported, part), "{part:?} was not exported: {log}");
    }
    assert!(!contains(&exported, b"nobody-logs"));
}
