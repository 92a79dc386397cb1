//! Rules that every field of the contract must follow.
#![allow(clippy::unwrap_used, missing_docs)]

use offbeat_proto::descriptors::pool;
use prost_reflect::Kind;

#[test]
fn no_number_is_unsigned() {
    // PHP and Java have no unsigned integers: a large one turns negative, and it is a string in
    // JSON.
    let messages = pool().all_messages().filter(|message| message.package_name() == "offbeat.v1");
    let fields: Vec<_> =
        messages.flat_map(|message| message.fields().collect::<Vec<_>>()).collect();
    assert!(fields.len() > 500, "{} fields", fields.len());
    for field in fields {
        let unsigned = [Kind::Uint32, Kind::Uint64, Kind::Fixed32, Kind::Fixed64];
        assert!(!unsigned.contains(&field.kind()), "{}", field.full_name());
    }
}
