//! Certificates, tokens and schedules, exchanged under a running server.

use std::sync::Arc;

use tokio::signal::unix::{Signal, SignalKind, signal};

use super::files::{LOOK, Watched};
use super::schedules::ScheduleFile;
use super::tls::Tls;
use crate::config::Config;
use crate::http::{Credentials, Tokens};
use crate::metrics::{CERTIFICATES, Metrics, SCHEDULES, TOKENS};
use crate::schedules::Loaded;

/// What may change under a running server.
#[derive(Debug)]
pub(super) struct Secrets {
    tls: Option<(Tls, Watched)>,
    tokens: Option<(Credentials, Watched)>,
    schedules: Option<ScheduleFile>,
    hangup: Signal,
}

impl Secrets {
    /// Reads all of it for the first time.
    pub(super) fn read(config: &Config) -> Result<Self, String> {
        // First: it may come at once, and nobody to hear it would be the end of the process.
        let hangup = signal(SignalKind::hangup())
            .map_err(|error| format!("SIGHUP cannot be heard: {error}"))?;
        let tls = config.tls.as_ref().map(Tls::read).transpose()?;
        let tokens = match &config.token_file {
            Some(path) => {
                let watched = Watched::read(vec![path.clone()])?;
                let tokens = parse(&watched).map_err(|why| format!("--token-file: {why}"))?;
                Some((Credentials::new(tokens), watched))
            }
            None => None,
        };
        let schedules = config.schedules.as_deref().map(ScheduleFile::read).transpose();
        let schedules = schedules.map_err(|why| format!("--schedules: {why}"))?;
        Ok(Self { tls, tokens, schedules, hangup })
    }

    /// The schedules that callers may name; without a file there are none.
    pub(super) fn schedules(&self) -> Loaded {
        self.schedules.as_ref().map(ScheduleFile::loaded).unwrap_or_default()
    }

    pub(super) fn tls(&self) -> Option<&Tls> {
        self.tls.as_ref().map(|(tls, _)| tls)
    }

    pub(super) fn credentials(&self) -> Credentials {
        self.tokens.as_ref().map(|(credentials, _)| credentials.clone()).unwrap_or_default()
    }

    /// Looks at the files every few seconds, and at SIGHUP, for as long as the server runs.
    /// What is malformed leaves everything as it was.
    pub(super) async fn watch(mut self, metrics: Arc<Metrics>) {
        loop {
            let asked = tokio::select! {
                _ = self.hangup.recv() => true,
                () = tokio::time::sleep(LOOK) => false,
            };
            if asked {
                tracing::info!("SIGHUP: certificates, tokens and schedules are read again");
            }
            if let Some((tls, watched)) = &mut self.tls {
                let read = exchange(watched, |watched| tls.exchange(watched.contents()));
                tell(&metrics, CERTIFICATES, read);
            }
            if let Some((credentials, watched)) = &mut self.tokens {
                let read = exchange(watched, |watched| {
                    parse(watched).map(|tokens| credentials.exchange(tokens))
                });
                tell(&metrics, TOKENS, read);
            }
            if let Some(file) = &mut self.schedules {
                tell(&metrics, SCHEDULES, file.look(asked).await);
            }
        }
    }
}

/// Uses what has changed; whether anything had.
fn exchange(
    watched: &mut Watched,
    usage: impl FnOnce(&Watched) -> Result<(), String>,
) -> Result<bool, String> {
    let differs = watched.look()?;
    if differs {
        usage(watched)?;
    }
    Ok(differs)
}

fn tell(metrics: &Metrics, what: &'static str, read: Result<bool, String>) {
    match read {
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

fn parse(watched: &Watched) -> Result<Tokens, String> {
    let bytes = watched.contents().first().map(Vec::as_slice).unwrap_or_default();
    let text = std::str::from_utf8(bytes).map_err(|_| "must be text".to_owned())?;
    Tokens::parse(text)
}
