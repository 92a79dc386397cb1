//! What is visible from outside: metrics and probes.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, clippy::disallowed_methods)]

mod support;

use std::time::Duration;

use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt as _, Full};
use offbeat::config::ListenAddress;
use serde_json::json;
use support::{
    Answer, Server, any_schedule, config_with, grpc, grpc_request, http2, json_request, open_body,
    path_of, post1,
};
use tokio::net::TcpStream;
use tonic::Code;

async fn get(server: &Server, path: &str) -> Answer {
    let Some(ListenAddress::Tcp(address)) = &server.admin else { panic!("there is no admin port") };
    let request = Request::get(path).header("host", "localhost");
    let request = request.body(Full::from(Bytes::new()).boxed()).unwrap();
    post1(TcpStream::connect(address).await.unwrap(), request).await
}

/// The value of a series, if the series exists.
async fn metric(server: &Server, series: &str) -> Option<f64> {
    let text = String::from_utf8(get(server, "/metrics").await.body.to_vec()).unwrap();
    assert!(text.ends_with("# EOF\n"), "{text}");
    let line = text.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' '));
    line.map(|value| value.parse().unwrap())
}

fn question(id: &str) -> serde_json::Value {
    json!({"schedule": any_schedule(), "id": {"text": id}})
}

#[tokio::test]
async fn requests_are_counted_however_they_are_made_and_end() {
    let server = Server::start(&config_with(&["--admin-listen", "127.0.0.1:0"]));
    let mut channel = http2(server.tcp().await).await;
    grpc(&mut channel, "AssignSlot", &question("acme")).await.unwrap();
    grpc(&mut channel, "AssignSlot", &question(&"x".repeat(2_000))).await.unwrap_err();
    let json = json_request(&path_of("AssignSlot"), &question("acme").to_string());
    assert_eq!(post1(server.tcp().await, json).await.status, 200);
    let bad = json_request(&path_of("AssignSlot"), "{");
    assert_eq!(post1(server.tcp().await, bad).await.status, 400);
    let nowhere = json_request("/nobody.Knows/It", "{}");
    post1(server.tcp().await, nowhere).await;
    // Started and then abandoned.
    let (_sender, body) = open_body();
    channel.ready().await.unwrap();
    let left =
        channel.send_request(grpc_request(&path_of("AssignSlot"), Bytes::new()).map(|_| body));
    let left = tokio::spawn(left);
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(metric(&server, "offbeat_requests_in_flight").await, Some(1.0));
    left.abort();
    tokio::time::sleep(Duration::from_millis(100)).await;

    let ended = async |method: &str, code: &str| {
        let series = format!("offbeat_requests_total{{method=\"{method}\",code=\"{code}\"}}");
        metric(&server, &series).await
    };
    assert_eq!(ended("SlotService/AssignSlot", "OK").await, Some(2.0));
    assert_eq!(ended("SlotService/AssignSlot", "INVALID_ARGUMENT").await, Some(2.0));
    assert_eq!(ended("unknown", "UNIMPLEMENTED").await, Some(1.0), "one series for all of them");
    assert_eq!(metric(&server, "offbeat_requests_in_flight").await, Some(0.0));
    let timed = "offbeat_request_duration_seconds_count{method=\"SlotService/AssignSlot\"}";
    assert!(metric(&server, timed).await >= Some(4.0));
    let refused = "offbeat_refusals_total{reason=\"OUT_OF_RANGE\"}";
    assert!(
        metric(&server, refused).await >= Some(1.0),
        "the process has one count for all servers"
    );
    for what in ["certificates", "tokens"] {
        for result in ["ok", "refused"] {
            let reloads = format!("offbeat_reloads_total{{what=\"{what}\",result=\"{result}\"}}");
            assert_eq!(metric(&server, &reloads).await, Some(0.0), "from the start");
        }
    }
    assert_eq!(metric(&server, "offbeat_ready").await, Some(1.0));
    assert!(metric(&server, "process_resident_memory_bytes").await > Some(1e6));
    assert!(metric(&server, "process_open_fds").await > Some(3.0));
    let build = format!("offbeat_build_info{{version=\"{}\"}}", env!("CARGO_PKG_VERSION"));
    assert_eq!(metric(&server, &build).await, Some(1.0));
}

#[tokio::test]
async fn named_spreads_are_seen() {
    let server = Server::start(&config_with(&["--admin-listen", "127.0.0.1:0"]));
    let mut channel = http2(server.tcp().await).await;
    let spec = json!({"spread_name": "s", "spec": {"order": {"feeder_count": 2}}});
    grpc(&mut channel, "OpenSpread", &spec).await.unwrap();
    let idle = json!({"spread_name": "idle", "spec": {"order": {"feeder_count": 2}}});
    grpc(&mut channel, "OpenSpread", &idle).await.unwrap();
    let jobs: Vec<_> = ["a", "b", "c"].iter().map(|_| json!({"payload": "aGk="})).collect();
    let sha256 = {
        use sha2::Digest as _;
        let mut hash = sha2::Sha256::new();
        for _ in &jobs {
            hash.update(2_u64.to_be_bytes());
            hash.update(b"hi");
        }
        hash.finalize().to_vec()
    };
    let group = json!({"group_id": "g", "jobs": jobs, "commit": {"job_count": "3", "sha256": base64(&sha256)}});
    let submit = json!({"spread_name": "s", "groups": [group]});
    grpc(&mut channel, "SubmitGroups", &submit).await.unwrap();
    let pull = json!({"spread_name": "s", "consumer_id": "c", "max_pulled_job_count": 1});
    grpc(&mut channel, "PullJobs", &pull).await.unwrap();
    tokio::time::sleep(Duration::from_millis(50)).await;
    for (series, value) in [
        ("offbeat_spreads{store=\"memory\"}", 2.0),
        ("offbeat_spread_groups{store=\"memory\",spread=\"s\"}", 1.0),
        ("offbeat_spread_consumers{store=\"memory\",spread=\"s\"}", 1.0),
        ("offbeat_spread_jobs{store=\"memory\",spread=\"s\",state=\"ready\"}", 2.0),
        ("offbeat_spread_jobs{store=\"memory\",spread=\"s\",state=\"leased\"}", 1.0),
        ("offbeat_spread_jobs{store=\"memory\",spread=\"s\",state=\"dead\"}", 0.0),
        ("offbeat_spread_jobs{store=\"memory\",spread=\"idle\",state=\"leased\"}", 0.0),
        ("offbeat_spread_groups{store=\"memory\",spread=\"other\"}", 0.0),
    ] {
        assert_eq!(metric(&server, series).await, Some(value), "{series}");
    }
    let age = "offbeat_spread_oldest_group_age_seconds{store=\"memory\",spread=\"s\"}";
    let age = metric(&server, age).await.unwrap();
    assert!((0.04..10.0).contains(&age), "{age}");
}

fn base64(bytes: &[u8]) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode(bytes)
}

#[tokio::test]
async fn probes_tell_alive_from_ready() {
    let mut server = Server::start(&config_with(&["--admin-listen", "127.0.0.1:0"]));
    // A request in flight delays the end of the server, and so that of the admin port.
    let mut channel = http2(server.tcp().await).await;
    let (sender, body) = open_body();
    channel.ready().await.unwrap();
    let slow =
        channel.send_request(grpc_request(&path_of("AssignSlot"), Bytes::new()).map(|_| body));
    let slow = tokio::spawn(slow);
    assert_eq!(get(&server, "/healthz").await.status, 200);
    // The ports are open a moment before the server is ready.
    let ready = async {
        while get(&server, "/readyz").await.status != 200 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), ready).await.unwrap();
    assert_eq!(get(&server, "/nowhere").await.status, 404);
    server.signal();
    let draining = async {
        while get(&server, "/readyz").await.status != 503 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), draining).await.unwrap();
    assert_eq!(get(&server, "/healthz").await.status, 200, "it drains: it must not be killed");
    drop(sender);
    slow.await.unwrap().unwrap();
    tokio::task::spawn_blocking(move || server.join()).await.unwrap();
}

#[tokio::test]
async fn a_second_server_goes_without_the_default_admin_port_but_not_without_one_asked_for() {
    let first = Server::start(&config_with(&["--admin-listen", "127.0.0.1:0"]));
    let taken = first.admin.clone().unwrap();
    let asked = config_with(&["--admin-listen", &taken.to_string()]);
    let refused = offbeat::Server::bind(&asked).await.unwrap_err().to_string();
    assert!(refused.contains(&taken.to_string()), "{refused}");
    let config = config_with(&[]);
    let default =
        offbeat::config::Config { admin: offbeat::config::Admin::IfFree(taken), ..config };
    let bound = offbeat::Server::bind(&default).await.unwrap();
    assert_eq!(bound.admin_address().unwrap(), None);
    let mut channel = http2(first.tcp().await).await;
    let health = grpc_request("/grpc.health.v1.Health/Check", Bytes::from_static(&[0; 5]));
    assert_eq!(support::post2(&mut channel, health).await.grpc_status().code(), Code::Ok);
}
