//! The file of schedules.

use std::path::{Path, PathBuf};

use offbeat_core::{Catalog, Meanings};

use super::files::Watched;
use crate::limits::SCHEDULE_FILE_BYTES;
use offbeat_text::schedules::parse;

use crate::schedules::Loaded;

/// The log names so many of the versions that were removed.
const SHOWN: usize = 8;

/// A file of schedules, and what its versions have meant so far.
#[derive(Debug)]
pub(super) struct ScheduleFile {
    path: PathBuf,
    meanings: Meanings,
    loaded: Loaded,
}

impl ScheduleFile {
    /// Reads the file for the first time.
    pub(super) fn read(path: &Path) -> Result<(Watched, Self), String> {
        let watched = Watched::read(SCHEDULE_FILE_BYTES, vec![path.to_owned()])?;
        let catalog = catalog(path, watched.first())?;
        let mut meanings = Meanings::default();
        meanings.learn(&catalog).map_err(|refused| format!("{}: {refused}", path.display()))?;
        Ok((watched, Self { path: path.to_owned(), meanings, loaded: Loaded::new(catalog) }))
    }

    /// The schedules, as they are and as they will be.
    pub(super) fn loaded(&self) -> Loaded {
        self.loaded.clone()
    }

    /// Uses what the file holds now. Reading a large one takes a while.
    pub(super) async fn replace(&mut self, watched: &Watched) -> Result<(), String> {
        let (path, contents) = (self.path.clone(), watched.first().to_vec());
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

fn catalog(path: &Path, contents: &[u8]) -> Result<Catalog, String> {
    parse(contents).map_err(|refused| refused.in_file(path))
}
