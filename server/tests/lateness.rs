//! How late runs started: recorded by callers and exposed as metrics.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss
)]

mod support;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use offbeat::config::ListenAddress;
use serde_json::{Value, json};
use support::{Server, config_with, grpc, http2, json_request, path_of, post1, post2};
use tokio::net::TcpStream;
use tonic::Code;
use tonic_types::StatusExt as _;

async fn metrics(server: &Server) -> String {
    let Some(ListenAddress::Tcp(address)) = &server.admin else { panic!("there is no admin port") };
    let request = http::Request::get("/metrics").header("host", "localhost");
    let request = request.body(Full::from(Bytes::new()).boxed()).unwrap();
    let answer = post1(TcpStream::connect(address).await.unwrap(), request).await;
    String::from_utf8(answer.body.to_vec()).unwrap()
}

#[tokio::test]
async fn recorded_lateness_is_scraped() {
    let server = Server::start(&config_with(&["--admin-listen", "127.0.0.1:0"]));
    let mut channel = http2(server.tcp().await).await;
    let request = json!({"scheduleName": "bank-sync", "latenessMillis": ["-7", "200", "61000"]});
    let answer = grpc(&mut channel, "RecordLateness", &request).await.unwrap();
    assert_eq!(serde_json::to_value(&answer).unwrap(), json!({"hasOwnSeries": true}));
    let answer =
        post2(&mut channel, json_request(&path_of("RecordLateness"), &request.to_string()));
    assert_eq!(answer.await.json(), json!({"hasOwnSeries": true}));
    // The largest allowed request, which is decoded on another thread.
    let many =
        json!({"scheduleName": "bank-sync", "kind": "poll", "latenessMillis": vec!["100"; 65_536]});
    grpc(&mut channel, "RecordLateness", &many).await.unwrap();
    let text = metrics(&server).await;
    let series = |name: &str, labels: &str| {
        let series = format!("offbeat_run_lateness_seconds_{name}{{{labels}}} ");
        text.lines().find_map(|line| line.strip_prefix(&series)?.parse::<f64>().ok()).unwrap()
    };
    let of = "schedule=\"bank-sync\",kind=\"default\"";
    assert!((series("count", of) - 6.0).abs() < 1e-9);
    assert!((series("sum", of) - 122.4).abs() < 1e-9);
    let below = |bound: &str| {
        text.lines().find_map(|line| {
            let rest = line.strip_prefix("offbeat_run_lateness_seconds_bucket{")?;
            let value = rest.contains(&format!("le=\"{bound}\"")) && rest.contains("\"default\"");
            value.then(|| rest.rsplit(' ').next().unwrap().to_owned())
        })
    };
    let bounds = ["0.1", "0.5", "60.0", "300.0"].map(below);
    assert_eq!(bounds.map(Option::unwrap), ["2", "4", "4", "6"]);
    let polls = series("count", "schedule=\"bank-sync\",kind=\"poll\"");
    assert!((polls - 65_536.0).abs() < 1e-9);
    let timed =
        "offbeat_requests_total{method=\"v1beta1.LatenessService/RecordLateness\",code=\"OK\"} 3";
    assert!(text.contains(timed));
}

#[tokio::test]
async fn lateness_out_of_range_is_refused_and_not_counted() {
    let server = Server::start(&config_with(&["--admin-listen", "127.0.0.1:0"]));
    let mut channel = http2(server.tcp().await).await;
    let year = 366_i64 * 86_400_000;
    let late = |millis: Vec<Value>| json!({"scheduleName": "a", "latenessMillis": millis});
    for (request, field) in [
        (json!({"latenessMillis": ["1"]}), "schedule_name"),
        (json!({"scheduleName": "a/1", "latenessMillis": ["1"]}), "schedule_name"),
        (json!({"scheduleName": "x".repeat(65), "latenessMillis": ["1"]}), "schedule_name"),
        (json!({"scheduleName": "a", "kind": "b c", "latenessMillis": ["1"]}), "kind"),
        (json!({"scheduleName": "a"}), "lateness_millis"),
        (late(vec![json!("1"); 65_537]), "lateness_millis"),
        (late(vec![json!("1"), json!((year + 1).to_string())]), "lateness_millis[1]"),
        (late(vec![json!((-year - 1).to_string())]), "lateness_millis[0]"),
        (late(vec![json!("1"); 131_073]), "lateness_millis"),
    ] {
        let status = grpc(&mut channel, "RecordLateness", &request).await.unwrap_err();
        let details = status.get_error_details();
        let metadata = &details.error_info().unwrap().metadata;
        assert_eq!((status.code(), metadata["field"].as_str()), (Code::InvalidArgument, field));
    }
    assert!(!metrics(&server).await.contains("offbeat_run_lateness_seconds_count"));
    let edges = late(vec![json!(year.to_string()), json!((-year).to_string())]);
    grpc(&mut channel, "RecordLateness", &edges).await.unwrap();
}
