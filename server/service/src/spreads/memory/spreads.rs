//! All named spreads in memory, by their names, and the bytes that they hold together.

use std::collections::BTreeMap;

use offbeat_core::Rejection;
use offbeat_core::spread::named::BytesLeft;

use super::entry::Entry;
use crate::spreads::views::unknown;

#[derive(Debug)]
pub(super) struct Spreads {
    pub(super) by_name: BTreeMap<String, Entry>,
    /// Bytes of all of them.
    pub(super) bytes: u64,
    /// Epoch of the next spread to open.
    pub(super) next_epoch: u64,
}

impl Spreads {
    pub(super) fn entry(&mut self, name: &str) -> Result<&mut Entry, Rejection> {
        self.by_name.get_mut(name).ok_or_else(|| unknown(name))
    }

    /// Forgets settled groups, of all spreads if necessary, if `wanted` bytes would not fit.
    fn make_room(&mut self, max_byte_count: u64, wanted: u64) {
        let Self { by_name, bytes, .. } = self;
        for entry in by_name.values_mut() {
            let missing = bytes.saturating_add(wanted).saturating_sub(max_byte_count);
            if missing == 0 {
                return;
            }
            let before = entry.machine.memory();
            entry.machine.forget_ended(missing);
            *bytes -= before - entry.machine.memory();
        }
    }

    /// The room for payloads when `wanted` bytes are needed, `overhead` of them for other data.
    /// Forgets settled groups to make room.
    pub(super) fn bytes_left(
        &mut self,
        max_byte_count: u64,
        wanted: u64,
        overhead: u64,
    ) -> BytesLeft {
        self.make_room(max_byte_count, wanted);
        let left = max_byte_count.saturating_sub(self.bytes);
        BytesLeft {
            now: if wanted > left { left.saturating_sub(overhead) } else { u64::MAX },
            at_most: max_byte_count,
        }
    }

    /// Calls a function on a spread, and updates the count of its bytes.
    pub(super) fn with<T>(
        &mut self,
        name: &str,
        act: impl FnOnce(&mut Entry, u64) -> T,
    ) -> Result<T, Rejection> {
        let entry = self.entry(name)?;
        let over = |entry: &Entry| {
            let machine = &entry.machine;
            (machine.ended_groups(), machine.dropped_groups(), machine.state())
        };
        let (before, over_before) = (entry.machine.memory(), over(entry));
        let now = entry.now();
        let done = act(entry, now);
        let after = entry.machine.memory();
        if over(entry) != over_before {
            entry.ended.notify_waiters();
        }
        self.bytes = self.bytes + after - before;
        Ok(done)
    }
}
