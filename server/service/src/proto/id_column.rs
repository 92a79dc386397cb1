//! `IdColumn`, whose integers are read at once: packed, they are a little-endian array on the wire,
//! and prost takes it apart number by number. (Answers, the other way: `rpc/packed.rs`.)

use bytes::{Buf, BufMut, Bytes};
use prost::encoding::{DecodeContext, WireType, decode_varint};
use prost::{DecodeError, Message};

/// The number of the field of integers.
const INTEGERS: u32 = 3;

/// The fields, as prost would generate them.
#[derive(Clone, PartialEq, Message)]
pub struct IdFields {
    /// UUIDs, 16 bytes each, end to end.
    #[prost(bytes = "bytes", tag = "1")]
    pub uuid_bytes: Bytes,
    /// UUIDs as text.
    #[prost(string, repeated, tag = "2")]
    pub uuids: Vec<String>,
    /// Integers of 64 bits.
    #[prost(sfixed64, repeated, tag = "3")]
    pub integers: Vec<i64>,
    /// Larger integers, in decimal.
    #[prost(string, repeated, tag = "4")]
    pub decimals: Vec<String>,
    /// Texts.
    #[prost(string, repeated, tag = "5")]
    pub texts: Vec<String>,
    /// Fractions.
    #[prost(double, repeated, tag = "6")]
    pub fractions: Vec<f64>,
}

/// The message.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct IdColumn(pub IdFields);

impl Message for IdColumn {
    fn merge_field(
        &mut self,
        tag: u32,
        wire_type: WireType,
        buffer: &mut impl Buf,
        context: DecodeContext,
    ) -> Result<(), DecodeError> {
        if tag == INTEGERS
            && wire_type == WireType::LengthDelimited
            && let Some((length, integers)) = packed(buffer.chunk())
        {
            self.0.integers.extend(integers.iter().map(|bytes| i64::from_le_bytes(*bytes)));
            buffer.advance(length);
            return Ok(());
        }
        self.0.merge_field(tag, wire_type, buffer, context)
    }

    fn encode_raw(&self, buffer: &mut impl BufMut) {
        self.0.encode_raw(buffer);
    }

    fn encoded_len(&self) -> usize {
        self.0.encoded_len()
    }

    fn clear(&mut self) {
        self.0.clear();
    }
}

/// The numbers of a packed field, and its bytes with their length in front; nothing if it is not
/// all there, or not all numbers, of which prost knows what to say.
fn packed(field: &[u8]) -> Option<(usize, &[[u8; 8]])> {
    let mut rest = field;
    let length = usize::try_from(decode_varint(&mut rest).ok()?).ok()?;
    let (numbers, []) = rest.get(..length)?.as_chunks() else { return None };
    Some((field.len() - rest.len() + length, numbers))
}

#[cfg(test)]
mod tests {
    use prost_reflect::{DescriptorPool, DynamicMessage};

    use super::*;
    use crate::proto::FILE_DESCRIPTOR_SET;

    #[test]
    fn its_fields_are_those_of_the_proto() {
        let pool = DescriptorPool::decode(FILE_DESCRIPTOR_SET).unwrap();
        let message = pool.get_message_by_name("offbeat.v1.IdColumn").unwrap();
        let column = IdColumn(IdFields {
            uuid_bytes: Bytes::from_static(b"sixteen bytes..."),
            uuids: vec!["u".into(), "v".into()],
            integers: vec![i64::MIN, -1, 0, 1, i64::MAX],
            decimals: vec!["1".into()],
            texts: vec![String::new(), "t".into()],
            fractions: vec![0.5, -0.0],
        });
        assert_eq!(message.fields().len(), 6);
        let bytes = column.encode_to_vec();
        assert_eq!(bytes.len(), column.encoded_len());
        let read = DynamicMessage::decode(message.clone(), &*bytes).unwrap();
        assert_eq!(read.unknown_fields().count(), 0);
        assert!(message.fields().all(|field| read.has_field(&field)));
        assert_eq!(read.encode_to_vec(), bytes);
        assert_eq!(IdColumn::decode(&*bytes).unwrap(), column);
    }

    /// Read as prost reads it, in one piece and in two.
    fn read_alike(bytes: &[u8]) -> Option<Vec<i64>> {
        let expected = IdFields::decode(bytes);
        for middle in 0..=bytes.len() {
            let (before, after) = bytes.split_at(middle);
            let read = IdColumn::decode(before.chain(after)).map(|column| column.0);
            assert_eq!(read, expected, "{bytes:?} at {middle}");
        }
        expected.ok().map(|fields| fields.integers)
    }

    #[test]
    fn integers_are_read_as_by_prost_however_they_are_written() {
        let two = [[7, 0, 0, 0, 0, 0, 0, 0], [0xfe, 255, 255, 255, 255, 255, 255, 255]].concat();
        let field = |head: &[u8], rest: &[u8]| [head, rest].concat();
        let packed = field(&[0x1a, 16], &two);
        let one_by_one = [field(&[0x19], &two[..8]), field(&[0x19], &two[8..])].concat();
        assert_eq!(read_alike(&packed).unwrap(), [7, -2]);
        assert_eq!(read_alike(&one_by_one).unwrap(), [7, -2]);
        assert_eq!(read_alike(&[one_by_one, packed.clone()].concat()).unwrap(), [7, -2, 7, -2]);
        assert_eq!(read_alike(&[&packed[..], &[0x2a, 1, 0x74]].concat()).unwrap(), [7, -2]);
        assert_eq!(read_alike(&field(&[0x1a, 0x90, 0], &two)).unwrap(), [7, -2]); // a longer length
        assert!(read_alike(&[0x1a, 0]).unwrap().is_empty());
        for malformed in [
            &packed[..10],
            &field(&[0x1a, 15], &two),
            &field(&[0x1a, 17], &two),
            &field(&[0x1a, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1], &two),
            &[0x1a],
            &[0x18, 1], // a varint
        ] {
            assert_eq!(read_alike(malformed), None, "{malformed:?}");
        }
    }
}
