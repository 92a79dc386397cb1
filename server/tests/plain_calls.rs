//! The short way of a plain `AssignSlot` says, byte for byte, what the long way says, which a
//! request takes that names an encoding; and it keeps the same promises.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod support;

use std::time::Duration;

use bytes::Bytes;
use futures_util::future::join_all;
use offbeat::proto;
use prost::Message as _;
use serde_json::{Value, json};
use support::{
    Body, Http2, Server, config, config_with, frame, http2, message, method_of, open_body, path_of,
    post2, request,
};
use tonic::Code;

const GRPC: [(&str, &str); 2] = [("content-type", "application/grpc"), ("te", "trailers")];

fn asked(json: &Value) -> Bytes {
    frame(&message(method_of("AssignSlot").input(), json).encode_to_vec())
}

fn short(body: Bytes) -> http::Request<Body> {
    request(&path_of("AssignSlot"), &GRPC, body)
}

fn long(body: Bytes) -> http::Request<Body> {
    let headers = [&GRPC[..], &[("grpc-encoding", "identity")]].concat();
    request(&path_of("AssignSlot"), &headers, body)
}

/// The body, and all that is said about how the call went.
async fn said(sender: &mut Http2, request: http::Request<Body>) -> (Bytes, Code, String, Bytes) {
    let answer = post2(sender, request).await;
    assert_eq!(answer.headers["content-type"], "application/grpc");
    let status = answer.grpc_status();
    // In their order, since that of a map means nothing.
    let mut details = status.details().to_vec();
    details.sort_unstable();
    (answer.body, status.code(), status.message().to_owned(), details.into())
}

/// Questions of every kind that matters to the way they take, of which some are refused.
fn questions() -> Vec<Value> {
    let specs = [
        json!({"period": "28800s"}),
        json!({"period": "28800s", "salt": "other"}),
        json!({"period": "86400s", "slotCount": 7_200, "resolution": "0.5s", "weightQuantum": "5"}),
        json!({"period": "28800s", "placement": "PLACEMENT_TWISTER"}),
        json!({"period": "28800s", "placement": "PLACEMENT_TWISTER", "bucketCount": 65_536,
            "profile": "TWISTER_PROFILE_PHP"}),
        json!({"period": "28800s", "placement": "PLACEMENT_FRACTION"}),
        json!({"calendar": {"unit": "CALENDAR_UNIT_DAY", "timeZone": "Europe/Berlin"}}),
        json!({"period": "28800s", "activeWindows": [{"startOffset": "0s", "endOffset": "7200s"}]}),
        json!({"period": "28800s", "activeWindows": [{"startOffset": "0s", "endOffset": "28800s"}]}),
        json!({"period": "28800.5s"}),
    ];
    let ids = [
        json!({"uuid": "936DA01F-9ABD-4D9D-80C7-02AF85C822A8"}),
        json!({"uuid": "936da01f9abd4d9d80c702af85c822a8"}),
        json!({"uuidBytes": "AAAAAAAAAAAAAAAAAAAAAQ=="}),
        json!({"integer": "-42"}),
        json!({"decimal": "340282366920938463463374607431768211455"}),
        json!({"text": "a/b"}),
        json!({"fraction": 0.25}),
        json!({"uuid": "nonsense"}),
        json!({"fraction": 1.5}),
    ];
    let rest = [
        json!({}),
        json!({"kind": "mail", "nextRunCount": 0}),
        json!({"nextRunCount": 3, "fromTime": "2026-11-21T20:00:00.123Z"}),
        json!({"nextRunCount": 17}),
        json!({"kind": "no good"}),
        json!({"weight": "12"}),
        json!({"newcomer": {"createdTime": "2026-11-20T00:00:00Z"}}),
        json!({"fromTime": "0001-01-01T00:00:00Z"}),
    ];
    let mut questions = vec![json!({}), json!({"schedule": {}, "id": {}})];
    for spec in &specs {
        for id in &ids {
            for more in &rest {
                let mut question = json!({
                    "schedule": {"spec": spec}, "id": id, "fromTime": "2026-11-21T21:00:00Z"
                });
                for (name, value) in more.as_object().unwrap() {
                    question[name] = value.clone();
                }
                questions.push(question);
            }
        }
    }
    questions
}

#[tokio::test]
async fn both_ways_say_the_same() {
    let server = Server::start(&config());
    let mut sender = http2(server.tcp().await).await;
    let mut codes = Vec::new();
    for question in questions() {
        let by_long = said(&mut sender, long(asked(&question))).await;
        for _ in 0..2 {
            let by_short = said(&mut sender, short(asked(&question))).await;
            assert_eq!(by_short, by_long, "{question}");
        }
        codes.push(by_long.1);
    }
    for code in [Code::Ok, Code::InvalidArgument] {
        assert!(codes.iter().filter(|other| **other == code).count() > 100, "{code:?}");
    }
}

#[tokio::test]
async fn those_who_ask_at_once_are_told_their_own() {
    let server = Server::start(&config_with(&["--max-requests", "700"]));
    let mut sender = http2(server.tcp().await).await;
    let mut others = http2(server.tcp().await).await;
    let questions = questions();
    let mut expected = Vec::new();
    for question in &questions {
        expected.push(said(&mut sender, long(asked(question))).await);
    }
    for (round, many) in [1, 2, 3, 33, 100].into_iter().enumerate() {
        let chosen = || (0..many).map(|number| (number * 7 + round * 13) % questions.len());
        let ask = |sender: &Http2, index: usize| {
            let (mut sender, body) = (sender.clone(), asked(&questions[index]));
            async move { (index, said(&mut sender, short(body)).await) }
        };
        let all = chosen().flat_map(|index| [ask(&sender, index), ask(&others, index)]);
        for (index, answer) in join_all(all).await {
            assert_eq!(answer, expected[index], "{}", questions[index]);
        }
    }
    assert!(others.ready().await.is_ok());
}

/// Those who leave, at whatever moment, keep nobody waiting, and no place.
#[tokio::test]
async fn who_leaves_is_not_waited_for() {
    let server = Server::start(&config());
    let mut sender = http2(server.tcp().await).await;
    let twister = json!({"period": "28800s", "placement": "PLACEMENT_TWISTER"});
    let question = move |number: usize| {
        asked(&json!({"schedule": {"spec": twister}, "id": {"integer": number.to_string()},
            "fromTime": "2026-11-21T21:00:00Z"}))
    };
    for round in 0..40 {
        let mut stay = Vec::new();
        for number in 0..30 {
            let (mut sender, question) = (sender.clone(), question(number));
            let call = async move { said(&mut sender, short(question)).await };
            let call = tokio::spawn(call);
            if number % 3 == round % 3 {
                stay.push((number, call));
            } else {
                leave(call, round).await;
            }
        }
        for (number, call) in stay {
            let answer = tokio::time::timeout(Duration::from_secs(5), call).await.unwrap().unwrap();
            let other = said(&mut sender, long(question(number))).await;
            assert_eq!((answer.1, &answer), (Code::Ok, &other), "{number}");
        }
    }
}

async fn leave<T>(call: tokio::task::JoinHandle<T>, patience: usize) {
    for _ in 0..patience % 4 {
        tokio::task::yield_now().await;
    }
    call.abort();
}

/// However its bytes come, and whatever is wrong with them.
#[tokio::test]
async fn bodies_may_come_in_pieces() {
    let server = Server::start(&config());
    let mut sender = http2(server.tcp().await).await;
    let body = asked(&json!({"schedule": {"spec": {"period": "60s"}}, "id": {"text": "a"},
        "fromTime": "2026-11-21T21:00:00Z"}));
    let mut compressed = body.to_vec();
    compressed[0] = 1;
    let bodies: [&[&[u8]]; 9] = [
        &[&body],
        &[&body[..1], &body[1..]],
        &[&body[..5], &body[5..]],
        &[&body[..9], &body[9..20], &body[20..]],
        &[&body, b""],
        &[],
        &[&body[..9]],
        &[&body, &body],
        &[&compressed],
    ];
    for (number, parts) in bodies.into_iter().enumerate() {
        let mut answers = Vec::new();
        for (ask, pause) in [(true, 0), (true, 20), (false, 0)] {
            let (part, stream) = open_body();
            let empty = if ask { short(Bytes::new()) } else { long(Bytes::new()) };
            let asking = tokio::spawn({
                let mut sender = sender.clone();
                async move { said(&mut sender, empty.map(|_| stream)).await }
            });
            for bytes in parts {
                tokio::time::sleep(Duration::from_millis(pause)).await;
                part.send(Bytes::copy_from_slice(bytes)).unwrap();
            }
            tokio::time::sleep(Duration::from_millis(pause)).await;
            drop(part);
            answers.push(asking.await.unwrap());
        }
        assert_eq!(answers[0], answers[2], "body {number}");
        assert_eq!(answers[1], answers[2], "body {number}");
        assert_eq!(answers[0].1 == Code::Ok, number < 5, "body {number}: {:?}", answers[0]);
    }
    // One that does not end, with a deadline.
    let headers = [&GRPC[..], &[("grpc-timeout", "100m")]].concat();
    let late = request(&path_of("AssignSlot"), &headers, Bytes::new());
    let (part, stream) = open_body();
    part.send(body).unwrap();
    let answer = said(&mut sender, late.map(|_| stream)).await;
    assert_eq!((answer.1, answer.0.len()), (Code::DeadlineExceeded, 0));
}

/// The reply is small: a prefix, a message, and trailers that say that all is well.
#[tokio::test]
async fn an_answer_is_one_message_and_ends_well() {
    let server = Server::start(&config());
    let mut sender = http2(server.tcp().await).await;
    let question = asked(&json!({"schedule": {"spec": {"period": "60s"}}, "id": {"text": "a"}}));
    let answer = post2(&mut sender, short(question)).await;
    assert_eq!(answer.trailers["grpc-status"], "0");
    let length = u32::from_be_bytes(answer.body[1..5].try_into().unwrap()) as usize;
    assert_eq!((answer.body[0], length), (0, answer.body.len() - 5));
    assert!(proto::AssignSlotResponse::decode(&answer.body[5..]).unwrap().first_run.is_none());
}
