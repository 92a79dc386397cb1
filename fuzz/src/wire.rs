//! Request messages as bytes: decoded, decided and encoded by the server.

use bytes::Bytes;
use offbeat::proto;
use prost::Message as _;
use prost_reflect::DynamicMessage;
use tonic::Code;

use super::choices::Choices;
use super::methods::{self, STATELESS};
use super::port::{self, Answer, Port};
use super::refusal;

/// The most messages of a stream.
const MESSAGES: usize = 32;

/// A repeated message grows to this length, above which the server counts elements.
const LARGE: usize = 20 << 10;

/// The first byte is the method. The rest is the message, or the messages of a stream as pieces. A
/// second byte above 250 repeats the message: concatenated messages decode as one message with
/// longer lists.
pub fn wire(data: &[u8]) {
    let mut choices = Choices::new(data);
    let method = choices.one_of(&STATELESS);
    let is_repeated = choices.byte() > 250;
    let messages = messages(method, &mut choices);
    let large: Vec<u8>;
    let messages = match messages[..] {
        [message @ [_, ..]] if is_repeated => {
            large = message.repeat(LARGE.div_ceil(message.len()));
            vec![&large[..]]
        }
        _ => messages,
    };
    port::with(|port| {
        let answer = port.grpc(port.stateless(), &methods::path(method), &messages);
        check(method, &answer);
        if let ([message], false) = (&messages[..], methods::streams(method)) {
            decided(method, message, &answer);
            check_json(port, method, message, &answer);
        }
    });
}

pub fn messages<'a>(method: &str, choices: &mut Choices<'a>) -> Vec<&'a [u8]> {
    if !methods::streams(method) {
        return vec![choices.rest()];
    }
    let mut messages = Vec::new();
    while !choices.is_empty() && messages.len() < MESSAGES {
        messages.push(choices.piece());
    }
    messages
}

/// A response consists of messages of its method, then OK or a refusal with a reason.
pub fn check(method: &str, answer: &Answer) {
    assert_eq!(answer.http_status, 200, "{answer:?}");
    let status = answer.status.as_ref().expect("every answer has a status");
    for message in answer.messages() {
        DynamicMessage::decode(methods::output(method), message).unwrap();
    }
    assert_ne!(status.code(), Code::Unimplemented, "{method}: {status:?}");
    if status.code() != Code::Ok {
        refusal::check_status(status);
    }
}

/// A request that gRPC answers gets the same answer as JSON.
fn check_json(port: &Port, method: &str, message: &[u8], answer: &Answer) {
    let [decided] = answer.messages()[..] else { return };
    let input = methods::descriptor(method).input();
    let json = (methods::Message::named(input.full_name()).write)(message).unwrap();
    let headers = [("content-type", "application/json")];
    let by_json =
        port.ask(port.stateless(), &methods::path(method), &headers, vec![Bytes::from(json)]);
    if by_json.http_status == 429 {
        return; // as text it is longer than the limit
    }
    let text = String::from_utf8_lossy(&by_json.data);
    assert_eq!(by_json.http_status, 200, "{text}");
    let mut read = serde_json::Deserializer::from_slice(&by_json.data);
    let by_json = DynamicMessage::deserialize(methods::output(method), &mut read).unwrap();
    let by_grpc = DynamicMessage::decode(methods::output(method), decided).unwrap();
    assert_eq!(by_json.encode_to_vec(), by_grpc.encode_to_vec(), "{text}");
}

/// Properties of single decisions.
fn decided(method: &str, message: &[u8], answer: &Answer) {
    let [decided] = answer.messages()[..] else { return };
    match method {
        "SlotService/AssignSlots" => columns_agree(message, decided),
        "SlotService/ListSlots" => slots_follow_each_other(decided),
        "StageService/AllocateWorkers" => workers_add_up(message, decided),
        "LaneService/DispatchJobs" => lanes_are_not_overfull(message, decided),
        "LaneService/SplitWorkers" => lanes_get_all_workers(message, decided),
        _ => {}
    }
}

fn read<M: prost::Message + Default>(bytes: &[u8]) -> M {
    M::decode(bytes).unwrap()
}

fn columns_agree(message: &[u8], decided: &[u8]) {
    let asked: proto::AssignSlotsRequest = read(message);
    let answer: proto::AssignSlotsResponse = read(decided);
    let rows = answer.assignments.unwrap();
    let count = asked.ids.map_or(0, |ids| {
        ids.packed_uuids.len() / 16
            + ids.uuids.len()
            + ids.integers.len()
            + ids.decimals.len()
            + ids.texts.len()
            + ids.fractions.len()
    });
    for length in [
        rows.slot_indexes.len(),
        rows.slot_offset_ticks.len(),
        rows.cycle_offset_ticks.len(),
        rows.cycle_indexes.len(),
        rows.next_run_unix_millis.len(),
    ] {
        assert_eq!(length, count);
    }
    let mut errors = rows.errors.iter();
    for (row, slot) in rows.slot_indexes.iter().enumerate() {
        let offsets = [rows.slot_offset_ticks[row], rows.cycle_offset_ticks[row]];
        if *slot < 0 {
            assert_eq!(offsets, [-1, -1]);
            assert_eq!(errors.next().map(|error| error.id_index), i64::try_from(row).ok());
        } else {
            assert!(offsets[0] >= 0 && offsets[0] <= offsets[1], "{offsets:?}");
        }
    }
    assert_eq!(errors.next(), None);
}

fn slots_follow_each_other(decided: &[u8]) {
    let answer: proto::ListSlotsResponse = read(decided);
    for pair in answer.slots.windows(2) {
        assert_eq!(pair[0].end_time, pair[1].start_time);
    }
}

fn workers_add_up(message: &[u8], decided: &[u8]) {
    use proto::allocate_workers_response::Outcome::{AllStagesDone, Allocation};
    let asked: proto::AllocateWorkersRequest = read(message);
    let answer: proto::AllocateWorkersResponse = read(decided);
    let allocation = match answer.outcome.unwrap() {
        Allocation(allocation) => allocation,
        AllStagesDone(_) => return assert!(asked.stages.iter().all(|stage| stage.done)),
    };
    let placed: i64 = allocation.stages.iter().map(|stage| i64::from(stage.worker_count)).sum();
    let all = placed + i64::from(allocation.unassigned_worker_count);
    assert_eq!(all, i64::from(asked.worker_count.unwrap()), "{asked:?} {allocation:?}");
    assert!(allocation.score.is_finite() && allocation.score >= 0.0, "{allocation:?}");
    for (stage, given) in asked.stages.iter().zip(&allocation.stages) {
        let count = given.worker_count;
        assert!(count >= 0, "{given:?}");
        assert!(stage.max_worker_count.is_none_or(|most| count <= most), "{stage:?} {given:?}");
        let starved = allocation.starved_stages.iter().any(|one| one.stage_name == stage.name);
        let is_waiting = stage.backlog_count > 0 && !stage.done;
        let is_allowed = stage.max_worker_count != Some(0);
        assert_eq!(starved, is_waiting && is_allowed && count == 0, "{stage:?} {given:?}");
    }
}

fn lanes_are_not_overfull(message: &[u8], decided: &[u8]) {
    let asked: proto::DispatchJobsRequest = read(message);
    let answer: proto::DispatchJobsResponse = read(decided);
    let free = asked.free_workers.iter().map(|free| i64::from(free.worker_count)).sum::<i64>();
    assert!(i64::try_from(answer.dispatches.len()).unwrap() <= free.max(0), "{asked:?}");
    let placed = answer.dispatches.iter().map(|placed| placed.job_index);
    let mut jobs: Vec<_> =
        placed.chain(answer.failures.iter().map(|failed| failed.job_index)).collect();
    jobs.sort_unstable();
    assert!(jobs.windows(2).all(|pair| pair[0] < pair[1]), "a job twice: {asked:?}");
    assert!(jobs.last().is_none_or(|last| usize::try_from(*last).unwrap() < asked.jobs.len()));
}

fn lanes_get_all_workers(message: &[u8], decided: &[u8]) {
    let asked: proto::SplitWorkersRequest = read(message);
    let answer: proto::SplitWorkersResponse = read(decided);
    let count = |set: &proto::LaneSet| {
        set.lanes.iter().map(|lane| i64::from(lane.worker_count)).sum::<i64>()
    };
    let all = asked.worker_count.map_or_else(|| count(&asked.lane_set.unwrap()), i64::from);
    assert_eq!(count(&answer.lane_set.unwrap()), all);
    assert!(answer.workloads.iter().all(|work| work.workload_micros >= 0));
}
