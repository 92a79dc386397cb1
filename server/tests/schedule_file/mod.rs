//! A file of schedules in a folder of its own.
#![allow(unreachable_pub, clippy::unwrap_used)]

use std::fs;
use std::path::PathBuf;

/// A default schedule of 8 hours and its second version.
pub const FILE: &str = r#"
[[schedule]]
name = "bank-sync"
version = 1
period = "8h"

[[schedule]]
name = "bank-sync"
version = 2
period = "8h"
slot_count = 96
anchor_time = 2026-01-01T00:00:00Z
salt = "two"

[[schedule]]
name = "mail"
version = 1
period = "1d"
slot_count = 144
placement = "twister"
bucket_count = 65_536
profile = "ruby-3.0-3.1"
resolution = "1ms"
"#;

/// The fingerprint of an 8-hour schedule with all defaults: SHA-256 of its canonical text, from
/// sha256sum.
pub const FINGERPRINT: &str = "cd74c91b024ffadfde5872b76247d3b6d7ea6e1c3f405f4687f59acee00b4678";

/// A temporary folder with a file of schedules.
pub fn folder(content: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("schedules.toml");
    fs::write(&file, content).unwrap();
    (folder, file)
}
