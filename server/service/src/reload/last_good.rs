//! A copy of the last schedules that were accepted, for a start whose own file is refused.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};
use tempfile::NamedTempFile;

use super::files::read;
use crate::limits::SCHEDULE_FILE_BYTES;

/// The copy, which may not exist yet.
#[derive(Debug, Clone)]
pub(super) struct LastGood {
    path: PathBuf,
}

impl LastGood {
    /// The copy at `path`, which must be a regular file or absent: it will be replaced.
    pub(super) fn try_new(path: &Path) -> Result<Self, String> {
        match fs::symlink_metadata(path) {
            Ok(metadata) if !metadata.is_file() => {
                Err(format!("{}: must be a regular file, or not there yet", path.display()))
            }
            _ => Ok(Self { path: path.to_owned() }),
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Its content, if it exists.
    pub(super) fn read(&self) -> Option<Result<Vec<u8>, String>> {
        self.path.exists().then(|| read(SCHEDULE_FILE_BYTES, &self.path))
    }

    /// Replaces it as a whole, unless it already holds `contents`.
    pub(super) fn write(&self, contents: &[u8]) -> Result<(), String> {
        if self.read().is_some_and(|held| held.is_ok_and(|held| held == contents)) {
            return Ok(());
        }
        let write = || {
            let mut file = NamedTempFile::new_in(self.folder())?;
            file.write_all(contents)?;
            file.as_file().sync_all()?; // otherwise, a crash of the machine could leave it empty
            file.persist(&self.path)?;
            Ok(())
        };
        write().map_err(|error: io::Error| self.unwritable(&error))
    }

    /// Whether [`write`](Self::write) may create files beside it.
    pub(super) fn check_writable(&self) -> Result<(), String> {
        access(self.folder(), Access::WRITE_OK | Access::EXEC_OK)
            .map_err(|error| self.unwritable(&error.into()))
    }

    fn folder(&self) -> &Path {
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
        folder.unwrap_or(Path::new("."))
    }

    fn unwritable(&self, error: &io::Error) -> String {
        format!("{}: cannot be written: {error}", self.path.display())
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{MetadataExt as _, symlink};

    use super::*;

    #[test]
    fn a_copy_is_replaced_as_a_whole_and_only_if_it_differs() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("copy.toml");
        let copy = LastGood::try_new(&path).unwrap();
        assert!(copy.read().is_none());
        copy.write(b"one").unwrap();
        let first = fs::metadata(&path).unwrap().ino();
        copy.write(b"one").unwrap();
        assert_eq!(fs::metadata(&path).unwrap().ino(), first, "it is not written again");
        copy.write(b"two").unwrap();
        assert_eq!(copy.read().unwrap().unwrap(), b"two");
        let left = fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(left, 1, "no temporary file is left");
    }

    #[test]
    fn only_a_regular_file_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("link.toml");
        symlink("/etc/hostname", &link).unwrap();
        for path in [folder.path(), &link, Path::new("/dev/null")] {
            let refused = LastGood::try_new(path).unwrap_err();
            assert!(refused.contains("must be a regular file"), "{refused}");
        }
        let nowhere = LastGood::try_new(&folder.path().join("missing/copy.toml")).unwrap();
        for refused in [nowhere.write(b"one"), nowhere.check_writable()] {
            assert!(refused.unwrap_err().contains("copy.toml: cannot be written"));
        }
    }
}
