//! The file of schedules, read again when it changes.

use std::path::{Path, PathBuf};

use offbeat_core::{Catalog, Meanings};
use offbeat_text::schedules::parse;

use super::files::Watched;
use crate::limits::SCHEDULE_FILE_BYTES;
use crate::schedules::Loaded;

/// Removed versions are named in the log, but for those beyond so many.
const SHOWN: usize = 8;

/// A file of schedules, and what it has meant so far.
#[derive(Debug)]
pub(super) struct ScheduleFile {
    path: PathBuf,
    watched: Watched,
    meanings: Meanings,
    loaded: Loaded,
    /// Why it cannot be used as it is now has been said.
    refused: bool,
}

impl ScheduleFile {
    /// Reads the file for the first time.
    pub(super) fn read(path: &Path) -> Result<Self, String> {
        let watched = Watched::read_up_to(SCHEDULE_FILE_BYTES, vec![path.to_owned()])?;
        let catalog = catalog(path, &contents(&watched))?;
        let mut meanings = Meanings::default();
        meanings.learn(&catalog).map_err(|refused| format!("{}: {refused}", path.display()))?;
        let (path, loaded) = (path.to_owned(), Loaded::new(catalog));
        Ok(Self { path, watched, meanings, loaded, refused: false })
    }

    /// The schedules, whatever they will be.
    pub(super) fn loaded(&self) -> Loaded {
        self.loaded.clone()
    }

    /// Looks at the file; whether it was loaded anew. What is refused is said once, and again
    /// whenever somebody has `asked`.
    pub(super) async fn look(&mut self, asked: bool) -> Result<bool, String> {
        match self.watched.look() {
            Err(_) if self.refused && !asked => Ok(false),
            Err(why) => {
                self.refused = true;
                Err(why)
            }
            Ok(differs) if differs || (asked && self.refused) => {
                let loaded = self.load().await;
                self.refused = loaded.is_err();
                loaded.map(|()| true)
            }
            Ok(_) => Ok(false),
        }
    }

    /// Uses what the file holds, all of it or nothing. Reading a large one takes a while.
    async fn load(&mut self) -> Result<(), String> {
        let (path, contents) = (self.path.clone(), contents(&self.watched));
        let read = tokio::task::spawn_blocking(move || catalog(&path, &contents)).await;
        let catalog = read.map_err(|error| error.to_string())??;
        let learned = self.meanings.learn(&catalog);
        learned.map_err(|refused| format!("{}: schedule {refused}", self.path.display()))?;
        let before = self.loaded.exchange(catalog);
        let now = self.loaded.snapshot();
        let gone = before.iter().map(|(name, _)| name).filter(|name| now.get(name).is_err());
        let gone: Vec<_> = gone.map(ToString::to_string).collect();
        if !gone.is_empty() {
            let names = gone.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
            tracing::warn!(count = gone.len(), names, "schedules are no longer loaded");
        }
        Ok(())
    }
}

fn contents(watched: &Watched) -> Vec<u8> {
    watched.contents().first().cloned().unwrap_or_default()
}

fn catalog(path: &Path, contents: &[u8]) -> Result<Catalog, String> {
    parse(contents).map_err(|refused| refused.in_file(path))
}
