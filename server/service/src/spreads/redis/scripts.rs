//! The scripts of the steps, in Lua, which Redis runs.

use redis::Script;

/// The head of all scripts.
pub(super) const COMMON: &str = include_str!("scripts/common.lua");

#[derive(Debug)]
pub(super) struct Scripts {
    pub(super) open: Script,
    /// Adds entries that take memory.
    pub(super) submit: Script,
    pub(super) call: Script,
    pub(super) claim: Script,
    pub(super) chunk: Script,
    pub(super) compact: Script,
    pub(super) discard: Script,
}

impl Scripts {
    pub(super) fn new() -> Self {
        Self {
            open: growing(include_str!("scripts/open.lua")),
            submit: growing(include_str!("scripts/call.lua")),
            call: small(include_str!("scripts/call.lua")),
            claim: small(include_str!("scripts/claim.lua")),
            chunk: small(include_str!("scripts/chunk.lua")),
            compact: small(include_str!("scripts/compact.lua")),
            discard: small(include_str!("scripts/discard.lua")),
        }
    }
}

/// A script that Redis refuses when its memory is full.
fn growing(text: &str) -> Script {
    Script::new(&format!("#!lua\n{COMMON}\n{text}"))
}

/// A script that frees memory, or takes hardly any: it runs even when memory is full.
fn small(text: &str) -> Script {
    Script::new(&format!("#!lua flags=allow-oom\n{COMMON}\n{text}"))
}
