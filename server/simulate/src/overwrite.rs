//! Files that were there before.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use offbeat_core::{Reason, Rejection};

use crate::database::APPLICATION_ID;
use crate::failure::Failure;
use crate::out::csv_title;
use crate::report::MARK;

/// Only results of an earlier simulation, and what is empty, may be overwritten.
pub(crate) fn check<'a>(
    paths: impl Iterator<Item = &'a PathBuf>,
    force: bool,
) -> Result<(), Failure> {
    let mut seen = BTreeSet::new();
    for path in paths {
        let refuse = |reason: Reason, allowed: &str| {
            Err(Rejection::new(reason, "FILE", path.display(), allowed).into())
        };
        if !seen.insert(path) {
            return refuse(Reason::Contradictory, "must be named once");
        }
        // What is no regular file, such as a pipe, holds nothing.
        if !force && path.is_file() && !is_ours(path).map_err(|error| Failure::at(path, &error))? {
            let allowed = "must be a new file, or one that a simulation wrote: --force overwrites \
                           any";
            return refuse(Reason::Contradictory, allowed);
        }
    }
    Ok(())
}

/// Whether a file is what would be written there, or empty.
fn is_ours(path: &Path) -> io::Result<bool> {
    let mut beginning = Vec::new();
    File::open(path)?.take(4_096).read_to_end(&mut beginning)?;
    let is_database = beginning.starts_with(b"SQLite format 3\0")
        && beginning.get(68..72) == Some(APPLICATION_ID.to_be_bytes().as_slice());
    Ok(beginning.is_empty()
        || match path.extension().and_then(|ending| ending.to_str()) {
            Some("csv") => beginning.starts_with(csv_title().as_bytes()),
            Some("sqlite" | "sqlite3" | "db") => is_database,
            _ => beginning.windows(MARK.len()).any(|part| part == MARK.as_bytes()),
        })
}
