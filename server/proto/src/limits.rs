//! The limits of messages, in either encoding.

use offbeat_core::limits;

limits! {
    /// The limits of messages, in the order of the documentation.
    MESSAGE_LIMITS:

    MESSAGE_MEMORY = 0..=32 << 20, "bytes of memory", "lists of a protobuf message, as they are estimated",
        "beyond it RESOURCE_EXHAUSTED, before anything is built of it";
    JSON_ITEMS = 0..=410_000, "items", "items of all lists of a JSON message",
        "beyond it RESOURCE_EXHAUSTED, before anything is built of it";
    JSON_OBJECTS = 0..=110_000, "objects", "objects in a JSON message",
        "beyond it RESOURCE_EXHAUSTED, before anything is built of it";
    JSON_MASK_BYTES = 0..=1_024, "bytes", "read mask in JSON",
        "AssignSlots; there are six columns";
}
