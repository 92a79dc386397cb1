//! Streams of slot assignments over the wire, with gRPC and with Connect.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod support;

use prost_reflect::DynamicMessage;
use serde_json::{Value, json};
use support::{
    Server, any_schedule, config, encoded, frame, grpc, grpc_request, http2, method_of, path_of,
    post1, post2, raw, request,
};
use tonic::Code;
use tonic_types::StatusExt as _;

#[tokio::test]
async fn streams_go_on_with_the_schedule_of_their_first_message() {
    let server = Server::start(&config());
    let mut channel = http2(server.tcp().await).await;
    let method = method_of("StreamSlotAssignments");
    let schedule =
        json!({"schedule": any_schedule(), "fromTime": "2026-01-01T00:00:00Z", "kind": "sync"});
    let messages = [
        schedule.clone(),
        json!({"ids": {"texts": ["a", "b"]}}),
        json!({"ids": {"uuids": ["bad"]}}),
        json!({"ids": {"integers": ["7"]}}),
    ];
    let body: Vec<u8> = messages.iter().flat_map(|m| frame(&encoded(method.name(), m))).collect();
    let answer = post2(&mut channel, grpc_request(&path_of(method.name()), body)).await;
    assert_eq!(answer.grpc_status().code(), Code::Ok);
    let answers = unframed(&answer.body, &method.output());
    assert_eq!(answers.len(), 3);
    assert!(answers[0]["identity"]["fingerprint"].is_string());
    assert!(answers[1].get("identity").is_none());
    let first: Vec<_> = answers.iter().map(|answer| answer["firstIdIndex"].clone()).collect();
    assert_eq!(first, [Value::Null, json!("2"), json!("3")]); // JSON omits 0
    // The index refers to its own message, and JSON omits 0.
    assert_eq!(answers[1]["assignments"]["errors"][0].get("idIndex"), None);
    assert_eq!(answers[1]["assignments"]["errors"][0]["field"], "ids.uuids[0]");
    let mut unary = schedule.clone();
    unary["ids"] = json!({"integers": ["7"]});
    let unary =
        serde_json::to_value(grpc(&mut channel, "AssignSlots", &unary).await.unwrap()).unwrap();
    assert_eq!(answers[2]["assignments"], unary["assignments"]);

    for (bad, field) in [
        (vec![json!({"ids": {"texts": ["a"]}})], "schedule"),
        (vec![schedule.clone(), schedule.clone()], "schedule"),
        (vec![schedule.clone(), json!({"kind": "b", "ids": {"texts": ["a"]}})], "kind"),
        (vec![schedule.clone(), json!({"fromTime": "2026-01-01T00:00:00Z"})], "from_time"),
        (vec![schedule.clone(), json!({"readMask": "slotIndexes"})], "read_mask"),
        (vec![schedule.clone(), json!({})], "ids"),
    ] {
        let body: Vec<u8> = bad.iter().flat_map(|m| frame(&encoded(method.name(), m))).collect();
        let status = raw(&mut channel, method.name(), body).await;
        assert_eq!(status.code(), Code::InvalidArgument);
        assert_eq!(status.get_error_details().error_info().unwrap().metadata["field"], field);
    }
}

fn unframed(mut bytes: &[u8], descriptor: &prost_reflect::MessageDescriptor) -> Vec<Value> {
    let mut messages = Vec::new();
    while let [_, a, b, c, d, rest @ ..] = bytes {
        let length = u32::from_be_bytes([*a, *b, *c, *d]) as usize;
        let message = DynamicMessage::decode(descriptor.clone(), &rest[..length]).unwrap();
        messages.push(serde_json::to_value(message).unwrap());
        bytes = &rest[length..];
    }
    messages
}

/// The envelopes of a Connect stream: flags and message.
fn envelopes(mut bytes: &[u8]) -> Vec<(u8, Vec<u8>)> {
    let mut envelopes = Vec::new();
    while let [flags, a, b, c, d, rest @ ..] = bytes {
        let length = u32::from_be_bytes([*a, *b, *c, *d]) as usize;
        envelopes.push((*flags, rest[..length].to_vec()));
        bytes = &rest[length..];
    }
    envelopes
}

#[tokio::test]
async fn streams_may_be_spoken_without_grpc() {
    let server = Server::start(&config());
    let mut channel = http2(server.tcp().await).await;
    let path = path_of("StreamSlotAssignments");
    let headers = [("content-type", "application/connect+proto")];
    let messages = |ids: serde_json::Value| {
        let first = json!({"schedule": any_schedule(), "fromTime": "2026-01-01T00:00:00Z"});
        let all = [first, json!({ "ids": ids })];
        all.iter().flat_map(|m| frame(&encoded("StreamSlotAssignments", m))).collect::<Vec<u8>>()
    };
    let good = || request(&path, &headers, messages(json!({"texts": ["a", "b"]})));
    for answer in [post1(server.tcp().await, good()).await, post2(&mut channel, good()).await] {
        assert_eq!(answer.status, 200);
        assert_eq!(answer.headers["content-type"], "application/connect+proto");
        assert!(answer.headers.get("grpc-status").is_none());
        let envelopes = envelopes(&answer.body);
        assert_eq!(envelopes.iter().map(|(flags, _)| *flags).collect::<Vec<_>>(), [0, 2]);
        let output = method_of("StreamSlotAssignments").output();
        let answered = DynamicMessage::decode(output, &*envelopes[0].1).unwrap();
        let answered = serde_json::to_value(answered).unwrap();
        assert_eq!(answered["assignments"]["slotIndexes"], json!([6, 73])); // MD5: 0c…, 92…
        assert_eq!(envelopes[1].1, b"{}");
    }
    // Refusals after, before and without a message, and where no method streams.
    let bad_time = [("content-type", "application/connect+proto"), ("connect-timeout-ms", "x")];
    for (bad, code, field) in [
        (request(&path, &headers, messages(json!({}))), "invalid_argument", Some("ids")),
        (request(&path, &headers, frame(b"")), "invalid_argument", Some("schedule")),
        (request(&path, &bad_time, frame(b"")), "invalid_argument", Some("connect-timeout-ms")),
        (request(&path_of("AssignSlot"), &headers, frame(b"")), "unimplemented", None),
        (request(&path_of("Nope"), &headers, frame(b"")), "unimplemented", None),
    ] {
        let answer = post1(server.tcp().await, bad).await;
        assert_eq!(
            (answer.status.as_u16(), &answer.headers["content-type"]),
            (200, &"application/connect+proto".parse().unwrap())
        );
        let last = envelopes(&answer.body).pop().unwrap();
        assert_eq!(last.0, 2);
        let end: Value = serde_json::from_slice(&last.1).unwrap();
        assert_eq!(end["error"]["code"], code, "{end}");
        let details = &end["error"]["details"];
        if let Some(field) = field {
            assert_eq!(details[0]["debug"]["metadata"]["field"], field, "{end}");
        }
    }
}
