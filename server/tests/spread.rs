//! `SpreadService` over the wire: orders, refusals, memory.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod support;

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use futures_util::stream;
use offbeat::proto::spread_request::Message as Asked;
use offbeat::proto::spread_response::Message as Answer;
use offbeat::proto::spread_service_client::SpreadServiceClient;
use offbeat::proto::{
    GroupInput, ShortagePolicy, SpreadCertificate, SpreadDemand, SpreadInput, SpreadOrder,
    SpreadPolicy, SpreadRequest, SpreadResume, SpreadSpec, SpreadTurns,
};
use serde::Deserialize;
use support::{Server, channel, config};
use tokio::sync::mpsc;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Status, Streaming};
use tonic_types::StatusExt as _;

type Client = SpreadServiceClient<Channel>;

/// A stream of requests that a test sends into as it likes.
fn requests() -> (mpsc::UnboundedSender<SpreadRequest>, impl stream::Stream<Item = SpreadRequest>) {
    let (sender, receiver) = mpsc::unbounded_channel();
    let requests = stream::unfold(receiver, async |mut receiver| {
        receiver.recv().await.map(|request| (request, receiver))
    });
    (sender, requests)
}

fn asked(message: Asked) -> SpreadRequest {
    SpreadRequest { message: Some(message) }
}

/// A client that answers each demand in full from groups of these sizes.
struct Dispatcher {
    sizes: Box<dyn Iterator<Item = u64> + Send>,
    left: BTreeMap<i64, u64>,
    next: i64,
    declares_sizes: bool,
    /// Whether small groups are said in a column.
    whole_groups: bool,
}

impl Dispatcher {
    fn new(sizes: impl Iterator<Item = u64> + Send + 'static, declares_sizes: bool) -> Self {
        let (sizes, left) = (Box::new(sizes), BTreeMap::new());
        Self { sizes, left, next: 0, declares_sizes, whole_groups: false }
    }

    fn answer(&mut self, demand: &SpreadDemand) -> SpreadInput {
        let mut input = SpreadInput::default();
        for _ in 0..demand.group_count {
            let Some(size) = self.sizes.next() else {
                input.no_more_groups = true;
                break;
            };
            let is_small = input.groups.is_empty() && size <= demand.jobs_per_group.cast_unsigned();
            if is_small && self.whole_groups {
                input.whole_group_sizes.push(size.try_into().unwrap());
                self.next += 1;
                continue;
            }
            self.left.insert(self.next, size);
            let declared = self.declares_sizes.then(|| size.try_into().unwrap());
            input.groups.push(self.jobs(self.next, demand.jobs_per_group, declared));
            self.next += 1;
        }
        for group in &demand.groups {
            // Its last jobs may have crossed the demand on the way.
            if self.left.contains_key(&group.group_index) {
                input.groups.push(self.jobs(group.group_index, group.job_count, None));
            }
        }
        input
    }

    fn jobs(&mut self, group: i64, asked: i64, size: Option<i64>) -> GroupInput {
        let left = self.left.get_mut(&group).unwrap();
        let count = (*left).min(asked.try_into().unwrap());
        *left -= count;
        let last = *left == 0;
        if last {
            self.left.remove(&group);
        }
        let job_count = count.try_into().unwrap();
        GroupInput { group_index: Some(group), size, job_count, last }
    }
}

/// Spreads groups of these sizes; calls `visit` with the turns of each message.
async fn converse(
    client: &mut Client,
    first: Asked,
    mut dispatcher: Dispatcher,
    mut visit: impl FnMut(SpreadTurns),
) -> Result<SpreadCertificate, Status> {
    let (sender, requests) = requests();
    sender.send(asked(first)).unwrap();
    let mut answers = client.spread(requests).await?.into_inner();
    let (mut sequence, mut certificate) = (0, None);
    while let Some(answer) = answers.message().await? {
        assert!(certificate.is_none(), "the certificate comes last");
        match answer.message.unwrap() {
            Answer::Demand(demand) => {
                // The server may have heard enough, and have ended the stream.
                let _ = sender.send(asked(Asked::Input(dispatcher.answer(&demand))));
            }
            Answer::Turns(turns) => {
                assert_eq!(turns.first_sequence, sequence);
                assert!((1..=4_096).contains(&turns.group_indexes.len()));
                sequence += i64::try_from(turns.group_indexes.len()).unwrap();
                visit(turns);
            }
            Answer::Certificate(last) => certificate = Some(last),
        }
    }
    Ok(certificate.unwrap())
}

/// Spreads groups of these sizes; calls `visit` with the group of each turn.
async fn spread(
    client: &mut Client,
    spec: SpreadSpec,
    sizes: impl Iterator<Item = u64> + Send + 'static,
    mut visit: impl FnMut(i64),
) -> SpreadCertificate {
    let dispatcher = Dispatcher::new(sizes, is_cooldown(&spec));
    let turns = |turns: SpreadTurns| turns.group_indexes.into_iter().for_each(&mut visit);
    converse(client, Asked::Spec(spec), dispatcher, turns).await.unwrap()
}

fn feeders(feeder_count: i32) -> SpreadSpec {
    of_order(SpreadOrder { feeder_count: Some(feeder_count), ..SpreadOrder::default() })
}

fn of_order(order: SpreadOrder) -> SpreadSpec {
    SpreadSpec { order: Some(order), ..SpreadSpec::default() }
}

fn cooldown_of(feeder_count: i32, max_open_groups: Option<i32>) -> SpreadSpec {
    let policy = SpreadPolicy::Cooldown.into();
    of_order(SpreadOrder { policy, feeder_count: Some(feeder_count), max_open_groups })
}

fn is_cooldown(spec: &SpreadSpec) -> bool {
    spec.order.unwrap().policy() == SpreadPolicy::Cooldown
}

#[derive(Deserialize)]
struct Case {
    groups: Vec<u64>,
    feeders: i32,
    order: Vec<(i64, u64)>,
}

#[tokio::test]
async fn orders_are_those_of_the_vectors_whatever_the_windows() {
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
        let first = Asked::Spec(spec);
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
            messages.push((turns.first_sequence, turns.resume_token));
            order.extend(turns.group_indexes);
        };
        let first = Asked::Spec(spec);
        let certificate =
            converse(&mut client, first, dispatcher(sizes.clone()), note).await.unwrap();
        let token = |next_sequence: usize| {
            let next = i64::try_from(next_sequence).unwrap();
            let (first_sequence, token) =
                messages.iter().rfind(|(first, _)| *first <= next).unwrap();
            let first = usize::try_from(*first_sequence).unwrap();
            let taken_group_indexes = order[first..next_sequence].to_vec();
            Asked::Resume(SpreadResume { resume_token: token.clone(), taken_group_indexes })
        };
        let places = (0..order.len()).step_by(397).chain([1, 4_095, 4_096, order.len()]);
        for place in places {
            let mut again = Vec::new();
            let note = |turns: SpreadTurns| again.extend(turns.group_indexes);
            let same =
                converse(&mut client, token(place), dispatcher(sizes.clone()), note).await.unwrap();
            assert_eq!((&again[place..], &same), (&order[place..], &certificate), "from {place}");
        }
        // One group is a job shorter, and another a job longer: one of the small, which
        // cooldown deals last.
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

/// The token of the first turns of some spread.
async fn first_token(client: &mut Client) -> bytes::Bytes {
    let mut token = bytes::Bytes::new();
    let note = |turns: SpreadTurns| token = turns.resume_token;
    let dispatcher = Dispatcher::new([3, 3].into_iter(), false);
    converse(client, Asked::Spec(feeders(2)), dispatcher, note).await.unwrap();
    token
}

/// What a stream of these requests, which then ends, is refused with.
async fn refusal(client: &mut Client, messages: Vec<Asked>) -> Status {
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
async fn whatever_was_not_asked_for_is_refused_by_name() {
    let server = Server::start(&config());
    let mut client = SpreadServiceClient::new(channel(&server).await);
    let spec = || Asked::Spec(SpreadSpec { job_window: Some(4), ..feeders(2) });
    let cooldown = || Asked::Spec(cooldown_of(2, None));
    let token = first_token(&mut client).await;
    let resume = |resume_token: &[u8], turns: usize| {
        let resume_token = resume_token.to_vec().into();
        Asked::Resume(SpreadResume { resume_token, taken_group_indexes: vec![0; turns] })
    };
    let group = |index, job_count| GroupInput {
        group_index: Some(index),
        job_count,
        ..GroupInput::default()
    };
    let input =
        |groups: Vec<GroupInput>| Asked::Input(SpreadInput { groups, ..SpreadInput::default() });
    let whole = |whole_group_sizes| {
        Asked::Input(SpreadInput { whole_group_sizes, ..SpreadInput::default() })
    };
    let ended = || Asked::Input(SpreadInput { no_more_groups: true, ..SpreadInput::default() });
    let sized = |size| GroupInput { size: Some(size), ..group(0, 0) };
    let last = |group| GroupInput { last: true, ..group };
    for (messages, field, words) in [
        (vec![], "spec", "first message"),
        (vec![ended()], "spec", "first message"),
        (vec![spec(), spec()], "spec", "first message alone"),
        (vec![Asked::Spec(SpreadSpec::default())], "spec.order", "must be set"),
        (vec![Asked::Spec(of_order(SpreadOrder::default()))], "spec.order.feeder_count", "65536"),
        (vec![spec(), resume(&token, 0)], "resume", "first message alone"),
        (vec![resume(&token[1..], 0)], "resume.resume_token", "unchanged"),
        (vec![resume(b"", 0)], "resume.resume_token", "unchanged"),
        (vec![resume(&token, 4_097)], "resume.taken_group_indexes", "0 to 4096 turns"),
        (vec![Asked::Spec(feeders(0))], "spec.order.feeder_count", "1 to 65536"),
        (
            vec![Asked::Spec(SpreadSpec { job_window: Some(65_537), ..feeders(1) })],
            "spec.job_window",
            "1 to 65536 jobs",
        ),
        (
            vec![Asked::Spec(SpreadSpec { group_window: -1, ..feeders(1) })],
            "spec.group_window",
            "0 to 65536 groups",
        ),
        (
            vec![Asked::Spec(of_order(SpreadOrder { policy: 3, ..SpreadOrder::default() }))],
            "spec.order.policy",
            "0 to 2, a value of SpreadPolicy",
        ),
        (
            vec![Asked::Spec(SpreadSpec { on_shortage: 1, ..feeders(1) })],
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

/// The numbers of turns and certificates in the answers to a client that sends these, and
/// then keeps its side open.
async fn dealt(client: &mut Client, messages: Vec<Asked>) -> Result<(usize, usize), Status> {
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
    // A group that is smaller than the window, in pieces: what is left of it is less than
    // what was asked for.
    for pieces in [vec![2, 1], vec![1, 1, 1], vec![0, 3], vec![3, 0]] {
        let mut messages = vec![Asked::Spec(SpreadSpec { job_window: Some(4), ..feeders(1) })];
        let last = pieces.iter().rposition(|count| *count > 0).unwrap();
        for (number, job_count) in pieces.into_iter().take(last + 1).enumerate() {
            let size = (number == 0).then_some(3);
            let group = GroupInput { group_index: Some(0), size, job_count, last: false };
            let input = SpreadInput { groups: vec![group], ..SpreadInput::default() };
            messages.push(Asked::Input(input));
        }
        messages.push(Asked::Input(SpreadInput { no_more_groups: true, ..SpreadInput::default() }));
        assert_eq!(dealt(&mut client, messages).await.unwrap(), (3, 1));
    }
}

/// A server of its own, to measure.
struct Measured(Child);

impl Measured {
    fn start(port: u16) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_offbeat"))
            .args(["serve", "--listen", &format!("127.0.0.1:{port}")])
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
        assert!(line.contains("listening"), "{line}");
        Self(child)
    }

    /// The most memory that it ever held, in KiB.
    fn peak(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.0.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    }
}

impl Drop for Measured {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// In a debug build it takes its time: a million jobs, a tenth of what a release build gets.
const JOBS: u64 = if cfg!(debug_assertions) { 1_000_000 } else { 10_000_000 };

#[tokio::test]
async fn memory_grows_with_nothing() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let server = Measured::start(port);
    let address = format!("http://127.0.0.1:{port}");
    let channel = Endpoint::try_from(address).unwrap().connect().await.unwrap();
    let mut client = SpreadServiceClient::new(channel);
    spread(&mut client, feeders(2), [3, 3].into_iter(), |_| ()).await;
    let idle = server.peak();
    // Few long groups, and many short ones.
    for (size, group_window) in [(JOBS / 8, 0), (10, 256)] {
        let sizes = std::iter::repeat_n(size, usize::try_from(JOBS / size).unwrap());
        let spec = SpreadSpec { group_window, job_window: Some(4_096), ..feeders(64) };
        let mut turns = 0;
        let certificate = spread(&mut client, spec, sizes, |_| turns += 1).await;
        assert_eq!((certificate.job_count, turns), (JOBS.cast_signed(), JOBS));
    }
    let grown = server.peak() - idle;
    assert!(grown < 32 << 10, "{grown} KiB more than idle");
    println!("{JOBS} jobs twice: {grown} KiB more than idle");
}
