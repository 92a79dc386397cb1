//! A client of `SpreadService` that answers demands from groups of given sizes.

use std::collections::BTreeMap;

use futures_util::stream;
use offbeat::proto::spread_request::Message as RequestMessage;
use offbeat::proto::spread_response::Message as Answer;
use offbeat::proto::spread_service_client::SpreadServiceClient;
use offbeat::proto::{
    GroupInput, SpreadCertificate, SpreadDemand, SpreadInput, SpreadOrder, SpreadPolicy,
    SpreadRequest, SpreadSpec, SpreadTurns,
};
use tokio::sync::mpsc;
use tonic::Status;
use tonic::transport::Channel;

pub type Client = SpreadServiceClient<Channel>;

/// A stream of requests, and its sender.
pub fn requests()
-> (mpsc::UnboundedSender<SpreadRequest>, impl stream::Stream<Item = SpreadRequest>) {
    let (sender, receiver) = mpsc::unbounded_channel();
    let requests = stream::unfold(receiver, async |mut receiver| {
        receiver.recv().await.map(|request| (request, receiver))
    });
    (sender, requests)
}

pub fn asked(message: RequestMessage) -> SpreadRequest {
    SpreadRequest { message: Some(message) }
}

/// A client that answers each demand in full from groups of these sizes.
pub struct Dispatcher {
    pub sizes: Box<dyn Iterator<Item = u64> + Send>,
    pub left: BTreeMap<i64, u64>,
    pub next: i64,
    pub declares_sizes: bool,
    /// Whether small groups are sent in a column.
    pub whole_groups: bool,
}

impl Dispatcher {
    pub fn new(sizes: impl Iterator<Item = u64> + Send + 'static, declares_sizes: bool) -> Self {
        let (sizes, left) = (Box::new(sizes), BTreeMap::new());
        Self { sizes, left, next: 0, declares_sizes, whole_groups: false }
    }

    pub fn answer(&mut self, demand: &SpreadDemand) -> SpreadInput {
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
            // Its last jobs and the demand for more may have crossed on the wire.
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
pub async fn converse(
    client: &mut Client,
    first: RequestMessage,
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
                // The server may already have ended the stream.
                let _ = sender.send(asked(RequestMessage::Input(dispatcher.answer(&demand))));
            }
            Answer::Turns(turns) => {
                assert_eq!(turns.first_turn_index, sequence);
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
pub async fn spread(
    client: &mut Client,
    spec: SpreadSpec,
    sizes: impl Iterator<Item = u64> + Send + 'static,
    mut visit: impl FnMut(i64),
) -> SpreadCertificate {
    let dispatcher = Dispatcher::new(sizes, is_cooldown(&spec));
    let turns = |turns: SpreadTurns| turns.group_indexes.into_iter().for_each(&mut visit);
    converse(client, RequestMessage::Spec(spec), dispatcher, turns).await.unwrap()
}

pub fn feeders(feeder_count: i32) -> SpreadSpec {
    of_order(SpreadOrder { feeder_count: Some(feeder_count), ..SpreadOrder::default() })
}

pub fn of_order(order: SpreadOrder) -> SpreadSpec {
    SpreadSpec { order: Some(order), ..SpreadSpec::default() }
}

pub fn cooldown_of(feeder_count: i32, max_open_group_count: Option<i32>) -> SpreadSpec {
    let policy = SpreadPolicy::Cooldown.into();
    of_order(SpreadOrder { policy, feeder_count: Some(feeder_count), max_open_group_count })
}

pub fn is_cooldown(spec: &SpreadSpec) -> bool {
    spec.order.unwrap().policy() == SpreadPolicy::Cooldown
}
