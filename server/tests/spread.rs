//! `SpreadService` over the wire: orders, and how to resume them.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod support;

use offbeat::proto::spread_request::Message as RequestMessage;
use offbeat::proto::spread_response::Message as Answer;
use offbeat::proto::spread_service_client::SpreadServiceClient;
use offbeat::proto::{
    GroupInput, ShortagePolicy, SpreadInput, SpreadResume, SpreadSpec, SpreadTurns,
};
use serde::Deserialize;
use support::spread::{
    Client, Dispatcher, asked, converse, cooldown_of, feeders, is_cooldown, requests, spread,
};
use support::{Server, channel, config};
use tonic::{Code, Status};
use tonic_types::StatusExt as _;

#[derive(Deserialize)]
struct Case {
    groups: Vec<u64>,
    feeders: i32,
    order: Vec<(i64, u64)>,
}

#[tokio::test]
async fn orders_match_the_vectors_with_any_windows() {
    let server = Server::start(&config());
    let mut client = SpreadServiceClient::new(channel(&server).await);
    let vectors = support::test_data("vectors/spread_feeders.json");
    let cases: Vec<Case> = serde_json::from_value(vectors["cases"].clone()).unwrap();
    for (number, case) in (0..).zip(cases) {
        let whole_groups = number % 5 < 2;
        let job_window = Some([1, 2, 3, 256][number % 4]);
        let group_window = [0, 1, 5][number % 3];
        let spec = SpreadSpec { job_window, group_window, ..feeders(case.feeders) };
        let mut order = Vec::new();
        let dispatcher =
            Dispatcher { whole_groups, ..Dispatcher::new(case.groups.into_iter(), false) };
        let turns = |turns: SpreadTurns| order.extend(turns.group_indexes);
        let first = RequestMessage::Spec(spec);
        let certificate = converse(&mut client, first, dispatcher, turns).await.unwrap();
        let expected: Vec<i64> = case.order.iter().map(|(group, _)| *group).collect();
        assert_eq!(order, expected);
        assert_eq!(certificate.job_count, i64::try_from(expected.len()).unwrap());
    }
}

#[tokio::test]
async fn a_token_leads_to_the_same_rest_or_is_refused() {
    let server = Server::start(&config());
    let mut client = SpreadServiceClient::new(channel(&server).await);
    let cooldown =
        || SpreadSpec { on_shortage: ShortagePolicy::Wait.into(), ..cooldown_of(9, Some(20)) };
    let mut left = 10_000;
    let mut sizes: Vec<u64> = (0..700).map(|n: u64| (n * n * 7_919 % 31).min(1 + n % 40)).collect();
    for size in &mut sizes {
        *size = left.min(*size);
        left -= *size;
    }
    sizes.push(left);
    assert_eq!(sizes.iter().sum::<u64>(), 10_000);
    for spec in [feeders(9), cooldown()] {
        let sized = is_cooldown(&spec);
        let dispatcher = |sizes: Vec<u64>| Dispatcher::new(sizes.into_iter(), sized);
        let (mut order, mut messages) = (Vec::new(), Vec::new());
        let note = |turns: SpreadTurns| {
            messages.push((turns.first_turn_index, turns.resume_token));
            order.extend(turns.group_indexes);
        };
        let first = RequestMessage::Spec(spec);
        let certificate =
            converse(&mut client, first, dispatcher(sizes.clone()), note).await.unwrap();
        let token = |next_sequence: usize| {
            let next = i64::try_from(next_sequence).unwrap();
            let (first_turn_index, token) =
                messages.iter().rfind(|(first, _)| *first <= next).unwrap();
            let first = usize::try_from(*first_turn_index).unwrap();
            let taken_group_indexes = order[first..next_sequence].to_vec();
            RequestMessage::Resume(SpreadResume {
                resume_token: token.clone(),
                taken_group_indexes,
            })
        };
        let places = (0..order.len()).step_by(397).chain([1, 4_095, 4_096, order.len()]);
        for place in places {
            let mut again = Vec::new();
            let note = |turns: SpreadTurns| again.extend(turns.group_indexes);
            let same =
                converse(&mut client, token(place), dispatcher(sizes.clone()), note).await.unwrap();
            assert_eq!((&again[place..], &same), (&order[place..], &certificate), "from {place}");
        }
        // One group is a job shorter and another a job longer. Both are small, so cooldown deals
        // them last.
        let mut other = sizes.clone();
        let small = sizes.iter().position(|size| *size == 1).unwrap();
        (other[small], other[small + 1]) = (0, other[small + 1] + 1);
        let last = token(order.len() - 1);
        let half = sizes[..sizes.len() / 2].to_vec();
        for (groups, token) in [(other, last), (half, token(order.len()))] {
            let mut turns = 0;
            let count = |message: SpreadTurns| turns += message.group_indexes.len();
            let refused =
                converse(&mut client, token, dispatcher(groups), count).await.unwrap_err();
            assert_eq!(refused.code(), Code::FailedPrecondition, "{refused}");
            let info = refused.get_details_error_info().unwrap();
            assert_eq!(info.reason, "ERROR_REASON_ORDER_DIFFERS");
            assert!(turns < order.len(), "a turn that counts was dealt");
        }
    }
}

#[tokio::test]
async fn cooldown_deals_the_largest_first() {
    let server = Server::start(&config());
    let mut client = SpreadServiceClient::new(channel(&server).await);
    let spec = SpreadSpec { job_window: Some(2), ..cooldown_of(3, Some(9)) };
    let mut order = Vec::new();
    let sizes = [2, 0, 7, 3, 3].into_iter();
    let certificate = spread(&mut client, spec, sizes, |group| order.push(group)).await;
    assert_eq!(order, [2, 3, 4, 2, 0, 3, 2, 4, 0, 2, 3, 4, 2, 2, 2]);
    assert_eq!((certificate.min_gap_turns, certificate.best_min_gap_turns), (Some(1), Some(2)));
}

/// The number of turns and of certificates in the answers to a client that sends these messages
/// and then keeps its side open.
async fn dealt(
    client: &mut Client,
    messages: Vec<RequestMessage>,
) -> Result<(usize, usize), Status> {
    let (sender, requests) = requests();
    messages.into_iter().for_each(|message| sender.send(asked(message)).unwrap());
    let mut answers = client.spread(requests).await?.into_inner();
    let (mut turns, mut certificates) = (0, 0);
    while let Some(answer) = answers.message().await? {
        match answer.message.unwrap() {
            Answer::Turns(dealt) => turns += dealt.group_indexes.len(),
            Answer::Certificate(_) => certificates += 1,
            Answer::Demand(demand) => {
                let too_much = demand.groups.iter().any(|group| group.job_count > 4);
                assert!(!too_much, "{demand:?}");
            }
        }
    }
    Ok((turns, certificates))
}

#[tokio::test]
async fn a_client_may_send_less_than_it_was_asked_for() {
    let server = Server::start(&config());
    let mut client = SpreadServiceClient::new(channel(&server).await);
    // A group smaller than the window, in pieces: fewer jobs are left than were requested.
    for pieces in [vec![2, 1], vec![1, 1, 1], vec![0, 3], vec![3, 0]] {
        let mut messages =
            vec![RequestMessage::Spec(SpreadSpec { job_window: Some(4), ..feeders(1) })];
        let last = pieces.iter().rposition(|count| *count > 0).unwrap();
        for (number, job_count) in pieces.into_iter().take(last + 1).enumerate() {
            let size = (number == 0).then_some(3);
            let group = GroupInput { group_index: Some(0), size, job_count, last: false };
            let input = SpreadInput { groups: vec![group], ..SpreadInput::default() };
            messages.push(RequestMessage::Input(input));
        }
        messages.push(RequestMessage::Input(SpreadInput {
            no_more_groups: true,
            ..SpreadInput::default()
        }));
        assert_eq!(dealt(&mut client, messages).await.unwrap(), (3, 1));
    }
}
