//! Bodies of gRPC, and of Connect's streams, with whatever prefixes, cut anywhere.

use bytes::Bytes;
use tonic::Code;

use super::choices::Choices;
use super::methods::{self, STATELESS};
use super::port::{self, Answer};
use super::refusal;

/// The first bytes are the method, the form and where the body is cut; the rest is the body.
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
                check_stream(answer);
            }
        }
        let code = |answer: &Answer| answer.status.as_ref().map(tonic::Status::code);
        // In one piece, a length too large is seen before the messages in front of it are read.
        let too_large = match is_grpc {
            true => code(&whole) == Some(Code::ResourceExhausted),
            false => String::from_utf8_lossy(&whole.data).contains("resource_exhausted"),
        };
        if !too_large {
            assert_eq!(code(&pieces), code(&whole));
            assert_eq!(pieces.data, whole.data, "cut at {cut}");
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

/// Envelopes, of which the last one ends the stream.
fn check_stream(answer: &Answer) {
    let mut rest = &answer.data[..];
    let mut ended = false;
    while let Some((prefix, behind)) = rest.split_first_chunk::<5>() {
        assert!(!ended, "behind the end");
        let [flag, length @ ..] = *prefix;
        let (content, behind) = behind.split_at(u32::from_be_bytes(length) as usize);
        ended = flag == 2;
        if ended {
            let end: serde_json::Value = serde_json::from_slice(content).unwrap();
            assert!(end.get("error").is_none_or(|error| error["code"].is_string()), "{end}");
        }
        rest = behind;
    }
    assert!(ended && rest.is_empty());
}
