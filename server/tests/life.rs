//! Start, listeners and a clean end.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, clippy::disallowed_methods)]

mod support;

use std::time::{Duration, Instant};

use bytes::Bytes;
use offbeat::config::Config;
use offbeat::net::Listener;
use prost::Message as _;
use serde_json::json;
use support::{
    Answer, Server, any_schedule, channel, config, config_with, frame, grpc, grpc_request, http2,
    json_request, message, method_of, open_body, path_of, post1,
};
use tokio::io::AsyncReadExt as _;
use tonic::Code;
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_client::HealthClient;

fn question() -> serde_json::Value {
    json!({"schedule": any_schedule(), "id": {"text": "acme"}})
}

#[tokio::test]
async fn idle_connections_do_not_hold_the_end_up() {
    let mut server = Server::start(&config());
    let mut silent = server.tcp().await;
    let mut deaf = server.tcp().await; // sends once, then answers nothing, not even pings
    tokio::io::AsyncWriteExt::write_all(
        &mut deaf,
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0",
    )
    .await
    .unwrap();
    let mut idle = http2(server.tcp().await).await;
    grpc(&mut idle, "AssignSlot", &question()).await.unwrap();
    let keep_alive = server.tcp().await;
    post1(keep_alive, json_request(&path_of("AssignSlot"), &question().to_string())).await;
    let started = Instant::now();
    server.signal();
    tokio::task::spawn_blocking(move || server.join()).await.unwrap();
    assert!(started.elapsed() < Duration::from_secs(3), "{:?}", started.elapsed());
    assert_eq!(silent.read(&mut [0; 1]).await.unwrap_or(0), 0);
}

#[tokio::test]
async fn a_request_in_flight_is_answered_within_the_grace_period() {
    let mut server = Server::start(&config());
    let mut channel = http2(server.tcp().await).await;
    let (sender, body) = open_body();
    let call = grpc_request(&path_of("AssignSlot"), Bytes::new()).map(|_| body);
    channel.ready().await.unwrap();
    let response = channel.send_request(call);
    let answer = tokio::spawn(async move { Answer::of(response.await.unwrap()).await });
    tokio::time::sleep(Duration::from_millis(100)).await;
    server.signal();
    tokio::time::sleep(Duration::from_millis(1_200)).await; // longer than idle ones are kept
    let bytes = message(method_of("AssignSlot").input(), &question()).encode_to_vec();
    sender.send(frame(&bytes)).unwrap();
    drop(sender);
    let answer = answer.await.unwrap();
    assert_eq!(answer.grpc_status().code(), Code::Ok);
    let started = Instant::now();
    tokio::task::spawn_blocking(move || server.join()).await.unwrap();
    assert!(started.elapsed() < Duration::from_secs(2), "{:?}", started.elapsed());
}

#[tokio::test]
async fn an_endless_stream_is_ended_after_the_grace_period() {
    let mut server = Server::start(&Config { grace_period: Duration::from_secs(1), ..config() });
    let mut channel = http2(server.tcp().await).await;
    let (_sender, body) = open_body();
    let call = grpc_request(&path_of("StreamSlotAssignments"), Bytes::new()).map(|_| body);
    channel.ready().await.unwrap();
    let response = channel.send_request(call);
    let answer = tokio::spawn(async move { Answer::of(response.await.unwrap()).await });
    tokio::time::sleep(Duration::from_millis(100)).await;
    let started = Instant::now();
    server.signal();
    tokio::task::spawn_blocking(move || server.join()).await.unwrap();
    let took = started.elapsed();
    assert!(took >= Duration::from_secs(1) && took < Duration::from_secs(3), "{took:?}");
    assert_eq!(answer.await.unwrap().grpc_status().code(), Code::Unavailable);
}

#[tokio::test]
async fn health_says_so_before_the_end() {
    let mut server = Server::start(&config());
    let mut health = HealthClient::new(channel(&server).await);
    for service in ["", "offbeat.v1.SlotService"] {
        let request = HealthCheckRequest { service: service.to_owned() };
        assert_eq!(health.check(request).await.unwrap().into_inner().status, 1);
    }
    let unknown = HealthCheckRequest { service: "nobody".to_owned() };
    assert_eq!(health.check(unknown).await.unwrap_err().code(), Code::NotFound);
    let watch = HealthCheckRequest { service: String::new() };
    let mut states = health.watch(watch).await.unwrap().into_inner();
    assert_eq!(states.message().await.unwrap().unwrap().status, 1);
    let started = Instant::now();
    server.signal();
    assert_eq!(states.message().await.unwrap().unwrap().status, 2, "NOT_SERVING");
    let end = states.message().await.unwrap_err();
    assert_eq!(end.code(), Code::Unavailable, "a watcher does not hold the end up");
    tokio::task::spawn_blocking(move || server.join()).await.unwrap();
    assert!(started.elapsed() < Duration::from_secs(3), "{:?}", started.elapsed());
}

#[tokio::test]
async fn unix_sockets_are_served_and_removed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("offbeat.sock");
    let listen = vec![format!("unix:{}", path.display()).parse().unwrap()];
    let config = Config { listen, ..config() };
    let server = Server::start(&config);
    let mut channel = http2(server.unix().await).await;
    assert!(grpc(&mut channel, "AssignSlot", &question()).await.is_ok());
    let json = json_request(&path_of("AssignSlot"), &question().to_string());
    assert_eq!(post1(server.unix().await, json).await.status, 200);
    let taken = Listener::bind(&config.listen[0], config.socket_mode).await.unwrap_err();
    assert_eq!(taken.kind(), std::io::ErrorKind::AddrInUse);
    drop(channel);
    drop(server);
    assert!(!path.exists());

    // A socket that a killed server left behind is replaced; any other file is kept.
    drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
    assert!(path.exists());
    drop(Server::start(&config));
    std::fs::write(&path, "precious").unwrap();
    assert!(Listener::bind(&config.listen[0], config.socket_mode).await.is_err());
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "precious");
}

#[tokio::test]
async fn several_listeners_serve_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("second.sock");
    let unix = format!("unix:{}", path.display()).parse().unwrap();
    let server =
        Server::start(&Config { listen: vec!["127.0.0.1:0".parse().unwrap(), unix], ..config() });
    let json = || json_request(&path_of("AssignSlot"), &question().to_string());
    assert_eq!(post1(server.tcp().await, json()).await.status, 200);
    let unix = tokio::net::UnixStream::connect(&path).await.unwrap();
    assert_eq!(post1(unix, json()).await.status, 200);
}

#[tokio::test]
async fn connections_beyond_the_limit_wait_their_turn() {
    let server = Server::start(&config_with(&["--max-connections", "1"]));
    let mut first = http2(server.tcp().await).await;
    let (at_work, body) = open_body();
    first.ready().await.unwrap();
    let call = grpc_request(&path_of("AssignSlot"), Bytes::new()).map(|_| body);
    let at_work_too = tokio::spawn(first.send_request(call));
    tokio::time::sleep(Duration::from_millis(100)).await;
    let waiting = server.tcp().await;
    let second = tokio::spawn(async move {
        let mut channel = http2(waiting).await;
        grpc(&mut channel, "AssignSlot", &question()).await.is_ok()
    });
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert!(!second.is_finished());
    drop(at_work); // its request is now answered
    at_work_too.await.unwrap().unwrap();
    drop(first);
    assert!(second.await.unwrap());
}

#[tokio::test]
async fn a_message_that_begins_must_end() {
    let server = Server::start(&config_with(&["--unary-timeout", "1"]));
    let mut channel = http2(server.tcp().await).await;
    let (sender, body) = open_body();
    let call = grpc_request(&path_of("StreamSlotAssignments"), Bytes::new()).map(|_| body);
    channel.ready().await.unwrap();
    let response = channel.send_request(call);
    let answer = tokio::spawn(async move { Answer::of(response.await.unwrap()).await });
    tokio::time::sleep(Duration::from_millis(1_500)).await;
    assert!(!answer.is_finished(), "a stream may be silent between messages");
    sender.send(Bytes::from_static(&[0, 0, 0])).unwrap();
    let started = Instant::now();
    let status = answer.await.unwrap().grpc_status();
    assert_eq!(status.code(), Code::DeadlineExceeded);
    assert!(started.elapsed() < Duration::from_secs(3), "{:?}", started.elapsed());
}

#[tokio::test]
async fn large_messages_share_a_bounded_room() {
    let flags = ["--max-bytes-in-flight", "1048576", "--max-bulk-message-bytes", "1048576"];
    let server = Server::start(&config_with(&flags));
    let mut channel = http2(server.tcp().await).await;
    let ids: Vec<i64> = (0..60_000).collect();
    let bulk = json!({"schedule": any_schedule(), "ids": {"integers": ids}});
    let bytes = message(method_of("AssignSlots").input(), &bulk).encode_to_vec();
    assert!(bytes.len() > 100_000);
    // Two thirds of a message of a megabyte reserve two thirds of the room.
    let (sender, body) = open_body();
    let call = grpc_request(&path_of("AssignSlots"), Bytes::new()).map(|_| body);
    channel.ready().await.unwrap();
    let held = channel.send_request(call);
    let begun = [&[0, 0, 15, 0, 0][..], &vec![0; 700_000]].concat();
    sender.send(begun.into()).unwrap();
    let held = tokio::spawn(held);
    tokio::time::sleep(Duration::from_millis(300)).await;
    let refused = grpc(&mut channel, "AssignSlots", &bulk).await.unwrap_err();
    assert_eq!(refused.code(), Code::ResourceExhausted);
    assert!(refused.message().contains("room"), "{refused:?}");
    assert!(grpc(&mut channel, "AssignSlot", &question()).await.is_ok(), "small ones go on");
    drop(sender); // ends in the middle of the message
    held.await.unwrap().unwrap();
    let again = grpc(&mut channel, "AssignSlots", &bulk).await.unwrap_err();
    assert!(again.message().contains("room"), "the answer alone is larger: {again:?}");
    // A complete message keeps its room until it is answered; this caller does not end its
    // request.
    let fewer = json!({"schedule": any_schedule(), "ids": {"integers": &ids[..5_000]}});
    assert!(grpc(&mut channel, "AssignSlots", &fewer).await.is_ok());
    let (sender, body) = open_body();
    let call = grpc_request(&path_of("AssignSlots"), Bytes::new()).map(|_| body);
    channel.ready().await.unwrap();
    let held = tokio::spawn(channel.send_request(call));
    let unknown_field = [&[0xa2, 0x1f, 0xa0, 0xf7, 0x36][..], &[0; 900_000]].concat();
    sender.send(frame(&unknown_field)).unwrap();
    tokio::time::sleep(Duration::from_millis(300)).await;
    let refused = grpc(&mut channel, "AssignSlots", &fewer).await.unwrap_err();
    assert!(refused.message().contains("room"), "{refused:?}");
    drop(sender);
    held.await.unwrap().unwrap();
    assert!(grpc(&mut channel, "AssignSlots", &fewer).await.is_ok());
}
