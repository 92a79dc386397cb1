//! Reads a message from JSON, or refuses one of its fields.

use offbeat_core::{Reason, Rejection};
use prost_reflect::{DeserializeOptions, DynamicMessage, MessageDescriptor};
use serde_json::value::RawValue;
use serde_path_to_error::Track;

use super::{path, strict};

/// Reads canonical proto JSON; unknown fields and enum values are refused.
pub(super) fn message(
    descriptor: &MessageDescriptor,
    json: &[u8],
) -> Result<DynamicMessage, Rejection> {
    strict::check(descriptor, json)?; // first: it builds nothing
    let mut text = serde_json::Deserializer::from_slice(json);
    let mut track = Track::new();
    let tracked = serde_path_to_error::Deserializer::new(&mut text, &mut track);
    let options = DeserializeOptions::new().deny_unknown_fields(true);
    let read = DynamicMessage::deserialize_with_options(descriptor.clone(), tracked, &options);
    let read = read.and_then(|message| text.end().map(|()| message));
    read.map_err(|error| match serde_json::from_slice::<&RawValue>(json) {
        Ok(value) => path::refusal(descriptor, &track.path(), value, &error),
        Err(broken) => match path::name(descriptor, &track.path()).as_str() {
            "" => not_json(&broken),
            name => {
                let value = "a value that cannot be read";
                Rejection::new(Reason::Malformed, name, value, broken.to_string())
            }
        },
    })
}

fn not_json(error: &serde_json::Error) -> Rejection {
    let allowed = format!("must be one JSON object ({error})");
    Rejection::new(Reason::Malformed, "message", "text that is not JSON", allowed)
}
