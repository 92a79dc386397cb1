//! Files that are polled for changes: certificates, tokens and schedules, which are renewed while
//! the server runs (in Kubernetes by replacing a symbolic link).

use std::fs;
use std::io::{self, Read as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use offbeat_core::limits::Limit;
use rustix::fs::OFlags;

/// How long a changed file must stay the same before it is read.
const SETTLING_TIME: Duration = Duration::from_millis(200);

/// Permissions of group and others to write.
const WRITABLE_BY_OTHERS: u32 = 0o022;
/// Permissions of others to read.
const READABLE_BY_OTHERS: u32 = 0o004;

/// Files, with their contents at the last read.
#[derive(Debug, Clone)]
pub(crate) struct WatchedFiles {
    paths: Vec<PathBuf>,
    limit: Limit,
    held: Vec<Vec<u8>>,
    /// New content that a poll found and that is not yet used.
    seen: Option<Vec<Vec<u8>>>,
}

/// Result of a poll.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PollOutcome {
    /// The previous content.
    Same,
    /// New content that may still be incomplete.
    Settling,
    /// New content.
    Changed,
}

impl WatchedFiles {
    /// Reads files for the first time, each within a limit.
    pub(crate) fn read(limit: Limit, paths: Vec<PathBuf>) -> Result<Self, String> {
        let held = read_all(limit, &paths)?;
        Ok(Self { paths, limit, held, seen: None })
    }

    /// Files that could not be read: any later content is a change.
    pub(super) const fn unread(limit: Limit, paths: Vec<PathBuf>) -> Self {
        Self { paths, limit, held: Vec::new(), seen: None }
    }

    /// Contents at the last read, in the order of the paths.
    pub(crate) fn contents(&self) -> &[Vec<u8>] {
        &self.held
    }

    /// Content of the first file.
    pub(crate) fn first(&self) -> &[u8] {
        self.held.first().map(Vec::as_slice).unwrap_or_default()
    }

    /// Polls the files. A file that is being rewritten in place may be incomplete, so a change
    /// counts only when the files stay the same: for a moment if each ends with a line feed,
    /// otherwise from one poll to the next.
    pub(super) async fn poll(&mut self) -> Result<PollOutcome, String> {
        let now = self.read_again().await?;
        if now == self.held {
            return Ok(PollOutcome::Same);
        }
        let is_whole = now.iter().all(|content| content.ends_with(b"\n"));
        if is_whole {
            tokio::time::sleep(SETTLING_TIME).await;
            if self.read_again().await? != now {
                return Ok(PollOutcome::Settling);
            }
        } else if self.seen.replace(now.clone()).is_none_or(|seen| seen != now) {
            return Ok(PollOutcome::Settling);
        }
        (self.held, self.seen) = (now, None);
        Ok(PollOutcome::Changed)
    }

    /// Reads the files on a thread that may wait for a slow volume.
    async fn read_again(&self) -> Result<Vec<Vec<u8>>, String> {
        let (limit, paths) = (self.limit, self.paths.clone());
        let read = tokio::task::spawn_blocking(move || read_all(limit, &paths)).await;
        read.map_err(|error| error.to_string())?
    }
}

fn read_all(limit: Limit, paths: &[PathBuf]) -> Result<Vec<Vec<u8>>, String> {
    paths.iter().map(|path| read(limit, path)).collect()
}

/// Reads a regular file, if it is within its limit. Opening a FIFO does not wait for its writer.
///
/// # Errors
/// When it cannot be read, is not a regular file, or is too large.
pub(crate) fn read(limit: Limit, path: &Path) -> Result<Vec<u8>, String> {
    let largest = limit.max_size();
    let nonblocking = i32::try_from(OFlags::NONBLOCK.bits()).unwrap_or_default();
    let opened = fs::OpenOptions::new().read(true).custom_flags(nonblocking).open(path);
    let read = opened.and_then(|file| {
        if !file.metadata()?.is_file() {
            return Err(io::Error::other("is not a regular file"));
        }
        let mut bytes = Vec::new();
        file.take(largest as u64 + 1).read_to_end(&mut bytes)?;
        Ok(bytes)
    });
    let bytes = read.map_err(|error| format!("{}: {error}", path.display()))?;
    if bytes.len() > largest {
        return Err(format!("{}: must be {limit}", path.display()));
    }
    Ok(bytes)
}

/// Warns of a secret that other users may read or change.
pub(super) fn warn_of_permissions(flag: &str, path: &Path) {
    let Ok(metadata) = fs::metadata(path) else { return };
    let mode = metadata.mode();
    if mode & (WRITABLE_BY_OTHERS | READABLE_BY_OTHERS) != 0 {
        let (path, mode) = (path.display(), format!("{:04o}", mode & 0o7777));
        tracing::warn!(flag, %path, mode, "other users may read or change a secret: 0600 or 0640 is safer");
    }
}
