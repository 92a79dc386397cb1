//! The process, under the names that all Prometheus clients use.

use std::fs;

use prometheus_client::registry::Registry;

use super::snapshot::set;

pub(super) fn registry() -> Registry {
    let mut registry = Registry::with_prefix("process");
    if let Some(bytes) = resident_bytes() {
        set(&mut registry, "resident_memory_bytes", "Resident memory", bytes);
    }
    if let Ok(open) = fs::read_dir("/proc/self/fd") {
        let count = open.count().saturating_sub(1) as u64; // one of them reads the folder
        set(&mut registry, "open_fds", "Open file descriptors", count);
    }
    registry
}

/// Resident memory, where `/proc` says it.
fn resident_bytes() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kib| kib * 1_024)
}
