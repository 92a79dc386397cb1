//! JSON in: a text to a message, or to the refusal of one field.

use offbeat_core::{Reason, Rejection};
use prost_reflect::{DeserializeOptions, DynamicMessage, MessageDescriptor};
use serde_path_to_error::Track;

use super::{blame, strict};

/// Reads canonical proto JSON; unknown fields and enum values are refused.
pub(super) fn from_json(
    input: &MessageDescriptor,
    json: &[u8],
) -> Result<DynamicMessage, Rejection> {
    let mut text = serde_json::Deserializer::from_slice(json);
    let mut track = Track::new();
    let tracked = serde_path_to_error::Deserializer::new(&mut text, &mut track);
    let options = DeserializeOptions::new().deny_unknown_fields(true);
    let read = DynamicMessage::deserialize_with_options(input.clone(), tracked, &options);
    let read = read.and_then(|message| text.end().map(|()| message));
    strict::check(input, json)?;
    read.map_err(|error| match serde_json::from_slice(json) {
        Ok(value) => blame::field(input, &track.path(), &value, &error),
        Err(broken) => match blame::name(input, &track.path()).as_str() {
            "" => not_json(&broken),
            name => Rejection::new(
                Reason::Malformed,
                name,
                "a value that cannot be read",
                broken.to_string(),
            ),
        },
    })
}

fn not_json(error: &serde_json::Error) -> Rejection {
    let allowed = format!("must be one JSON object ({error})");
    Rejection::new(Reason::Malformed, "message", "text that is no JSON", allowed)
}
