//! In the place of `database.rs` in binaries without SQLite: that of the image is smaller for it.

use std::path::Path;

use offbeat_sim::results::Results;

use super::super::Failure;
use super::out::Run;

/// Whether databases can be written.
pub(super) const IS_BUILT_IN: bool = false;

/// There is none.
#[derive(Debug)]
pub(super) enum Database {}

impl Database {
    /// Never called: such files are refused before.
    pub(super) fn create(path: &Path) -> Result<Self, Failure> {
        Err(Failure::Other(format!("{}: this binary was built without SQLite", path.display())))
    }

    pub(super) fn write(&self, _: &Path, _: &Run<'_>) -> Result<(), Failure> {
        match *self {}
    }

    pub(super) fn finish(self, _: &Path, _: &Results) -> Result<(), Failure> {
        match self {}
    }
}
