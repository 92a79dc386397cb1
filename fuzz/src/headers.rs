//! Request headers and paths: content types, deadlines, encodings, credentials, trace contexts.

use http::{HeaderName, HeaderValue, Request};
use http_body_util::Full;
use tonic::body::Body;

use super::choices::Choices;
use super::methods::{self, STATELESS};
use super::port;
use super::refusal;

const NAMES: [&str; 12] = [
    "content-type",
    "grpc-timeout",
    "connect-timeout-ms",
    "content-encoding",
    "grpc-encoding",
    "grpc-accept-encoding",
    "authorization",
    "traceparent",
    "content-length",
    "te",
    "accept",
    "connect-protocol-version",
];

const FORMS: [&str; 6] = [
    "application/json",
    "application/grpc",
    "application/proto",
    "application/connect+proto",
    "application/grpc+proto",
    "application/json; charset=utf-8",
];

/// Input: the path, the content type, other headers as pieces, then the body.
pub fn headers(data: &[u8]) {
    let mut choices = Choices::new(data);
    let path = match choices.maybe(Choices::text) {
        Some(path) => path,
        None => methods::path(choices.one_of(&STATELESS)),
    };
    let http_method = choices.one_of(&["POST", "POST", "POST", "GET", "OPTIONS", "PUT"]);
    let Ok(mut request) = Request::builder().method(http_method).uri(&path).body(()) else {
        return; // such a request never reaches the server
    };
    let headers = request.headers_mut();
    if choices.flip() {
        headers.insert("content-type", HeaderValue::from_static(choices.one_of(&FORMS)));
    }
    for _ in 0..choices.below(6) {
        let name = HeaderName::from_static(choices.one_of(&NAMES));
        if let Ok(value) = HeaderValue::from_bytes(choices.piece()) {
            headers.append(name, value);
        }
    }
    let body = choices.rest().to_vec();
    let request = request.map(|()| Body::new(Full::<bytes::Bytes>::from(body)));
    let answer = port::with(|port| port.answer(port.stateless(), request));
    let deadline = Some(tonic::Code::DeadlineExceeded);
    if answer.status.as_ref().map(tonic::Status::code) == deadline {
        return; // it passed between headers and body, so the body is cut off
    }
    let content = answer.headers.get("content-type").map(HeaderValue::as_bytes);
    match content {
        Some(b"application/json") => {
            let said: serde_json::Value = serde_json::from_slice(&answer.data).unwrap();
            let refused = answer.http_status != 200;
            assert!(!refused || said["code"].is_string() && said["message"].is_string(), "{said}");
            assert!(answer.data.len() <= 64 << 10 || !refused);
        }
        Some(b"application/grpc") => {
            assert_eq!(answer.http_status, 200);
            let status = answer.status.expect("every answer has a status");
            if status.code() != tonic::Code::Ok {
                refusal::check_status(&status);
            }
        }
        Some(b"application/proto" | b"application/connect+proto") => {
            assert_eq!(answer.http_status, 200);
        }
        other => panic!("{other:?}: {answer:?}"),
    }
}
