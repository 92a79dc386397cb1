//! What a protobuf message holds, counted before anything is built of it: two bytes on the wire
//! can become a hundred in memory.

use std::collections::HashMap;
use std::sync::LazyLock;

use prost_reflect::{Cardinality, DescriptorPool, Kind, MessageDescriptor};
use tonic::Status;

use crate::descriptors;
use crate::limits::{MESSAGE_ITEMS, MESSAGE_OBJECTS};
use crate::status;

/// Shorter messages cannot swell to much.
const SMALL_BYTES: usize = 4 << 10;

/// Refuses a message with more items, or more messages within it, than any method takes. A list
/// that is a little too long is left to the method, and a malformed message to the decoder.
pub(crate) fn check(message_name: &str, bytes: &[u8]) -> Result<(), Status> {
    if bytes.len() <= SMALL_BYTES {
        return Ok(());
    }
    let Some(root) = SCHEMA.by_name.get(message_name) else { return Ok(()) };
    let mut counted = Counted::default();
    counted.add(*root, bytes);
    for (count, limit) in [(counted.items, MESSAGE_ITEMS), (counted.objects, MESSAGE_OBJECTS)] {
        if count > limit.max_size() {
            return Err(status::message_holds_too_much(count, limit));
        }
    }
    Ok(())
}

/// The messages of the contract, as far as counting needs them.
struct Schema {
    by_name: HashMap<String, usize>,
    messages: Vec<Fields>,
}

/// The fields of a message that can hold much, by number.
type Fields = HashMap<u32, Field>;

#[derive(Clone, Copy)]
struct Field {
    repeated: bool,
    /// Integers of variable length that may be packed.
    varints: bool,
    /// The message that it holds.
    message: Option<usize>,
}

static SCHEMA: LazyLock<Schema> = LazyLock::new(|| Schema::new(descriptors::pool()));

impl Schema {
    fn new(pool: &DescriptorPool) -> Self {
        let all: Vec<MessageDescriptor> = pool.all_messages().collect();
        let by_name: HashMap<String, usize> = all
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
                let field_ = Field { repeated, varints, message: inner };
                (repeated || inner.is_some()).then_some((field.number(), field_))
            });
            fields.collect()
        };
        Self { messages: all.iter().map(fields).collect(), by_name }
    }
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Counted {
    items: usize,
    objects: usize,
}

impl Counted {
    /// Adds what a message of this type holds. Nesting is as deep as the contract, which has no
    /// recursive messages.
    fn add(&mut self, message: usize, mut bytes: &[u8]) {
        let Some(fields) = SCHEMA.messages.get(message) else { return };
        while let Some((number, payload)) = next_field(&mut bytes) {
            let Some(field) = fields.get(&number) else { continue };
            if field.repeated {
                self.items += match payload {
                    Some(packed) if field.varints => {
                        packed.iter().filter(|byte| **byte < 0x80).count()
                    }
                    _ => 1,
                };
            }
            if let (Some(inner), Some(payload)) = (field.message, payload) {
                self.objects += 1;
                self.add(inner, payload);
            }
        }
    }
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
    use prost::{Message, Name};

    use super::*;
    use crate as proto;

    fn counted<M: Message + Name>(message: &M) -> (usize, usize) {
        let mut counted = Counted::default();
        counted.add(SCHEMA.by_name[&M::full_name()], &message.encode_to_vec());
        (counted.items, counted.objects)
    }

    fn is_refused<M: Message + Name>(message: &M) -> bool {
        check(&M::full_name(), &message.encode_to_vec()).is_err()
    }

    #[test]
    fn items_and_messages_are_counted_at_every_level() {
        let stage = |times| proto::Stage {
            service_times: vec![prost_types::Duration::default(); times],
            ..Default::default()
        };
        let request = proto::AllocateWorkersRequest {
            stages: vec![stage(2), stage(0), stage(3)],
            ..Default::default()
        };
        assert_eq!(counted(&request), (3 + 5, 3 + 5));
        let ids = proto::IdColumn { texts: vec![String::new(); 7], ..Default::default() };
        let request = proto::AssignSlotsRequest { ids: Some(ids), ..Default::default() };
        assert_eq!(counted(&request), (7, 1));
    }

    #[test]
    fn packed_integers_count_one_by_one_and_those_that_are_not_too() {
        let samples = proto::RunTimeSamples { micros: vec![1, 300, 70_000] };
        let run_times = Some(proto::plan_lanes_request::RunTimes::Samples(samples));
        let request = proto::PlanLanesRequest { run_times, ..Default::default() };
        assert_eq!(counted(&request), (3, 1));
        // The same field again and again: the last message is merged into those before.
        let merged = [0x0a, 2, 8, 1].repeat(9);
        let mut again = Counted::default();
        again.add(SCHEMA.by_name[&proto::PlanLanesRequest::full_name()], &merged);
        assert_eq!(again, Counted { items: 9, objects: 9 });
    }

    #[test]
    fn as_many_as_any_method_takes_pass_and_one_more_is_refused() {
        let texts = |count| proto::AssignSlotsRequest {
            ids: Some(proto::IdColumn { texts: vec!["a".into(); count], ..Default::default() }),
            ..Default::default()
        };
        assert!(!is_refused(&texts(MESSAGE_ITEMS.max_size())));
        assert!(is_refused(&texts(MESSAGE_ITEMS.max_size() + 1)));
        let stages = |count| proto::AllocateWorkersRequest {
            stages: vec![proto::Stage::default(); count],
            ..Default::default()
        };
        assert!(!is_refused(&stages(MESSAGE_OBJECTS.max_size())));
        assert!(is_refused(&stages(MESSAGE_OBJECTS.max_size() + 1)));
    }

    #[test]
    fn malformed_messages_are_left_to_the_decoder() {
        for bad in [[0xff; 20_000], [0x0a; 20_000], [0x0b; 20_000], [0x0f; 20_000]] {
            assert!(check("offbeat.v1.SubmitGroupsRequest", &bad).is_ok());
        }
    }
}
