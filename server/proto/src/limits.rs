//! The limits of messages, whatever their encoding.

use offbeat_core::limits::Limit;

/// Elements of all lists of a message.
pub const MESSAGE_ITEMS: Limit = Limit {
    name: "items of all lists of a message",
    minimum: 0,
    maximum: 410_000,
    unit: "items",
    note: "protobuf or JSON; beyond it RESOURCE_EXHAUSTED, before anything is built of it",
};

/// Messages within a message.
pub const MESSAGE_OBJECTS: Limit = Limit {
    name: "objects in a message",
    minimum: 0,
    maximum: 110_000,
    unit: "objects",
    note: "messages within it, or objects of JSON; beyond it RESOURCE_EXHAUSTED, before anything is built of it",
};

/// A field mask in JSON, where it is one string.
pub const JSON_MASK_BYTES: Limit = Limit {
    name: "read mask in JSON",
    minimum: 0,
    maximum: 1_024,
    unit: "bytes",
    note: "AssignSlots; there are five columns",
};

/// The limits of messages, in the order of the documentation.
pub const MESSAGE_LIMITS: &[Limit] = &[MESSAGE_ITEMS, MESSAGE_OBJECTS, JSON_MASK_BYTES];
