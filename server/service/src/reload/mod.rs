//! Reloads certificates, tokens and schedules of a running server: each file as a whole, or not.

pub(crate) mod files;
mod last_good;
mod schedules;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use offbeat_core::Moment;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::clock;
use crate::config::{Config, TlsFiles};
use crate::layers::{Credentials, Tokens};
use crate::limits::SECRET_FILE_BYTES;
use crate::metrics::{CERTIFICATES, Metrics, SCHEDULES, TOKENS};
use crate::net::tls::Tls;
use crate::schedules::LoadedSchedules;
use files::{PollOutcome, WatchedFiles};
use schedules::{InitialLoad, ScheduleFile};

/// Interval of polls.
const POLL_INTERVAL: Duration = Duration::from_secs(5);

/// The files that may change while the server runs.
#[derive(Debug)]
pub(crate) struct Reloadable {
    tls: Option<Source<Tls>>,
    tokens: Option<Source<Credentials>>,
    schedules: Option<Source<ScheduleFile>>,
    /// Why the file of schedules is refused, if a copy of an older one is used.
    refused_schedules: Option<String>,
    /// Time of the last read.
    time: Moment,
    hangup: Signal,
    /// The files of secrets, by their flags.
    secrets: Vec<(&'static str, PathBuf)>,
}

/// Files, and the value that is made from them.
#[derive(Debug)]
struct Source<T> {
    watched: WatchedFiles,
    made: T,
    state: SourceState,
}

/// Whether the current content of the files is in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SourceState {
    Accepted,
    /// The content cannot be used, which is reported once.
    Refused,
    /// The files cannot be read, which is reported once, too.
    Unreadable,
}

impl<T> Source<T> {
    const fn new(watched: WatchedFiles, made: T) -> Self {
        Self { watched, made, state: SourceState::Accepted }
    }

    /// Reads the files again. Returns whether a change was taken over. With `asked`, content that
    /// was refused is tried again.
    async fn poll(
        &mut self,
        asked: bool,
        replace: impl AsyncFnOnce(&mut T, &WatchedFiles) -> Result<(), String>,
    ) -> Result<bool, String> {
        let polled = match self.watched.poll().await {
            Ok(polled) => polled,
            Err(_) if self.state == SourceState::Unreadable && !asked => return Ok(false),
            Err(why) => {
                self.state = SourceState::Unreadable;
                return Err(why);
            }
        };
        let is_tried = match (polled, self.state) {
            (PollOutcome::Settling, _) => false,
            (PollOutcome::Changed, _) | (PollOutcome::Same, SourceState::Unreadable) => true,
            (PollOutcome::Same, SourceState::Refused) => asked,
            (PollOutcome::Same, SourceState::Accepted) => false,
        };
        if !is_tried {
            return Ok(false);
        }
        let replaced = replace(&mut self.made, &self.watched).await;
        self.state = if replaced.is_ok() { SourceState::Accepted } else { SourceState::Refused };
        replaced.map(|()| true)
    }
}

impl Reloadable {
    /// Reads all files for the first time.
    pub(crate) fn read(config: &Config) -> Result<Self, String> {
        // First: without a handler, an early SIGHUP would end the process.
        let hangup = signal(SignalKind::hangup())
            .map_err(|error| format!("SIGHUP cannot be handled: {error}"))?;
        let tls = config.tls.as_ref().map(read_tls).transpose()?;
        let tokens = match &config.token_file {
            Some(path) => {
                let refused = |why| format!("--token-file: {why}");
                let watched =
                    WatchedFiles::read(SECRET_FILE_BYTES, vec![path.clone()]).map_err(refused)?;
                let tokens = parse_tokens(&watched).map_err(refused)?;
                Some(Source::new(watched, Credentials::new(tokens)))
            }
            None => None,
        };
        let found = config.schedules.as_ref().map(ScheduleFile::read).transpose()?;
        let (schedules, refused_schedules) = match found {
            Some(InitialLoad { watched, file, refused }) => {
                let is_refused = refused.is_some();
                let state = if is_refused { SourceState::Refused } else { SourceState::Accepted };
                (Some(Source { watched, made: file, state }), refused)
            }
            None => (None, None),
        };
        let key = config.tls.as_ref().map(|files| ("--tls-key", files.key.clone()));
        let token_file = config.token_file.clone().map(|path| ("--token-file", path));
        let secrets = key.into_iter().chain(token_file).collect();
        let time = clock::now();
        Ok(Self { tls, tokens, schedules, refused_schedules, time, hangup, secrets })
    }

    /// Why the file of schedules is refused, if a copy of an older one is used.
    pub(crate) fn refused_schedules(&self) -> Option<&str> {
        self.refused_schedules.as_deref()
    }

    /// Keeps a copy of the schedules, if one is configured; a trial only checks that it can.
    pub(crate) fn keep_copy(&self, is_trial: bool) -> Result<(), String> {
        let Some(Source { watched, made, .. }) = &self.schedules else { return Ok(()) };
        let (Some(last_good), None) = (made.last_good(), &self.refused_schedules) else {
            return Ok(());
        };
        let kept = match is_trial {
            true => last_good.check_writable(),
            false => last_good.write(watched.first()),
        };
        kept.map_err(|why| format!("--last-good-schedules: {why}"))
    }

    /// Reports in metrics and log what was read at the start.
    pub(crate) fn report_start(&self, metrics: &Metrics) {
        let is_refused = self.refused_schedules.is_some();
        for (what, is_there, is_accepted) in [
            (CERTIFICATES, self.tls.is_some(), true),
            (TOKENS, self.tokens.is_some(), true),
            (SCHEDULES, self.schedules.is_some(), !is_refused),
        ] {
            if is_there {
                metrics.loaded(what, is_accepted.then_some(self.time));
            }
        }
        if let Some(why) = &self.refused_schedules {
            tracing::error!(what = SCHEDULES, why, "refused: the last good ones are used");
        }
    }

    /// The schedules that callers may name; without a file there are none.
    pub(crate) fn schedules(&self) -> LoadedSchedules {
        self.schedules.as_ref().map(|source| source.made.loaded()).unwrap_or_default()
    }

    pub(crate) fn tls(&self) -> Option<&Tls> {
        self.tls.as_ref().map(|source| &source.made)
    }

    pub(crate) fn credentials(&self) -> Credentials {
        self.tokens.as_ref().map(|source| source.made.clone()).unwrap_or_default()
    }

    /// Reads the files every few seconds, and at SIGHUP, for as long as the server runs. Malformed
    /// content changes nothing.
    pub(crate) async fn watch(mut self, metrics: Arc<Metrics>) {
        for (flag, path) in &self.secrets {
            files::warn_of_permissions(flag, path);
        }
        loop {
            let asked = tokio::select! {
                _ = self.hangup.recv() => true,
                () = tokio::time::sleep(POLL_INTERVAL) => false,
            };
            if asked {
                tracing::info!("SIGHUP: certificates, tokens and schedules are read again");
            }
            if let Some(source) = &mut self.tls {
                let replaced =
                    source.poll(asked, async |tls, files| tls.replace(files.contents())).await;
                report(&metrics, CERTIFICATES, replaced);
            }
            if let Some(source) = &mut self.tokens {
                let replaced = source.poll(asked, async |credentials, files| {
                    parse_tokens(files).map(|tokens| credentials.replace(tokens))
                });
                report(&metrics, TOKENS, replaced.await);
            }
            if let Some(source) = &mut self.schedules {
                let replaced = source.poll(asked, async |file, files| file.replace(files).await);
                report(&metrics, SCHEDULES, replaced.await);
            }
        }
    }
}

fn read_tls(files: &TlsFiles) -> Result<Source<Tls>, String> {
    let mut paths = vec![files.certificate.clone(), files.key.clone()];
    paths.extend(files.client_ca.clone());
    let watched = WatchedFiles::read(SECRET_FILE_BYTES, paths)?;
    let tls = Tls::new(watched.contents())?;
    Ok(Source::new(watched, tls))
}

fn report(metrics: &Metrics, what: &'static str, replaced: Result<bool, String>) {
    match replaced {
        Ok(false) => {}
        Ok(true) => {
            metrics.reloaded(what, Some(clock::now()));
            tracing::info!(what, "read again");
        }
        Err(why) => {
            metrics.reloaded(what, None);
            tracing::error!(what, why, "reload refused: the previous ones stay in use");
        }
    }
}

fn parse_tokens(watched: &WatchedFiles) -> Result<Tokens, String> {
    let text = std::str::from_utf8(watched.first()).map_err(|_| "must be text".to_owned())?;
    Tokens::parse(text)
}
