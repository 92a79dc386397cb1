//! Refuses what JSON can say and a message cannot, and what the reader would silently change: a
//! field given twice, two fields of a oneof, a fraction of a nanosecond, a leap second, an integer
//! written as a float that cannot hold it or with leading zeros.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;

use offbeat_core::ids::is_canonical_decimal;
use offbeat_core::{Reason, Rejection};
use prost_reflect::{Kind, MessageDescriptor};
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::path::{find_field, is_well_known};
use crate::limits::JSON_MASK_BYTES;

/// Refuses the first thing in `json` that its message cannot hold unchanged.
pub(super) fn check(message: &MessageDescriptor, json: &[u8]) -> Result<(), Rejection> {
    let found = RefCell::new(None);
    let place = Place { kind: Kind::Message(message.clone()), name: String::new(), found: &found };
    let mut text = serde_json::Deserializer::from_slice(json);
    // The reader reports errors of the text itself.
    let _ = place.deserialize(&mut text);
    found.into_inner().map_or(Ok(()), Err)
}

struct Place<'a> {
    kind: Kind,
    name: String,
    found: &'a RefCell<Option<Rejection>>,
}

impl Place<'_> {
    fn refuse<E: serde::de::Error>(
        &self,
        reason: Reason,
        field: &str,
        value: impl fmt::Display,
        allowed: &str,
    ) -> E {
        *self.found.borrow_mut() = Some(Rejection::new(reason, field, value, allowed));
        E::custom(allowed) // ends the walk; nobody reads it
    }

    fn is_integer(&self) -> bool {
        use Kind::{
            Fixed32, Fixed64, Int32, Int64, Sfixed32, Sfixed64, Sint32, Sint64, Uint32, Uint64,
        };
        matches!(
            self.kind,
            Int32
                | Int64
                | Sint32
                | Sint64
                | Sfixed32
                | Sfixed64
                | Uint32
                | Uint64
                | Fixed32
                | Fixed64
        )
    }

    fn is_message(&self, name: &str) -> bool {
        self.kind.as_message().is_some_and(|message| message.full_name() == name)
    }

    fn inside(&self, kind: Kind, name: String) -> Place<'_> {
        Place { kind, name, found: self.found }
    }
}

impl<'de> DeserializeSeed<'de> for Place<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, value: D) -> Result<(), D::Error> {
        value.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Place<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<(), M::Error> {
        let message = self.kind.as_message().filter(|message| !is_well_known(message));
        let mut given = BTreeMap::new(); // by number
        while let Some(key) = map.next_key::<String>()? {
            let Some(field) = message.and_then(|message| find_field(message, &key)) else {
                map.next_value::<IgnoredAny>()?;
                continue;
            };
            let name = match self.name.as_str() {
                "" => field.name().to_owned(),
                parent => format!("{parent}.{}", field.name()),
            };
            if given.insert(field.number(), field.clone()).is_some() {
                let allowed = "must be given once";
                return Err(self.refuse(Reason::Contradictory, &name, "a second value", allowed));
            }
            if let Some(oneof) = field.containing_oneof().filter(|oneof| oneof.fields().len() > 1) {
                let other = oneof.fields().find(|other| {
                    other.number() != field.number() && given.contains_key(&other.number())
                });
                if let Some(other) = other {
                    let value = format!("{} and {}", other.name(), field.name());
                    let parent = if self.name.is_empty() { "message" } else { &self.name };
                    let allowed = "must have one of them alone";
                    return Err(self.refuse(Reason::Contradictory, parent, value, allowed));
                }
            }
            map.next_value_seed(self.inside(field.kind(), name))?;
        }
        Ok(())
    }

    fn visit_seq<S: SeqAccess<'de>>(self, mut sequence: S) -> Result<(), S::Error> {
        for index in 0.. {
            let name = format!("{}[{index}]", self.name);
            if sequence.next_element_seed(self.inside(self.kind.clone(), name))?.is_none() {
                break;
            }
        }
        Ok(())
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<(), E> {
        let is_timestamp = self.is_message("google.protobuf.Timestamp");
        if is_timestamp && text.get(16..19) == Some(":60") {
            let allowed =
                "must be an instant without leap second: the second 59, or the next minute";
            return Err(self.refuse(Reason::Malformed, &self.name, text, allowed));
        }
        if self.is_message("google.protobuf.FieldMask") && text.len() > JSON_MASK_BYTES.max_size() {
            let (value, allowed) =
                (format!("{} bytes", text.len()), format!("must be {JSON_MASK_BYTES}"));
            return Err(self.refuse(Reason::OutOfRange, &self.name, value, &allowed));
        }
        let digits = text.split_once('.').map_or("", |(_, rest)| rest);
        let digits = digits.bytes().take_while(u8::is_ascii_digit).count();
        if (is_timestamp || self.is_message("google.protobuf.Duration")) && digits > 9 {
            let allowed = "must have at most 9 digits behind the point (nanoseconds)";
            return Err(self.refuse(Reason::Malformed, &self.name, text, allowed));
        }
        if self.is_integer() && text.parse::<i128>().is_ok() && !is_canonical_decimal(text) {
            let allowed = "must be an integer without plus sign or leading zeros";
            return Err(self.refuse(Reason::Malformed, &self.name, text, allowed));
        }
        Ok(())
    }

    fn visit_f64<E: serde::de::Error>(self, number: f64) -> Result<(), E> {
        const EXACT: f64 = 9_007_199_254_740_992.0; // 2^53: doubles hold each integer below it
        if self.is_integer() && number.abs() >= EXACT {
            let allowed =
                "must be an integer without point or exponent: a float cannot hold it exactly";
            return Err(self.refuse(Reason::OutOfRange, &self.name, number, allowed));
        }
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
}
