//! Calls to named spreads, one after the other, on one store.

use std::time::Duration;

use offbeat::proto;
use offbeat::spreads::SpreadStore as _;
use prost::Message as _;
use tonic::Code;

use super::choices::Choices;
use super::methods::{self, NAMED};
use super::port;
use super::wire::check;

/// The most calls of one input.
const CALLS: usize = 64;

/// A call is a byte for the method, or for time to pass, then its message as a piece. The messages
/// of a stream are pieces up to an empty one.
pub fn store(data: &[u8]) {
    let mut choices = Choices::new(data);
    port::with(|port| {
        let (store, router) = port.named();
        for _ in 0..CALLS {
            if choices.is_empty() {
                break;
            }
            let number = choices.below(NAMED.len() + 1);
            let Some(method) = NAMED.get(number) else {
                let millis = choices.one_of(&[1, 500, 999, 1_000, 1_001, 30_000, 600_000]);
                port.pass(Duration::from_millis(millis));
                continue;
            };
            let mut messages = vec![choices.piece()];
            while methods::streams(method) && !choices.is_empty() && messages.len() < 8 {
                match choices.piece() {
                    [] => break,
                    message => messages.push(message),
                }
            }
            check(method, &port.grpc(&router, &methods::path(method), &messages));
        }
        // The count of bytes is exact, and it is zero when all spreads are gone.
        let held = store.figures().iter().map(|figures| figures.bytes).sum::<u64>();
        assert_eq!(store.byte_count(), held);
        let all = proto::ListSpreadsRequest { page_size: 1_000, ..Default::default() };
        let answer = port.grpc(
            &router,
            &methods::path("NamedSpreadService/ListSpreads"),
            &[&all.encode_to_vec()],
        );
        let listed = proto::ListSpreadsResponse::decode(answer.messages()[0]).unwrap();
        for description in listed.spreads {
            let close = proto::CloseSpreadRequest {
                spread_name: description.spread_name,
                mode: proto::CloseMode::Discard.into(),
                max_wait_duration: None,
            };
            let path = methods::path("NamedSpreadService/CloseSpread");
            let answer = port.grpc(&router, &path, &[&close.encode_to_vec()]);
            assert_eq!(answer.status.unwrap().code(), Code::Ok);
        }
        assert_eq!((store.byte_count(), store.figures().len()), (0, 0));
    });
}
