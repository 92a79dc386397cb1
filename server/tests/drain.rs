//! The drain delay: after the stop signal, the server reports that it is not ready and still
//! serves for a while.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, clippy::disallowed_methods)]

mod support;

use std::time::{Duration, Instant};

use serde_json::json;
use support::sidecar::Sidecar;
use support::{any_schedule, grpc, json_request, path_of, post1};
use tokio::net::TcpStream;

fn question() -> serde_json::Value {
    json!({"schedule": any_schedule(), "id": {"text": "acme"}})
}

async fn until_not_ready(sidecar: &Sidecar) {
    let not_ready = async {
        while sidecar.look("/readyz").await.0 != 503 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(5), not_ready).await.unwrap();
}

/// Sends a request over a new connection.
async fn is_answered(sidecar: &Sidecar) -> bool {
    let Ok(socket) = TcpStream::connect(&sidecar.address).await else { return false };
    let request = json_request(&path_of("AssignSlot"), &question().to_string());
    post1(socket, request).await.status == 200
}

#[tokio::test]
async fn it_serves_on_while_it_says_that_it_is_not_ready() {
    let mut sidecar = Sidecar::start(&["--drain-delay", "2"], &[]);
    let mut channel = sidecar.channel().await;
    assert!(grpc(&mut channel, "AssignSlot", &question()).await.is_ok());
    let signalled = Instant::now();
    sidecar.signal("TERM");
    until_not_ready(&sidecar).await;
    assert_eq!(sidecar.metric("offbeat_ready").await, Some(0.0));
    let health = json_request("/grpc.health.v1.Health/Check", "{}");
    let socket = TcpStream::connect(&sidecar.address).await.unwrap();
    assert_eq!(post1(socket, health).await.json()["status"], "NOT_SERVING");
    while signalled.elapsed() < Duration::from_millis(1_500) {
        assert!(is_answered(&sidecar).await, "on a new connection");
        assert!(grpc(&mut channel, "AssignSlot", &question()).await.is_ok(), "on an open one");
        assert_eq!(sidecar.look("/readyz").await.0, 503);
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    drop(channel);
    assert!(sidecar.child.wait().unwrap().success());
    let took = signalled.elapsed();
    assert!(took >= Duration::from_secs(2) && took < Duration::from_secs(4), "{took:?}");
}

#[tokio::test]
async fn a_second_signal_ends_it() {
    let mut sidecar = Sidecar::start(&["--drain-delay", "60"], &[]);
    sidecar.signal("TERM");
    until_not_ready(&sidecar).await;
    assert!(is_answered(&sidecar).await);
    let again = Instant::now();
    sidecar.signal("INT");
    assert!(sidecar.child.wait().unwrap().success());
    assert!(again.elapsed() < Duration::from_secs(5), "{:?}", again.elapsed());
}

#[tokio::test]
async fn without_it_the_listener_is_closed_at_once() {
    let mut sidecar = Sidecar::start(&[], &[]);
    let signalled = Instant::now();
    sidecar.signal("TERM");
    assert!(sidecar.child.wait().unwrap().success());
    assert!(signalled.elapsed() < Duration::from_secs(2), "{:?}", signalled.elapsed());
    assert!(!is_answered(&sidecar).await);
}
