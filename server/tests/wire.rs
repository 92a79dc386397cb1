//! Input on the wire, by gRPC or plain HTTP: broken, mutated, unknown, incomplete.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, clippy::disallowed_methods)]

mod support;

use std::time::{Duration, Instant};

use offbeat::method::Method;
use prost_reflect::DynamicMessage;
use serde_json::json;
use support::{
    Server, channel, config, config_with, encoded, frame, good_request, grpc, grpc_request, http2,
    json_request, method_of, path_of, post1, post2, raw, reason, request,
};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tonic::Code;

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

#[tokio::test]
async fn tonics_bare_refusals_are_explained() {
    let server = Server::start(&config());
    let mut channel = http2(server.tcp().await).await;
    let status = raw(&mut channel, "Nope", frame(b"")).await;
    assert_eq!(reason(&status), "ERROR_REASON_UNKNOWN_METHOD");
    assert!(status.message().contains("/offbeat.v1.SlotService/Nope"), "{status:?}");
    for method in ["AssignSlot", "StreamSlotAssignments"] {
        let mut compressed = grpc_request(&path_of(method), frame(b""));
        compressed.headers_mut().insert("grpc-encoding", "gzip".parse().unwrap());
        let status = post2(&mut channel, compressed).await.grpc_status();
        assert_eq!(
            (status.code(), reason(&status).as_str()),
            (Code::Unimplemented, "ERROR_REASON_UNKNOWN_METHOD"),
            "{method}"
        );
    }
}

#[tokio::test]
async fn requests_that_are_no_calls_are_refused() {
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
async fn json_includes_fields_with_default_values() {
    let server = Server::start(&config());
    let request = json!({"schedule": {"spec": {"period": "1s"}}, "id": {"text": "a"}});
    let answer =
        post1(server.tcp().await, json_request(&path_of("AssignSlot"), &request.to_string())).await;
    assert_eq!(answer.json()["pieces"][0]["slotIndex"], json!(0), "slot 0 can be seen");
}

/// Lists all services by one version of the reflection API.
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
async fn peers_without_a_complete_request_are_disconnected() {
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

/// Mutated messages over gRPC and plain HTTP are refused or answered, and never cause an internal
/// error.
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
