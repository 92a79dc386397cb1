//! gRPC bodies and Connect streams with arbitrary prefixes, split at arbitrary points.

use bytes::Bytes;
use tonic::Code;

use super::choices::Choices;
use super::methods::{self, STATELESS};
use super::port::{self, Answer};
use super::refusal;

/// The first bytes choose the method, the protocol and the chunk size; the rest is the body.
pub fn frames(data: &[u8]) {
    let mut choices = Choices::new(data);
    let method = choices.one_of(&STATELESS);
    let is_grpc = !choices.flip();
    let cut = 1 + choices.below(64);
    let body = choices.rest();
    let content = if is_grpc { "application/grpc" } else { "application/connect+proto" };
    let headers = [("content-type", content), ("te", "trailers")];
    port::with(|port| {
        let ask = |chunks: Vec<Bytes>| {
            port.ask(port.stateless(), &methods::path(method), &headers, chunks)
        };
        let whole = ask(vec![Bytes::copy_from_slice(body)]);
        let pieces = ask(body.chunks(cut).map(Bytes::copy_from_slice).collect());
        for answer in [&whole, &pieces] {
            assert_eq!(answer.http_status, 200, "{answer:?}");
            if is_grpc {
                check_grpc(answer);
            } else {
                read_stream(answer);
            }
        }
        let code = |answer: &Answer| answer.status.as_ref().map(tonic::Status::code);
        assert_eq!(code(&pieces), code(&whole));
        match is_grpc {
            true => assert_eq!(pieces.data, whole.data, "cut at {cut}"),
            false => assert_eq!(read_stream(&pieces), read_stream(&whole), "cut at {cut}"),
        }
    });
}

fn check_grpc(answer: &Answer) {
    answer.messages();
    let status = answer.status.as_ref().expect("every answer has a status");
    if status.code() != Code::Ok {
        refusal::check_status(status);
    }
}

/// The messages, and the code and message of the envelope that ends the stream.
fn read_stream(answer: &Answer) -> (Vec<&[u8]>, Option<(String, String)>) {
    let mut rest = &answer.data[..];
    let mut messages = Vec::new();
    while let Some((prefix, behind)) = rest.split_first_chunk::<5>() {
        let [flag, length @ ..] = *prefix;
        let (content, behind) = behind.split_at(u32::from_be_bytes(length) as usize);
        if flag == 2 {
            assert!(behind.is_empty(), "behind the end");
            let end: serde_json::Value = serde_json::from_slice(content).unwrap();
            let error = end.get("error").map(|error| {
                let text = |name: &str| error[name].as_str().unwrap().to_owned();
                (text("code"), text("message"))
            });
            return (messages, error);
        }
        messages.push(content);
        rest = behind;
    }
    panic!("no end: {answer:?}")
}
