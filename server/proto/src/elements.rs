//! What a protobuf message takes in memory, estimated before anything is built of it: two bytes on
//! the wire can become two hundred.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use prost_reflect::{Cardinality, DescriptorPool, Kind, MessageDescriptor};
use tonic::Status;

use crate::descriptors;
use crate::limits::MESSAGE_MEMORY;
use crate::status;

/// Shorter messages cannot take much memory.
const SMALL_BYTES: usize = 4 << 10;

/// Refuses a message that takes more memory than any method needs. A list that is a little too
/// long is left to the method, and a malformed message to the decoder.
pub(crate) fn check(message_name: &str, bytes: &[u8]) -> Result<(), Status> {
    if bytes.len() <= SMALL_BYTES {
        return Ok(());
    }
    let Some(root) = SCHEMA.by_name.get(message_name) else { return Ok(()) };
    let memory = memory_of_lists(*root, bytes);
    if memory > MESSAGE_MEMORY.max_size() {
        return Err(status::message_holds_too_much(memory, MESSAGE_MEMORY));
    }
    Ok(())
}

/// The messages of the contract, as far as the estimate needs them.
struct Schema {
    by_name: BTreeMap<String, usize>,
    messages: Vec<Fields>,
}

/// The fields of a message that can hold much, by number.
type Fields = BTreeMap<u32, Field>;

#[derive(Clone, Copy)]
struct Field {
    /// Bytes of an element, if it is a list.
    element: Option<usize>,
    /// Integers of variable length that may be packed.
    varints: bool,
    /// The message that it holds.
    message: Option<usize>,
}

static SCHEMA: LazyLock<Schema> = LazyLock::new(|| Schema::new(descriptors::pool()));

/// Bytes of a list or text in place: a pointer, a length and a capacity.
const WORDS: usize = 24;

/// Maximum depth of nested messages that a size includes.
const LEVELS: usize = 8;

/// Bytes of a value in place.
fn size_of(kind: &Kind, levels: usize) -> usize {
    match kind {
        Kind::String => WORDS,
        Kind::Bytes => 32,
        Kind::Message(message) if levels > 0 => {
            let fields = message.fields().map(|field| match field.cardinality() {
                Cardinality::Repeated => WORDS,
                _ => 8 + size_of(&field.kind(), levels - 1),
            });
            fields.sum()
        }
        Kind::Message(_) => 0,
        _ => 8,
    }
}

impl Schema {
    fn new(pool: &DescriptorPool) -> Self {
        let all: Vec<MessageDescriptor> = pool.all_messages().collect();
        let by_name: BTreeMap<String, usize> = all
            .iter()
            .enumerate()
            .map(|(index, message)| (message.full_name().to_owned(), index))
            .collect();
        let fields = |message: &MessageDescriptor| {
            let fields = message.fields().filter_map(|field| {
                let inner = match field.kind() {
                    Kind::Message(inner) => by_name.get(inner.full_name()).copied(),
                    _ => None,
                };
                let repeated = field.cardinality() == Cardinality::Repeated;
                let element = repeated.then(|| size_of(&field.kind(), LEVELS));
                let varints = matches!(
                    field.kind(),
                    Kind::Int32
                        | Kind::Int64
                        | Kind::Uint32
                        | Kind::Uint64
                        | Kind::Sint32
                        | Kind::Sint64
                        | Kind::Bool
                        | Kind::Enum(_)
                );
                let known = Field { element, varints, message: inner };
                (repeated || inner.is_some()).then_some((field.number(), known))
            });
            fields.collect()
        };
        Self { messages: all.iter().map(fields).collect(), by_name }
    }
}

/// Bytes that the lists of a message take, at every level. Nesting is as deep as the contract,
/// which has no recursive messages.
fn memory_of_lists(message: usize, mut bytes: &[u8]) -> usize {
    let Some(fields) = SCHEMA.messages.get(message) else { return 0 };
    let mut memory = 0;
    while let Some((number, payload)) = next_field(&mut bytes) {
        let Some(field) = fields.get(&number) else { continue };
        if let Some(element) = field.element {
            memory += match payload {
                // A list grows by doubling: it has room for up to twice as many.
                Some(packed) if field.varints => {
                    2 * element * packed.iter().filter(|byte| **byte < 0x80).count()
                }
                // Text has an allocation of its own, of 16 bytes at least.
                Some(text) if field.message.is_none() => element + text.len().next_multiple_of(16),
                Some(_) => element,
                // A number that is not packed has two or three bytes on the wire, and its list
                // grows by doubling: the old one and the new one are there at once.
                None => 3 * element,
            };
        }
        if let (Some(inner), Some(payload)) = (field.message, payload) {
            memory += memory_of_lists(inner, payload);
        }
    }
    memory
}

/// The number of the next field, and its bytes if it has a length; `None` at the end, or where
/// the message is malformed.
fn next_field<'a>(message: &mut &'a [u8]) -> Option<(u32, Option<&'a [u8]>)> {
    let key = varint(message)?;
    let number = u32::try_from(key >> 3).ok()?;
    let length = match key & 7 {
        0 => {
            varint(message)?;
            return Some((number, None));
        }
        1 => 8,
        2 => usize::try_from(varint(message)?).ok()?,
        5 => 4,
        3 | 4 => 0, // groups: their fields follow, and count as if they were here
        _ => return None,
    };
    let (payload, rest) = message.split_at_checked(length)?;
    *message = rest;
    Some((number, (key & 7 == 2).then_some(payload)))
}

fn varint(message: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = message.split_first()?;
        *message = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if *byte < 0x80 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use offbeat_core::limits::RUN_TIME_SAMPLES;
    use prost::{Message, Name};

    use super::*;
    use crate as proto;

    fn memory<M: Message + Name>(message: &M) -> usize {
        memory_of_lists(SCHEMA.by_name[&M::full_name()], &message.encode_to_vec())
    }

    fn is_refused<M: Message + Name>(message: &M) -> bool {
        check(&M::full_name(), &message.encode_to_vec()).is_err()
    }

    /// Field 3 of a `SpreadInput`: numbers of any length, packed or one by one.
    const PACKED: u8 = 0x1a;
    const SINGLE: u8 = 0x18;

    #[test]
    fn packed_numbers_count_with_the_room_that_their_list_makes() {
        let packed = |count: usize| {
            let mut bytes = vec![PACKED];
            prost::encoding::encode_varint(count as u64, &mut bytes);
            bytes.resize(bytes.len() + count, 1);
            check(&proto::SpreadInput::full_name(), &bytes)
        };
        assert!(packed(400_000).is_ok());
        assert!(packed(4 << 20).is_err(), "four megabytes");
    }

    #[test]
    fn numbers_that_are_not_packed_count_while_their_list_grows() {
        let single =
            |count: usize| check(&proto::SpreadInput::full_name(), &[SINGLE, 1].repeat(count));
        assert!(single(400_000).is_ok());
        assert!(single(2 << 20).is_err(), "four megabytes");
    }

    #[test]
    fn as_many_run_times_as_the_method_takes_pass() {
        let run_time_micros = vec![1; RUN_TIME_SAMPLES.max_size()];
        let samples = proto::v1beta1::RunTimeSamples { run_time_micros };
        let run_times = Some(proto::v1beta1::plan_lanes_request::RunTimes::Samples(samples));
        let request = proto::v1beta1::PlanLanesRequest { run_times, ..Default::default() };
        assert!(!is_refused(&request));
    }

    fn stages(count: usize, times: usize) -> proto::AllocateWorkersRequest {
        let run_times = vec![prost_types::Duration::default(); times];
        let stage = proto::Stage { run_times, ..Default::default() };
        proto::AllocateWorkersRequest { stages: vec![stage; count], ..Default::default() }
    }

    #[test]
    fn the_estimate_is_close_to_the_size_of_the_structures() {
        let stage = std::mem::size_of::<proto::Stage>();
        let estimate = memory(&stages(1_000, 0)) / 1_000;
        assert!((stage / 2..2 * stage).contains(&estimate), "{estimate} for {stage}");
        let time = std::mem::size_of::<prost_types::Duration>();
        let estimate = (memory(&stages(1, 1_000)) - memory(&stages(1, 0))) / 1_000;
        assert!((time..=2 * time).contains(&estimate), "{estimate} for {time}");
        let texts =
            |count: usize| proto::IdBatch { texts: vec!["a".into(); count], ..Default::default() };
        assert_eq!(memory(&texts(10)), 10 * (WORDS + 16));
    }

    #[test]
    fn integers_count_one_by_one() {
        let whole_group_sizes = vec![1, 300, 70_000];
        let input = proto::SpreadInput { whole_group_sizes, ..Default::default() };
        assert_eq!(memory(&input), 3 * 2 * 8);
        // Not packed, so the numbers count while their list grows.
        let root = SCHEMA.by_name[&proto::SpreadInput::full_name()];
        assert_eq!(memory_of_lists(root, &[SINGLE, 1].repeat(9)), 9 * 3 * 8);
    }

    #[test]
    fn the_largest_valid_requests_pass_and_larger_ones_are_refused() {
        assert!(!is_refused(&stages(100_000, 1)));
        assert!(!is_refused(&stages(2, 200_000)));
        let job = |id: usize| proto::PendingJob {
            id: format!("{id:0>20}"),
            timed_out_lane_names: vec!["a".into(); 4],
            ..Default::default()
        };
        let jobs = (0..65_536).map(job).collect();
        assert!(!is_refused(&proto::DispatchJobsRequest { jobs, ..Default::default() }));
        assert!(is_refused(&stages(2_000_000, 0)));
        let texts = |count: usize| proto::IdBatch {
            texts: vec![String::new(); count],
            ..Default::default()
        };
        let request =
            |count| proto::AssignSlotsRequest { ids: Some(texts(count)), ..Default::default() };
        assert!(!is_refused(&request(65_536)));
        assert!(is_refused(&request(2_000_000)));
    }

    #[test]
    fn malformed_messages_are_left_to_the_decoder() {
        for bad in [[0xff; 20_000], [0x0a; 20_000], [0x0b; 20_000], [0x0f; 20_000]] {
            assert!(check("offbeat.v1.SubmitGroupsRequest", &bad).is_ok());
        }
    }
}
