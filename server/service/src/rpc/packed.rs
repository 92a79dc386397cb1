//! The answers in columns as bytes. A packed column of fixed-width numbers is, on the wire, the
//! little-endian array itself; prost writes it number by number.

use std::any::{Any, TypeId};

use bytes::BufMut;
use prost::Message;
use prost::encoding::{WireType, encode_key, encode_varint, encoded_len_varint, key_len};

use crate::proto;

/// Numbers that are turned to bytes together.
const TOGETHER: usize = 512;

/// Whether `T` is one of these answers.
pub(super) fn writes<T: Any>() -> bool {
    let message = TypeId::of::<T>();
    message == TypeId::of::<proto::AssignSlotsResponse>()
        || message == TypeId::of::<proto::StreamSlotAssignmentsResponse>()
}

/// Writes such an answer.
pub(super) fn encode<T: Any>(message: &mut T, buffer: &mut impl BufMut) {
    let message: &mut dyn Any = message;
    if let Some(answer) = message.downcast_mut::<proto::AssignSlotsResponse>() {
        let assignments = answer.assignments.take();
        encode_answer(answer, 2, assignments, buffer);
    } else if let Some(answer) = message.downcast_mut::<proto::StreamSlotAssignmentsResponse>() {
        let assignments = answer.assignments.take();
        encode_answer(answer, 3, assignments, buffer);
    }
}

/// Writes an answer, of which the assignments are field `number`.
fn encode_answer(
    rest: &impl Message,
    number: u32,
    assignments: Option<proto::SlotAssignments>,
    buffer: &mut impl BufMut,
) {
    buffer.put_slice(&rest.encode_to_vec());
    let Some(mut assignments) = assignments else { return };
    let slots = std::mem::take(&mut assignments.slot_indexes);
    let columns = [
        (3, std::mem::take(&mut assignments.slot_offset_ticks)),
        (4, std::mem::take(&mut assignments.cycle_offset_ticks)),
        (5, std::mem::take(&mut assignments.cycle_indexes)),
        (6, std::mem::take(&mut assignments.next_run_unix_millis)),
    ];
    let wide = columns.iter().map(|(number, column)| column_len(*number, 8 * column.len()));
    let len = assignments.encoded_len() + column_len(2, 4 * slots.len()) + wide.sum::<usize>();
    encode_key(number, WireType::LengthDelimited, buffer);
    encode_varint(len as u64, buffer);
    buffer.put_slice(&assignments.encode_to_vec());
    encode_column(2, &slots, i32::to_le_bytes, buffer);
    for (number, column) in &columns {
        encode_column(*number, column, i64::to_le_bytes, buffer);
    }
}

/// Bytes of a column of so many bytes with its head; of an empty one, none.
fn column_len(number: u32, len: usize) -> usize {
    if len == 0 { 0 } else { key_len(number) + encoded_len_varint(len as u64) + len }
}

fn encode_column<T: Copy, const SIZE: usize>(
    number: u32,
    column: &[T],
    to_bytes: impl Fn(T) -> [u8; SIZE],
    buffer: &mut impl BufMut,
) {
    if column.is_empty() {
        return;
    }
    encode_key(number, WireType::LengthDelimited, buffer);
    encode_varint((SIZE * column.len()) as u64, buffer);
    let mut bytes = [[0; SIZE]; TOGETHER];
    for numbers in column.chunks(TOGETHER) {
        let mut len = 0;
        for (to, number) in bytes.iter_mut().zip(numbers) {
            *to = to_bytes(*number);
            len += SIZE;
        }
        buffer.put_slice(bytes.as_flattened().get(..len).unwrap_or_default());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_written_as_prost_reads_them() {
        let wide = |first: i64| (first..first + 1_300).collect::<Vec<_>>();
        let assignments =
            |slots: Vec<i32>, wide: &dyn Fn(i64) -> Vec<i64>| proto::SlotAssignments {
                resolution: Some(prost_types::Duration { seconds: 1, nanos: 0 }),
                slot_indexes: slots,
                slot_offset_ticks: wide(-700),
                cycle_offset_ticks: wide(1 << 40),
                cycle_indexes: wide(i64::MIN),
                next_run_unix_millis: wide(1_700_000_000_000),
                run_key_prefix: "name/1/default".into(),
                errors: vec![proto::IdError { id_index: 7, ..Default::default() }],
                id_indexes: vec![0, 0, 1],
                piece_indexes: vec![0, 1, 0],
            };
        let identity = proto::ScheduleIdentity { fingerprint: "f".into(), ..Default::default() };
        for assignments in [
            None,
            Some(proto::SlotAssignments::default()),
            Some(assignments((-1..1_299).collect(), &wide)),
            Some(assignments(vec![i32::MAX], &|first| vec![first])),
        ] {
            let identity = Some(identity.clone());
            let answer = proto::AssignSlotsResponse { identity, assignments };
            let mut bytes = Vec::new();
            encode(&mut answer.clone(), &mut bytes);
            assert_eq!(bytes.len(), answer.encoded_len());
            assert_eq!(proto::AssignSlotsResponse::decode(&*bytes).unwrap(), answer);
            let proto::AssignSlotsResponse { identity, assignments } = answer;
            let part =
                proto::StreamSlotAssignmentsResponse { identity, first_id_index: 9, assignments };
            let mut bytes = Vec::new();
            encode(&mut part.clone(), &mut bytes);
            assert_eq!(proto::StreamSlotAssignmentsResponse::decode(&*bytes).unwrap(), part);
        }
        assert!(!writes::<proto::ListSlotsResponse>());
    }
}
