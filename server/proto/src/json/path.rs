//! Finds which field of a JSON message is wrong, and what it may be, by the descriptors of any
//! message. The text is read again for that, and nothing is built of it.

use std::borrow::Cow;
use std::fmt;

use offbeat_core::ids::is_canonical_decimal;
use offbeat_core::rejection::shorten;
use offbeat_core::{Reason, Rejection};
use prost_reflect::{FieldDescriptor, Kind, MessageDescriptor};
use serde::de::{Deserializer as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use serde_path_to_error::{Path, Segment};

/// Characters of an unknown key that a refusal shows.
const SHOWN_KEY: usize = 64;

/// Longer values are shown as they were written, shortened; shorter ones as compact JSON.
const SHOWN_VALUE_BYTES: usize = 4 << 10;

const BROKEN_STRING: &str =
    "an escape in it is broken, or one half of a surrogate pair stands alone";

/// The refusal of the field at `path`, for which the reader gave `error`.
pub(super) fn refusal(
    message: &MessageDescriptor,
    path: &Path,
    value: &RawValue,
    error: &serde_json::Error,
) -> Rejection {
    let mut place =
        Place { name: String::new(), kind: Kind::Message(message.clone()), field: None, value };
    for segment in path {
        match place.inside(segment) {
            Some(inner) => place = inner,
            None => break,
        }
    }
    place.unknown_field().unwrap_or_else(|| place.wrong_value(error))
}

/// The name of the field at `path`, as far as it leads; empty for the message itself.
pub(super) fn name(message: &MessageDescriptor, path: &Path) -> String {
    let mut kind = Kind::Message(message.clone());
    let mut name = String::new();
    for segment in path {
        match segment {
            Segment::Map { key } => {
                let field = kind.as_message().and_then(|message| find_field(message, key));
                let Some(field) = field else { break };
                name = join(&name, field.name());
                kind = field.kind();
            }
            Segment::Seq { index } => name.push_str(&format!("[{index}]")),
            Segment::Enum { .. } | Segment::Unknown => break,
        }
    }
    name
}

fn join(parent: &str, field: &str) -> String {
    if parent.is_empty() { field.to_owned() } else { format!("{parent}.{field}") }
}

/// A place in a message, with the value at that place.
struct Place<'a> {
    name: String,
    kind: Kind,
    /// Absent for the message itself, and for one element of a list.
    field: Option<FieldDescriptor>,
    value: &'a RawValue,
}

impl<'a> Place<'a> {
    fn inside(&self, segment: &Segment) -> Option<Self> {
        match segment {
            Segment::Map { key } => {
                let field = find_field(self.kind.as_message()?, key)?;
                let (_, value) = first_member(self.value, |candidate| candidate == key)?;
                let name = join(&self.name, field.name());
                Some(Self { name, kind: field.kind(), field: Some(field), value })
            }
            Segment::Seq { index } => {
                let value = element(self.value, *index)?;
                let name = format!("{}[{index}]", self.name);
                Some(Self { name, kind: self.kind.clone(), field: None, value })
            }
            Segment::Enum { .. } | Segment::Unknown => None,
        }
    }

    /// The refusal of a field of an object that the message does not have.
    fn unknown_field(&self) -> Option<Rejection> {
        let message = self.kind.as_message().filter(|message| !is_well_known(message))?;
        let (key, value) = first_member(self.value, |key| find_field(message, key).is_none())?;
        let allowed = format!("must be a field of {}: {}", message.name(), field_names(message));
        let shown_key: String = match &*key {
            "" => "\"\"".to_owned(), // otherwise no field would be named
            key => key.chars().take(SHOWN_KEY).collect(),
        };
        let rejection = Rejection::new(Reason::Malformed, shown_key, shown(value), allowed);
        Some(if self.name.is_empty() { rejection } else { rejection.under(&self.name) })
    }

    fn wrong_value(&self, error: &serde_json::Error) -> Rejection {
        let name = if self.name.is_empty() { "message" } else { &self.name };
        if let Err(broken) = serde_json::from_str::<serde_json::Value>(self.value.get()) {
            let (value, allowed) = match is_string(self.value) {
                true => ("a string that cannot be read", BROKEN_STRING.to_owned()),
                false => ("a value that cannot be read", broken.to_string()),
            };
            return Rejection::new(Reason::Malformed, name, value, allowed);
        }
        let is_list = self.field.as_ref().is_some_and(FieldDescriptor::is_list);
        let allowed = match (is_list, describe(&self.kind)) {
            (_, None) if !is_object(self.value) => self.describe_object(),
            (_, None) => error.to_string(),
            (true, Some(element)) => format!("must be a list, each element {element}"),
            (false, Some(one)) => format!("must be {one}"),
        };
        let of_right_type = match self.kind {
            Kind::Enum(_) => is_string(self.value) || is_number(self.value),
            Kind::Message(_) | Kind::String | Kind::Bytes | Kind::Bool => false,
            _ => {
                is_number(self.value)
                    || string(self.value).is_some_and(|text| is_canonical_decimal(&text))
            }
        };
        let reason = if of_right_type { Reason::OutOfRange } else { Reason::Malformed };
        Rejection::new(reason, name, shown(self.value), allowed)
    }

    fn describe_object(&self) -> String {
        let names = self.kind.as_message().map(field_names).unwrap_or_default();
        format!("must be an object with fields of {names}")
    }
}

fn shown(value: &RawValue) -> String {
    let text = value.get();
    match serde_json::from_str::<serde_json::Value>(text) {
        Ok(compact) if text.len() <= SHOWN_VALUE_BYTES => compact.to_string(),
        _ => shorten(text).to_string(),
    }
}

fn is_string(value: &RawValue) -> bool {
    value.get().starts_with('"')
}

fn is_number(value: &RawValue) -> bool {
    value.get().starts_with(|first: char| first == '-' || first.is_ascii_digit())
}

fn is_object(value: &RawValue) -> bool {
    value.get().starts_with('{')
}

fn string(value: &RawValue) -> Option<String> {
    serde_json::from_str(value.get()).ok()
}

/// The first member of an object whose key `wanted` accepts.
fn first_member<'a>(
    object: &'a RawValue,
    wanted: impl Fn(&str) -> bool,
) -> Option<(Cow<'a, str>, &'a RawValue)> {
    struct Members<F>(F);
    impl<'de, F: Fn(&str) -> bool> Visitor<'de> for Members<F> {
        type Value = Option<(Cow<'de, str>, &'de RawValue)>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Self::Value, M::Error> {
            let mut found = None;
            while let Some(key) = map.next_key::<Cow<'de, str>>()? {
                if found.is_none() && (self.0)(&key) {
                    found = Some((key, map.next_value::<&RawValue>()?));
                } else {
                    map.next_value::<IgnoredAny>()?;
                }
            }
            Ok(found)
        }
    }
    serde_json::Deserializer::from_str(object.get()).deserialize_map(Members(wanted)).ok()?
}

/// The element of a list at `index`.
fn element(list: &RawValue, index: usize) -> Option<&RawValue> {
    struct Elements(usize);
    impl<'de> Visitor<'de> for Elements {
        type Value = Option<&'de RawValue>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a list")
        }

        fn visit_seq<S: SeqAccess<'de>>(self, mut list: S) -> Result<Self::Value, S::Error> {
            for _ in 0..self.0 {
                if list.next_element::<IgnoredAny>()?.is_none() {
                    return Ok(None);
                }
            }
            let found = list.next_element::<&RawValue>()?;
            while list.next_element::<IgnoredAny>()?.is_some() {}
            Ok(found)
        }
    }
    serde_json::Deserializer::from_str(list.get()).deserialize_seq(Elements(index)).ok()?
}

/// A field by its JSON name or by its name in the proto: both are canonical input.
pub(super) fn find_field(message: &MessageDescriptor, key: &str) -> Option<FieldDescriptor> {
    message.get_field_by_json_name(key).or_else(|| message.get_field_by_name(key))
}

pub(super) fn is_well_known(message: &MessageDescriptor) -> bool {
    message.package_name() == "google.protobuf"
}

fn field_names(message: &MessageDescriptor) -> String {
    let names: Vec<_> = message.fields().map(|field| field.json_name().to_owned()).collect();
    names.join(", ")
}

/// The allowed values of `kind` in words; `None` where the reader's own error says more.
fn describe(kind: &Kind) -> Option<String> {
    let words = match kind {
        Kind::Int32 | Kind::Sint32 | Kind::Sfixed32 => "an integer, -2147483648 to 2147483647",
        Kind::Int64 | Kind::Sint64 | Kind::Sfixed64 => {
            "an integer, -9223372036854775808 to 9223372036854775807"
        }
        Kind::Uint32 | Kind::Fixed32 => "an integer, 0 to 4294967295",
        Kind::Uint64 | Kind::Fixed64 => "an integer, 0 to 18446744073709551615",
        Kind::Double | Kind::Float => "a number",
        Kind::Bool => "true or false",
        Kind::String => "a string",
        Kind::Bytes => "a string of base64",
        Kind::Enum(values) => {
            let names: Vec<_> = values.values().map(|value| value.name().to_owned()).collect();
            return Some(format!("one of {}", names.join(", ")));
        }
        Kind::Message(message) => match message.full_name() {
            "google.protobuf.Duration" => {
                "a span in seconds with the letter s, such as \"28800s\" or \"0.25s\""
            }
            "google.protobuf.Timestamp" => {
                "an instant of the years 1 to 9999 as RFC 3339, \"2026-01-01T00:00:00Z\""
            }
            // The reader's own error describes a conflict inside a oneof best.
            _ => return None,
        },
    };
    Some(words.to_owned())
}
