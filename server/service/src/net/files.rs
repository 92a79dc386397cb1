//! Files that are read again when they change: certificates, tokens and schedules, which are
//! renewed under a running server (in Kubernetes by exchanging a symbolic link).

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use offbeat_core::limits::Limit;

use crate::limits::SECRET_FILE_BYTES;

/// How often files are looked at.
pub(super) const LOOK: Duration = Duration::from_secs(5);

/// Files, and what they held when last read.
#[derive(Debug)]
pub(super) struct Watched {
    paths: Vec<PathBuf>,
    limit: Limit,
    held: Vec<Vec<u8>>,
}

impl Watched {
    /// Reads files of certificates or tokens for the first time.
    pub(super) fn read(paths: Vec<PathBuf>) -> Result<Self, String> {
        Self::read_up_to(SECRET_FILE_BYTES, paths)
    }

    /// Reads files for the first time, each within a limit.
    pub(super) fn read_up_to(limit: Limit, paths: Vec<PathBuf>) -> Result<Self, String> {
        let held = read_all(limit, &paths)?;
        Ok(Self { paths, limit, held })
    }

    /// What they held when last read, in the order of their paths.
    pub(super) fn contents(&self) -> &[Vec<u8>] {
        &self.held
    }

    /// Reads them again, and says whether anything differs.
    pub(super) fn look(&mut self) -> Result<bool, String> {
        let now = read_all(self.limit, &self.paths)?;
        let differs = now != self.held;
        self.held = now;
        Ok(differs)
    }
}

fn read_all(limit: Limit, paths: &[PathBuf]) -> Result<Vec<Vec<u8>>, String> {
    paths.iter().map(|path| read(limit, path)).collect()
}

/// Reads a file, if it is within its limit.
///
/// # Errors
/// When it cannot be read, or is too large.
pub fn read(limit: Limit, path: &Path) -> Result<Vec<u8>, String> {
    let largest = limit.max_size();
    let mut bytes = Vec::new();
    let opened = fs::File::open(path);
    opened
        .and_then(|file| file.take(largest as u64 + 1).read_to_end(&mut bytes))
        .map_err(|error| format!("{}: {error}", path.display()))?;
    if bytes.len() > largest {
        return Err(format!("{}: must be {limit}", path.display()));
    }
    Ok(bytes)
}
