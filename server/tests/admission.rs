//! Deadlines and limits on requests: which requests are too late, and which are too many.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, clippy::disallowed_methods)]

mod support;

use std::time::{Duration, Instant};

use bytes::Bytes;
use serde_json::json;
use support::{
    Answer, Http2, Server, any_schedule, config, config_with, encoded, frame, good_request, grpc,
    grpc_request, http2, json_request, open_body, path_of, post1, post2, reason, request,
};
use tokio::sync::mpsc::UnboundedSender;
use tonic::Code;
use tonic_types::StatusExt as _;

/// Opens a stream and sends its first message.
async fn open_stream(
    channel: &mut Http2,
    headers: &[(&str, &str)],
) -> (UnboundedSender<Bytes>, tokio::task::JoinHandle<Answer>) {
    let (sender, body) = open_body();
    let first = encoded(
        "StreamSlotAssignments",
        &json!({"schedule": any_schedule(), "ids": {"texts": ["a"]}}),
    );
    sender.send(frame(&first)).unwrap();
    let mut call = grpc_request(&path_of("StreamSlotAssignments"), Bytes::new()).map(|_| body);
    for (name, value) in headers {
        let name = http::HeaderName::try_from(*name).unwrap();
        call.headers_mut().insert(name, value.parse().unwrap());
    }
    channel.ready().await.unwrap();
    let response = channel.send_request(call).await.unwrap();
    assert_eq!(response.status(), 200);
    (sender, tokio::spawn(Answer::of(response)))
}

#[tokio::test]
async fn deadlines_hold_in_streams_too() {
    let server = Server::start(&config());
    let mut channel = http2(server.tcp().await).await;
    let started = Instant::now();
    let (_open, answer) = open_stream(&mut channel, &[("grpc-timeout", "300m")]).await;
    let answer = answer.await.unwrap();
    let status = answer.grpc_status();
    assert_eq!(
        (status.code(), reason(&status).as_str()),
        (Code::DeadlineExceeded, "ERROR_REASON_DEADLINE_EXCEEDED")
    );
    assert!(started.elapsed() >= Duration::from_millis(300), "{:?}", started.elapsed());
    assert!(!answer.body.is_empty(), "the answer before the deadline arrived");
    let bad = request(
        &path_of("AssignSlot"),
        &[("content-type", "application/grpc"), ("grpc-timeout", "soon")],
        frame(&encoded("AssignSlot", &good_request())),
    );
    let status = post2(&mut channel, bad).await.grpc_status();
    assert_eq!(status.code(), Code::InvalidArgument);
}

#[tokio::test]
async fn a_request_that_never_ends_is_given_up() {
    let server = Server::start(&config_with(&["--unary-timeout", "1"]));
    let mut channel = http2(server.tcp().await).await;
    let (_open, body) = open_body();
    let call = grpc_request(&path_of("AssignSlot"), Bytes::new()).map(|_| body);
    let status = post2(&mut channel, call).await.grpc_status();
    assert_eq!(status.code(), Code::DeadlineExceeded);
    let (_open, body) = open_body();
    let call = json_request(&path_of("AssignSlot"), "").map(|_| body);
    let answer = post2(&mut channel, call).await;
    assert_eq!(
        (answer.status.as_u16(), &answer.json()["code"]),
        (504, &json!("deadline_exceeded"))
    );
}

#[tokio::test]
async fn a_full_server_says_when_to_try_again_and_stays_healthy() {
    let server = Server::start(&config_with(&["--max-requests", "2"]));
    let mut channel = http2(server.tcp().await).await;
    let (first, first_answer) = open_stream(&mut channel, &[]).await;
    let (_second, _) = open_stream(&mut channel, &[]).await;
    let status = grpc(&mut channel, "AssignSlot", &good_request()).await.unwrap_err();
    assert_eq!(
        (status.code(), reason(&status).as_str()),
        (Code::ResourceExhausted, "ERROR_REASON_OVERLOADED")
    );
    let details = status.get_error_details();
    assert!(details.retry_info().unwrap().retry_delay.unwrap() > Duration::ZERO);
    assert!(details.has_quota_failure_violations());
    let health = json_request("/grpc.health.v1.Health/Check", "{}");
    assert_eq!(post1(server.tcp().await, health).await.json(), json!({"status": "SERVING"}));
    drop(first);
    assert_eq!(first_answer.await.unwrap().grpc_status().code(), Code::Ok);
    assert!(grpc(&mut channel, "AssignSlot", &good_request()).await.is_ok());
}

#[tokio::test]
async fn a_cancelled_stream_gives_its_place_back() {
    let server = Server::start(&config_with(&["--max-requests", "1"]));
    for _ in 0..5 {
        let mut channel = http2(server.tcp().await).await;
        let (sender, answer) = open_stream(&mut channel, &[]).await;
        answer.abort();
        drop((sender, channel));
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let mut channel = http2(server.tcp().await).await;
    assert!(grpc(&mut channel, "AssignSlot", &good_request()).await.is_ok());
}

#[tokio::test]
async fn a_reader_that_makes_no_room_loses_its_place() {
    let server = Server::start(&config_with(&["--max-requests", "1", "--unary-timeout", "1"]));
    let mut starving = support::http2_with_window(server.tcp().await, 0).await;
    starving.ready().await.unwrap();
    let body = frame(&encoded("AssignSlot", &good_request()));
    let response = starving.send_request(grpc_request(&path_of("AssignSlot"), body)).await.unwrap();
    let mut channel = http2(server.tcp().await).await;
    let full = grpc(&mut channel, "AssignSlot", &good_request()).await.unwrap_err();
    assert_eq!(full.code(), Code::ResourceExhausted);
    tokio::time::sleep(Duration::from_secs(4)).await;
    assert!(grpc(&mut channel, "AssignSlot", &good_request()).await.is_ok());
    drop(response);
}

#[tokio::test]
async fn plain_http_is_admitted_and_timed_like_grpc() {
    let server = Server::start(&config_with(&["--max-requests", "1"]));
    let mut channel = http2(server.tcp().await).await;
    let (_open, body) = open_body();
    let mut slow = json_request(&path_of("AssignSlot"), "").map(|_| body);
    slow.headers_mut().insert("connect-timeout-ms", "2000".parse().unwrap());
    channel.ready().await.unwrap();
    let started = Instant::now();
    let slow = channel.send_request(slow);
    let slow = tokio::spawn(async move { Answer::of(slow.await.unwrap()).await });
    tokio::time::sleep(Duration::from_millis(800)).await; // a busy machine needs some of it
    let json = good_request().to_string();
    let full = post1(server.tcp().await, json_request(&path_of("AssignSlot"), &json)).await;
    assert_eq!((full.status.as_u16(), &full.json()["code"]), (429, &json!("resource_exhausted")));
    let late = slow.await.unwrap();
    assert_eq!((late.status.as_u16(), &late.json()["code"]), (504, &json!("deadline_exceeded")));
    assert!(started.elapsed() < Duration::from_secs(4), "{:?}", started.elapsed());
    let served = post1(server.tcp().await, json_request(&path_of("AssignSlot"), &json)).await;
    assert_eq!(served.status, 200);
}

#[tokio::test]
async fn abandoned_batches_do_not_pile_up() {
    let server = Server::start(&config());
    let mut channel = http2(server.tcp().await).await;
    let integers: Vec<String> = (0..65_536).map(|number| number.to_string()).collect();
    let large = json!({
        "schedule": {"spec": {"period": "28800s", "placement": "PLACEMENT_TWISTER"}},
        "ids": {"integers": integers},
    });
    let large = frame(&encoded("AssignSlots", &large));
    let started = Instant::now();
    for _ in 0..30 {
        let mut call = grpc_request(&path_of("AssignSlots"), large.clone());
        call.headers_mut().insert("grpc-timeout", "20m".parse().unwrap());
        let status = post2(&mut channel, call).await.grpc_status();
        // Batches that still run hold their places, so later ones may find none.
        assert!(matches!(
            status.code(),
            Code::DeadlineExceeded | Code::ResourceExhausted | Code::Ok
        ));
    }
    let abandoned = started.elapsed();
    let small: Vec<String> = (0..300).map(|number| number.to_string()).collect();
    let small = json!({"schedule": any_schedule(), "ids": {"integers": small}});
    let started = Instant::now();
    grpc(&mut channel, "AssignSlots", &small).await.unwrap();
    // Only batches that had started are waited for: about two, not thirty.
    assert!(started.elapsed() < Duration::from_secs(5), "{abandoned:?} {:?}", started.elapsed());
}
