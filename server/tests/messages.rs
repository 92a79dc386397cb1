//! Request messages: too large, tiny, and one too many.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, clippy::disallowed_methods)]

mod support;

use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body::Body as _;
use http_body_util::BodyExt as _;
use offbeat::method::Method;
use offbeat::proto;
use prost::Message as _;
use serde_json::json;
use support::{
    Http2, Server, any_schedule, config, encoded, frame, grpc_request, http2, json_request,
    open_body, path_of, pool, post1, post2, raw, reason, request,
};
use tonic::Code;

#[tokio::test]
async fn messages_are_refused_by_their_length_alone() {
    let largest = config().limits;
    let server = Server::start(&config());
    let mut channel = http2(server.tcp().await).await;
    for (method, limit) in [
        ("AssignSlot", largest.message.max_size()),
        ("AssignSlots", largest.bulk_message.max_size()),
    ] {
        // Only the prefix is sent: the server must not wait, or reserve memory, for the rest.
        for length in [limit + 1, u32::MAX as usize] {
            let prefix = [&[0][..], &u32::try_from(length).unwrap().to_be_bytes()].concat();
            let status = raw(&mut channel, method, prefix).await;
            assert_eq!(status.code(), Code::ResourceExhausted, "{method} {length}: {status:?}");
            assert_eq!(reason(&status), "ERROR_REASON_MESSAGE_TOO_LARGE");
            assert!(status.message().contains(&limit.to_string()), "{}", status.message());
        }
        // A message of exactly the limit is accepted; an unknown field fills it up.
        let mut largest = encoded(method, &json!({"schedule": any_schedule()}));
        let filler = limit - largest.len() - 6; // a tag of two bytes and a length of four
        prost::encoding::encode_key(999, prost::encoding::WireType::LengthDelimited, &mut largest);
        let length = [
            filler & 0x7f | 0x80,
            filler >> 7 & 0x7f | 0x80,
            filler >> 14 & 0x7f | 0x80,
            filler >> 21,
        ];
        largest.extend(length.map(|byte| u8::try_from(byte).unwrap()));
        largest.resize(limit, 0);
        let status = raw(&mut channel, method, frame(&largest)).await;
        assert_eq!(reason(&status), "ERROR_REASON_FIELD_MISSING", "{status:?}");
    }
    let good = json!({"schedule": any_schedule(), "id": {"text": "acme"}});
    let spaces = format!("{good}{}", " ".repeat(config().limits.message.max_size()));
    let answer = post1(server.tcp().await, json_request(&path_of("AssignSlot"), &spaces)).await;
    assert_eq!(
        (answer.status.as_u16(), &answer.json()["code"]),
        (429, &json!("resource_exhausted"))
    );
}

#[tokio::test]
async fn a_unary_call_is_one_message_and_not_any_number() {
    let server = Server::start(&config());
    let channel = http2(server.tcp().await).await;
    for method in ["AssignSlots", "AssignSlot", "ListSlots"] {
        let (part, body) = open_body();
        for _ in 0..2 {
            part.send(frame(&encoded(method, &json!({"schedule": any_schedule()})))).unwrap();
        }
        let call = grpc_request(&path_of(method), Bytes::new()).map(|_| body);
        let mut channel = channel.clone();
        // The caller could still send more.
        let status = post2(&mut channel, call).await.grpc_status();
        assert_eq!(status.code(), Code::InvalidArgument, "{method}: {status:?}");
        assert_eq!(reason(&status), "ERROR_REASON_MALFORMED");
        drop(part);
    }
}

/// Over plain HTTP, with and without a `content-length`.
#[tokio::test]
async fn messages_as_bytes_are_answered_as_by_grpc_however_long() {
    let server = Server::start(&config());
    let mut channel = http2(server.tcp().await).await;
    for count in [1, 1_000, 20_000, 65_536] {
        let ids: Vec<String> = (0..count).map(|id: i64| (id - 7).to_string()).collect();
        let asked = json!({
            "schedule": any_schedule(), "ids": {"integers": ids}, "fromTime": "2026-01-01T00:00:00Z",
        });
        let bytes = encoded("AssignSlots", &asked);
        let path = path_of("AssignSlots");
        let expected = post2(&mut channel, grpc_request(&path, frame(&bytes))).await;
        assert_eq!(expected.grpc_status().code(), Code::Ok);
        let as_bytes = || request(&path, &[("content-type", "application/proto")], bytes.clone());
        let (part, body) = open_body();
        for piece in bytes.chunks(10_000) {
            part.send(Bytes::copy_from_slice(piece)).unwrap();
        }
        drop(part);
        for answer in [
            post1(server.tcp().await, as_bytes()).await,
            post2(&mut channel, as_bytes()).await,
            post1(server.tcp().await, as_bytes().map(|_| body)).await,
        ] {
            assert_eq!(answer.status.as_u16(), 200);
            assert_eq!(answer.body, expected.body.slice(5..), "{count}");
        }
    }
}

/// gRPC asks for trailers-only responses, and clients in C reject a status after an empty DATA
/// frame.
#[tokio::test]
async fn refusals_are_headers_alone() {
    let server = Server::start(&config());
    let mut channel = http2(server.tcp().await).await;
    let bad = json!({"schedule": {"spec": {"period": "1s", "slotCount": 0}}});
    let many: Vec<String> = (0..10_000).map(|number| number.to_string()).collect();
    let large = json!({"schedule": bad["schedule"], "ids": {"integers": many}});
    for (method, asked) in [("AssignSlot", &bad), ("ListSlots", &bad), ("AssignSlots", &large)] {
        let call = grpc_request(&path_of(method), frame(&encoded(method, asked)));
        channel.ready().await.unwrap();
        let answer = channel.send_request(call).await.unwrap();
        assert_eq!(answer.headers()["grpc-status"], "3", "{method}");
        assert!(answer.body().is_end_stream(), "{method}");
    }
}

/// Methods that wait, and streams, too.
#[tokio::test]
async fn every_method_answers_a_message_of_60_kb() {
    let server = Server::start(&config());
    let channel = http2(server.tcp().await).await;
    let unknown_field = [&[0xa2, 0x1f, 0xdc, 0xd6, 3][..], &[0; 60_252]].concat();
    for method in pool().services().flat_map(|service| service.methods().collect::<Vec<_>>()) {
        let mut channel = channel.clone();
        let path = format!("/{}/{}", method.parent_service().full_name(), method.name());
        let (part, body) = open_body();
        let call = grpc_request(&path, Bytes::new()).map(|_| body);
        part.send(frame(&unknown_field)).unwrap();
        if Method::at(&path).client_streaming {
            part.send(frame(&unknown_field)).unwrap(); // the stream stays open
        } else {
            drop(part);
        }
        let answered = async {
            let mut answer = channel.send_request(call).await.unwrap();
            let ended = answer.headers().contains_key("grpc-status");
            ended || answer.body_mut().frame().await.is_some()
        };
        let answered = tokio::time::timeout(Duration::from_secs(10), answered).await;
        assert_eq!(answered, Ok(true), "{path}");
    }
}

/// A megabyte of empty nested messages takes longest to decode.
#[tokio::test]
async fn the_event_loop_goes_on_while_large_messages_are_decoded() {
    let server = Server::start(&config());
    let channel = http2(server.tcp().await).await;
    let mut victim = http2(server.tcp().await).await;
    for method in ["AssignSlots", "StreamSlotAssignments", "Spread", "AllocateWorkers"] {
        // An event loop that decodes stalls every time. A loop that a busy machine holds up does
        // not.
        let mut stalls = vec![];
        while stalls.len() < 5 {
            let (longest, took) = longest_call_beside(method, channel.clone(), &mut victim).await;
            if longest < took / 3 {
                break;
            }
            stalls.push((longest, took));
        }
        assert!(stalls.len() < 5, "{method}: calls took so long of so long: {stalls:?}");
    }
}

/// The longest call while a large message of a method is refused, and how long the refusal took.
async fn longest_call_beside(
    method: &str,
    mut channel: Http2,
    victim: &mut Http2,
) -> (Duration, Duration) {
    let good =
        frame(&encoded("AssignSlot", &json!({"schedule": any_schedule(), "id": {"integer": 7}})));
    let call = grpc_request(&path_of(method), frame(&[0x0a, 0].repeat(512 << 10)));
    let begun = Instant::now();
    let attack = tokio::spawn(async move {
        let status = post2(&mut channel, call).await.grpc_status();
        (begun.elapsed(), status)
    });
    let mut longest = Duration::ZERO;
    while !attack.is_finished() {
        let asked = Instant::now();
        assert_eq!(raw(victim, "AssignSlot", good.clone()).await.code(), Code::Ok);
        longest = longest.max(asked.elapsed());
    }
    let (took, status) = attack.await.unwrap();
    let refused = [Code::InvalidArgument, Code::ResourceExhausted];
    assert!(refused.contains(&status.code()), "{method}: {status:?}");
    (longest, took)
}

/// A client that learns of one group at a time may send 10 bytes per message, which is no flood.
#[tokio::test]
async fn a_feeder_may_send_each_group_in_a_message_of_its_own() {
    use proto::spread_request::Message as RequestMessage;
    use proto::spread_response::Message as Answer;

    const GROUPS: i64 = 60_000;
    let server = Server::start(&config());
    let mut channel = http2(server.tcp().await).await;
    let (part, body) = open_body();
    let send = |asked| {
        let request = proto::SpreadRequest { message: Some(asked) };
        part.send(frame(&request.encode_to_vec())).unwrap();
    };
    let order = proto::SpreadOrder { feeder_count: Some(1), ..proto::SpreadOrder::default() };
    let spec = proto::SpreadSpec {
        order: Some(order),
        group_window: 65_536,
        ..proto::SpreadSpec::default()
    };
    send(RequestMessage::Spec(spec));
    for number in 1..=GROUPS {
        send(RequestMessage::Input(proto::SpreadInput {
            whole_group_sizes: vec![1],
            no_more_groups: number == GROUPS,
            ..proto::SpreadInput::default()
        }));
    }
    let answer = post2(&mut channel, grpc_request(&path_of("Spread"), "").map(|_| body)).await;
    assert_eq!(answer.grpc_status().code(), Code::Ok);
    let mut messages = &*answer.body;
    let mut dealt = 0;
    while let [_, a, b, c, d, rest @ ..] = messages {
        let (message, rest) = rest.split_at(u32::from_be_bytes([*a, *b, *c, *d]) as usize);
        messages = rest;
        match proto::SpreadResponse::decode(message).unwrap().message.unwrap() {
            Answer::Turns(turns) => dealt += turns.group_indexes.len(),
            Answer::Certificate(reached) => assert_eq!(reached.job_count, GROUPS),
            Answer::Demand(_) => {}
        }
    }
    assert_eq!(dealt, 60_000);
    drop(part);
}
