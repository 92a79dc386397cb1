//! The file of schedules.

use std::path::{Path, PathBuf};

use offbeat_core::{Catalog, Meanings};
use offbeat_text::schedules::parse;

use super::files::WatchedFiles;
use super::last_good::LastGood;
use crate::config::ScheduleFiles;
use crate::limits::SCHEDULE_FILE_BYTES;
use crate::schedules::LoadedSchedules;

/// Maximum number of removed versions that the log names.
const SHOWN: usize = 8;

/// A file of schedules, and the meaning of its versions so far.
#[derive(Debug)]
pub(super) struct ScheduleFile {
    path: PathBuf,
    last_good: Option<LastGood>,
    meanings: Meanings,
    loaded: LoadedSchedules,
}

/// The result of the first read.
#[derive(Debug)]
pub(super) struct InitialLoad {
    pub(super) watched: WatchedFiles,
    pub(super) file: ScheduleFile,
    /// Why the file is refused, if the last good copy is used instead.
    pub(super) refused: Option<String>,
}

impl ScheduleFile {
    /// Reads the file for the first time; if it is refused, the copy of the last good one is used.
    /// A copy also tells what versions meant before this start.
    pub(super) fn read(files: &ScheduleFiles) -> Result<InitialLoad, String> {
        let path = &files.path;
        let last_good = files.last_good.as_deref().map(LastGood::try_new).transpose();
        let last_good = last_good.map_err(|why| format!("--last-good-schedules: {why}"))?;
        let copied = last_good.as_ref().and_then(|copy| {
            let contents = copy.read()?;
            Some(contents.and_then(|contents| catalog(copy.path(), &contents)))
        });
        let mut meanings = Meanings::default();
        if let Some(Ok(copied)) = &copied {
            learn(&mut meanings, path, copied)?;
        }
        let (watched, read) = match WatchedFiles::read(SCHEDULE_FILE_BYTES, vec![path.clone()]) {
            Ok(watched) => {
                let read = catalog(path, watched.first());
                let read = read.and_then(|read| learn(&mut meanings, path, &read).map(|()| read));
                (watched, read)
            }
            Err(why) => (WatchedFiles::unread(SCHEDULE_FILE_BYTES, vec![path.clone()]), Err(why)),
        };
        let (catalog, refused) = match (read, copied) {
            (Ok(catalog), _) => (catalog, None),
            (Err(why), Some(Ok(catalog))) => (catalog, Some(format!("--schedules: {why}"))),
            (Err(why), Some(Err(copy))) => {
                return Err(format!("--schedules: {why}; --last-good-schedules: {copy}"));
            }
            (Err(why), None) => return Err(format!("--schedules: {why}; {}", way_out(path))),
        };
        let (path, loaded) = (path.clone(), LoadedSchedules::new(catalog));
        Ok(InitialLoad { watched, file: Self { path, last_good, meanings, loaded }, refused })
    }

    /// The copy of the last good file, if one is kept.
    pub(super) const fn last_good(&self) -> Option<&LastGood> {
        self.last_good.as_ref()
    }

    /// The loaded schedules; a clone follows later reloads.
    pub(super) fn loaded(&self) -> LoadedSchedules {
        self.loaded.clone()
    }

    /// Uses the current content of the file, which is read on another thread: a large one takes
    /// long.
    pub(super) async fn replace(&mut self, watched: &WatchedFiles) -> Result<(), String> {
        let (path, contents) = (self.path.clone(), watched.first().to_vec());
        let read = tokio::task::spawn_blocking(move || catalog(&path, &contents)).await;
        let catalog = read.map_err(|error| error.to_string())??;
        learn(&mut self.meanings, &self.path, &catalog)?;
        self.keep_copy(watched.first().to_vec()).await;
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

    /// Keeps the accepted schedules. If that fails, the server continues, and its next start has an
    /// older copy.
    async fn keep_copy(&self, contents: Vec<u8>) {
        let Some(last_good) = self.last_good.clone() else { return };
        let written = tokio::task::spawn_blocking(move || last_good.write(&contents)).await;
        if let Err(why) = written.unwrap_or_else(|error| Err(error.to_string())) {
            tracing::error!(why, "the copy of the last good schedules is out of date");
        }
    }
}

fn learn(meanings: &mut Meanings, path: &Path, catalog: &Catalog) -> Result<(), String> {
    let learned = meanings.learn(catalog);
    learned.map_err(|refused| format!("{}: schedule {refused}", path.display()))
}

fn way_out(path: &Path) -> String {
    let path = path.display();
    format!(
        "fix the file until `offbeat schedules check {path}` accepts it, or give \
         --last-good-schedules FILE a copy of one that was accepted"
    )
}

fn catalog(path: &Path, contents: &[u8]) -> Result<Catalog, String> {
    parse(contents).map_err(|refused| refused.in_file(path))
}
