//! `SpreadService` over the wire: messages that the server did not request are refused.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod support;

use futures_util::stream;
use offbeat::proto::spread_request::Message as RequestMessage;
use offbeat::proto::spread_service_client::SpreadServiceClient;
use offbeat::proto::{GroupInput, SpreadInput, SpreadOrder, SpreadResume, SpreadSpec, SpreadTurns};
use support::spread::{Client, Dispatcher, asked, converse, cooldown_of, feeders, of_order};
use support::{Server, channel, config};
use tonic::{Code, Status, Streaming};
use tonic_types::StatusExt as _;

/// The resume token of the first turns of some spread.
async fn first_token(client: &mut Client) -> bytes::Bytes {
    let mut token = bytes::Bytes::new();
    let note = |turns: SpreadTurns| token = turns.resume_token;
    let dispatcher = Dispatcher::new([3, 3].into_iter(), false);
    converse(client, RequestMessage::Spec(feeders(2)), dispatcher, note).await.unwrap();
    token
}

/// The refusal of a stream of these requests.
async fn refusal(client: &mut Client, messages: Vec<RequestMessage>) -> Status {
    let requests = stream::iter(messages.into_iter().map(asked));
    let mut answers: Streaming<_> = match client.spread(requests).await {
        Ok(answers) => answers.into_inner(),
        Err(status) => return status,
    };
    loop {
        match answers.message().await {
            Ok(Some(_)) => {}
            Ok(None) => panic!("it was answered"),
            Err(status) => return status,
        }
    }
}

#[tokio::test]
async fn unexpected_messages_are_refused_by_field() {
    let server = Server::start(&config());
    let mut client = SpreadServiceClient::new(channel(&server).await);
    let spec = || RequestMessage::Spec(SpreadSpec { job_window: Some(4), ..feeders(2) });
    let cooldown = || RequestMessage::Spec(cooldown_of(2, None));
    let token = first_token(&mut client).await;
    let resume = |resume_token: &[u8], turns: usize| {
        let resume_token = resume_token.to_vec().into();
        RequestMessage::Resume(SpreadResume { resume_token, taken_group_indexes: vec![0; turns] })
    };
    let group = |index, job_count| GroupInput {
        group_index: Some(index),
        job_count,
        ..GroupInput::default()
    };
    let input = |groups: Vec<GroupInput>| {
        RequestMessage::Input(SpreadInput { groups, ..SpreadInput::default() })
    };
    let whole = |whole_group_sizes| {
        RequestMessage::Input(SpreadInput { whole_group_sizes, ..SpreadInput::default() })
    };
    let ended =
        || RequestMessage::Input(SpreadInput { no_more_groups: true, ..SpreadInput::default() });
    let sized = |size| GroupInput { size: Some(size), ..group(0, 0) };
    let last = |group| GroupInput { last: true, ..group };
    for (messages, field, words) in [
        (vec![], "spec", "first message"),
        (vec![ended()], "spec", "first message"),
        (vec![spec(), spec()], "spec", "only in the first message"),
        (vec![RequestMessage::Spec(SpreadSpec::default())], "spec.order", "must be set"),
        (
            vec![RequestMessage::Spec(of_order(SpreadOrder::default()))],
            "spec.order.feeder_count",
            "65536",
        ),
        (vec![spec(), resume(&token, 0)], "resume", "only in the first message"),
        (vec![resume(&token[1..], 0)], "resume.resume_token", "unchanged"),
        (vec![resume(b"", 0)], "resume.resume_token", "unchanged"),
        (vec![resume(&token, 4_097)], "resume.taken_group_indexes", "0 to 4096 turns"),
        (vec![RequestMessage::Spec(feeders(0))], "spec.order.feeder_count", "1 to 65536"),
        (
            vec![RequestMessage::Spec(SpreadSpec { job_window: Some(65_537), ..feeders(1) })],
            "spec.job_window",
            "1 to 65536 jobs",
        ),
        (
            vec![RequestMessage::Spec(SpreadSpec { group_window: -1, ..feeders(1) })],
            "spec.group_window",
            "0 to 65536 groups",
        ),
        (
            vec![RequestMessage::Spec(of_order(SpreadOrder {
                policy: 3,
                ..SpreadOrder::default()
            }))],
            "spec.order.policy",
            "0 to 2, a value of SpreadPolicy",
        ),
        (
            vec![RequestMessage::Spec(SpreadSpec { on_shortage: 1, ..feeders(1) })],
            "spec.on_shortage",
            "COOLDOWN",
        ),
        (vec![spec(), input(vec![GroupInput::default()])], "input.groups[0].group_index", "next"),
        (vec![spec(), input(vec![group(1, 0)])], "input.groups[0].group_index", "number, 0"),
        (vec![spec(), input(vec![group(-1, 0)])], "input.groups[0].group_index", "number, 0"),
        (vec![spec(), input(vec![group(0, 5)])], "input.groups[0].job_count", "0 to 4 jobs"),
        (vec![spec(), input(vec![group(0, -1)])], "input.groups[0].job_count", "0 to 4 jobs"),
        (
            vec![spec(), input(vec![group(0, 4), group(0, 1)])],
            "input.groups[1].job_count",
            "0 to 0 jobs",
        ),
        (
            vec![spec(), input(vec![last(group(0, 1)), group(1, 0), group(0, 0)])],
            "input.groups[2].group_index",
            "has not ended",
        ),
        (
            vec![spec(), input(vec![group(0, 1), group(1, 1), group(2, 1)])],
            "input.groups[2].group_index",
            "no further group was asked for",
        ),
        (
            vec![spec(), input(vec![group(0, 1), sized(1)])],
            "input.groups[1].size",
            "when the group is new",
        ),
        (vec![spec(), whole(vec![4, 5])], "input.whole_group_sizes[1]", "0 to 4 jobs"),
        (vec![spec(), whole(vec![-1])], "input.whole_group_sizes[0]", "0 to 4 jobs"),
        (
            vec![spec(), whole(vec![1, 1, 1])],
            "input.whole_group_sizes[2]",
            "no further group was asked for",
        ),
        (
            vec![spec(), whole(vec![1]), input(vec![group(0, 0)])],
            "input.groups[0].group_index",
            "has not ended",
        ),
        (vec![spec(), input(vec![sized(-1)])], "input.groups[0].size", "0 jobs or more"),
        (
            vec![spec(), input(vec![GroupInput { job_count: 2, ..sized(1) }])],
            "input.groups[0].job_count",
            "0 to 1 jobs, which are left of its size",
        ),
        (vec![spec(), input(vec![last(sized(1))])], "input.groups[0].last", "all jobs"),
        (vec![cooldown(), input(vec![group(0, 1)])], "input.groups[0].size", "COOLDOWN"),
        (
            vec![spec(), input(vec![group(0, 0)]), ended(), input(vec![group(1, 0)])],
            "input.groups[0].group_index",
            "no more groups",
        ),
        (vec![spec(), input(vec![group(0, 1)])], "input.groups", "group 0 had not"),
        (vec![spec()], "input.no_more_groups", "may have been more"),
    ] {
        let status = refusal(&mut client, messages).await;
        let details = status.get_error_details();
        assert_eq!(status.code(), Code::InvalidArgument, "{field}: {status:?}");
        let metadata = &details.error_info().unwrap().metadata;
        assert_eq!(metadata["field"], field, "{status:?}");
        assert!(metadata["allowed"].contains(words), "{field}: {}", metadata["allowed"]);
    }
}
