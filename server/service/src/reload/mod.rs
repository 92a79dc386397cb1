//! Certificates, tokens and schedules, replaced under a running server: all of a file or nothing.

pub(crate) mod files;
mod schedules;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::config::{Config, TlsFiles};
use crate::layers::{Credentials, Tokens};
use crate::limits::SECRET_FILE_BYTES;
use crate::metrics::{CERTIFICATES, Metrics, SCHEDULES, TOKENS};
use crate::net::tls::Tls;
use crate::schedules::Loaded;
use files::Watched;
use schedules::ScheduleFile;

/// How often files are read again.
const POLL_INTERVAL: Duration = Duration::from_secs(5);

/// The files that may change under a running server.
#[derive(Debug)]
pub(crate) struct Reloadable {
    tls: Option<Source<Tls>>,
    tokens: Option<Source<Credentials>>,
    schedules: Option<Source<ScheduleFile>>,
    hangup: Signal,
    /// The files of secrets, by their flags.
    secrets: Vec<(&'static str, PathBuf)>,
}

/// Files, and what is made of them.
#[derive(Debug)]
struct Source<T> {
    watched: Watched,
    made: T,
    /// Whether their present content cannot be used; that is reported once.
    is_refused: bool,
}

impl<T> Source<T> {
    const fn new(watched: Watched, made: T) -> Self {
        Self { watched, made, is_refused: false }
    }

    /// Reads the files again; whether a change was taken over. `asked` tries again what was refused.
    async fn poll(
        &mut self,
        asked: bool,
        replace: impl AsyncFnOnce(&mut T, &Watched) -> Result<(), String>,
    ) -> Result<bool, String> {
        let result = match self.watched.poll().await {
            Ok(differs) if differs || (asked && self.is_refused) => {
                replace(&mut self.made, &self.watched).await.map(|()| true)
            }
            Ok(_) => return Ok(false),
            Err(_) if self.is_refused && !asked => return Ok(false),
            Err(why) => Err(why),
        };
        self.is_refused = result.is_err();
        result
    }
}

impl Reloadable {
    /// Reads all of it for the first time.
    pub(crate) fn read(config: &Config) -> Result<Self, String> {
        // First: it may come at once, and unheard it would end the process.
        let hangup = signal(SignalKind::hangup())
            .map_err(|error| format!("SIGHUP cannot be heard: {error}"))?;
        let tls = config.tls.as_ref().map(read_tls).transpose()?;
        let tokens = match &config.token_file {
            Some(path) => {
                let refused = |why| format!("--token-file: {why}");
                let watched =
                    Watched::read(SECRET_FILE_BYTES, vec![path.clone()]).map_err(refused)?;
                let tokens = parse_tokens(&watched).map_err(refused)?;
                Some(Source::new(watched, Credentials::new(tokens)))
            }
            None => None,
        };
        let schedules = config.schedules.as_deref().map(ScheduleFile::read).transpose();
        let schedules = schedules.map_err(|why| format!("--schedules: {why}"))?;
        let schedules = schedules.map(|(watched, file)| Source::new(watched, file));
        let key = config.tls.as_ref().map(|files| ("--tls-key", files.key.clone()));
        let token_file = config.token_file.clone().map(|path| ("--token-file", path));
        let secrets = key.into_iter().chain(token_file).collect();
        Ok(Self { tls, tokens, schedules, hangup, secrets })
    }

    /// The schedules that callers may name; without a file there are none.
    pub(crate) fn schedules(&self) -> Loaded {
        self.schedules.as_ref().map(|source| source.made.loaded()).unwrap_or_default()
    }

    pub(crate) fn tls(&self) -> Option<&Tls> {
        self.tls.as_ref().map(|source| &source.made)
    }

    pub(crate) fn credentials(&self) -> Credentials {
        self.tokens.as_ref().map(|source| source.made.clone()).unwrap_or_default()
    }

    /// Reads the files every few seconds, and at SIGHUP, for as long as the server runs. Content
    /// that is malformed leaves everything as it was.
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
    let watched = Watched::read(SECRET_FILE_BYTES, paths)?;
    let tls = Tls::new(watched.contents())?;
    Ok(Source::new(watched, tls))
}

fn report(metrics: &Metrics, what: &'static str, replaced: Result<bool, String>) {
    match replaced {
        Ok(false) => {}
        Ok(true) => {
            metrics.reloaded(what, true);
            tracing::info!(what, "read again");
        }
        Err(why) => {
            metrics.reloaded(what, false);
            tracing::error!(what, why, "refused: those of before stay");
        }
    }
}

fn parse_tokens(watched: &Watched) -> Result<Tokens, String> {
    let text = std::str::from_utf8(watched.first()).map_err(|_| "must be text".to_owned())?;
    Tokens::parse(text)
}
