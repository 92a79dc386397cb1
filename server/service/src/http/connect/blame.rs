//! Which field of a JSON message is wrong, and what it may be: from the
//! descriptors, for any message.

use offbeat_core::ids::is_canonical_decimal;
use offbeat_core::{Reason, Rejection};
use prost_reflect::{FieldDescriptor, Kind, MessageDescriptor};
use serde_json::Value;
use serde_path_to_error::{Path, Segment};

/// Characters of an unknown key that a refusal shows.
const SHOWN: usize = 64;

/// The refusal of the field at `path`, of which the reader said `error`.
pub(super) fn field(
    message: &MessageDescriptor,
    path: &Path,
    value: &Value,
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
                if !name.is_empty() {
                    name.push('.');
                }
                name.push_str(field.name());
                kind = field.kind();
            }
            Segment::Seq { index } => name.push_str(&format!("[{index}]")),
            Segment::Enum { .. } | Segment::Unknown => break,
        }
    }
    name
}

/// A place in a message, beside the value that stands there.
struct Place<'a> {
    name: String,
    kind: Kind,
    /// Absent for the message itself, and for one element of a list.
    field: Option<FieldDescriptor>,
    value: &'a Value,
}

impl<'a> Place<'a> {
    fn inside(&self, segment: &Segment) -> Option<Self> {
        match segment {
            Segment::Map { key } => {
                let field = find_field(self.kind.as_message()?, key)?;
                let value = self.value.get(key)?;
                let name = match self.name.as_str() {
                    "" => field.name().to_owned(),
                    parent => format!("{parent}.{}", field.name()),
                };
                Some(Self { name, kind: field.kind(), field: Some(field), value })
            }
            Segment::Seq { index } => {
                let value = self.value.get(index)?;
                let name = format!("{}[{index}]", self.name);
                Some(Self { name, kind: self.kind.clone(), field: None, value })
            }
            Segment::Enum { .. } | Segment::Unknown => None,
        }
    }

    /// If the value is an object with a field that the message does not have.
    fn unknown_field(&self) -> Option<Rejection> {
        let message = self.kind.as_message().filter(|message| !is_well_known(message))?;
        let (key, value) =
            self.value.as_object()?.iter().find(|(key, _)| find_field(message, key).is_none())?;
        let allowed = format!("must be a field of {}: {}", message.name(), field_names(message));
        let shown: String = match key.as_str() {
            "" => "\"\"".to_owned(), // or no field would be named
            key => key.chars().take(SHOWN).collect(),
        };
        let rejection = Rejection::new(Reason::Malformed, shown, value, allowed);
        Some(if self.name.is_empty() { rejection } else { rejection.under(&self.name) })
    }

    fn wrong_value(&self, error: &serde_json::Error) -> Rejection {
        let is_list = self.field.as_ref().is_some_and(FieldDescriptor::is_list);
        let allowed = match (is_list, describe(&self.kind)) {
            (_, None) if !self.value.is_object() => self.describe_object(),
            (_, None) => error.to_string(),
            (true, Some(element)) => format!("must be a list, each element {element}"),
            (false, Some(one)) => format!("must be {one}"),
        };
        let of_right_type = match self.kind {
            Kind::Enum(_) => self.value.is_string() || self.value.is_number(),
            Kind::Message(_) | Kind::String | Kind::Bytes | Kind::Bool => false,
            _ => self.value.is_number() || self.value.as_str().is_some_and(is_canonical_decimal),
        };
        let reason = if of_right_type { Reason::OutOfRange } else { Reason::Malformed };
        let name = if self.name.is_empty() { "message" } else { &self.name };
        Rejection::new(reason, name, self.value, allowed)
    }
}

impl Place<'_> {
    fn describe_object(&self) -> String {
        let names = self.kind.as_message().map(field_names).unwrap_or_default();
        format!("must be an object with fields of {names}")
    }
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

/// What a value of `kind` may be; nothing where the reader's own words say more.
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
                "a span in seconds with the letter s, \"28800s\" or \"0.25s\", of at most 315576000000 s"
            }
            "google.protobuf.Timestamp" => {
                "an instant of the years 1 to 9999 as RFC 3339, \"2026-01-01T00:00:00Z\""
            }
            _ if is_well_known(message) => return None,
            // A conflict inside a oneof is said best by the reader.
            _ => return None,
        },
    };
    Some(words.to_owned())
}
