//! What may arrive on the wire: broken, too large, too late, too many.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, clippy::disallowed_methods)]

mod support;

use std::time::{Duration, Instant};

use bytes::Bytes;
use offbeat::layers::method::Method;
use prost_reflect::DynamicMessage;
use serde_json::{Value, json};
use support::{
    Answer, Http2, Server, any_schedule, channel, config, config_with, encoded, frame, grpc,
    grpc_request, http2, json_request, method_of, open_body, path_of, post1, post2, raw, reason,
    request,
};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::sync::mpsc::UnboundedSender;
use tonic::Code;
use tonic_types::StatusExt as _;

fn good_request() -> Value {
    json!({"schedule": any_schedule(), "id": {"text": "acme"}})
}

#[tokio::test]
async fn bytes_that_are_no_message_are_the_callers_mistake() {
    let server = Server::start(&config());
    let mut channel = http2(server.tcp().await).await;
    let broken_utf8 = [0x12, 3, 0x2a, 1, 0xff]; // id { text: "\xff" }
    for bytes in [&b"\xff\xff\xff\xff"[..], b"\x0a\x05ab", &broken_utf8] {
        let status = raw(&mut channel, "AssignSlot", frame(bytes)).await;
        assert_eq!(status.code(), Code::InvalidArgument, "{status:?}");
        assert_eq!(reason(&status), "ERROR_REASON_MALFORMED");
    }
    assert!(grpc(&mut channel, "AssignSlot", &good_request()).await.is_ok());
}

/// Opens a stream and says its first words.
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
    slow.headers_mut().insert("connect-timeout-ms", "700".parse().unwrap());
    channel.ready().await.unwrap();
    let started = Instant::now();
    let slow = channel.send_request(slow);
    let slow = tokio::spawn(async move { Answer::of(slow.await.unwrap()).await });
    tokio::time::sleep(Duration::from_millis(200)).await;
    let json = good_request().to_string();
    let full = post1(server.tcp().await, json_request(&path_of("AssignSlot"), &json)).await;
    assert_eq!((full.status.as_u16(), &full.json()["code"]), (429, &json!("resource_exhausted")));
    let late = slow.await.unwrap();
    assert_eq!((late.status.as_u16(), &late.json()["code"]), (504, &json!("deadline_exceeded")));
    assert!(started.elapsed() < Duration::from_secs(3), "{:?}", started.elapsed());
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
        // Those that still run hold their places, so that later ones may find none.
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
    // Only those that had begun are waited for: two or so, not thirty.
    assert!(started.elapsed() < Duration::from_secs(5), "{abandoned:?} {:?}", started.elapsed());
}

#[tokio::test]
async fn tonics_bare_refusals_are_explained() {
    let server = Server::start(&config());
    let mut channel = http2(server.tcp().await).await;
    let status = raw(&mut channel, "Nope", frame(b"")).await;
    assert_eq!(reason(&status), "ERROR_REASON_UNKNOWN_METHOD");
    assert!(status.message().contains("/offbeat.v1.SlotService/Nope"), "{status:?}");
    let mut compressed = grpc_request(&path_of("AssignSlot"), frame(b""));
    compressed.headers_mut().insert("grpc-encoding", "gzip".parse().unwrap());
    let status = post2(&mut channel, compressed).await.grpc_status();
    assert_eq!(
        (status.code(), reason(&status).as_str()),
        (Code::Unimplemented, "ERROR_REASON_UNKNOWN_METHOD")
    );
}

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
    assert_eq!(first, [Value::Null, json!("2"), json!("3")]); // 0 is left out
    // Of its message, where 0 is left out.
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

#[tokio::test]
async fn what_is_no_call_is_told_so() {
    let server = Server::start(&config());
    let mut channel = http2(server.tcp().await).await;
    for path in ["/offbeat.v1.SlotService/Nope", "/no.Such/Service", "/"] {
        let answer = post2(&mut channel, grpc_request(path, frame(b""))).await;
        assert_eq!(answer.grpc_status().code(), Code::Unimplemented, "{path}");
        let answer = post1(server.tcp().await, json_request(path, "{}")).await;
        assert_eq!(
            (answer.status.as_u16(), &answer.json()["code"]),
            (404, &json!("unimplemented"))
        );
    }
    let path = path_of("AssignSlot");
    let json = good_request().to_string();
    for (headers, status) in [
        (vec![("content-type", "application/json; charset=utf-8")], 200),
        (vec![("content-type", "application/json"), ("connect-protocol-version", "1")], 200),
        (vec![("content-type", "application/json"), ("connect-timeout-ms", "5000")], 200),
        (vec![("content-type", "application/json"), ("connect-timeout-ms", "-1")], 400),
        (vec![("content-type", "application/json; charset=latin-1")], 415),
        (vec![("content-type", "text/plain")], 415),
        (vec![], 415),
        (vec![("content-type", "application/json"), ("content-encoding", "gzip")], 501),
    ] {
        let answer = post1(server.tcp().await, request(&path, &headers, json.clone())).await;
        assert_eq!(answer.status.as_u16(), status, "{headers:?}");
        assert_eq!(answer.json()["code"].is_string(), status != 200, "{headers:?}");
    }
    let mut get = json_request(&path, "");
    *get.method_mut() = http::Method::GET;
    let answer = post1(server.tcp().await, get).await;
    assert_eq!((answer.status.as_u16(), answer.headers["allow"].as_bytes()), (405, &b"POST"[..]));
    let stream = json_request(&path_of("StreamSlotAssignments"), "{}");
    let answer = post1(server.tcp().await, stream).await;
    assert_eq!(
        (answer.status.as_u16(), answer.headers["accept-post"].as_bytes()),
        (415, &b"application/grpc, application/connect+proto"[..])
    );
}

#[tokio::test]
async fn messages_may_be_posted_as_bytes() {
    let server = Server::start(&config());
    let path = path_of("AssignSlot");
    let headers = [("content-type", "application/proto")];
    let message = encoded("AssignSlot", &good_request());
    let answer = post1(server.tcp().await, request(&path, &headers, message)).await;
    assert_eq!(
        (answer.status.as_u16(), &answer.headers["content-type"]),
        (200, &http::HeaderValue::from_static("application/proto"))
    );
    let by_bytes =
        DynamicMessage::decode(method_of("AssignSlot").output(), &answer.body[..]).unwrap();
    let mut channel = http2(server.tcp().await).await;
    let by_grpc = grpc(&mut channel, "AssignSlot", &good_request()).await.unwrap();
    assert_eq!(by_bytes.get_field_by_name("slot_index"), by_grpc.get_field_by_name("slot_index"));

    for bad in [&b"\xff\xff"[..], b""] {
        let answer = post1(server.tcp().await, request(&path, &headers, bad.to_vec())).await;
        assert_eq!(
            (answer.status.as_u16(), &answer.json()["code"]),
            (400, &json!("invalid_argument"))
        );
    }
    let large = vec![0; config().limits.message.max_size() + 1];
    let answer = post1(server.tcp().await, request(&path, &headers, large)).await;
    assert_eq!(answer.status.as_u16(), 429);
}

#[tokio::test]
async fn json_shows_what_holds_its_default() {
    let server = Server::start(&config());
    let request = json!({"schedule": {"spec": {"period": "1s"}}, "id": {"text": "a"}});
    let answer =
        post1(server.tcp().await, json_request(&path_of("AssignSlot"), &request.to_string())).await;
    assert_eq!(answer.json()["pieces"][0]["slotIndex"], json!(0), "slot 0 can be seen");
}

/// Asks one version of reflection for all services.
macro_rules! reflected {
    ($version:ident, $server:expr) => {{
        use tonic_reflection::pb::$version::server_reflection_client::ServerReflectionClient;
        use tonic_reflection::pb::$version::server_reflection_request::MessageRequest;
        use tonic_reflection::pb::$version::server_reflection_response::MessageResponse;
        let mut client = ServerReflectionClient::new(channel($server).await);
        let question = tonic_reflection::pb::$version::ServerReflectionRequest {
            host: String::new(),
            message_request: Some(MessageRequest::ListServices(String::new())),
        };
        let answers =
            client.server_reflection_info(futures_util::stream::iter([question])).await.unwrap();
        let answer = answers.into_inner().message().await.unwrap().unwrap();
        let Some(MessageResponse::ListServicesResponse(list)) = answer.message_response else {
            panic!("{answer:?}")
        };
        list.service.into_iter().map(|service| service.name).collect::<Vec<_>>()
    }};
}

#[tokio::test]
async fn reflection_names_the_services_if_it_is_asked_for() {
    let server = Server::start(&config_with(&["--reflection"]));
    for names in [reflected!(v1, &server), reflected!(v1alpha, &server)] {
        assert!(names.iter().any(|name| name == "offbeat.v1.SlotService"), "{names:?}");
        assert!(names.iter().any(|name| name == "grpc.health.v1.Health"), "{names:?}");
    }
}

#[test]
fn the_transport_knows_which_methods_stream() {
    for service in support::pool().services() {
        for method in service.methods() {
            let streaming = method.is_client_streaming() || method.is_server_streaming();
            let path = format!("/{}/{}", service.full_name(), method.name());
            assert_eq!(Method::at(&path).streaming, streaming, "{path}");
        }
    }
}

#[tokio::test]
async fn peers_that_do_not_say_what_they_want_are_cut_off() {
    let server = Server::start(&config());
    let started = Instant::now();
    let openings: [&[u8]; 5] =
        [b"", b"P", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r", b"POST", b"POST /x HTTP/1.1\r\nhos"];
    let mut sockets = Vec::new();
    for opening in openings {
        let mut socket = server.tcp().await;
        socket.write_all(opening).await.unwrap();
        sockets.push((opening, socket));
    }
    for (opening, mut socket) in sockets {
        let mut rest = Vec::new();
        let closed = tokio::time::timeout(Duration::from_secs(10), socket.read_to_end(&mut rest));
        assert!(matches!(closed.await, Ok(Ok(_))), "{opening:?}");
    }
    assert!(started.elapsed() > Duration::from_secs(2), "{:?}", started.elapsed());
}

/// Mutated messages, on both doors: refused or answered, never a bug of ours.
#[tokio::test]
async fn no_mutation_finds_a_bug() {
    let server = Server::start(&config());
    let mut channel = http2(server.tcp().await).await;
    let mut state = 0x2328_2328_2328_2328_u64;
    let mut random = move |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state >> 33).unwrap() % below.max(1)
    };
    let cases = support::test_data("vectors/decisions/answers.json");
    let cases = cases.as_array().unwrap();
    for round in 0..3_000 {
        let case = &cases[random(cases.len())];
        let method = case["method"].as_str().unwrap();
        let as_json = round % 3 == 0;
        let mut bytes = if as_json {
            case["request"].to_string().into_bytes()
        } else {
            encoded(method, &case["request"])
        };
        for _ in 0..=random(4) {
            let at = random(bytes.len());
            match random(4) {
                0 => bytes[at] = u8::try_from(random(256)).unwrap(),
                1 => bytes[at] ^= 1 << random(8),
                2 => drop(bytes.remove(at)),
                _ => bytes.insert(at, u8::try_from(random(256)).unwrap()),
            }
        }
        let shown = String::from_utf8_lossy(&bytes).into_owned();
        if as_json {
            let json = request(&path_of(method), &[("content-type", "application/json")], bytes);
            let answer = post2(&mut channel, json).await;
            assert!(matches!(answer.status.as_u16(), 200 | 400), "{method} {shown}: {answer:?}");
        } else {
            let status = raw(&mut channel, method, frame(&bytes)).await;
            assert!(
                matches!(status.code(), Code::Ok | Code::InvalidArgument),
                "{method} {bytes:?}: {status:?}"
            );
        }
    }
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
    // Refused after, before, and without any message; and where nothing streams.
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
